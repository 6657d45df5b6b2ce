package vmem

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// chunkSize is the unit in which pages are opened once the process has many
// mappings.
const chunkSize = 64 << 20

// pages makes ranges accessible and inaccessible. Each allocation that lies
// alone costs the process two of a limited number of mappings. When that number
// comes near its limit, whole chunks are opened instead and closed when nothing
// is left in them: stray accesses inside a chunk are then not noticed, but no
// allocation fails for lack of mappings. The caller serialises.
type pages struct {
	base, end uint64 // the reservation: nothing outside is touched
	maxMaps   int
	ranges    int                 // open ranges outside coarse chunks
	coarse    map[uint64]struct{} // chunks, by address, that are open as a whole
}

func (p *pages) crowded() bool { return 2*p.ranges >= p.maxMaps }

// open makes [addr, addr+size) readable and writable.
func (p *pages) open(addr, size uint64) error {
	if !p.crowded() {
		err := mprotect(addr, size, unix.PROT_READ|unix.PROT_WRITE)
		if err == nil {
			p.ranges++
			if size >= LargeAlign && addr%LargeAlign == 0 && len(p.coarse) == 0 {
				// Only a matter of speed: fewer page faults.
				_ = madvise(addr, size&^(LargeAlign-1), unix.MADV_HUGEPAGE)
			}
			return nil
		}
		if err != unix.ENOMEM {
			return err
		}
	}
	if p.coarse == nil {
		p.coarse = map[uint64]struct{}{}
	}
	for c := addr &^ (chunkSize - 1); c < addr+size; c += chunkSize {
		if _, ok := p.coarse[c]; ok {
			continue
		}
		lo, hi := p.clip(c)
		if err := mprotect(lo, hi-lo, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return err
		}
		p.coarse[c] = struct{}{}
	}
	p.ranges++ // so that crowded stays true while these allocations live
	return nil
}

// clip is the part of the chunk at c that belongs to the reservation.
func (p *pages) clip(c uint64) (lo, hi uint64) {
	return max(c, p.base), min(c+chunkSize, p.end)
}

// close drops the contents of [addr, addr+size) and makes it inaccessible, as
// far as no coarse chunk with other allocations keeps it open. live are the
// allocations that remain.
func (p *pages) close(addr, size uint64, live *tree) {
	p.ranges--
	if len(p.coarse) == 0 {
		p.shut(addr, size)
		return
	}
	end := addr + size
	for lo := addr; lo < end; {
		c := lo &^ (chunkSize - 1)
		hi := min(end, c+chunkSize)
		if _, ok := p.coarse[c]; !ok {
			p.shut(lo, hi-lo)
		} else if n := live.floor(c + chunkSize - 1); n != nil && n.end() > c {
			_ = madvise(lo, hi-lo, unix.MADV_DONTNEED)
		} else {
			delete(p.coarse, c)
			cl, ch := p.clip(c)
			p.shut(cl, ch-cl)
		}
		lo = hi
	}
}

// shut maps the range anew: unlike a change of protection this gives the page
// tables back too. With no mapping left to split, dropping the contents has to do.
func (p *pages) shut(addr, size uint64) {
	if _, err := mmap(addr, size, unix.PROT_NONE, unix.MAP_FIXED); err != nil {
		_ = madvise(addr, size, unix.MADV_DONTNEED)
	}
}

// The system calls on bare addresses: package unix takes slices, and a slice of
// a terabyte nobody may touch is not a thing to hand around.

func mmap(addr, size uint64, prot, flags uintptr) (uint64, error) {
	flags |= unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	r, _, e := syscall.Syscall6(syscall.SYS_MMAP, uintptr(addr), uintptr(size), prot, flags, ^uintptr(0), 0)
	if e != 0 {
		return 0, e
	}
	return uint64(r), nil
}

func munmap(addr, size uint64) {
	_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(addr), uintptr(size), 0)
}

func mprotect(addr, size uint64, prot uintptr) error {
	if _, _, e := syscall.Syscall(syscall.SYS_MPROTECT, uintptr(addr), uintptr(size), prot); e != 0 {
		return e
	}
	return nil
}

func madvise(addr, size uint64, advice uintptr) error {
	if _, _, e := syscall.Syscall(syscall.SYS_MADVISE, uintptr(addr), uintptr(size), advice); e != 0 {
		return e
	}
	return nil
}
