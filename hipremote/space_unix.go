//go:build linux || darwin

package hipremote

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	granularity = pageSize // of a mapping's address
	rangeSize   = 1 << 40  // of one candidate: address space costs nothing until it is used
	wantRanges  = 4        // candidates offered at most
)

// ours is memory of this process alone that costs nothing until it is touched.
const ours = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

// place is an address as the system takes it.
func place(addr uint64) unsafe.Pointer {
	p := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// trim gives back what of the range r is not in its part p.
func trim(r, p addressRange) {
	if p.base > r.base {
		unmap(r.base, p.base-r.base)
	}
	if end := p.base + p.size; end < r.base+r.size {
		unmap(end, r.base+r.size-end)
	}
}

// reserveRange maps [base, base+size) without access and without asking for memory. It fails where anything is mapped already.
func reserveRange(base, size uint64) error {
	return mapFixed(base, size, unix.PROT_NONE)
}

// mapAt is host memory at an address where nothing is yet.
func mapAt(base, size uint64) error {
	err := mapFixed(base, size, unix.PROT_READ|unix.PROT_WRITE)
	if err == nil {
		preferHuge(base, size)
	}
	return err
}

func mapFixed(base, size uint64, prot int) error {
	got, err := unix.MmapPtr(-1, 0, place(base), uintptr(size), prot, ours|noReplace)
	if err != nil {
		return fmt.Errorf("hipremote: reserve %#x+%#x: %w", base, size, err)
	}
	if uint64(uintptr(got)) != base { // the address was a hint only, and something is there
		unmap(uint64(uintptr(got)), size)
		return fmt.Errorf("hipremote: reserve %#x+%#x: %w", base, size, unix.EEXIST)
	}
	return nil
}

func unmap(base, size uint64) { _ = unix.MunmapPtr(place(base), uintptr(size)) }

// addressSpaceLeft is the soft limit of the address space in bytes (0 = unlimited).
func addressSpaceLeft() uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || r.Cur == unix.RLIM_INFINITY {
		return 0
	}
	return r.Cur
}

// commit gives [addr, addr+size) of a reserved range zeroed memory with read and write access: host memory that has a device address.
func commit(addr, size uint64) error {
	_, err := unix.MmapPtr(-1, 0, place(addr), uintptr(size), unix.PROT_READ|unix.PROT_WRITE, ours|unix.MAP_FIXED)
	if err != nil {
		return err
	}
	preferHuge(addr, size)
	return nil
}

// decommit takes the memory of [addr, addr+size) away again and leaves the addresses reserved.
func decommit(addr, size uint64) {
	_, _ = unix.MmapPtr(-1, 0, place(addr), uintptr(size), unix.PROT_NONE, ours|unix.MAP_FIXED)
}

// mapAnywhere is host memory where the system puts it.
func mapAnywhere(size uint64) (uint64, error) {
	got, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, ours)
	if err != nil {
		return 0, err
	}
	preferHuge(uint64(uintptr(got)), size)
	return uint64(uintptr(got)), nil
}
