package simgpu

import (
	"context"
	"sync"

	"github.com/rocwire/rocwire/smi"
)

// eventsKept is how many events wait for one reader before the oldest are given up.
const eventsKept = 1024

// hub hands events to all who read them.
type hub struct {
	mu      sync.Mutex
	readers map[*smi.EventQueue]struct{}
	closed  bool
}

func (h *hub) open() (*smi.EventQueue, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errSourceClosed
	}
	q := smi.NewEventQueue(eventsKept)
	if h.readers == nil {
		h.readers = map[*smi.EventQueue]struct{}{}
	}
	h.readers[q] = struct{}{}
	return q, nil
}

func (h *hub) drop(q *smi.EventQueue) {
	h.mu.Lock()
	delete(h.readers, q)
	h.mu.Unlock()
}

// push never waits.
func (h *hub) push(e smi.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for q := range h.readers {
		q.Push(e)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for q := range h.readers {
		q.Fail(errSourceClosed)
	}
}

// Events hands each what happens to the cards from now on.
func (s *Source) Events(ctx context.Context, each func(smi.Event)) error {
	q, err := s.events.open()
	if err != nil {
		return err
	}
	defer s.events.drop(q)
	for {
		list, err := q.Next(ctx, 64)
		if err != nil {
			return err
		}
		for _, e := range list {
			each(e)
		}
	}
}

// event tells of something that has happened to a card.
func (s *Source) event(index int, kind string, pid uint32, message string) {
	s.events.push(smi.Event{Time: s.clock(), Device: index, Kind: kind, PID: pid, Message: message})
}
