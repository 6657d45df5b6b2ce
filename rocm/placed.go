package rocm

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// region is memory at an address of the caller's choice.
type region struct {
	base, size uint64
	device     int32
	handle     hip.GenericAllocation
	state      regionState
}

type regionState uint8

const (
	making regionState = iota // it has addresses, and no memory yet
	alive
	ending // freed; its addresses cannot be had again yet
)

// placed are the regions in the reserved range.
type placed struct {
	mu      sync.Mutex
	changed sync.Cond // a region has ended
	span    hip.Span  // zero: there is none
	access  [][]hip.MemAccessDesc
	regions []*region // by address, not overlapping
	ended   uint64    // regions there have been
}

func (p *placed) start(span hip.Span, access [][]hip.MemAccessDesc) {
	p.mu.Lock()
	p.span, p.access = span, access
	p.changed.L = &p.mu
	p.mu.Unlock()
}

func (p *placed) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.span.Size != 0
}

// at is the index of the first region that ends above addr. mu is held.
func (p *placed) at(addr uint64) int {
	i, _ := slices.BinarySearchFunc(p.regions, addr, func(x *region, a uint64) int { return cmp.Compare(x.base+x.size, a+1) })
	return i
}

// enter takes a new region's addresses. It waits for one that is ending there.
func (p *placed) enter(x *region) hip.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.device < 0 || int(x.device) >= len(p.access) {
		return hip.ErrorInvalidDevice
	}
	if x.size == 0 || x.base%placeUnit != 0 || x.size%placeUnit != 0 || !p.span.Contains(x.base, x.size) {
		return hip.ErrorInvalidValue
	}
	for {
		i := p.at(x.base)
		if i == len(p.regions) || p.regions[i].base-x.base >= x.size && p.regions[i].base > x.base {
			p.regions = slices.Insert(p.regions, i, x)
			return hip.Success
		}
		if p.regions[i].state != ending {
			return hip.ErrorInvalidValue
		}
		p.changed.Wait()
	}
}

func (p *placed) made(x *region) {
	p.mu.Lock()
	x.state = alive
	p.mu.Unlock()
}

// remove gives a region's addresses back.
func (p *placed) remove(x *region) {
	p.mu.Lock()
	p.regions = slices.DeleteFunc(p.regions, func(y *region) bool { return y == x })
	p.ended++
	p.changed.Broadcast()
	p.mu.Unlock()
}

// withRoom tries again when memory was missing and some that was being freed is
// there now, also if that was while it was tried.
func (p *placed) withRoom(try func() hip.Error) hip.Error {
	seen := p.ends()
	err := try()
	for err == hip.ErrorOutOfMemory {
		now := p.settle()
		if now == seen {
			break
		}
		seen = now
		err = try()
	}
	return err
}

// ends is how many regions have ended.
func (p *placed) ends() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// settle waits until no region is ending, and says how many have ended.
func (p *placed) settle() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for slices.ContainsFunc(p.regions, func(x *region) bool { return x.state == ending }) {
		p.changed.Wait()
	}
	return p.ended
}

// find is the live region that an address lies in, nil for none.
func (p *placed) find(addr hip.Ptr) *region {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.at(uint64(addr)); i < len(p.regions) && p.regions[i].base <= uint64(addr) && p.regions[i].state == alive {
		return p.regions[i]
	}
	return nil
}

// take ends the live region that begins at an address, for its caller to give
// back; nil for none.
func (p *placed) take(addr hip.Ptr) *region {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.at(uint64(addr)); i < len(p.regions) && p.regions[i].base == uint64(addr) && p.regions[i].state == alive {
		p.regions[i].state = ending
		return p.regions[i]
	}
	return nil
}

// takeAll does so with all of a device's.
func (p *placed) takeAll(device int32) (list []*region) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.regions {
		if x.device == device && x.state == alive {
			x.state = ending
			list = append(list, x)
		}
	}
	return list
}

// has says whether any of the n bytes at addr are of the range.
func (p *placed) has(addr hip.Ptr, n uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, end := uint64(addr), uint64(addr)+max(n, 1)
	return p.span.Size != 0 && a < p.span.Base+p.span.Size && (end > p.span.Base || end < a)
}

// ending is how many bytes of a device are about to be free.
func (p *placed) ending(device int32) (n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.regions {
		if x.device == device && x.state == ending {
			n += x.size
		}
	}
	return n
}
