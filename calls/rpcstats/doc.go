// Package rpcstats measures how long calls take, where they are made: one
// recorder in each client and each session process, whose deltas travel to the
// worker and are added up there.
//
// A series is one function (wire opcode) with one result code, seen from one
// side. Its figures are the sum of the durations and an exponential histogram of
// schema 3: bucket i holds the durations in (2^((i-1)/8), 2^(i/8)] seconds, so a
// quantile is known to within 9 %. The buckets are those of Prometheus' native
// histograms and OpenTelemetry's exponential ones; nothing is converted on the way.
//
// Recording costs a few loads and two atomic additions, takes no lock and
// allocates nothing after the first call of a series. The package imports next
// to nothing beyond the standard library's basics, because it is linked into programs
// that only wanted a HIP library.
//
// Trust: [Decode] checks every number it reads, and bounds what it returns. What a
// client reports about itself is the client's word; [Delta.Side] says whose word
// it is, and a receiver tells Decode for which sides its peer may speak.
//
// # Phases
//
// The sides client and worker are whole calls. Phases are the parts of calls that
// somebody waits for: queue and execution are the worker's time, network is what remains
// of the client's. The client learns the worker's time of each call with its reply, and
// tells all three (see [Feature]), so they belong to the same calls and add up to their
// time. A posted call has no phases: its client's time is that of issuing it, and what
// the worker does about it later is in nobody's time but its side worker. Of clients that
// cannot tell, the worker tells queue and execution of what it answers.
//
// # Slowest calls
//
// A [Slowest] keeps the few calls that took longest since it was last asked; what is
// faster than all of them costs one comparison. They travel like deltas, and [Totals]
// keeps the slowest of each of the last ten minutes.
package rpcstats

// Feature is what a client wants that tells all phases of its calls itself, and a worker
// grants that then leaves them to it.
const Feature = "phases"

// Wire opcodes of what a client reports to its worker, no reply wanted. OpSlow and
// sides beyond Client only go to a worker that has granted wire.FeatureTiming: one
// that has not does not know them.
const (
	Op     uint16 = 0x0820 // one encoded Delta
	OpSlow uint16 = 0x0821 // encoded slowest calls, see AppendSlow
)

// Side says where durations were measured.
type Side uint8

// The sides of a call and its phases.
const (
	Client    Side = 1 // issue to return, as the calling program sees it
	Worker    Side = 2 // arrival to reply, as the session process sees it
	Queue     Side = 3 // of the worker's time of calls that are waited for: from arrival until it is executed
	Execution Side = 4 // of the worker's time of calls that are waited for: the rest
	Network   Side = 5 // the client's time without the worker's

	maxSide = Network
)

// Sides is a set of them.
type Sides uint8

// SidesOf makes one.
func SidesOf(list ...Side) (s Sides) {
	for _, x := range list {
		s |= 1 << x
	}
	return s
}

// Has reports whether a side is in the set.
func (s Sides) Has(x Side) bool { return x <= maxSide && s&(1<<x) != 0 }

// Sides that a peer may speak for.
var (
	OfClient = SidesOf(Client, Queue, Execution, Network)
	OfWorker = SidesOf(Worker, Queue, Execution)
)

// String is the label value of the side.
func (s Side) String() string {
	switch s {
	case Client:
		return "client"
	case Worker:
		return "worker"
	case Queue:
		return "queue"
	case Execution:
		return "execution"
	case Network:
		return "network"
	}
	return "other"
}

// OpOther and CodeOther stand for the functions and results that were too many to
// count apart.
const (
	OpOther   uint16 = 0xFFFF
	CodeOther int32  = -0x80000000
)
