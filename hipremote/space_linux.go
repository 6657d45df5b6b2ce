package hipremote

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pageSize    = 4096
	granularity = pageSize // of a mapping's address
	rangeSize   = 1 << 40  // of one candidate: address space costs nothing until it is used
	wantRanges  = 4        // candidates offered at most
)

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

func mapFixed(base, size uint64, prot uintptr) error {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_FIXED_NOREPLACE
	got, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(base), uintptr(size), prot, flags, ^uintptr(0), 0)
	if errno != 0 {
		return fmt.Errorf("hipremote: reserve %#x+%#x: %w", base, size, errno)
	}
	if uint64(got) != base { // a kernel older than 4.17 takes FIXED_NOREPLACE for a hint
		unmap(uint64(got), size)
		return fmt.Errorf("hipremote: reserve %#x+%#x: %w", base, size, unix.EEXIST)
	}
	return nil
}

func unmap(base, size uint64) {
	_, _, _ = unix.Syscall(unix.SYS_MUNMAP, uintptr(base), uintptr(size), 0)
}

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
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_FIXED
	_, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(addr), uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags, ^uintptr(0), 0)
	if errno != 0 {
		return errno
	}
	preferHuge(addr, size)
	return nil
}

// hugePage is the size of a large page, and the alignment it needs.
const hugePage = 2 << 20

// preferHuge asks for large pages where a whole one fits: touching memory for the first time then takes a third of the time. Where there are none,
// it is the memory that it was.
func preferHuge(addr, size uint64) {
	first, end := (addr+hugePage-1)&^(hugePage-1), (addr+size)&^(hugePage-1)
	if first < end {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(first), uintptr(end-first), unix.MADV_HUGEPAGE)
	}
}

// decommit takes the memory of [addr, addr+size) away again and leaves the addresses reserved.
func decommit(addr, size uint64) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_FIXED
	_, _, _ = unix.Syscall6(unix.SYS_MMAP, uintptr(addr), uintptr(size), unix.PROT_NONE, flags, ^uintptr(0), 0)
}

// mapAnywhere is host memory where the kernel puts it.
func mapAnywhere(size uint64) (uint64, error) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	got, _, errno := unix.Syscall6(unix.SYS_MMAP, 0, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags, ^uintptr(0), 0)
	if errno != 0 {
		return 0, errno
	}
	preferHuge(uint64(got), size)
	return uint64(got), nil
}

// forkGuard is a page that a fork empties in the child (MADV_WIPEONFORK): one load tells whether this process made the connection.
type forkGuard struct{ mark *uint32 }

func newForkGuard() forkGuard {
	b, err := unix.Mmap(-1, 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return forkGuard{}
	}
	if unix.Madvise(b, unix.MADV_WIPEONFORK) != nil { // before Linux 4.14: a fork is not noticed
		_ = unix.Munmap(b)
		return forkGuard{}
	}
	g := forkGuard{mark: (*uint32)(unsafe.Pointer(&b[0]))}
	*g.mark = 1
	return g
}

// forked says that this process is a fork of the one that made the guard.
func (g forkGuard) forked() bool { return g.mark != nil && *g.mark == 0 }
