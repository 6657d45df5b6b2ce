package smi

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// EventQueue holds events between a source that must not wait and a reader that may
// be slow. When it is full the oldest event makes room, and the reader is told how
// many it missed by an EventMissed in their place.
type EventQueue struct {
	mu     sync.Mutex
	events []Event
	limit  int
	missed uint64
	since  time.Time // of the first one missed
	err    error     // why no more will come
	wake   chan struct{}
}

// NewEventQueue returns a queue for limit events; one at least.
func NewEventQueue(limit int) *EventQueue {
	return &EventQueue{limit: max(limit, 1), wake: make(chan struct{}, 1)}
}

// Push adds an event. It never waits.
func (q *EventQueue) Push(e Event) {
	q.mu.Lock()
	if q.err == nil {
		if len(q.events) == q.limit {
			q.drop(q.events[0])
			copy(q.events, q.events[1:])
			q.events = q.events[:q.limit-1]
		}
		q.events = append(q.events, e)
	}
	q.mu.Unlock()
	q.signal()
}

// drop counts an event as missed; one that says that others were stands for those.
func (q *EventQueue) drop(e Event) {
	if q.missed == 0 {
		q.since = e.Time
	}
	if e.Kind == EventMissed {
		q.missed += max(e.Count, 1)
	} else {
		q.missed++
	}
}

// Fail makes Next answer err once the events that are there have been read.
func (q *EventQueue) Fail(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.mu.Unlock()
	q.signal()
}

func (q *EventQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Next waits for events and takes at most limit of them, in order; it is for one
// reader at a time. Its error is ctx's, or that of Fail.
func (q *EventQueue) Next(ctx context.Context, limit int) ([]Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if events, err := q.take(max(limit, 1)); len(events) > 0 || err != nil {
			return events, err
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *EventQueue) take(limit int) (events []Event, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.missed > 0 {
		events = append(events, Missed(q.since, q.missed))
		q.missed = 0
	}
	n := min(len(q.events), limit-len(events))
	events = append(events, q.events[:n]...)
	q.events = append(q.events[:0], q.events[n:]...)
	if len(events) == 0 {
		err = q.err
	}
	return events, err
}

// Missed is the event that stands for n others that were lost, the first of them at
// that time; n = 0 means that nobody knows how many.
func Missed(at time.Time, n uint64) Event {
	e := Event{Time: at, Device: NoCard, Kind: EventMissed, Count: n, Message: "events may have been lost"}
	switch {
	case n == 1:
		e.Message = "one event was lost"
	case n > 1:
		e.Message = fmt.Sprintf("%d events were lost", n)
	}
	return e
}
