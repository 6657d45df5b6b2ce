package rocm

import (
	"maps"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// What the memory pools have of a device, the library says of each pool. It takes
// any handle for a pool, so it is asked of those only that are there. Of a pool
// that was destroyed it says nothing any more, but what was allocated from it
// lives on: that is counted here.

// heldPools are the program's pools. A device's own are always there.
type heldPools struct {
	mu sync.RWMutex // held while the library is asked, so that no pool ends meanwhile
	poolSet
}

// poolSet is pools by their devices, and memory of them by its address.
type poolSet struct {
	own  map[hip.MemPool]int32
	busy map[hip.Ptr]poolMemory
}

// poolMemory is memory of a program's pool.
type poolMemory struct {
	pool   hip.MemPool // null: it was destroyed
	device int32
	size   uint64
}

func (p *heldPools) add(pool hip.MemPool, device int32) {
	p.mu.Lock()
	p.own[pool] = device
	p.mu.Unlock()
}

// allocated notes memory of a pool. The devices' own pools do not end.
func (p *heldPools) allocated(ptr hip.Ptr, size uint64, pool hip.MemPool) {
	p.mu.Lock()
	if device, ok := p.own[pool]; ok {
		p.busy[ptr] = poolMemory{pool, device, size}
	}
	p.mu.Unlock()
}

// free runs what frees memory, which does not count from then on, unless it fails.
func (p *heldPools) free(ptr hip.Ptr, f func() hip.Error) hip.Error {
	return without(&p.mu, &p.busy, ptr, f)
}

// end is the end of pools, of which their memory remains: from now on the
// library is not asked about them. It returns what restore and forget need.
func (p *heldPools) end(which func(pool hip.MemPool, device int32) bool) poolSet {
	x := poolSet{map[hip.MemPool]int32{}, map[hip.Ptr]poolMemory{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	for pool, device := range p.own {
		if which(pool, device) {
			x.own[pool] = device
			delete(p.own, pool)
		}
	}
	for ptr, m := range p.busy {
		if which(m.pool, m.device) {
			x.busy[ptr] = m
			m.pool = 0
			p.busy[ptr] = m
		}
	}
	return x
}

// restore is for pools that were not ended after all.
func (p *heldPools) restore(x poolSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.own, x.own)
	for ptr, m := range x.busy {
		if _, ok := p.busy[ptr]; ok { // not freed meanwhile
			p.busy[ptr] = m
		}
	}
}

// forget is the end of what remained.
func (p *heldPools) forget(x poolSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ptr := range x.busy {
		delete(p.busy, ptr)
	}
}
