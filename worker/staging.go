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

	// pin makes memory that the runtime copies from and to without waiting; nil where that is any memory.
	pin  func(n int) []byte
	pins map[int][][]byte // such memory that is not in use, by size: it is never given back, for that waits
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

// take gives a buffer of n bytes (at most the limit), or nil when the session is over.
func (s *staging) take(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.used+n+stagingCost > s.limit && s.used > 0 && !s.ended {
		s.freed.Wait()
	}
	if s.ended {
		return nil
	}
	s.used += n + stagingCost
	if s.pin != nil {
		return s.pinned(n)
	}
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

// pinned finds or makes pinned memory, in sizes that are powers of two. Called with the lock.
func (s *staging) pinned(n int) []byte {
	size := max(4096, 1<<bits.Len(uint(n-1)))
	if list := s.pins[size]; len(list) > 0 {
		s.pins[size] = list[:len(list)-1]
		return list[len(list)-1][:n]
	}
	b := s.pin(size)
	if b == nil {
		return make([]byte, n)
	}
	if s.pins == nil {
		s.pins = map[int][][]byte{}
	}
	if s.pins[size] == nil {
		s.pins[size] = [][]byte{}
	}
	return b[:n:size]
}

// forget drops pinned memory that is not in use: the device was reset, and perhaps the memory with it.
func (s *staging) forget() {
	s.mu.Lock()
	s.pins = nil
	s.mu.Unlock()
}

// give takes a buffer back.
func (s *staging) give(b []byte) {
	s.mu.Lock()
	s.used -= len(b) + stagingCost
	if size := cap(b); s.pin != nil && s.pins[size] != nil {
		s.pins[size] = append(s.pins[size], b[:size])
		s.freed.Broadcast()
		s.mu.Unlock()
		return
	}
	if c, ok := stagingClass(cap(b)); ok && cap(b) == stagingLeast<<c && s.kept+cap(b) <= stagingKeep {
		s.keep[c] = append(s.keep[c], b)
		s.kept += cap(b)
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
