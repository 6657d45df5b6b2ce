package worker

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// pins is pinned memory for copies of a runtime that takes no other without waiting. All that there is counts as used, whether a copy has it or not: to give
// it back waits for what the streams have to do, so it is done only to make room, and beside the line.
//
// A copy has memory that was pinned for the device that makes it. To AMD's library pinned memory is that device's, and a copy between one's and what is mapped
// at addresses of the client's on another goes by a null stream, behind all that either device has to do.
type pins struct {
	pin   func(device int32, n int) []byte // nil if there is no more
	unpin func(device int32, b []byte)
	idle  map[pinKind][][]byte
	out   map[hip.Ptr]pin
	life  int // counts resets of devices: what is older may be gone
}

// pinKind is what pinned memory is alike in: the size is a power of 2.
type pinKind struct {
	device int32
	size   int
}

// pin is one that a copy has.
type pin struct {
	pinKind
	life int
}

const leastPin = 4096

func newPins(rt hip.Runtime) *pins {
	return &pins{
		pin: func(device int32, n int) []byte { return pinnedMemory(rt, hip.Thread{Device: device}, n) },
		unpin: func(device int32, b []byte) { // the session ends with what it cannot free
			_ = rt.HostFree(hip.Thread{Device: device}, addressOf(b))
		},
		idle: map[pinKind][][]byte{}, out: map[hip.Ptr]pin{},
	}
}

// pinnedMemory is host memory of the runtime's, nil if there is none. A copy from or to other memory would make the line wait for its stream, which may
// itself wait for what comes next on the line.
func pinnedMemory(rt hip.Runtime, t hip.Thread, n int) []byte {
	p, code := rt.HostMalloc(t, uint64(n), hip.HostMallocPortable)
	if code != hip.Success || p == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// takePinned finds or makes pinned memory, nil if there is none and no room for it. Called with the lock.
func (s *staging) takePinned(device int32, n int) []byte {
	p := s.pins
	if p == nil {
		return nil
	}
	least := pinKind{device, max(leastPin, 1<<bits.Len(uint(max(n, 1)-1)))}
	for k := least; k.size <= s.limit; k.size *= 2 {
		if list := p.idle[k]; len(list) > 0 {
			b := list[len(list)-1]
			p.idle[k] = list[:len(list)-1]
			return p.taken(k, b, n)
		}
	}
	if s.used+least.size+stagingCost > s.limit {
		s.unpinFor(least)
		return nil
	}
	b := p.pin(device, least.size)
	if b == nil {
		return nil
	}
	s.used += least.size
	return p.taken(least, b, n)
}

func (p *pins) taken(k pinKind, b []byte, n int) []byte {
	p.out[addressOf(b)] = pin{k, p.life}
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
	p.idle[x.pinKind] = append(p.idle[x.pinKind], b[:x.size])
	return true
}

// unpinFor gives back what is idle and of no use for a copy that there is no room for. Called with the lock.
func (s *staging) unpinFor(least pinKind) {
	gone := map[pinKind][][]byte{}
	for k, list := range s.pins.idle {
		if len(list) > 0 && (k.device != least.device || k.size < least.size) {
			gone[k] = list
			delete(s.pins.idle, k)
		}
	}
	if len(gone) == 0 {
		return
	}
	go func() {
		for k, list := range gone {
			for _, b := range list {
				s.pins.unpin(k.device, b)
				s.mu.Lock()
				s.used -= k.size
				s.freed.Broadcast()
				s.mu.Unlock()
			}
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
	for k, list := range p.idle {
		s.used -= k.size * len(list)
	}
	p.idle = map[pinKind][][]byte{}
	s.freed.Broadcast()
}
