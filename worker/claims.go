package worker

import (
	"cmp"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// claims are addresses of this process that stand for memory of the client's program at the very same addresses. The client names them, so whatever
// else is mapped here stays as it is: what cannot be had is refused, and the client finds another way.
//
// Pages that are given up stay mapped without access for a while. A copy that was ordered before may come late, and must not find memory that is by
// now something else of this process.
type claims struct {
	live []extent // they do not overlap, but may share pages
	held []extent // all pages that are mapped for them, or were; never adjacent
}

type extent struct{ base, size uint64 }

func (e extent) end() uint64 { return e.base + e.size }

const (
	maxClaims = 16384   // live ones, and mappings that are held
	maxClaim  = 1 << 40 // bytes of one
	lowest    = 1 << 16 // address: a null pointer must fault
	addresses = 1 << 47 // of a process
)

// search is where the extent that begins at base is in a list, or belongs.
func search(list []extent, base uint64) (int, bool) {
	return slices.BinarySearchFunc(list, base, func(e extent, b uint64) int { return cmp.Compare(e.base, b) })
}

// take makes [base, base+size) memory of this process, all zero; false if it cannot be had.
func (c *claims) take(base, size uint64) bool {
	if size == 0 || size > maxClaim || base < lowest || base >= addresses || size > addresses-base || len(c.live) >= maxClaims {
		return false
	}
	c.prune()
	i, found := search(c.live, base)
	if found || i > 0 && c.live[i-1].end() > base || i < len(c.live) && c.live[i].base < base+size {
		return false
	}
	e := extent{base, size}
	if own, ok := c.alone(e, i, i); ok && !c.hold(own) {
		return false
	}
	if !c.renew(e, i, i, unix.PROT_READ|unix.PROT_WRITE) {
		return false
	}
	c.live = slices.Insert(c.live, i, e)
	return true
}

// find is the claim that begins at base.
func (c *claims) find(base uint64) (extent, bool) {
	if i, ok := search(c.live, base); ok {
		return c.live[i], true
	}
	return extent{}, false
}

// clear makes the memory of a claim zero again.
func (c *claims) clear(base uint64) bool {
	i, ok := search(c.live, base)
	return ok && c.renew(c.live[i], i, i+1, unix.PROT_READ|unix.PROT_WRITE)
}

// give ends the claim that begins at base.
func (c *claims) give(base uint64) {
	i, ok := search(c.live, base)
	if !ok {
		return
	}
	e := c.live[i]
	c.live = slices.Delete(c.live, i, i+1)
	c.renew(e, i, i, unix.PROT_NONE)
}

// alone are the pages of e that are no other claim's: those before live[before] and from live[after] on are the others.
func (c *claims) alone(e extent, before, after int) (own extent, ok bool) {
	from, to := down(e.base), up(e.end())
	if before > 0 {
		from = max(from, up(c.live[before-1].end()))
	}
	if after < len(c.live) {
		to = min(to, down(c.live[after].base))
	}
	if from >= to {
		return extent{from, 0}, false
	}
	return extent{from, to - from}, true
}

// renew gives the pages that are e's alone new memory, and clears what e has of others.
func (c *claims) renew(e extent, before, after, prot int) bool {
	own, ok := c.alone(e, before, after)
	if !ok {
		clear(bytesAt(e.base, e.size))
		return true
	}
	if mapFixed(own, prot, unix.MAP_FIXED) != nil {
		return false
	}
	if e.base < own.base {
		clear(bytesAt(e.base, own.base-e.base))
	}
	if e.end() > own.end() {
		clear(bytesAt(own.end(), e.end()-own.end()))
	}
	return true
}

// hold maps those pages of e that are not mapped for claims; false if something else is there.
func (c *claims) hold(e extent) bool {
	for at := e.base; at < e.end(); {
		i, found := search(c.held, at)
		if !found {
			i--
		}
		if i >= 0 && c.held[i].end() > at {
			at = c.held[i].end()
			continue
		}
		to := e.end()
		if i+1 < len(c.held) {
			to = min(to, c.held[i+1].base)
		}
		gap := extent{at, to - at}
		if mapFixed(gap, unix.PROT_NONE, unix.MAP_FIXED_NOREPLACE) != nil {
			return false // what was mapped so far is held, and of no harm
		}
		c.join(gap)
		at = to
	}
	return true
}

// join adds pages to those that are held.
func (c *claims) join(e extent) {
	i, _ := search(c.held, e.base)
	if i < len(c.held) && c.held[i].base == e.end() {
		e.size += c.held[i].size
		c.held = slices.Delete(c.held, i, i+1)
	}
	if i > 0 && c.held[i-1].end() == e.base {
		c.held[i-1].size += e.size
		return
	}
	c.held = slices.Insert(c.held, i, e)
}

// prune unmaps what is held for nothing any more, once it is a lot.
func (c *claims) prune() {
	if len(c.held) < maxClaims {
		return
	}
	c.held = slices.DeleteFunc(c.held, func(e extent) bool {
		if i, found := search(c.live, e.base); found || i > 0 && c.live[i-1].end() > e.base || i < len(c.live) && c.live[i].base < e.end() {
			return false
		}
		_, _, _ = unix.Syscall(unix.SYS_MUNMAP, uintptr(e.base), uintptr(e.size), 0)
		return true
	})
}

func down(a uint64) uint64 { return a &^ (hip.Granule - 1) }
func up(a uint64) uint64   { return (a + hip.Granule - 1) &^ (hip.Granule - 1) }

// mapFixed maps new memory at e.
func mapFixed(e extent, prot, how int) error {
	flags := unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE | how
	got, _, errno := unix.Syscall6(unix.SYS_MMAP, uintptr(e.base), uintptr(e.size), uintptr(prot), uintptr(flags), ^uintptr(0), 0)
	switch {
	case errno != 0:
		return errno
	case uint64(got) != e.base: // a kernel older than 4.17 takes FIXED_NOREPLACE for a hint
		_, _, _ = unix.Syscall(unix.SYS_MUNMAP, got, uintptr(e.size), 0)
		return unix.EEXIST
	}
	return nil
}

// bytesAt is memory of this process that is not Go's.
func bytesAt(addr, n uint64) []byte {
	p := uintptr(addr)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), int(n))
}
