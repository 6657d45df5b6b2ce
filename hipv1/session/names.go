package session

import (
	"github.com/rocwire/rocwire/hip"
)

// table is what a client's names of one kind stand for.
type table[T any] map[uint64]T

// Objects of the tables.
type (
	stream struct {
		h      hip.Stream
		device int32
	}
	event struct {
		h      hip.Event
		device int32
	}
)

// firstName is above every number that stands for something by itself, and below all that clients give.
const firstName = 1 << 20

// maxObjects bounds the objects of one kind.
const maxObjects = 1 << 20

// add gives an object a name: the one that the client wants, or one of ours if that is 0. The object's cost is taken; false means that there is no room,
// or that the name is another object's.
func add[T any](s *Session, t *table[T], kind hip.HandleKind, want uint64, v T) (uint64, bool) {
	if *t == nil {
		*t = table[T]{}
	}
	name := want
	for name == 0 {
		s.given += 16
		if _, taken := (*t)[firstName+s.given]; !taken {
			name = firstName + s.given
		}
	}
	if _, taken := (*t)[name]; taken || len(*t) >= maxObjects || !s.Memory.Take(s.Cost(kind)) {
		return 0, false
	}
	(*t)[name] = v
	return name, true
}

// free says whether a name that a client wants can be had.
func (t table[T]) free(want uint64) bool {
	_, taken := t[want]
	return !taken || want == 0
}

// drop forgets a name, if it is one.
func drop[T any](s *Session, t table[T], kind hip.HandleKind, name uint64) {
	if _, ok := t[name]; ok {
		delete(t, name)
		s.Memory.Give(s.Cost(kind))
	}
}

// stream is what a client's stream stands for.
func (s *Session) stream(name uint64) (hip.Stream, hip.Error) {
	switch hip.Stream(name) {
	case hip.StreamNull, hip.StreamLegacy:
		return hip.StreamNull, hip.Success
	case hip.StreamPerThread:
		return s.perThread()
	}
	if x, ok := s.streams[name]; ok {
		return x.h, hip.Success
	}
	return 0, hip.HandleStream.Wrong()
}

// perThread is the stream of the client's one thread on its device.
func (s *Session) perThread() (hip.Stream, hip.Error) {
	if h, ok := s.own[s.device]; ok {
		return h, hip.Success
	}
	if !s.Memory.Take(s.Cost(hip.HandleStream)) {
		return 0, hip.ErrorOutOfMemory
	}
	h, code := s.Runtime.StreamCreateWithPriority(s.thread(), 0, 0)
	if code != hip.Success {
		s.Memory.Give(s.Cost(hip.HandleStream))
		return 0, code
	}
	s.own[s.device] = h
	return h, hip.Success
}

// event is what a client's event stands for.
func (s *Session) event(name uint64) (hip.Event, hip.Error) {
	if x, ok := s.events[name]; ok {
		return x.h, hip.Success
	}
	return 0, hip.HandleEvent.Wrong()
}

// pool is what a client's memory pool stands for.
func (s *Session) pool(name uint64) (hip.MemPool, hip.Error) {
	if p, ok := s.pools[name]; ok {
		return p, hip.Success
	}
	return 0, hip.HandleMemPool.Wrong()
}
