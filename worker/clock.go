package worker

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// callClock measures calls from their arrival to their reply. The request on the line is timed without a lock; those that are answered
// later are looked up.
type callClock struct {
	line  atomic.Pointer[wire.Request] // the request on the line: the same one again and again on one connection
	since int64                        // its arrival; of the line's goroutine

	mu   sync.Mutex
	kept map[*wire.Request]int64
}

// begin notes the arrival of the request on the line and returns the time.
func (c *callClock) begin(r *wire.Request) int64 {
	if c.line.Load() != r {
		c.line.Store(r)
	}
	c.since = mono.Now()
	return c.since
}

// end is how long ago r arrived.
func (c *callClock) end(r *wire.Request) time.Duration {
	now := mono.Now()
	if c.line.Load() == r { // only the line's own goroutine has it
		return time.Duration(now - c.since)
	}
	c.mu.Lock()
	t, ok := c.kept[r]
	delete(c.kept, r)
	c.mu.Unlock()
	if !ok {
		return 0
	}
	return time.Duration(now - t)
}

// retain gives a copy of r that is answered later; on the line's goroutine.
func (s *session) retain(r *wire.Request) *wire.Request {
	k := r.Retain()
	c := &s.clock
	c.mu.Lock()
	if c.kept == nil {
		c.kept = map[*wire.Request]int64{}
	}
	c.kept[k] = c.since
	c.mu.Unlock()
	return k
}
