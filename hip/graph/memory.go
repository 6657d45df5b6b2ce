package graph

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// allocation is memory of a node. A graph's address stays the same over all its
// launches, so the memory is there from the node on, and goes when the last
// graph that has it does.
type allocation struct {
	ptr    hip.Ptr
	size   uint64
	device int32
	owners int  // graphs and executable graphs with nodes of it
	freed  bool // a node frees it
	live   bool // the program has it: a launch has allocated it and nothing has freed it
}

// page is what graph memory is counted in.
const page = 4096

// allocate notes the memory of a node. Called with the lock.
func (x *Space) allocate(g *Graph, p *MemAlloc) *allocation {
	a := &allocation{ptr: p.P.Dptr, size: (p.P.Bytesize + page - 1) &^ (page - 1), device: p.Device, owners: 1}
	g.memory = append(g.memory, a)
	x.memory[a.ptr] = a
	return a
}

// own counts one more owner of as. Called with the lock.
func (x *Space) own(as []*allocation) []*allocation {
	for _, a := range as {
		a.owners++
	}
	return slices.Clone(as)
}

// disown counts one owner less. What nobody has any more is freed; what the
// program has is from now on the program's alone. Called with the lock.
func (x *Space) disown(as []*allocation) {
	for _, a := range as {
		if a.owners--; a.owners > 0 {
			continue
		}
		if a.live {
			continue // until it is freed, it counts
		}
		delete(x.memory, a.ptr)
		x.free(a)
	}
}

func (x *Space) free(a *allocation) {
	if x.hooks.Free != nil {
		x.later = append(x.later, func() { x.hooks.Free(a.device, a.ptr) })
	}
}

// freeing is what becomes of an address that a new node of g frees: the graph
// memory that it is, nil if it is the program's.
func (x *Space) freeing(g *Graph, p hip.Ptr) (*allocation, hip.Error) {
	a := x.memory[p]
	if a == nil {
		return nil, hip.Success
	}
	if a.freed {
		return nil, hip.ErrorInvalidValue
	}
	a.freed = true
	if !slices.Contains(g.memory, a) {
		a.owners++
		g.memory = append(g.memory, a)
	}
	return a, hip.Success
}

// Allocated says whether an address is that of a graph's memory which no node
// frees yet: what hipGraphAddMemFreeNode takes.
func (x *Space) Allocated(p hip.Ptr) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.memory[p]
	return a != nil && !a.freed
}

// Freed takes back from the program what a launch has allocated. known is false
// if p is no graph's memory; last says that it is now the caller's to free,
// because its graphs are gone.
func (x *Space) Freed(p hip.Ptr) (known, last bool, err hip.Error) {
	x.lock()
	defer x.done()
	a := x.memory[p]
	switch {
	case a == nil:
		return false, false, hip.Success
	case !a.live:
		return true, false, hip.ErrorInvalidValue
	}
	x.give(a)
	if a.owners > 0 {
		return true, false, hip.Success
	}
	delete(x.memory, p)
	return true, true, hip.Success
}

// pool is what graphs of one device have allocated, in bytes.
type pool struct{ used, high, reservedHigh uint64 }

func (x *Space) pool(device int32) *pool {
	if x.pools[device] == nil {
		x.pools[device] = &pool{}
	}
	return x.pools[device]
}

func (x *Space) take(a *allocation) {
	if a.live {
		return
	}
	a.live = true
	p := x.pool(a.device)
	p.used += a.size
	p.high, p.reservedHigh = max(p.high, p.used), max(p.reservedHigh, p.used)
}

func (x *Space) give(a *allocation) {
	if !a.live {
		return
	}
	a.live = false
	x.pool(a.device).used -= a.size
}

// launching takes note of what a launch of ops allocates and frees. What an
// earlier one left must have been freed, unless the graph was told to do that
// itself. Called with the lock.
func (x *Space) launching(ops []memoryOp, autoFree bool) hip.Error {
	for _, op := range ops {
		if op.alloc && op.memory.live {
			if !autoFree {
				return hip.ErrorInvalidValue
			}
			x.give(op.memory)
		}
	}
	for _, op := range ops {
		if op.alloc {
			x.take(op.memory)
		} else {
			x.give(op.memory)
		}
	}
	return hip.Success
}

// memoryOp is one node of memory, in the order of execution.
type memoryOp struct {
	memory *allocation
	alloc  bool
}

// MemAttribute is hipDeviceGetGraphMemAttribute. Memory that is freed counts as
// given back at once.
func (x *Space) MemAttribute(device int32, a hip.GraphMemAttributeType) (uint64, hip.Error) {
	x.lock()
	defer x.done()
	p := x.pool(device)
	switch a {
	case hip.GraphMemAttrUsedMemCurrent, hip.GraphMemAttrReservedMemCurrent:
		return p.used, hip.Success
	case hip.GraphMemAttrUsedMemHigh:
		return p.high, hip.Success
	case hip.GraphMemAttrReservedMemHigh:
		return p.reservedHigh, hip.Success
	}
	return 0, hip.ErrorInvalidValue
}

// SetMemAttribute is hipDeviceSetGraphMemAttribute: high marks can be reset.
func (x *Space) SetMemAttribute(device int32, a hip.GraphMemAttributeType, value uint64) hip.Error {
	x.lock()
	defer x.done()
	p := x.pool(device)
	switch {
	case value != 0:
	case a == hip.GraphMemAttrUsedMemHigh:
		p.high = 0
		return hip.Success
	case a == hip.GraphMemAttrReservedMemHigh:
		p.reservedHigh = 0
		return hip.Success
	}
	return hip.ErrorInvalidValue
}
