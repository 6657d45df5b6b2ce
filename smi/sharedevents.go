package smi

import (
	"context"
	"time"
)

// maxUnheard is how many events are kept for a listener that is slow.
const maxUnheard = 1 << 10

// broadcast is one reading of a source's events for all listeners.
type broadcast struct {
	listeners map[*EventQueue]bool
	cancel    context.CancelFunc
}

// Events implements Source. The source behind s is listened to as long as anybody
// listens here.
func (s *SharedSource) Events(ctx context.Context, each func(Event)) error {
	q, err := s.listen(ctx)
	if err != nil {
		return err
	}
	defer s.leave(q)
	for {
		events, err := q.Next(ctx, maxUnheard)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := ctx.Err(); err != nil {
				return err
			}
			each(e)
		}
	}
}

// listen adds a listener.
func (s *SharedSource) listen(ctx context.Context) (*EventQueue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, Errorf(ErrUnavailable, "the source is closed")
	}
	q := NewEventQueue(maxUnheard)
	if s.events == nil {
		b := &broadcast{listeners: map[*EventQueue]bool{}}
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		b.cancel = cancel
		s.events = b
		go s.broadcast(ctx, b)
	}
	s.events.listeners[q] = true
	return q, nil
}

// leave takes a listener away, and the reading with the last one.
func (s *SharedSource) leave(q *EventQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.events
	if b == nil || !b.listeners[q] {
		return // its reading has ended
	}
	delete(b.listeners, q)
	if len(b.listeners) == 0 {
		b.cancel()
		s.events = nil
	}
}

// broadcast reads until the last listener has left or the source fails.
func (s *SharedSource) broadcast(ctx context.Context, b *broadcast) {
	defer b.cancel()
	err := s.src.Events(ctx, func(e Event) {
		switch e.Kind {
		case EventPostReset, EventLost, EventFound:
			s.forget() // the card is not what it was
		}
		if e.Time.IsZero() {
			e.Time = time.Now()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for q := range b.listeners {
			q.Push(e)
		}
	})
	if err == nil {
		err = Errorf(ErrUnavailable, "the source tells no more events")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events == b {
		s.events = nil
	}
	for q := range b.listeners {
		q.Fail(err)
	}
}
