package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

func (s *Session) ofEvent(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.EventCreateRequest:
		name, code := s.newEvent(func() (hip.Event, hip.Error) { return s.Runtime.EventCreateWithFlags(t, q.Flags) })
		return &hipv1.EventCreateReply{Event: name}, code
	case *hipv1.EventRequest:
		return nil, s.aboutEvent(c, q.Event)
	case *hipv1.EventRecordRequest:
		e, code := s.event(q.Event)
		if code != hip.Success {
			return nil, code
		}
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		done, code := s.captures.Mark(e, st)
		if !done {
			s.Room()
			code = s.Runtime.EventRecord(t, e, st)
		}
		if code == hip.Success {
			s.captures.Recorded(e, st)
		}
		return nil, code
	case *hipv1.EventElapsedTimeRequest:
		from, code := s.event(q.StartEvent)
		if code != hip.Success {
			return nil, code
		}
		to, code := s.event(q.EndEvent)
		if code != hip.Success {
			return nil, code
		}
		ms, code := s.Runtime.EventElapsedTime(t, from, to)
		return &hipv1.EventElapsedTimeReply{Milliseconds: ms}, code
	}
	return nil, hip.ErrorNotSupported
}

func (s *Session) newEvent(f func() (hip.Event, hip.Error)) (uint64, hip.Error) {
	h, code := f()
	if code != hip.Success {
		return 0, code
	}
	name, ok := add(s, &s.events, hip.HandleEvent, 0, event{h, s.device})
	if !ok {
		_ = s.Runtime.EventDestroy(s.thread(), h)
		return 0, hip.ErrorOutOfMemory
	}
	return name, hip.Success
}

func (s *Session) aboutEvent(c *call, name uint64) hip.Error {
	e, code := s.event(name)
	if code != hip.Success {
		return code
	}
	t := s.thread()
	if c.h.Op == hipv1.OpEventDestroy {
		s.captures.ForgetEvent(e)
		code := s.Runtime.EventDestroy(t, e)
		drop(s, s.events, hip.HandleEvent, name)
		return code
	}
	if c.h.Op == hipv1.OpEventQuery {
		if code := s.captures.Asked(e); code != hip.Success {
			return code
		}
		return s.Runtime.EventQuery(t, e)
	}
	if code := s.captures.Awaited(t, e); code != hip.Success {
		return code
	}
	return s.Runtime.EventSynchronize(t, e)
}
