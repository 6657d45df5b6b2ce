package hipremote

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// A worker over a real library has memory in units of a large page, each piece of its own physical memory, and makes one at an address when it is asked. There is
// no credit then: large allocations are whole units and one call each; small ones are parts of arenas, which this side divides without a message.

const (
	maxUnit = hiprpc.MaxUnit

	inArena    = 1 << 20 // the largest allocation that is a part of an arena
	keepArenas = 1       // empty ones of a device that are kept
)

// arena is device memory that small blocks are parts of. Its fields change under memory's mu.
type arena struct {
	base, size uint64
	device     int32
	places     *places
	live       int    // blocks
	used       uint64 // their bytes
}

// unitsOf is a size in whole units.
func (m *memory) unitsOf(n uint64) uint64 { return (n + m.unit - 1) &^ (m.unit - 1) }

// hostSize is how many bytes of addresses host memory takes, such that what a worker puts there has them for itself: in a Space any worker may have units.
func (m *memory) hostSize(n uint64) uint64 {
	if m.unit == 0 && m.shared == nil {
		return roundUp(n)
	}
	return (n + maxUnit - 1) &^ (maxUnit - 1)
}

// ours says that a block is one of which the worker knows no more than that its memory is there.
func (c *Client) ours(b *block) bool { return c.mem.unit != 0 && b.size != 0 }

// placeUnits makes a block of device memory where there is no credit.
func (c *Client) placeUnits(ct *callTime, l *link, device int32, size uint64) (*block, hip.Error) {
	if size > inArena {
		rounded := c.mem.unitsOf(size)
		base, code := c.mallocUnits(ct, l, device, rounded)
		return &block{base: base, size: rounded, want: size, device: device}, code
	}
	if b := c.mem.inArena(device, size); b != nil {
		return b, hip.Success
	}
	base, n := uint64(0), uint64(slab)
	code := hip.ErrorOutOfMemory
	for _, n = range [...]uint64{slab, c.mem.unitsOf(size)} { // the last memory of the device is not there in as large pieces
		if base, code = c.mallocUnits(ct, l, device, n); code != hip.ErrorOutOfMemory {
			break
		}
	}
	if code != hip.Success {
		return nil, code
	}
	m := &c.mem
	s := &arena{base: base, size: n, device: device, places: newPlaces(base, n, 0)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arenas[device] = append(m.arenas[device], s)
	return s.take(size), hip.Success
}

// take makes a block, nil if there is no room.
func (s *arena) take(size uint64) *block {
	rounded := roundUp(size)
	if rounded > s.size-s.used {
		return nil
	}
	base, ok := s.places.take(rounded)
	if !ok {
		return nil
	}
	s.live++
	s.used += rounded
	return &block{base: base, size: rounded, want: size, device: s.device, arena: s}
}

// put takes a block back.
func (s *arena) put(b *block) {
	s.places.put(b.base, b.size)
	s.live--
	s.used -= b.size
	if s.live == 0 {
		s.places.next = s.base // or one block less might fit
	}
}

// inArena makes a block in an arena that has room, nil if none has.
func (m *memory) inArena(device int32, size uint64) *block {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.arenas[device] {
		if b := s.take(size); b != nil {
			return b
		}
	}
	return nil
}

// mallocUnits has the worker make memory of whole units at an address of this side's choice.
func (c *Client) mallocUnits(ct *callTime, l *link, device int32, size uint64) (uint64, hip.Error) {
	base, ok := c.mem.take(size)
	if !ok {
		return 0, hip.ErrorOutOfMemory
	}
	req := hiprpc.Place{Device: device, Addr: hip.Ptr(base), Size: size}.Append(nil)
	code := c.plainCall(ct, l, hiprpc.OpMallocAt, req)
	if code == hip.ErrorOutOfMemory {
		again := c.reclaim(device) // what hipFreeAsync has freed may still be held for its stream
		if c.dropArenas(ct, l, device, 0) || again {
			code = c.plainCall(ct, l, hiprpc.OpMallocAt, req)
		}
	}
	if code != hip.Success {
		c.mem.put(base, size)
	}
	return base, code
}

// freeInArena gives back a part of an arena, once nothing uses it.
func (c *Client) freeInArena(ct *callTime, l *link, b *block, wait bool) (code hip.Error) {
	if wait {
		code = c.DeviceSynchronize(hip.Thread{Device: b.device})
	}
	m, s := &c.mem, b.arena
	m.mu.Lock()
	s.put(b)
	empty := s.live == 0
	m.mu.Unlock()
	if empty {
		c.dropArenas(ct, l, b.device, keepArenas)
	}
	return code
}

// dropArenas gives empty arenas of a device back but for some; false if there are none.
func (c *Client) dropArenas(ct *callTime, l *link, device int32, keep int) bool {
	var out []*arena
	m := &c.mem
	m.mu.Lock()
	m.arenas[device] = slices.DeleteFunc(m.arenas[device], func(s *arena) bool {
		if s.live > 0 {
			return false
		}
		if keep > 0 {
			keep--
			return false
		}
		out = append(out, s)
		return true
	})
	m.mu.Unlock()
	for _, s := range out {
		if ct.post(l, hip.OpFree, hiprpc.StreamOp{Device: device, Ptr: hip.Ptr(s.base)}.Append(nil), nil) == nil { // a lost connection has freed it
			m.put(s.base, s.size)
		}
	}
	return len(out) > 0
}

// unused is how many bytes of a device are in arenas and in no block.
func (m *memory) unused(device int32) (n uint64) {
	if m.unit == 0 || uint32(device) >= maxDevices {
		return 0
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.arenas[device] {
		n += s.size - s.used
	}
	return n
}
