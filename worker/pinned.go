package worker

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// pins is pinned memory for copies of a runtime that takes no other without waiting. All that there is counts as used, whether a copy has it or not: to give
// it back waits for what the streams have to do, so it is done only to make room, and beside the line.
type pins struct {
	pin   func(n int) []byte // nil if there is no more
	unpin func(b []byte)
	idle  map[int][][]byte // by size, a power of 2
	out   map[hip.Ptr]pin
	life  int // counts resets of devices: what is older may be gone
}

// pin is one that a copy has.
type pin struct{ size, life int }

const leastPin = 4096

func newPins(rt hip.Runtime) *pins {
	return &pins{
		pin:   func(n int) []byte { return pinnedMemory(rt, n) },
		unpin: func(b []byte) { _ = rt.HostFree(hip.Thread{}, addressOf(b)) }, // the session ends with what it cannot free
		idle:  map[int][][]byte{}, out: map[hip.Ptr]pin{},
	}
}

// pinnedMemory is host memory of the runtime's, nil if there is none. A copy from or to other memory would make the line wait for its stream, which may
// itself wait for what comes next on the line.
func pinnedMemory(rt hip.Runtime, n int) []byte {
	p, code := rt.HostMalloc(hip.Thread{}, uint64(n), hip.HostMallocPortable)
	if code != hip.Success || p == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// takePinned finds or makes pinned memory, nil if there is none and no room for it. Called with the lock.
func (s *staging) takePinned(n int) []byte {
	p := s.pins
	if p == nil {
		return nil
	}
	least := max(leastPin, 1<<bits.Len(uint(max(n, 1)-1)))
	for size := least; size <= s.limit; size *= 2 {
		if list := p.idle[size]; len(list) > 0 {
			b := list[len(list)-1]
			p.idle[size] = list[:len(list)-1]
			return p.taken(b, n)
		}
	}
	if s.used+least+stagingCost > s.limit {
		s.unpinBelow(least)
		return nil
	}
	b := p.pin(least)
	if b == nil {
		return nil
	}
	s.used += least
	return p.taken(b, n)
}

func (p *pins) taken(b []byte, n int) []byte {
	p.out[addressOf(b)] = pin{len(b), p.life}
	return b[:n]
}

// givePinned takes pinned memory back; false if b is none. Called with the lock.
func (s *staging) givePinned(b []byte) bool {
	p := s.pins
	if p == nil {
		return false
	}
	x, ok := p.out[addressOf(b)]
	if !ok {
		return false
	}
	delete(p.out, addressOf(b))
	if x.life != p.life {
		s.used -= x.size
		return true
	}
	p.idle[x.size] = append(p.idle[x.size], b[:x.size])
	return true
}

// unpinBelow gives back what is idle and too small for a copy that there is no room for. Called with the lock.
func (s *staging) unpinBelow(size int) {
	var gone [][]byte
	for n, list := range s.pins.idle {
		if n < size {
			gone = append(gone, list...)
			delete(s.pins.idle, n)
		}
	}
	if len(gone) == 0 {
		return
	}
	go func() {
		for _, b := range gone {
			s.pins.unpin(b)
			s.mu.Lock()
			s.used -= len(b)
			s.freed.Broadcast()
			s.mu.Unlock()
		}
	}()
}

// forget drops pinned memory: a device was reset, and perhaps the memory with it.
func (s *staging) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pins
	if p == nil {
		return
	}
	p.life++
	for n, list := range p.idle {
		s.used -= n * len(list)
	}
	p.idle = map[int][][]byte{}
	s.freed.Broadcast()
}
