package vmem

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Space is a reserved range of addresses and the allocations in it. Safe for
// concurrent use.
type Space struct {
	base, size          uint64
	own, ownEnd         uint64 // where Alloc places
	virtual, virtualEnd uint64 // where Reserve places
	pages               pages

	mu     sync.RWMutex
	allocs tree // by address
	free   tree // what is not allocated
	cursor uint64
	closed bool
}

// Options of a Space.
type Options struct {
	// Own and OwnSize are the part of the range, of whole pages, in which Alloc
	// places; the rest is for AllocAt alone. No size is the whole range.
	Own, OwnSize uint64
	// VirtualPart says how much of that, at its end, is for reservations alone: one
	// in so many bytes. 0: none.
	VirtualPart uint64
	// MaxMaps limits the memory mappings that the space may cause before it
	// gives up guard pages; 0 is half of what the system allows a process.
	MaxMaps int
}

// Reserve takes [base, base+size) of the process's addresses without memory and
// without access. Errors: ErrRange, ErrReserve.
func Reserve(base, size uint64, o Options) (*Space, error) {
	if base == 0 || base%PageSize != 0 || size == 0 || size%PageSize != 0 || base+size < base || base+size > 1<<47 {
		return nil, fmt.Errorf("%w: %#x bytes at %#x", ErrRange, size, base)
	}
	if o.OwnSize == 0 {
		o.Own, o.OwnSize = base, size
	}
	if o.Own%PageSize != 0 || o.OwnSize%PageSize != 0 || o.Own < base || o.OwnSize > size || o.Own-base > size-o.OwnSize {
		return nil, fmt.Errorf("%w: %#x bytes at %#x of its own", ErrRange, o.OwnSize, o.Own)
	}
	got, err := mmap(base, size, unix.PROT_NONE, unix.MAP_FIXED_NOREPLACE)
	if err == nil && got != base { // a kernel older than MAP_FIXED_NOREPLACE takes it for a hint
		munmap(got, size)
		err = unix.EEXIST
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %#x bytes at %#x: %v", ErrReserve, size, base, err)
	}
	s := &Space{base: base, size: size, own: o.Own, ownEnd: o.Own + o.OwnSize, pages: pages{base: base, end: base + size, maxMaps: o.MaxMaps}}
	s.virtual, s.virtualEnd = s.ownEnd, s.ownEnd
	if o.VirtualPart != 0 {
		s.virtual = min((s.ownEnd-o.OwnSize/o.VirtualPart+chunkSize-1)&^(chunkSize-1), s.ownEnd) // no chunk is in both
		s.ownEnd = s.virtual
	}
	if s.pages.maxMaps == 0 {
		s.pages.maxMaps = systemMaps() / 2
	}
	s.cursor = s.own
	s.free.insert(base, size, nil)
	return s, nil
}

// ReserveAny reserves the first of several ranges, then smaller ones, that this
// process can have, at least min bytes.
func ReserveAny(min uint64, o Options) (*Space, error) {
	var last error
	for size := uint64(1) << 40; size >= min && size >= PageSize; size /= 4 {
		for base := uint64(0x1000_0000_0000); base < 0x6000_0000_0000; base += 0x0800_0000_0000 {
			s, err := Reserve(base, size, o)
			if err == nil {
				return s, nil
			}
			last = err
		}
	}
	if last == nil {
		last = fmt.Errorf("%w: no range of %#x bytes", ErrReserve, min)
	}
	return nil, last
}

// systemMaps is how many mappings a process may have.
func systemMaps() int {
	b, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n > 0 {
			return n
		}
	}
	return 65530
}

// Virtual is where reservations begin. What lies above is not for Alloc.
func (s *Space) Virtual() uint64 { return s.virtual }

// Base and Size are the reserved range.
func (s *Space) Base() uint64 { return s.base }
func (s *Space) Size() uint64 { return s.size }

// Contains reports whether the n bytes at addr lie inside the reserved range.
func (s *Space) Contains(addr, n uint64) bool {
	off := addr - s.base
	return n <= s.size && off <= s.size-n
}

// Alloc makes an allocation of size bytes at an address of its own choice. An
// address is not used again before the range has been gone through once, so
// that a stale pointer faults and does not meet a newer allocation. Error:
// ErrNoMemory.
func (s *Space) Alloc(size uint64, a Alloc) (*Alloc, error) {
	span := RoundUp(size)
	if size == 0 || size > s.size || span > s.size {
		return nil, ErrNoMemory
	}
	align := uint64(PageSize)
	if size >= LargeAlign {
		align = LargeAlign
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrNoMemory
	}
	end := s.ownEnd
	want := span
	if !s.pages.crowded() {
		want += PageSize // guard
	}
	addr, ok := s.free.fit(s.cursor, end, want, align)
	if !ok {
		addr, ok = s.free.fit(s.own, end, want, align)
	}
	if !ok && want != span {
		want = span
		addr, ok = s.free.fit(s.own, end, want, align)
	}
	if !ok {
		return nil, ErrNoMemory
	}
	a.Base, a.Size, a.span = addr, size, want
	if err := s.place(&a); err != nil {
		return nil, err
	}
	s.cursor = addr + want
	return &a, nil
}

