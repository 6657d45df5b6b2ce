package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// mallocBatch allocates several times, all or nothing.
func (s *Session) mallocBatch(c *call, q *hipv1.MallocBatchRequest) (any, hip.Error) {
	if uint64(q.Count) > uint64(len(q.Sizes)) {
		return nil, hip.ErrorInvalidValue
	}
	if code := s.captures.RefuseUnsafe(s.thread()); code != hip.Success {
		return nil, code
	}
	v := &hipv1.MallocBatchReply{Count: q.Count}
	for i := range q.Count {
		p, code := s.malloc(q.Sizes[i], func() (hip.Ptr, hip.Error) { return s.Runtime.Malloc(s.thread(), q.Sizes[i]) })
		if code != hip.Success {
			for _, p := range v.Ptrs[:i] {
				_ = s.free(p)
			}
			return nil, code
		}
		v.Ptrs[i] = p
	}
	return v, hip.Success
}

// handleBatch makes several streams or events, all or nothing.
func (s *Session) handleBatch(c *call, q *hipv1.HandleBatchRequest) (any, hip.Error) {
	v := &hipv1.HandleBatchReply{Count: q.Count}
	if uint64(q.Count) > uint64(len(v.Handles)) {
		return nil, hip.ErrorInvalidValue
	}
	t := s.thread()
	for i := range q.Count {
		var code hip.Error
		if c.h.Op == hipv1.OpStreamCreateBatch {
			v.Handles[i], code = s.newStream(0, q.Flags, 0)
		} else {
			v.Handles[i], code = s.newEvent(func() (hip.Event, hip.Error) { return s.Runtime.EventCreateWithFlags(t, q.Flags) })
		}
		if code != hip.Success {
			s.undo(c, v.Handles[:i])
			return nil, code
		}
	}
	return v, hip.Success
}

// undo destroys what a batch has made.
func (s *Session) undo(c *call, names []uint64) {
	t := s.thread()
	for _, name := range names {
		if c.h.Op == hipv1.OpStreamCreateBatch {
			_ = s.Runtime.StreamDestroy(t, s.streams[name].h)
			drop(s, s.streams, hip.HandleStream, name)
			continue
		}
		_ = s.Runtime.EventDestroy(t, s.events[name].h)
		drop(s, s.events, hip.HandleEvent, name)
	}
}
