// Package rpctrace is what is known about single calls of a trace: which part of it took
// how long, and where.
//
// Trust: what a client says about its own spans is the client's word.
package rpctrace

import "time"

// Span is one part of a call. Spans of one TraceID belong together; Parent is the ID of
// the span that caused this one, zero if none did.
type Span struct {
	TraceID     [16]byte // as W3C Trace Context has them
	ID, Parent  [8]byte
	Kind        Kind
	Op, Code    string // function and result, as in rpcstats.Call; "" is not known
	Start       time.Time
	Duration    time.Duration
	Device      int    // index of the card; negative is not known
	Stream      uint64 // handle of the stream; 0 is the default stream, or none
	Kernel      string // that was launched; "" for other calls
	Grid, Block [3]uint32
	Bytes       uint64 // copied or set; 0 for other calls
}

// Kind says which part of a call a span is.
type Kind uint8

// The parts of a call.
const (
	Client Kind = 1 + iota // issue to return, as the calling program sees it
	Worker                 // arrival to reply, in the session process
	Kernel                 // a kernel ran
)

// String is the kind's name.
func (k Kind) String() string {
	switch k {
	case Client:
		return "client"
	case Worker:
		return "worker"
	case Kernel:
		return "kernel"
	}
	return "other"
}
