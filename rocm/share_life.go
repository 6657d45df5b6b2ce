package rocm

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// allocs are the allocations of physical memory that are mapped or were exported:
// a token ends with the memory, which lives until it is released and nowhere
// mapped.
type allocs struct {
	mu   sync.Mutex
	all  map[hip.GenericAllocation]*alloc
	maps map[hip.Ptr]hip.GenericAllocation
}

type alloc struct {
	token    *hip.IpcMemHandle // nil: it was not exported
	maps     int
	released bool
}

// of finds what is known of an allocation. mu is held.
func (x *allocs) of(h hip.GenericAllocation) *alloc {
	a := x.all[h]
	if a == nil {
		if x.all == nil {
			x.all, x.maps = map[hip.GenericAllocation]*alloc{}, map[hip.Ptr]hip.GenericAllocation{}
		}
		a = &alloc{}
		x.all[h] = a
	}
	return a
}

// settle forgets an allocation that has come to its end. mu is held.
func (r *Runtime) settle(h hip.GenericAllocation, a *alloc) {
	if a.released && a.maps == 0 {
		if a.token != nil {
			r.broker.Withdraw(hip.ShareToken(a.token.Reserved[:32]))
		}
		delete(r.allocs.all, h)
	}
}

// mapAllocation is hipMemMap.
func (r *Runtime) mapAllocation(t hip.Thread, ptr hip.Ptr, size uint64, offset uint64, handle hip.GenericAllocation, flags uint64) hip.Error {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	err := r.memMap(t, ptr, size, offset, handle, flags)
	if err == hip.Success {
		x.of(handle).maps++
		x.maps[ptr] = handle
	}
	return err
}

// unmapAllocation is hipMemUnmap. It waits for the device, and nothing else waits for it.
func (r *Runtime) unmapAllocation(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	x := &r.allocs
	x.mu.Lock()
	gone := map[hip.Ptr]hip.GenericAllocation{}
	for p, h := range x.maps {
		if p >= ptr && uint64(p-ptr) < size {
			gone[p] = h
			delete(x.maps, p)
		}
	}
	x.mu.Unlock()
	err := r.memUnmap(t, ptr, size)
	x.mu.Lock()
	defer x.mu.Unlock()
	for p, h := range gone {
		if err != hip.Success {
			x.maps[p] = h
			continue
		}
		a := x.of(h)
		a.maps--
		r.settle(h, a)
	}
	return err
}

// MemRelease is hipMemRelease.
func (r *Runtime) MemRelease(t hip.Thread, handle hip.GenericAllocation) hip.Error {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	err := r.memRelease(t, handle)
	if a := x.all[handle]; a != nil && err == hip.Success {
		a.released = true
		r.settle(handle, a)
	}
	return err
}

// exported says whether a token is of memory of this process.
func (r *Runtime) exported(token hip.ShareToken) bool {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.all {
		if a.token != nil && hip.ShareToken(a.token.Reserved[:32]) == token {
			return true
		}
	}
	return false
}
