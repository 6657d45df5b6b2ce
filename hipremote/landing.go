package hipremote

import (
	"sync"
	"sync/atomic"
)

// landings are the pieces of host memory that asynchronous copies from the device have not reached yet. In a stream's order such a copy may
// be followed by one that reads the same memory; since bytes for the device leave when a copy is issued, that one has to wait.
type landings struct {
	n    atomic.Int64 // pieces under way, to look quickly
	mu   sync.Mutex
	down sync.Cond
	open map[*landing]struct{}
	over bool
}

type landing struct{ base, end uint64 }

func (l *landings) init() {
	l.down.L = &l.mu
	l.open = map[*landing]struct{}{}
}

// expect notes that n bytes at base are under way.
func (l *landings) expect(base, n uint64) *landing {
	x := &landing{base, base + n}
	l.n.Add(1)
	l.mu.Lock()
	l.open[x] = struct{}{}
	l.mu.Unlock()
	return x
}

// landed notes that they have arrived, or never will.
func (l *landings) landed(x *landing) {
	l.mu.Lock()
	delete(l.open, x)
	l.down.Broadcast()
	l.mu.Unlock()
	l.n.Add(-1)
}

// wait waits until nothing is under way to the n bytes at base.
func (l *landings) wait(base, n uint64) {
	if l.n.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.hit(base, base+n) && !l.over {
		l.down.Wait()
	}
}

func (l *landings) hit(base, end uint64) bool {
	for x := range l.open {
		if x.base < end && base < x.end {
			return true
		}
	}
	return false
}

// end lets everybody who waits go: the connection is lost.
func (l *landings) end() {
	l.mu.Lock()
	l.over = true
	l.down.Broadcast()
	l.mu.Unlock()
}
