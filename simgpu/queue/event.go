package queue

import (
	"sync"
	"time"
)

// Mark is one recording of an event: a place in a stream and, once that was
// reached, the time.
type Mark struct {
	fence Fence
	place Fence // of the last task before it, also when that has ended
	mu    sync.Mutex
	at    time.Time
	now   func() time.Time
}

// Record queues a mark: a task that notes the time. It is reached even when the
// queues are aborted.
func (s *Stream) Record() *Mark {
	m := s.q.NewMark()
	if f, ok := s.begin(); ok { // nothing is before it: it is reached
		m.at, m.place = m.now(), f
		s.end()
		return m
	}
	m.Set(s.Add(Task{Always: true, Apart: true, Run: m.Now}))
	return m
}

// NewMark makes a mark whose task the caller queues: it calls Now at the moment
// that counts and Set says behind which fence that is.
func (q *Queues) NewMark() *Mark { return &Mark{now: q.now} }

// Now notes the time.
func (m *Mark) Now() {
	m.mu.Lock()
	m.at = m.now()
	m.mu.Unlock()
}

// Set says which fence passes when the mark has been reached. Before anyone
// else sees the mark.
func (m *Mark) Set(f Fence) { m.fence, m.place = f, f }

// After reports whether the mark stands behind everything that a fence stands
// for in the stream it was recorded on.
func (m *Mark) After(f Fence) bool { return f.s != nil && m.place.s == f.s && m.place.seq >= f.seq }

// Fence passes when the mark has been reached.
func (m *Mark) Fence() Fence { return m.fence }

// At is the time when the mark was reached; false if it was not reached yet, or
// its task was dropped.
func (m *Mark) At() (time.Time, bool) {
	if !m.fence.Passed() {
		return time.Time{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, !m.at.IsZero()
}
