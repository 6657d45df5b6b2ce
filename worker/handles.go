package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/handles"
	"github.com/rocwire/rocwire/wire"
)

// handleTable holds the handles that the runtime gave to this session. A real runtime's handles are addresses: a number from the network
// must be one of these before it comes near it.
type handleTable struct {
	handles.Table
	own bool // the runtime checks handles itself, and says better what is wrong
}

// check answers Success if h may be shown to the runtime as a handle of this kind.
func (t *handleTable) check(k hip.HandleKind, h uint64) hip.Error {
	if t.own {
		return hip.Success
	}
	return t.Check(k, h)
}

// checkAs is check where a call has an answer of its own to a handle that is none.
func (t *handleTable) checkAs(k hip.HandleKind, h uint64, wrong hip.Error) hip.Error {
	if t.check(k, h) != hip.Success {
		return wrong
	}
	return hip.Success
}

// ending is an object that is being destroyed.
type ending struct {
	kind   hip.HandleKind
	handle uint64
	object handles.Object
	known  bool
}

// ending takes a handle out of the table, before the runtime destroys its object, so that no later message can use it. It replies if the
// handle is none.
func (s *session) ending(r *wire.Request, k hip.HandleKind, h uint64) (ending, bool) {
	return s.endingAs(r, k, h, k.Wrong())
}

// endingAs is ending where a call has an answer of its own to a handle that is none.
func (s *session) endingAs(r *wire.Request, k hip.HandleKind, h uint64, wrong hip.Error) (ending, bool) {
	o, known := s.handles.Take(k, h)
	if !known && !s.handles.own {
		s.reply(r, wrong, nil)
		return ending{}, false
	}
	return ending{k, h, o, known}, true
}

// endingAny is ending where null is an object of which there is nothing to destroy.
func (s *session) endingAny(r *wire.Request, k hip.HandleKind, h uint64) (ending, bool) {
	if h == 0 {
		return ending{}, true
	}
	return s.ending(r, k, h)
}

// restore is for an object that was not destroyed after all.
func (s *session) restore(e ending) {
	if e.known {
		s.handles.Restore(e.kind, e.handle, e.object)
	}
}
