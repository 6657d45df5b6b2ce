package rpcstats

import "time"

// SlowCall is one call that took long, with where its time went. Figures that nobody
// measured are negative: a call without a reply has no Network, a client that measures
// nothing leaves Total to the worker's own.
type SlowCall struct {
	Session   string // of the worker, whose clients its sessions name
	Op, Code  string // as in Call
	Start     time.Time
	Total     time.Duration // issue to return as the program saw it, or arrival to reply
	Queue     time.Duration // on the worker, before it was executed
	Network   time.Duration // Total without Queue and Execution
	Execution time.Duration
	Kernel    string // that was launched; "" for other calls
	TraceID   string // 32 hexadecimal digits, if the call is part of a sampled trace; else ""
}