// AllocAt makes an allocation at addr; address and size are multiples of
// PageSize. Errors: ErrRange, ErrTaken, ErrNoMemory.
func (s *Space) AllocAt(addr, size uint64, a Alloc) (*Alloc, error) {
	if addr%PageSize != 0 || size == 0 || size%PageSize != 0 || !s.Contains(addr, size) || addr+size > s.virtual && addr < s.virtualEnd {
		return nil, fmt.Errorf("%w: %#x bytes at %#x", ErrRange, size, addr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrNoMemory
	}
	if f := s.free.floor(addr); f == nil || f.end() < addr+size {
		return nil, fmt.Errorf("%w: %#x bytes at %#x", ErrTaken, size, addr)
	}
	a.Base, a.Size, a.span = addr, size, size
	if err := s.place(&a); err != nil {
		return nil, err
	}
	return &a, nil
}

// place makes the pages of a accessible and moves its span from the free ranges
// to the allocations. The span is free. mu is held.
func (s *Space) place(a *Alloc) error {
	if err := s.pages.open(a.Base, a.Pages()); err != nil {
		return fmt.Errorf("%w: %v", ErrNoMemory, err)
	}
	s.enter(a)
	return nil
}

// enter moves the span of a from the free ranges to the allocations. mu is held.
func (s *Space) enter(a *Alloc) {
	f := s.free.floor(a.Base)
	base, end := f.base, f.end()
	s.free.remove(base)
	if base < a.Base {
		s.free.insert(base, a.Base-base, nil)
	}
	if e := a.Base + a.span; e < end {
		s.free.insert(e, end-e, nil)
	}
	s.allocs.insert(a.Base, a.span, a)
}

// Free ends an allocation: its pages are given back and fault from now on. It
// reports whether a was still allocated.
func (s *Space) Free(a *Alloc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.allocs.floor(a.Base)
	if s.closed || n == nil || n.alloc != a {
		return false
	}
	s.allocs.remove(a.Base)
	switch {
	case a.Kind == Virtual:
		s.pages.shut(a.Base, a.Pages())
	case a.shared:
		s.pages.detach(a.Base, a.Pages()) // or what is dropped is the others', too
		fallthrough
	default:
		s.pages.close(a.Base, a.Pages(), &s.allocs)
	}
	base, end := a.Base, a.Base+a.span
	if f := s.free.floor(base); f != nil && f.end() == base {
		base = f.base
		s.free.remove(base)
	}
	if f := s.free.floor(end); f != nil && f.base == end {
		e := f.end()
		s.free.remove(end)
		end = e
	}
	s.free.insert(base, end-base, nil)
	return true
}

// Lookup is the allocation that addr points into, nil for none.
func (s *Space) Lookup(addr uint64) *Alloc {
	s.mu.RLock()
	n := s.allocs.floor(addr)
	s.mu.RUnlock()
	if n == nil || addr-n.base >= n.alloc.Size {
		return nil
	}
	return n.alloc
}

// Before is the last allocation that begins at or below addr, nil for none.
func (s *Space) Before(addr uint64) *Alloc {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n := s.allocs.floor(addr); n != nil {
		return n.alloc
	}
	return nil
}

// Bytes is the memory [addr, addr+n) of one allocation, false if it is not
// inside one. It is valid until that is freed; then it faults.
func (s *Space) Bytes(addr, n uint64) ([]byte, bool) {
	a := s.Lookup(addr)
	if a == nil || n > a.Size-(addr-a.Base) {
		return nil, false
	}
	return Raw(addr, n), true
}

// Each calls f for every allocation in order of address, until it returns false.
func (s *Space) Each(f func(*Alloc) bool) {
	s.mu.RLock()
	list := make([]*Alloc, 0, s.allocs.n)
	s.allocs.walk(func(n *node) bool { list = append(list, n.alloc); return true })
	s.mu.RUnlock()
	for _, a := range list {
		if !f(a) {
			return
		}
	}
}

// Len is the number of allocations.
func (s *Space) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.allocs.n
}

// Close gives the range and all memory in it back. Nothing may use it any more.
func (s *Space) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		munmap(s.base, s.size)
	}
}

// Raw is the n bytes at an address of this process that is not Go's.
func Raw(addr, n uint64) []byte {
	// The conversion through a variable says that the address is none of Go's heap.
	p := uintptr(addr)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), int(n))
}
