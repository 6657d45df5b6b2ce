package wire

import (
	"runtime"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// How long a side of shared memory looks for what it waits for before it sleeps. To be woken takes 5 µs and more, of both processors, but a processor that
// looks does nobody's work, not even that of the peer. So it looks only where that has been worth it: after failures it sleeps at once for a number
// of times that doubles, and tries again with a short look.
//
// Two that sleep are worth a short look to nobody, though, where looking would be best for both: each finds the other one asleep, and to wake it takes longer than the
// look, 50 µs on a virtual machine whose idle processors have been given back. So a client, whose request is answered by somebody, looks for longer once in
// a while. The server finds it awake then, which says that it looks, and looks for what comes next.
const (
	spinLong  = 30 * time.Microsecond
	spinShort = 4 * time.Microsecond
	spinAwake = 12 * time.Microsecond  // at least, for a peer that looks
	spinProbe = 150 * time.Microsecond // a client's, once in a while
	spinBurst = 16                     // looks between two at the clock
	spinSkips = 256                    // most waits without
)

// spinner remembers whether looking was worth it. It is used by one goroutine at a time.
type spinner struct {
	never  bool // one processor: nobody else can do anything meanwhile
	probes bool // looks for longer once in a while
	limit  time.Duration
	skip   int // waits to come that sleep at once
	skips  int // how many the next failure costs
}

func newSpinner(probes bool) spinner {
	s := spinner{never: runtime.NumCPU() < 2 || runtime.GOMAXPROCS(0) < 2, probes: probes, limit: spinLong}
	if probes {
		s.limit = spinProbe
	}
	return s
}

// next is how long to look in the wait that begins, 0 for not at all. awake is whether the peer did not sleep when something was sent to it last.
func (s *spinner) next(awake bool) time.Duration {
	switch {
	case s.never:
		return 0
	case awake:
		s.skip, s.limit = 0, max(s.limit, spinAwake)
	case s.skip > 0:
		s.skip--
		return 0
	case s.probes && s.skips == spinSkips:
		return spinProbe
	}
	return s.limit
}

// learn is told whether the look has found what it was for.
func (s *spinner) learn(found bool) {
	if found {
		s.limit, s.skips = spinLong, 1
		return
	}
	if s.limit /= 2; s.limit < spinShort {
		s.limit = spinShort
		s.skip = s.skips
		s.skips = min(2*s.skips+1, spinSkips)
	}
}

// spin looks until ready answers something, which it gives, or it is not worth it any more.
func (s *spinner) spin(t *shm, want readiness, awake bool) readiness {
	limit := s.next(awake)
	if limit == 0 {
		return 0
	}
	for end := mono.Now() + int64(limit); ; {
		for range spinBurst {
			pause()
			if got := t.ready(want); got != 0 {
				s.learn(true)
				return got
			}
		}
		if mono.Now() >= end {
			s.learn(false)
			return 0
		}
	}
}
