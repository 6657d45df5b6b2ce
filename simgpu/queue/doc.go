// Package queue orders the work of a device as HIP does: streams are queues
// whose tasks run one after the other, tasks of different streams run side by
// side, and the null stream stands between all streams that did not ask to be
// left alone.
//
// A task begins when the task before it in its stream has ended and so have
// the tasks it depends on: those an event stands for, and for the null stream
// everything that was queued before in the blocking streams, and the other way
// round. A dependency always points to a task that was queued earlier, so there
// is no cycle, and nothing waits for ever unless a task runs for ever.
//
// A stream has a goroutine only while it has work.
package queue

import (
	"sync"
	"sync/atomic"
	"time"
)

// Queues are the streams of one device. Safe for concurrent use.
type Queues struct {
	gate    *Gate      // through which tasks go
	mu      sync.Mutex // orders queueing: what is queued before what
	null    *Stream
	streams map[*Stream]struct{} // without null; a closed one until its work is done
	aborted atomic.Bool
	now     func() time.Time // what marks note
}

// New makes the queues of a device, with its null stream. The gate may be that
// of several devices; now is the clock of its marks.
func New(g *Gate, now func() time.Time) *Queues {
	q := &Queues{gate: g, now: now, streams: map[*Stream]struct{}{}}
	q.null = newStream(q, true)
	return q
}

// Null is the device's default stream.
func (q *Queues) Null() *Stream { return q.null }

// NewStream makes a stream. A blocking one takes turns with the null stream.
func (q *Queues) NewStream(blocking bool) *Stream {
	s := newStream(q, blocking)
	q.mu.Lock()
	q.streams[s] = struct{}{}
	q.mu.Unlock()
	return s
}

// Fence stands for everything queued on a stream up to some task. The zero
// Fence has passed.
type Fence struct {
	s   *Stream
	seq uint64
}

// Passed reports whether all tasks of the fence have ended.
func (f Fence) Passed() bool { return f.s == nil || f.s.done.Load() >= f.seq }

// Wait waits until the fence has passed.
func (f Fence) Wait() {
	if f.Passed() {
		return
	}
	f.s.mu.Lock()
	for f.s.done.Load() < f.seq {
		f.s.cond.Wait()
	}
	f.s.mu.Unlock()
}

// All is a fence for each stream of the device: what has been queued so far.
func (q *Queues) All() []Fence { return q.fences(func(*Stream) bool { return true }) }

// Idle reports whether All is empty.
func (q *Queues) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.null.pending() {
		return false
	}
	for s := range q.streams {
		if s.pending() {
			return false
		}
	}
	return true
}

// Blocking is All without the streams that do not take turns with the null
// stream.
func (q *Queues) Blocking() []Fence { return q.fences(func(s *Stream) bool { return s.blocking }) }

func (q *Queues) fences(which func(*Stream) bool) []Fence {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.null.pendingFence(nil)
	for s := range q.streams {
		if which(s) {
			list = s.pendingFence(list)
		}
	}
	return list
}

// WaitAll waits for several fences.
func WaitAll(list []Fence) {
	for _, f := range list {
		f.Wait()
	}
}

// Abort makes the device's queues drop what has not begun. Tasks that must run
// nevertheless (Task.Always) still do. Fences pass as the queues run empty.
func (q *Queues) Abort() { q.aborted.Store(true) }

// Resume ends Abort.
func (q *Queues) Resume() { q.aborted.Store(false) }
