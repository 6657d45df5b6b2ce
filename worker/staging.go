package worker

import (
	"math/bits"
	"sync"
)

// staging is the memory for copies to a device whose stream is busy, and for copies of a runtime whose device memory this process cannot
// reach. What is taken is bounded: whoever asks beyond that waits until some is given back, and with it the client that sends.
type staging struct {
	mu    sync.Mutex
	freed sync.Cond
	limit int
	used  int
	ended bool
	keep  [stagingClasses][][]byte // buffers to be used again, by size: stagingLeast and its doubles
	kept  int                      // their bytes

	pins *pins // memory that the runtime copies from and to without waiting; nil where that is any memory
	out  int   // buffers that are taken
}

// stagingUnit is the largest buffer that is used again: one message's bulk fits.
const stagingUnit = stagingLeast << (stagingClasses - 1)

const (
	stagingLeast   = 4 << 10
	stagingClasses = 12
	stagingKeep    = 64 << 20 // bytes that are kept to be used again
)

// stagingClass is the least size of which a buffer holds n bytes; false if there is none.
func stagingClass(n int) (int, bool) {
	c := bits.Len(uint(max(n, 1)-1) / stagingLeast)
	return c, c < stagingClasses
}

// stagingCost is what a buffer takes beside its bytes: what waits with it.
const stagingCost = 512

func newStaging(limit int) *staging {
	s := &staging{limit: limit}
	s.freed.L = &s.mu
	return s
}

// take gives a buffer of n bytes (at most the limit) for a copy of a device, or nil when the session is over.
func (s *staging) take(device int32, n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		if b := s.takePinned(device, n); b != nil {
			s.out++
			s.used += stagingCost
			return b
		}
		if s.used+n+stagingCost <= s.limit || s.out == 0 {
			s.out++
			s.used += n + stagingCost
			return s.plain(n)
		}
		s.freed.Wait()
	}
	return nil
}

// plain is ordinary memory. Called with the lock.
func (s *staging) plain(n int) []byte {
	c, ok := stagingClass(n)
	if !ok {
		return make([]byte, n)
	}
	if list := s.keep[c]; len(list) > 0 {
		b := list[len(list)-1]
		s.keep[c] = list[:len(list)-1]
		s.kept -= cap(b)
		return b[:n]
	}
	return make([]byte, n, stagingLeast<<c)
}

// give takes a buffer back.
func (s *staging) give(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.freed.Broadcast()
	s.out--
	s.used -= stagingCost
	if s.givePinned(b) {
		return
	}
	s.used -= len(b)
	if c, ok := stagingClass(cap(b)); ok && cap(b) == stagingLeast<<c && s.kept+cap(b) <= stagingKeep {
		s.keep[c] = append(s.keep[c], b)
		s.kept += cap(b)
	}
}

// end lets everybody who waits go.
func (s *staging) end() {
	s.mu.Lock()
	s.ended = true
	s.freed.Broadcast()
	s.mu.Unlock()
}
