package hipremote

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// Device addresses have the same value here and on the worker. So that such an address can never also be host memory, the client keeps
// the range they come from mapped without access. Nobody can know in advance which range is free in both processes: several are offered, in
// order of preference, and the worker takes the first one it can reserve too.
// These are every TiB of the upper part of the lower half of the address space but its end, where libraries and stacks are. In the lower part, 46
// bits, Go's runtime places its heap by chance, here and in the session process.
const (
	firstCandidate = 0x400000000000
	lastCandidate  = 0x700000000000
)

const (
	pageSize       = 4096
	rangeSize      = 1 << 40 // of one candidate: address space costs nothing until it is used
	smallRangeSize = 1 << 30 // below this a range is not worth its negotiation
	wantRanges     = 4       // candidates offered at most
)

// addressRange is a mapping of this process without access, [base, base+size).
type addressRange struct {
	base, size uint64
}

func (r addressRange) span() hip.Span { return hip.Span{Base: r.base, Size: r.size} }

// partOf says whether r is a part of the range o, of whole pages.
func (r addressRange) partOf(o addressRange) bool {
	return r.size <= o.size && r.base >= o.base && r.base-o.base <= o.size-r.size && r.base%pageSize == 0 && r.size%(2*pageSize) == 0
}

// without gives back what of the range is not in its part p.
func (r addressRange) without(p addressRange) {
	if p.base > r.base {
		unmap(r.base, p.base-r.base)
	}
	if end := p.base + p.size; end < r.base+r.size {
		unmap(end, r.base+r.size-end)
	}
}

// reserveRange maps [base, base+size) without access and without asking for memory. It fails where anything is mapped already.
func reserveRange(base, size uint64) error {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_FIXED_NOREPLACE
	got, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(base), uintptr(size), unix.PROT_NONE, flags, ^uintptr(0), 0)
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

// reserveCandidates maps up to wantRanges ranges of the largest size that this process may have. Under a limit of the address space (`ulimit
// -v`) it settles for one smaller range, of a quarter of what is allowed, or for none: a session works without, and every hipMalloc then
// asks the worker.
func reserveCandidates() []addressRange {
	limit := addressSpaceLeft()
	size := uint64(rangeSize)
	want := wantRanges
	if limit != 0 {
		want = 1
		for size > limit/4 {
			size /= 2
		}
	}
	for ; size >= smallRangeSize; size /= 2 {
		var got []addressRange
		for base := uint64(firstCandidate); base < lastCandidate && len(got) < want; base += rangeSize {
			if reserveRange(base, size) == nil {
				got = append(got, addressRange{base, size})
			}
		}
		if len(got) > 0 {
			return got
		}
	}
	return nil
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

// apart is where host memory lies that has the same address in the worker's process: above the ranges of device addresses and below where
// libraries and stacks are. next moves through it.
var apart struct {
	sync.Mutex
	next uint64
}

const apartEnd = 0x7d0000000000

// mapApart is host memory outside any reserved range, where most likely the worker's process has nothing either.
func mapApart(size uint64) (uint64, error) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | unix.MAP_FIXED_NOREPLACE
	apart.Lock()
	defer apart.Unlock()
	for range 64 {
		if apart.next < lastCandidate || apart.next > apartEnd || size > apartEnd-apart.next {
			apart.next = lastCandidate
		}
		base := (apart.next + alignOf(size) - 1) &^ (alignOf(size) - 1)
		apart.next = base + size + pageSize
		got, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(base), uintptr(size), unix.PROT_READ|unix.PROT_WRITE, flags, ^uintptr(0), 0)
		if errno == 0 && uint64(got) == base {
			preferHuge(base, size)
			return base, nil
		}
		if errno == 0 { // a kernel older than 4.17 takes FIXED_NOREPLACE for a hint
			unmap(uint64(got), size)
		}
	}
	return mapAnywhere(size)
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

// hostBytes is this process's memory [addr, addr+n) as a slice. The caller of the HIP function answers for it being readable.
func hostBytes(addr, n uint64) []byte {
	if n == 0 {
		return nil
	}
	p := uintptr(addr)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
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
