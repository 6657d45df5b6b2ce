package rpctrace

import (
	"sync"
	"time"
)

// Budget lets so many spans through in a second, and as many at once. The zero value is
// full. Its methods may be called from any goroutine.
type Budget struct {
	// Batches: spans arrive some seconds' worth at a time, from somebody who should keep
	// to a budget himself. Twice MaxRate is let through then, otherwise MaxRate.
	Batches bool

	mu      sync.Mutex
	spent   float64 // spans, of a second's worth
	at      int64
	dropped uint64
}

// Take asks for one span at a moment of any clock that counts nanoseconds; one that is
// refused is counted.
func (b *Budget) Take(now int64) bool {
	rate := float64(MaxRate)
	if b.Batches {
		rate *= 2
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := now - b.at; d > 0 {
		b.spent = max(0, b.spent-float64(d)/float64(time.Second)*rate)
		b.at = now
	}
	if b.spent > rate-1 {
		b.dropped++
		return false
	}
	b.spent++
	return true
}

// Dropped is how many spans were refused since it was last asked.
func (b *Budget) Dropped() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.dropped
	b.dropped = 0
	return n
}
