package queue

import (
	"sync"
	"time"
)

// Gate is what everything that touches the memory of several devices passes, so
// that it can be held up for a moment: while memory is put in another place.
type Gate struct {
	Load Load // of all the streams whose tasks pass it

	mu     sync.Mutex
	cond   sync.Cond
	inside int
	closed bool
}

// NewGate makes an open gate.
func NewGate() *Gate {
	g := &Gate{}
	g.cond.L = &g.mu
	return g
}

// Enter waits for the gate to be open and passes it; Leave must follow.
func (g *Gate) Enter() {
	g.mu.Lock()
	for g.closed {
		g.cond.Wait()
	}
	g.inside++
	g.mu.Unlock()
}

func (g *Gate) tryEnter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// Leave ends Enter.
func (g *Gate) Leave() {
	g.mu.Lock()
	if g.inside--; g.inside == 0 && g.closed {
		g.cond.Broadcast()
	}
	g.mu.Unlock()
}

// Close waits until nobody is inside and keeps it so until Open; false if that
// did not come about in time. Who is inside may wait for somebody who is not in
// yet: so it is tried for a short while again and again, and between that the
// gate is open.
func (g *Gate) Close(within time.Duration) bool {
	const try = 50 * time.Millisecond
	for end := time.Now().Add(within); ; time.Sleep(try / 10) {
		if g.close(try) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// TryClose is Close, if nobody is inside now.
func (g *Gate) TryClose() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.inside > 0 {
		return false
	}
	g.closed = true
	return true
}

func (g *Gate) close(within time.Duration) bool {
	late := false
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.closed { // by another
		g.cond.Wait()
	}
	g.closed = true
	t := time.AfterFunc(within, func() {
		g.mu.Lock()
		late = true
		g.cond.Broadcast()
		g.mu.Unlock()
	})
	defer t.Stop()
	for g.inside > 0 && !late {
		g.cond.Wait()
	}
	if g.inside == 0 {
		return true
	}
	g.closed = false
	g.cond.Broadcast()
	return false
}

// Open ends Close.
func (g *Gate) Open() {
	g.mu.Lock()
	g.closed = false
	g.cond.Broadcast()
	g.mu.Unlock()
}
