package hipmulti

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// An aside is a stream of a device, which waits for no other, and an event on it: what something between workers needs while it is under way. Many may
// be at once, and none may wait for another, so each has its own.
type aside struct {
	at     place
	w      member
	t      hip.Thread
	stream hip.Stream
	event  hip.Event
	life   uint64 // of the device
}

// asides are those that nothing uses now.
type asides struct {
	mu   sync.Mutex
	free map[place][]*aside
	life map[place]uint64 // resets of a device so far
}

// aside takes one.
func (r *Runtime) aside(at place) (*aside, hip.Error) {
	s := &r.asides
	s.mu.Lock()
	if list := s.free[at]; len(list) > 0 {
		a := list[len(list)-1]
		s.free[at] = list[:len(list)-1]
		s.mu.Unlock()
		return a, hip.Success
	}
	a := &aside{at: at, w: r.workers[at.worker], t: hip.Thread{Device: at.device}, life: s.life[at]}
	s.mu.Unlock()
	var code hip.Error
	if a.stream, code = a.w.StreamCreateWithPriority(a.t, hip.StreamNonBlocking, 0); code != hip.Success {
		return nil, code
	}
	if a.event, code = a.w.EventCreateWithFlags(a.t, hip.EventDisableTiming); code != hip.Success {
		_ = a.w.StreamDestroy(a.t, a.stream) // made just now
		return nil, code
	}
	return a, hip.Success
}

// done gives it back. One of a device that was reset since is gone.
func (r *Runtime) done(a *aside) {
	s := &r.asides
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.life != s.life[a.at] {
		return
	}
	if s.free == nil {
		s.free = map[place][]*aside{}
	}
	s.free[a.at] = append(s.free[a.at], a)
}

// forget drops those of a device that is reset.
func (s *asides) forget(at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life == nil {
		s.life = map[place]uint64{}
	}
	s.life[at]++
	delete(s.free, at)
}
