package worker

import (
	"github.com/rocwire/rocwire/exporter/rpcstats"
	"github.com/rocwire/rocwire/exporter/rpctrace"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// backlog is a runtime that says how much its streams have still to do, in bytes of host memory.
type backlog interface {
	Queued() int64
	// WaitQueued waits until at most so much is queued, or stop is closed.
	WaitQueued(most int64, stop <-chan struct{}) bool
}

// drain holds up a message while the streams have too much to do: the line stands still, and with it the client that sends. While a stream waits
// for a function of the client's, whose end comes on the line, twice as much may be queued.
func (s *session) drain(r *wire.Request) {
	most := s.mostQueued
	if s.backlog == nil || most == 0 || s.backlog.Queued() <= most || !queues(r) {
		return
	}
	if s.funcs.some() {
		if most *= 2; s.backlog.Queued() <= most {
			return
		}
	}
	s.backlog.WaitQueued(most/2, s.over)
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

// some says whether functions of the client are queued or under way.
func (h *hostFuncs) some() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open) > 0
}
