//go:build linux

package hsaabi

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// allocated is what pools have given.
type allocated struct {
	mu   sync.Mutex
	live map[uint64]*allocation // by address
}

// allocation is memory of a pool.
type allocation struct {
	base, size uint64
	pool       *pool
	userData   uint64
	shared     bool     // by another process, and detached instead of freed
	allowed    []uint64 // agents that were given access
}

// hsaAMDMemoryPoolAllocate gives memory, in whole pages.
func hsaAMDMemoryPoolAllocate(h, size uint64, flags uint32, out *unsafe.Pointer) status {
	l := current.Load()
	p := l.pool(h)
	switch {
	case p == nil:
		return HSA_STATUS_ERROR_INVALID_MEMORY_POOL
	case size == 0 || size > ^uint64(0)-pageSize:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	case !p.global() || size > p.size:
		return HSA_STATUS_ERROR_INVALID_ALLOCATION
	}
	_ = flags // all memory is contiguous, executable and fine-grained
	return l.allocate(p, size, out)
}

func (l *library) allocate(p *pool, size uint64, out *unsafe.Pointer) status {
	pages := vmem.RoundUp(size)
	var addr hip.Ptr
	var e hip.Error
	switch {
	case p.card != nil:
		addr, e = l.sim.Malloc(p.card.thread(), pages)
	case len(l.cards) > 0:
		addr, e = l.sim.HostMalloc(hip.Thread{}, pages, 0)
	default:
		e = hip.ErrorOutOfMemory
	}
	if e != hip.Success {
		return statusOf(e)
	}
	l.keepAllocation(&allocation{base: uint64(addr), size: size, pool: p})
	*out = pointer(uint64(addr))
	return HSA_STATUS_SUCCESS
}

func (l *library) keepAllocation(a *allocation) {
	l.allocated.mu.Lock()
	defer l.allocated.mu.Unlock()
	if l.allocated.live == nil {
		l.allocated.live = map[uint64]*allocation{}
	}
	l.allocated.live[a.base] = a
}

// takeAllocation takes the allocation that begins at an address out, nil if there is none, or none of that kind.
func (l *library) takeAllocation(addr uint64, shared bool) *allocation {
	l.allocated.mu.Lock()
	defer l.allocated.mu.Unlock()
	a := l.allocated.live[addr]
	if a == nil || a.shared != shared {
		return nil
	}
	delete(l.allocated.live, addr)
	return a
}

// hsaMemoryAllocate gives memory of a region.
func hsaMemoryAllocate(h, size uint64, out *unsafe.Pointer) status {
	st := hsaAMDMemoryPoolAllocate(h, size, 0, out)
	if st == HSA_STATUS_ERROR_INVALID_MEMORY_POOL {
		return HSA_STATUS_ERROR_INVALID_REGION
	}
	return st
}

// hsaAMDMemoryPoolFree takes it back, without a wait for anything that executes: who
// does that may be what the kernels wait for. Nothing is not an error.
func hsaAMDMemoryPoolFree(ptr unsafe.Pointer) status {
	if ptr == nil {
		return HSA_STATUS_SUCCESS
	}
	l := current.Load()
	a := l.takeAllocation(address(ptr), false)
	if a == nil {
		return HSA_STATUS_ERROR_INVALID_ALLOCATION
	}
	return statusOf(l.sim.FreeNow(hip.Thread{}, hip.Ptr(a.base)))
}

// hsaMemoryFree is the same.
func hsaMemoryFree(ptr unsafe.Pointer) status { return hsaAMDMemoryPoolFree(ptr) }

// containing is the allocation that an address is in.
func (l *library) containing(addr uint64) *allocation {
	l.allocated.mu.Lock()
	defer l.allocated.mu.Unlock()
	for _, a := range l.allocated.live {
		if addr-a.base < a.size {
			return a
		}
	}
	return nil
}

// hsaAMDAgentsAllowAccess gives agents access to an allocation, and takes it from the others. They all have it: that the memory is one is all that is
// looked at.
func hsaAMDAgentsAllowAccess(n uint32, agents *uint64, flags *uint32, ptr unsafe.Pointer) status {
	l := current.Load()
	if n == 0 || flags != nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	list := unsafe.Slice(agents, n)
	if st := l.known(list); st != HSA_STATUS_SUCCESS {
		return st
	}
	a := l.containing(address(ptr))
	if a == nil {
		if st, ok := l.allowAround(address(ptr), list); ok {
			return st
		}
		return HSA_STATUS_ERROR
	}
	l.allocated.mu.Lock()
	a.allowed = append([]uint64(nil), list...)
	l.allocated.mu.Unlock()
	for _, h := range list {
		if c, _ := l.card(h); c != nil && a.pool.card != nil && c != a.pool.card {
			if e := l.sim.DeviceEnablePeerAccess(c.thread(), a.pool.card.index, 0); e != hip.Success && e != hip.ErrorPeerAccessAlreadyEnabled {
				return statusOf(e)
			}
		}
	}
	return HSA_STATUS_SUCCESS
}

// hsaAMDMemoryPoolCanMigrate is that memory stays where it is.
func hsaAMDMemoryPoolCanMigrate(from, to uint64, result *bool) status {
	l := current.Load()
	if l.pool(from) == nil || l.pool(to) == nil {
		return HSA_STATUS_ERROR_INVALID_MEMORY_POOL
	}
	*result = false
	return HSA_STATUS_SUCCESS
}

// hsaMemoryRegister and hsaMemoryDeregister are hints, for the profile of cards that reach everything.
func hsaMemoryRegister(_ unsafe.Pointer, size uint64) status {
	if size == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return HSA_STATUS_SUCCESS
}

func hsaMemoryDeregister(unsafe.Pointer, uint64) status { return HSA_STATUS_SUCCESS }

// hsaMemoryAssignAgent is for memory that changes its owner: ours does not, and all may use it.
func hsaMemoryAssignAgent(ptr unsafe.Pointer, h uint64, _ uint32) status {
	l := current.Load()
	if _, st := l.agent(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	if l.containing(address(ptr)) == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return HSA_STATUS_SUCCESS
}

// hsaMemoryCopy copies before it returns, whatever memory it is.
func hsaMemoryCopy(dst, src unsafe.Pointer, size uint64) status {
	if size == 0 {
		return HSA_STATUS_SUCCESS
	}
	return current.Load().copy(address(dst), address(src), size)
}

// copy copies between addresses of the process, which all memory has.
func (l *library) copy(dst, src, size uint64) status {
	t := l.who(dst, src)
	return l.settle(t, l.sim.Memcpy(t, hip.Ptr(dst), hip.Ptr(src), size, hip.MemcpyDefault))
}

// settle waits until what was told to copy or set is done, and says how that ended: e is what HIP's function has said, which does not wait where all is memory of
// one card.
func (l *library) settle(t hip.Thread, e hip.Error) status {
	if waited := l.sim.StreamSynchronize(t, hip.StreamNull); e == hip.Success {
		e = waited
	}
	return statusOf(e)
}

// hsaAMDMemoryFill stores a word count times.
func hsaAMDMemoryFill(ptr unsafe.Pointer, value uint32, count uint64) status {
	switch {
	case address(ptr)&3 != 0 || count > 1<<60:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	case count == 0:
		return HSA_STATUS_SUCCESS
	}
	l := current.Load()
	t := l.who(address(ptr))
	return l.settle(t, l.sim.MemsetD32(t, hip.Ptr(address(ptr)), int32(value), count))
}
