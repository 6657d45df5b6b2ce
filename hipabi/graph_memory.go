package hipabi

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// allocation is memory that hipMallocAsync gave to a capture. A graph's address
// stays the same over all its launches, so the memory is there from the capture
// on, and goes when the last graph that has it does. Guarded by the table's lock.
type allocation struct {
	ptr    hip.Ptr
	device int32
	owners int  // graphs and executable graphs
	freed  bool // a node of the graph frees it
	live   bool // the program has it: a launch has allocated it and nothing has freed it
}

// allocate gives g memory.
func (x *graphTable) allocate(g *graph, t hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	p, err := bare().Malloc(t, size)
	if err != hip.Success || p == 0 {
		return p, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &allocation{ptr: p, device: t.Device, owners: 1}
	g.memory = append(g.memory, a)
	x.memory[p] = a
	return p, hip.Success
}

// own counts one more owner of as. Called with the lock.
func (x *graphTable) own(as []*allocation) []*allocation {
	for _, a := range as {
		a.owners++
	}
	return slices.Clone(as)
}

// disown counts one owner less; what nobody has any more is to be freed. What
// the program has is from now on the program's alone. Called with the lock.
func (x *graphTable) disown(as []*allocation) (unused []*allocation) {
	for _, a := range as {
		if a.owners--; a.owners > 0 {
			continue
		}
		delete(x.memory, a.ptr)
		if !a.live {
			unused = append(unused, a)
		}
	}
	return unused
}

func freeAll(as []*allocation) {
	for _, a := range as {
		bare().Free(hip.Thread{Device: a.device}, a.ptr)
	}
	if len(as) > 0 {
		captures.watch()
	}
}

// launching takes note that a launch allocates as. What an earlier one left
// must have been freed, unless the graph was told to do that itself.
func (x *graphTable) launching(as []*allocation, autoFree bool) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range as {
		if a.live && !a.freed && !autoFree {
			return hip.ErrorInvalidValue
		}
	}
	for _, a := range as {
		a.live = !a.freed
	}
	return hip.Success
}

// freeing is what becomes of an address that a node of g frees: ours is true
// if g allocates it.
func (x *graphTable) freeing(g *graph, p hip.Ptr) (ours bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range g.memory {
		if a.ptr == p {
			if a.freed {
				return true, hip.ErrorInvalidValue
			}
			a.freed = true
			return true, hip.Success
		}
	}
	return false, hip.Success
}

// freed takes back from the program what a launch has allocated: known is false
// if p is no graph's.
func (x *graphTable) freed(p hip.Ptr) (known bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.memory[p]
	if a == nil {
		return false, hip.Success
	}
	if !a.live {
		return true, hip.ErrorInvalidValue
	}
	a.live = false
	return true, hip.Success
}

func (x *graphTable) hasMemory() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.memory) > 0
}

// allocate gives the capture on s memory. It is the Runtime's to allocate if
// done is false.
func (x *captureTable) allocate(t hip.Thread, size uint64, s hip.Stream) (done bool, p hip.Ptr, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, 0, err
	}
	p, err = graphs.allocate(b.capture.graph, hip.Thread{Device: b.device, ID: t.ID}, size)
	if err == hip.Success {
		b.append(hip.GraphNodeTypeMemAlloc, nil)
	}
	return true, p, err
}

// free has the capture on s free p: what it has allocated itself needs no work,
// what it has not is freed by the first launch. It is the Runtime's to free if
// done is false.
func (x *captureTable) free(p hip.Ptr, s hip.Stream) (done bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, err
	}
	ours, err := graphs.freeing(b.capture.graph, p)
	if err != hip.Success {
		return true, err
	}
	var run operation
	if !ours {
		run = func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error { return r.FreeAsync(t, p, s) }
	}
	b.append(hip.GraphNodeTypeMemFree, run)
	return true, hip.Success
}
