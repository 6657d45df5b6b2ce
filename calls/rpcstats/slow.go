package rpcstats

import "time"

// SlowCall is one call that took long, with where its time went. Figures that nobody
// measured are negative: a call without a reply has no Network, a client that measures
// nothing leaves Total to the worker's own.
type SlowCall struct {
	Session   string // of the worker, whose clients its sessions name
	Client    Caller // of the session, which may have ended since
	Op, Code  string // as in Call
	Start     time.Time
	Total     time.Duration // issue to return as the program saw it, or arrival to reply
	Queue     time.Duration // on the worker, before it was executed
	Network   time.Duration // Total without Queue and Execution
	Execution time.Duration
	Kernel    string // that was launched; "" for other calls
	TraceID   string // 32 hexadecimal digits, if the call is part of a sampled trace; else ""
}

// Caller is the process that made a call, as it says itself. What is not known is
// empty.
type Caller struct {
	Host, Executable string
	PID              uint32
}

// Slow is a slow call as it is reported by who measured it.
type Slow struct {
	Op        uint16
	Code      int32
	Request   uint32        // its number in the session, the same for client and worker
	Client    bool          // measured by the client, whose time it is
	Age       time.Duration // since it began
	Total     time.Duration
	Queue     time.Duration // negative, like Network and Execution, if not measured
	Network   time.Duration
	Execution time.Duration
	Kernel    string // at most MaxKernel bytes
	TraceID   string // as SlowCall's; the receiver fills it in
}

// Counted calls f with what the call was counted as, which follows from the figures that
// it has: the whole of it on the client's side, what the worker saw on the worker's, and
// its parts.
func (c *SlowCall) Counted(f func(as Call, d time.Duration)) {
	add := func(side Side, d time.Duration) {
		if d >= 0 {
			f(Call{Op: c.Op, Side: side.String(), Code: c.Code}, d)
		}
	}
	if c.Network >= 0 {
		add(Client, c.Total)
	}
	if c.Queue >= 0 && c.Execution >= 0 {
		add(Worker, c.Queue+c.Execution)
	}
	add(Queue, c.Queue)
	add(Execution, c.Execution)
	add(Network, c.Network)
}
