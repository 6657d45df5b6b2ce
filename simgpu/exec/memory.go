package exec

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Memory is the device's address range: one reserved mapping of this process,
// so that a device pointer is a real address. Pages inside it that are not
// mapped (not allocated) may be touched by a kernel: that is a MemoryFault.
type Memory struct {
	Base uint64 // address of the first byte
	Size uint64 // bytes
	base unsafe.Pointer

	windows atomic.Pointer[windows]
}

// maxAccess is the largest single access of a lane in bytes; a Memory is at
// least as large so that Size-n never wraps.
const maxAccess = 64

// NewMemory describes the mapping [base, base+size) of this process. The caller
// keeps the reservation for as long as a Program uses it.
func NewMemory(base, size uint64) (*Memory, error) {
	if base == 0 || size < maxAccess || base+size < base || base+size > scratchWindow {
		return nil, fmt.Errorf("exec: device memory of %#x bytes at %#x is not usable", size, base)
	}
	// The conversion through a variable says that this is an address outside Go's heap.
	p := uintptr(base)
	return &Memory{Base: base, Size: size, base: *(*unsafe.Pointer)(unsafe.Pointer(&p))}, nil
}

// View is the same memory with windows of its own, none yet: as another device
// sees it.
func (m *Memory) View() *Memory { return &Memory{Base: m.Base, Size: m.Size, base: m.base} }

// Contains reports whether the n bytes at addr lie inside the range, or inside
// a window.
func (m *Memory) Contains(addr, n uint64) bool {
	off := addr - m.Base
	return n <= m.Size && off <= m.Size-n || m.inWindow(addr, n)
}

// at returns the host pointer of a device address; the caller has checked it.
func (m *Memory) at(addr uint64) unsafe.Pointer {
	return unsafe.Add(m.base, uintptr(addr-m.Base))
}

// Address windows that are not device memory, as on the real devices: flat
// addresses in the first two are LDS and scratch. The third is where buffer
// descriptors of scratch point on targets without architected flat scratch; bit
// 47 is set, so no process address can be mistaken for it.
const (
	sharedBase    uint64 = 1 << 48
	privateBase   uint64 = 2 << 48
	scratchWindow uint64 = 1 << 47
)
