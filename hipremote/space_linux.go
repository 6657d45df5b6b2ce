package hipremote

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

// noReplace has the kernel map at an address or not at all. One older than 4.17 takes it for a hint.
const noReplace = unix.MAP_FIXED_NOREPLACE

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
