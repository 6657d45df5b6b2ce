package rpctrace

import "time"

// Kind says what a span is about.
type Kind uint8

// The kinds of spans.
const (
	Client Kind = 1 // issue to return, as the calling program sees it
	Worker Kind = 2 // arrival to reply, as the session process sees it
	Kernel Kind = 3 // execution of a kernel on the device

	maxKind = Kernel
)

// String is "client", "worker" or "kernel".
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

// Span is one piece of a traced call.
type Span struct {
	TraceID    [16]byte
	ID, Parent [8]byte // Parent is zero for the root of a trace
	Kind       Kind
	Op, Code   string // the function, "hipMemcpy", and its result, "hipSuccess"
	Start      time.Time
	Duration   time.Duration
	Bytes      uint64 // that were copied

	Device int // the program's number of it, of kernel spans; negative: not known
	// Of kernel spans.
	Stream      uint64 // handle; 0 is the default stream
	Kernel      string // name
	Grid, Block [3]uint32
}

// Record is a span on its way, before its function has a name.
type Record struct {
	Kind    Kind
	Request uint32 // number of the call's request, which gives it its identity
	// Alone: there is no client span that this one could be below.
	Alone bool
	Op    uint16
	Code  int32
	// Start is in ns: from a client how long ago, between processes of one machine
	// since 1970.
	Start    int64
	Duration time.Duration
	Bytes    uint64

	Device      int32
	Stream      uint64
	Kernel      string // at most MaxKernel bytes
	Grid, Block [3]uint32
}
