package worker

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// backlog is a runtime that says how much its streams have still to do, in bytes of host memory.
type backlog interface {
	Queued() int64
	// Ended changes whenever something of it ends.
	Ended() uint64
	// WaitQueued waits until at most so much is queued, or stop is closed.
	WaitQueued(most int64, stop <-chan struct{}) bool
}

// stuckAfter is how long nothing may end before the streams may be waiting for what comes next on the line: a value that another stream writes, a function
// of the client's that returns.
const stuckAfter = 200 * time.Millisecond

// drain holds up a message while the streams have too much to do: the line stands still, and with it the client that sends. If nothing ends meanwhile, more
// may be queued, as far as half of what the session may keep goes.
func (s *session) drain(r *wire.Request) {
	if s.backlog == nil || s.mostQueued == 0 {
		return
	}
	for s.backlog.Queued() > s.mostQueued+int64(s.lent) && queues(r) {
		ended := s.backlog.Ended()
		late := make(chan struct{})
		t := time.AfterFunc(stuckAfter, func() { close(late) })
		done := s.backlog.WaitQueued(s.mostQueued/2, late)
		t.Stop()
		select {
		case <-s.over:
			return
		default:
		}
		more := uint64(s.mostQueued) / 4
		if !done && s.backlog.Ended() == ended && s.lent+more <= s.mem.Limit()/2 && s.mem.Take(more) {
			s.lent += more
		}
	}
	if s.lent > 0 && s.backlog.Queued() <= s.mostQueued/2 {
		s.mem.Give(s.lent)
		s.lent = 0
	}
}

// queues says whether a message may give streams something to do. Those that do not may be what the streams wait for.
func queues(r *wire.Request) bool {
	switch r.Op {
	case hiprpc.OpGrant, hiprpc.OpReturn, hiprpc.OpMallocAt, hiprpc.OpHostFuncDone, hiprpc.OpHostExpose, hiprpc.OpHostHide, hiprpc.OpHostPush, hiprpc.OpHostPull,
		hiprpc.OpHostClaim, hiprpc.OpHostRelease, rpcstats.Op, rpcstats.OpSlow, rpctrace.Op:
		return false
	}
	return true
}
