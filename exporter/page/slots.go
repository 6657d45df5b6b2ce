package page

import (
	"runtime"
	"unsafe"
)

// slots gives out memory for the figures of rings, all of one length. It is outside of
// the collector's heap, where it would cost twice: the collector lets a heap grow to
// double of what lives in it, and what an hour holds lives for an hour.
//
// A slot that was given back must not be used any more. The memory is returned to the
// system together with the slots themselves.
type slots struct {
	steps int
	free  [][]float32
	maps  *mappings
}

// mappings are kept apart from slots, so that a cleanup of those can refer to them.
type mappings struct{ list [][]byte }

// slotsPerMap is how many a mapping has: few enough to be filled soon, many enough for
// mappings to be few.
const slotsPerMap = 64

func newSlots(steps int) *slots {
	s := &slots{steps: steps, maps: &mappings{}}
	runtime.AddCleanup(s, func(m *mappings) {
		for _, b := range m.list {
			unmap(b)
		}
	}, s.maps)
	return s
}

// take gives a slot whose figures are those of its last use, if it had one. Where the
// system has no memory to map, it comes from the heap.
func (s *slots) take() []float32 {
	if len(s.free) == 0 {
		b, err := mapped(4 * s.steps * slotsPerMap)
		if err != nil {
			return make([]float32, s.steps)
		}
		s.maps.list = append(s.maps.list, b)
		all := unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), s.steps*slotsPerMap)
		for i := range slotsPerMap {
			s.free = append(s.free, all[i*s.steps:(i+1)*s.steps:(i+1)*s.steps])
		}
	}
	last := len(s.free) - 1
	slot := s.free[last]
	s.free = s.free[:last]
	return slot
}

func (s *slots) give(slot []float32) { s.free = append(s.free, slot) }
