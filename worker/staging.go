package worker

import "sync"

// staging is the memory for copies to a device whose stream is busy, and for copies of a runtime whose device memory this process cannot
// reach. What is taken is bounded: whoever asks beyond that waits until some is given back, and with it the client that sends.
type staging struct {
	mu    sync.Mutex
	freed sync.Cond
	limit int
	used  int
	ended bool
	keep  [][]byte // buffers of stagingUnit bytes, to be used again
}

// stagingUnit is the largest single buffer: one message's bulk fits.
const stagingUnit = 8 << 20

func newStaging(limit int) *staging {
	s := &staging{limit: limit}
	s.freed.L = &s.mu
	return s
}

// take gives a buffer of n bytes (at most the limit), or nil when the session is over.
func (s *staging) take(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.used+n > s.limit && s.used > 0 && !s.ended {
		s.freed.Wait()
	}
	if s.ended {
		return nil
	}
	s.used += n
	if n > stagingUnit/2 && n <= stagingUnit && len(s.keep) > 0 {
		b := s.keep[len(s.keep)-1]
		s.keep = s.keep[:len(s.keep)-1]
		return b[:n]
	}
	if n > stagingUnit/2 && n <= stagingUnit {
		return make([]byte, stagingUnit)[:n]
	}
	return make([]byte, n)
}

// give takes a buffer back.
func (s *staging) give(b []byte) {
	s.mu.Lock()
	s.used -= len(b)
	if cap(b) == stagingUnit && len(s.keep) < 8 {
		s.keep = append(s.keep, b[:stagingUnit])
	}
	s.freed.Broadcast()
	s.mu.Unlock()
}

// end lets everybody who waits go.
func (s *staging) end() {
	s.mu.Lock()
	s.ended = true
	s.freed.Broadcast()
	s.mu.Unlock()
}
