package rpcstats

import (
	"sync"
	"sync/atomic"
	"time"
)

// keepSlow is how many calls a Slowest keeps between two reports.
const keepSlow = 8

// Slowest keeps the calls that took longest since it was last asked. The zero value
// is ready. All methods may be called from any goroutine.
type Slowest struct {
	floor atomic.Int64 // what is not above it is not kept

	mu    sync.Mutex
	n     int
	calls [keepSlow]kept
}

type kept struct {
	began int64
	Slow
}

// Wants reports whether a call of that duration would be kept now; Add need not be
// called for one that would not.
func (s *Slowest) Wants(d time.Duration) bool { return int64(d) > s.floor.Load() }

// Add keeps a call that began at a moment of the clock that Take is asked by, unless
// it is faster than all that are kept.
func (s *Slowest) Add(began int64, c Slow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.n
	if s.n == keepSlow {
		if at = s.fastest(); c.Total <= s.calls[at].Total {
			return
		}
	} else {
		s.n++
	}
	s.calls[at] = kept{began, c}
	if s.n == keepSlow {
		s.floor.Store(int64(s.calls[s.fastest()].Total))
	}
}

func (s *Slowest) fastest() int {
	at := 0
	for i := range s.calls[:s.n] {
		if s.calls[i].Total < s.calls[at].Total {
			at = i
		}
	}
	return at
}

// Take returns what was kept, with its age at now, and starts again.
func (s *Slowest) Take(now int64) []Slow {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == 0 {
		return nil
	}
	list := make([]Slow, s.n)
	for i := range list {
		list[i] = s.calls[i].Slow
		list[i].Age = time.Duration(max(0, now-s.calls[i].began))
	}
	clear(s.calls[:])
	s.n = 0
	s.floor.Store(0)
	return list
}
