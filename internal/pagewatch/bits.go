package pagewatch

import "math/bits"

// set is a set of page numbers that knows how many it has.
type set struct {
	words []uint64
	n     int
}

func newSet(pages int) set { return set{words: make([]uint64, (pages+63)/64)} }

func (s *set) has(i int) bool { return s.words[i/64]>>(i%64)&1 != 0 }

func (s *set) add(i int) {
	if w := &s.words[i/64]; *w>>(i%64)&1 == 0 {
		*w |= 1 << (i % 64)
		s.n++
	}
}

func (s *set) remove(i int) {
	if w := &s.words[i/64]; *w>>(i%64)&1 != 0 {
		*w &^= 1 << (i % 64)
		s.n--
	}
}

// union adds all of o.
func (s *set) union(o *set) {
	if o.n == 0 {
		return
	}
	for i, w := range o.words {
		s.n += bits.OnesCount64(w &^ s.words[i])
		s.words[i] |= w
	}
}

// next is the first number from i on that is there, -1 if none is.
func (s *set) next(i int) int {
	if s.n == 0 {
		return -1
	}
	for k := i / 64; k < len(s.words); k++ {
		w := s.words[k]
		if k == i/64 {
			w &= ^uint64(0) << (i % 64)
		}
		if w != 0 {
			return k*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

func (s *set) clear() {
	if s.n != 0 {
		clear(s.words)
		s.n = 0
	}
}
