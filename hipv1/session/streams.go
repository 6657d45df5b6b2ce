package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

func (s *Session) ofStream(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.StreamCreateRequest:
		name, code := s.newStream(q.Vhandle, q.Flags, q.Priority)
		return &hipv1.StreamCreateReply{Stream: name}, code
	case *hipv1.StreamRequest:
		return s.aboutStream(c, q.Stream)
	case *hipv1.StreamWaitEventRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		e, code := s.event(q.Event)
		if code != hip.Success {
			return nil, code
		}
		if done, code := s.captures.Wait(t, st, e); done {
			return nil, code
		}
		s.Room()
		return nil, s.Runtime.StreamWaitEvent(t, st, e, q.Flags)
	case *hipv1.StreamGetCaptureInfoRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		a, code := s.captures.Ask(st)
		return &hipv1.StreamGetCaptureInfoReply{CaptureStatus: int32(a.Status), Graph: a.ID}, code
	case *hipv1.StreamUpdateCaptureDependenciesRequest:
		st, code := s.stream(q.Stream)
		if code != hip.Success {
			return nil, code
		}
		deps, ok := s.list(c, q.NumDependencies)
		if !ok || q.Flags > 1 {
			return nil, hip.ErrorInvalidValue
		}
		return nil, s.captures.Update(st, deps, q.Flags == uint32(hip.StreamSetCaptureDependencies))
	}
	return nil, hip.ErrorNotSupported
}

// newStream makes a stream with the name that the client wants, 0 for one of ours.
func (s *Session) newStream(want uint64, flags uint32, priority int32) (uint64, hip.Error) {
	if want <= uint64(hip.StreamPerThread) && want != 0 || !s.streams.free(want) {
		return 0, hip.ErrorInvalidValue
	}
	h, code := s.Runtime.StreamCreateWithPriority(s.thread(), flags, priority)
	if code != hip.Success {
		return 0, code
	}
	name, ok := add(s, &s.streams, hip.HandleStream, want, stream{h, s.device})
	if !ok {
		_ = s.Runtime.StreamDestroy(s.thread(), h)
		return 0, hip.ErrorOutOfMemory
	}
	return name, hip.Success
}

// aboutStream is what needs nothing but a stream.
func (s *Session) aboutStream(c *call, name uint64) (any, hip.Error) {
	st, code := s.stream(name)
	if code != hip.Success {
		return nil, code
	}
	t := s.thread()
	switch c.h.Op {
	case hipv1.OpStreamDestroy:
		if _, ok := s.streams[name]; !ok { // what a device has by itself
			return nil, hip.HandleStream.Wrong()
		}
		s.captures.ForgetStream(st)
		code := s.Runtime.StreamDestroy(t, st)
		drop(s, s.streams, hip.HandleStream, name)
		return nil, code
	case hipv1.OpStreamSynchronize, hipv1.OpStreamQuery:
		if s.captures.Active() {
			if code := s.captures.RefuseWaiting(t, st); code != hip.Success {
				return nil, code
			}
		}
		if c.h.Op == hipv1.OpStreamQuery {
			return nil, s.Runtime.StreamQuery(t, st)
		}
		code := s.Runtime.StreamSynchronize(t, st)
		s.settle(s.device)
		return nil, code
	case hipv1.OpStreamGetFlags:
		f, code := s.Runtime.StreamGetFlags(t, st)
		return &hipv1.StreamGetFlagsReply{Flags: f}, code
	case hipv1.OpStreamGetPriority:
		p, code := s.Runtime.StreamGetPriority(t, st)
		return &hipv1.StreamGetPriorityReply{Priority: p}, code
	}
	return nil, hip.ErrorNotSupported
}

// record makes an operation a node if its stream captures, and waits for room to queue it if not.
func (s *Session) record(st hip.Stream, p graph.Params) (done bool, code hip.Error) {
	if s.captures.Active() {
		if !s.Memory.Take(s.GraphCost) {
			return true, hip.ErrorOutOfMemory
		}
		s.nodes++
		done, code = s.captures.Record(st, p)
		s.count()
	}
	if !done {
		s.Room()
	}
	return done, code
}
