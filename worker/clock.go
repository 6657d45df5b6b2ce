package worker

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/wire"
)

// callClock measures calls from their arrival to their reply. The request on the line is timed without a lock; those that are answered
// later are looked up.
type callClock struct {
	since time.Time // arrival of the request on the line

	mu   sync.Mutex
	kept map[*wire.Request]time.Time
}

// begin notes the arrival of the request on the line and returns the time in Unix nanoseconds.
func (c *callClock) begin() int64 {
	c.since = time.Now()
	return c.since.UnixNano()
}

// end is how long ago r arrived.
func (c *callClock) end(r *wire.Request) time.Duration {
	c.mu.Lock()
	t, ok := c.kept[r]
	delete(c.kept, r)
	c.mu.Unlock()
	if !ok { // only the line's own goroutine comes here, with the line's request
		t = c.since
	}
	return time.Since(t)
}

// retain gives a copy of r that is answered later; on the line's goroutine.
func (s *session) retain(r *wire.Request) *wire.Request {
	k := r.Retain()
	c := &s.clock
	c.mu.Lock()
	if c.kept == nil {
		c.kept = map[*wire.Request]time.Time{}
	}
	c.kept[k] = c.since
	c.mu.Unlock()
	return k
}
