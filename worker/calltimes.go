package worker

import (
	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// callTimes is how long a session's calls took here, from their arrival to their reply.
type callTimes struct {
	total            *rpcstats.Recorder
	queue, execution *rpcstats.Recorder // of what is answered
	told             bool               // the client tells these itself
	slowest          rpcstats.Slowest
	kernels          kernelNames
}

func newCallTimes() callTimes {
	return callTimes{
		total: rpcstats.NewRecorder(rpcstats.Worker), queue: rpcstats.NewRecorder(rpcstats.Queue), execution: rpcstats.NewRecorder(rpcstats.Execution),
	}
}

// take returns what was counted since it was last asked.
func (c *callTimes) take() (list []*rpcstats.Delta) {
	for _, r := range [...]*rpcstats.Recorder{c.total, c.queue, c.execution} {
		if d := r.Take(); d != nil {
			list = append(list, d)
		}
	}
	return list
}

// answering takes the time of a call that is about to be answered with code, and has the reply say it. A call that is answered beside the
// line is counted now, since its client may end the session as soon as it has the reply.
func (s *session) answering(r *wire.Request, code hip.Error) wire.Timing {
	t := r.Measure()
	if r.Retained() {
		s.count(r, code, t)
	}
	return t
}

// answered counts a call that has been answered on the line: while the reply is on its way, that costs nobody time.
func (s *session) answered(r *wire.Request, code hip.Error, t wire.Timing) {
	if !r.Retained() {
		s.count(r, code, t)
	}
}

func (s *session) count(r *wire.Request, code hip.Error, t wire.Timing) {
	c := &s.times
	c.total.Record(r.Op, int32(code), t.Total())
	if !c.told && !r.NoReply() {
		c.queue.Record(r.Op, int32(code), t.Queue)
		c.execution.Record(r.Op, int32(code), t.Execution)
	}
	if c.slowest.Wants(t.Total()) {
		s.noteSlow(r, code, t)
	}
	if s.trace != nil {
		s.trace.called(r, code, t)
	}
}

func (s *session) noteSlow(r *wire.Request, code hip.Error, t wire.Timing) {
	slow := rpcstats.Slow{
		Op: r.Op, Code: int32(code), Request: r.ID, Total: t.Total(), Queue: t.Queue, Network: -1, Execution: t.Execution,
	}
	if r.Op == hip.OpLaunchKernel {
		var l hip.Launch
		if _, ok := hiprpc.DecodeLaunch(r.Fixed, &l); ok {
			slow.Kernel = s.times.kernels.of(l.Function)
		}
	}
	s.times.slowest.Add(r.Started()-int64(t.Queue), slow)
}

// clientReport is what a client measured.
type clientReport struct {
	delta *rpcstats.Delta
	slow  []rpcstats.Slow
}

// doClientReport takes in what the client measured. A client is believed about itself, and speaks for nobody else.
func (s *session) doClientReport(r *wire.Request) {
	var rep clientReport
	var err error
	switch r.Op {
	case rpctrace.Op:
		err = s.trace.report(r.Fixed)
	case rpcstats.OpSlow:
		rep.slow, err = rpcstats.DecodeSlow(r.Fixed)
		for i := range rep.slow {
			rep.slow[i].Client = true
		}
	default:
		rep.delta, err = rpcstats.Decode(r.Fixed, rpcstats.OfClient)
	}
	if err != nil {
		s.malformed(r)
		return
	}
	if s.client != nil && r.Op != rpctrace.Op {
		s.client(rep)
	}
	if !r.NoReply() {
		_ = r.Reply(0, nil)
	}
}
