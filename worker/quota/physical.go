package quota

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// physical is memory without an address: it is held until it was released and is mapped nowhere.
type physical struct {
	have map[hip.GenericAllocation]*backing
	at   map[hip.Ptr]mapping
}

// backing is one allocation.
type backing struct {
	block
	owned    bool // it was not released
	imported bool // its size is what was mapped of it at once
	mapped   int
}

// mapping is where an allocation is mapped.
type mapping struct {
	of   hip.GenericAllocation
	size uint64
}

func (p *physical) init() {
	p.have, p.at = map[hip.GenericAllocation]*backing{}, map[hip.Ptr]mapping{}
}

// loosen gives up an allocation that was released and has no place; with the Runtime's mu.
func (p *physical) loosen(h hip.GenericAllocation, freed func(block)) {
	if b := p.have[h]; b != nil && !b.owned && b.mapped == 0 {
		delete(p.have, h)
		freed(b.block)
	}
}

// reset forgets what is on a device, and says how many mappings that were; with the Runtime's mu.
func (p *physical) reset(device int32, freed func(block)) (unmapped int) {
	for h, b := range p.have {
		if b.device == device {
			delete(p.have, h)
			freed(b.block)
		}
	}
	for a, m := range p.at {
		if p.have[m.of] == nil {
			delete(p.at, a)
			unmapped++
		}
	}
	return unmapped
}

// MemCreate implements hip.Runtime.
func (q *Runtime) MemCreate(t hip.Thread, size uint64, prop *hip.MemAllocationProp, flags uint64) (hip.GenericAllocation, hip.Error) {
	d, n := q.device(prop.Location.Id), pages(size)
	if d == nil || prop.Location.Type != hip.MemLocationTypeDevice {
		return q.Runtime.MemCreate(t, size, prop, flags)
	}
	if !q.take(d, n) {
		return 0, hip.ErrorOutOfMemory
	}
	h, code := pressed(q, d, n, func() (hip.GenericAllocation, hip.Error) { return q.Runtime.MemCreate(t, size, prop, flags) })
	if code != hip.Success {
		d.give(n)
		return h, code
	}
	q.mu.Lock()
	q.physical.have[h] = &backing{block: block{device: prop.Location.Id, size: n}, owned: true}
	q.mu.Unlock()
	return h, code
}

// MemRelease implements hip.Runtime.
func (q *Runtime) MemRelease(t hip.Thread, h hip.GenericAllocation) hip.Error {
	code := q.Runtime.MemRelease(t, h)
	if code == hip.Success {
		q.mu.Lock()
		if b := q.physical.have[h]; b != nil {
			b.owned = false
		}
		q.physical.loosen(h, q.freed)
		q.mu.Unlock()
	}
	return code
}

// MemMap implements hip.Runtime.
func (q *Runtime) MemMap(t hip.Thread, p hip.Ptr, size, offset uint64, h hip.GenericAllocation, flags uint64) hip.Error {
	q.mu.Lock()
	b := q.physical.have[h]
	more := uint64(0)
	if b != nil && b.imported && pages(size) > b.size {
		more = pages(size) - b.size
	}
	q.mu.Unlock()
	var d *device
	if more > 0 {
		if d = q.device(b.device); d != nil && !q.take(d, more) {
			return hip.ErrorOutOfMemory
		}
	}
	code := q.mapped(func() hip.Error { return q.Runtime.MemMap(t, p, size, offset, h, flags) })
	if d != nil && code != hip.Success {
		d.give(more)
	}
	if code == hip.Success {
		q.mu.Lock()
		if b := q.physical.have[h]; b != nil {
			b.mapped++
			b.size += more
		}
		if _, twice := q.physical.at[p]; twice { // the runtime has forgotten it, with a device that was reset
			q.host.Give(hostmem.Mapping)
		}
		q.physical.at[p] = mapping{h, size}
		q.mu.Unlock()
	}
	return code
}

// MemUnmap implements hip.Runtime.
func (q *Runtime) MemUnmap(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	code := q.Runtime.MemUnmap(t, p, size)
	if code != hip.Success {
		return code
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for a, m := range q.physical.at {
		if a >= p && uint64(a-p) < size {
			delete(q.physical.at, a)
			q.host.Give(hostmem.Mapping)
			if b := q.physical.have[m.of]; b != nil {
				b.mapped--
			}
			q.physical.loosen(m.of, q.freed)
		}
	}
	return code
}
