package rocm

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/poll"
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
	leaving // to be freed once who uses it has come so far
	freed   // nothing uses it; it may be had again as it is
	ending  // its memory is given back, or another region's
)

// placed are the regions in the reserved range.
type placed struct {
	mu      sync.Mutex
	span    hip.Span // zero: there is none
	access  [][]hip.MemAccessDesc
	regions []*region          // by address, not overlapping
	ended   uint64             // regions there have been
	waiting int                // who waits for regions that end
	stuck   func() func() bool // begins to look whether streams do not go on any more
}

func (p *placed) start(span hip.Span, access [][]hip.MemAccessDesc) {
	p.mu.Lock()
	p.span, p.access = span, access
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

// enter takes a new region's addresses, and the memory that is there if that was one just like it (again). It waits for others that are ending there.
func (p *placed) enter(x *region) (again bool, err hip.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.device < 0 || int(x.device) >= len(p.access) {
		return false, hip.ErrorInvalidDevice
	}
	if x.size == 0 || x.base%placeUnit != 0 || x.size%placeUnit != 0 || !p.span.Contains(x.base, x.size) {
		return false, hip.ErrorInvalidValue
	}
	err = hip.ErrorOutOfMemory
	p.wait(func() bool {
		i := p.at(x.base)
		if i == len(p.regions) || p.regions[i].base-x.base >= x.size && p.regions[i].base > x.base {
			p.regions = slices.Insert(p.regions, i, x)
			err = hip.Success
			return true
		}
		switch y := p.regions[i]; {
		case y.state < leaving:
			err = hip.ErrorInvalidValue
			return true
		case y.state == freed && y.base == x.base && y.size == x.size && y.device == x.device:
			x.handle, x.state, y.state = y.handle, alive, ending
			p.regions[i] = x
			again, err = true, hip.Success
			return true
		}
		return false
	})
	return again, err
}

// wait waits, with mu, until come is true, or the device does not become quiet, for which regions that were freed wait.
func (p *placed) wait(come func() bool) {
	if come() {
		return
	}
	p.waiting++
	defer func() { p.waiting-- }()
	p.mu.Unlock()
	defer p.mu.Lock()
	stuck := p.stuck()
	poll.Until(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if slices.ContainsFunc(p.regions, func(x *region) bool { return x.state == leaving || x.state == ending }) {
			stuck = p.stuck() // that goes on by itself
		}
		return come() || stuck()
	})
}

// hurry says whether anybody waits for regions that end.
func (p *placed) hurry() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting > 0
}

// is says whether a region is in that state.
func (p *placed) is(x *region, s regionState) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return x.state == s
}

// freed notes that nothing uses a region any more.
func (p *placed) freed(x *region) {
	p.mu.Lock()
	if x.state == leaving {
		x.state = freed
	}
	p.mu.Unlock()
}

// end begins to give a region's memory back; false if it is had again.
func (p *placed) end(x *region) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.state != freed {
		return false
	}
	x.state = ending
	return true
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
	p.mu.Unlock()
}

// ends is how many regions have ended.
func (p *placed) ends() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// settle waits until all that was freed has ended.
func (p *placed) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait(func() bool {
		return !slices.ContainsFunc(p.regions, func(x *region) bool { return x.state >= leaving })
	})
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

// take has the live region that begins at an address leave, for its caller to give
// back; nil for none.
func (p *placed) take(addr hip.Ptr) *region {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.at(uint64(addr)); i < len(p.regions) && p.regions[i].base == uint64(addr) && p.regions[i].state == alive {
		p.regions[i].state = leaving
		return p.regions[i]
	}
	return nil
}

// takeAll begins to give the memory of all of a device's regions back that nothing uses, or that only a program does.
func (p *placed) takeAll(device int32) (list []*region) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.regions {
		if x.device == device && (x.state == alive || x.state == freed) {
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
		if x.device == device && x.state >= leaving {
			n += x.size
		}
	}
	return n
}
