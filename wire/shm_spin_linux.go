package wire

import (
	"runtime"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// How long a side of shared memory looks for what it waits for before it sleeps. To be woken takes 5 µs and more, of both processors, but a processor that
// looks does nobody's work, not even that of the peer. So it looks only where that has been worth it: after failures it sleeps at once for a number
// of times that doubles, and tries again with a short look.
const (
	spinLong  = 30 * time.Microsecond
	spinShort = 4 * time.Microsecond
	spinBurst = 16  // looks between two at the clock
	spinSkips = 256 // most waits without
)

// spinner remembers whether looking was worth it. It is used by one goroutine at a time.
type spinner struct {
	never bool // one processor: nobody else can do anything meanwhile
	limit time.Duration
	skip  int // waits to come that sleep at once
	skips int // how many the next failure costs
}

func newSpinner() spinner {
	return spinner{never: runtime.NumCPU() < 2 || runtime.GOMAXPROCS(0) < 2, limit: spinLong}
}

// spin looks until ready answers something, which it gives, or it is not worth it any more.
func (s *spinner) spin(t *shm, want readiness) readiness {
	if s.never {
		return 0
	}
	if s.skip > 0 {
		s.skip--
		return 0
	}
	for end := mono.Now() + int64(s.limit); ; {
		for range spinBurst {
			pause()
			if got := t.ready(want); got != 0 {
				s.limit, s.skips = spinLong, 1
				return got
			}
		}
		if mono.Now() >= end {
			break
		}
	}
	if s.limit /= 2; s.limit < spinShort {
		s.limit = spinShort
		s.skip = s.skips
		s.skips = min(2*s.skips+1, spinSkips)
	}
	return 0
}
