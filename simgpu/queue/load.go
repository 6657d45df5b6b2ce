package queue

import (
	"sync"
	"sync/atomic"
)

// taskSize is about what a task takes beside its Size, in bytes: with what its function holds.
const taskSize = 256

// Load is what is queued and has not ended, in bytes. Safe for concurrent use.
type Load struct {
	bytes   atomic.Int64
	ended   atomic.Uint64 // tasks
	waiters atomic.Int32
	mu      sync.Mutex
	waiting map[chan struct{}]int64 // closed once there is at most so much
}

// Bytes is how much is queued.
func (l *Load) Bytes() int64 { return l.bytes.Load() }

// Ended is how many tasks have ended.
func (l *Load) Ended() uint64 { return l.ended.Load() }

func (l *Load) add(t *Task) { l.bytes.Add(taskSize + int64(t.Size)) }

func (l *Load) done(t *Task) {
	l.ended.Add(1)
	left := l.bytes.Add(-taskSize - int64(t.Size))
	if l.waiters.Load() == 0 {
		return
	}
	l.mu.Lock()
	for c, most := range l.waiting {
		if left <= most {
			delete(l.waiting, c)
			close(c)
		}
	}
	l.mu.Unlock()
}

// Wait waits until at most so much is queued; false if stop was closed before.
func (l *Load) Wait(most int64, stop <-chan struct{}) bool {
	l.waiters.Add(1)
	defer l.waiters.Add(-1)
	c := make(chan struct{})
	l.mu.Lock()
	if l.waiting == nil {
		l.waiting = map[chan struct{}]int64{}
	}
	l.waiting[c] = most
	l.mu.Unlock()
	if l.bytes.Load() > most { // what ends from now on sees that somebody waits
		select {
		case <-c:
			return true
		case <-stop:
		}
	}
	l.mu.Lock()
	delete(l.waiting, c)
	l.mu.Unlock()
	return l.bytes.Load() <= most
}
