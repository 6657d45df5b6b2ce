//go:build linux

package hsaabi

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// virtual is memory whose addresses and pages are the program's to put together. The simulated card does it; what is counted here is
// what HSA counts: uses of handles and of addresses.
type virtual struct {
	vmemMu   sync.Mutex
	ranges   map[uint64]*addresses // by address
	physical map[uint64]*physical  // by handle
	mapped   map[uint64]*mapping   // by address
	handles  uint64                // where the next one is, behind firstHandle
}

// firstHandle is the first handle of memory. AMD's HIP keeps handles among addresses, as the place where as many bytes lie as the memory has: nothing that has
// an address lies there, and no two of them lie in each other.
const firstHandle = 1 << 60

// addresses are what hsa_amd_vmem_address_reserve gave.
type addresses struct {
	extent
	maps int
}

// extent is a piece of address space.
type extent struct{ base, size uint64 }

func (e extent) bytes() uint64 { return e.size }

// exactly is what begins at an address and has a size.
func exactly[T interface{ bytes() uint64 }](all map[uint64]T, va unsafe.Pointer, size uint64) (t T, st status) {
	t, ok := all[address(va)]
	switch {
	case size == 0:
		return t, HSA_STATUS_ERROR_INVALID_ARGUMENT
	case !ok:
		return t, HSA_STATUS_ERROR_INVALID_ALLOCATION
	case t.bytes() != size:
		return t, HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return t, HSA_STATUS_SUCCESS
}

// physical is memory without an address.
type physical struct {
	handle uint64
	is     hip.GenericAllocation
	pool   *pool
	size   uint64
	pinned bool
	refs   int
	maps   int
	inode  inode // by which it is known again
}

// mapping is one hsa_amd_vmem_map.
type mapping struct {
	extent
	in    *addresses
	of    *physical
	perms map[uint64]uint32 // by agent
}

// hsaAMDVmemAddressReserve takes addresses: those that are wanted, or others.
func hsaAMDVmemAddressReserve(va *unsafe.Pointer, size, want, flags uint64) status {
	return hsaAMDVmemAddressReserveAlign(va, size, want, 0, flags)
}

// hsaAMDVmemAddressReserveAlign is the same with an alignment, a power of 2.
func hsaAMDVmemAddressReserveAlign(va *unsafe.Pointer, size, want, alignment, _ uint64) status {
	l := current.Load()
	if size == 0 || alignment&(alignment-1) != 0 || len(l.cards) == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if size > ^uint64(0)-pageSize {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	p, e := l.sim.MemAddressReserve(hip.Thread{}, vmem.RoundUp(size), alignment, hip.Ptr(want), 0)
	if e != hip.Success {
		return statusOf(e)
	}
	if l.ranges == nil {
		l.ranges = map[uint64]*addresses{}
	}
	l.ranges[uint64(p)] = &addresses{extent: extent{uint64(p), size}}
	*va = pointer(uint64(p))
	return HSA_STATUS_SUCCESS
}

// hsaAMDVmemAddressFree gives addresses back where nothing is mapped any more.
func hsaAMDVmemAddressFree(va unsafe.Pointer, size uint64) status {
	l := current.Load()
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	r, st := exactly(l.ranges, va, size)
	switch {
	case st != HSA_STATUS_SUCCESS:
		return st
	case r.maps > 0:
		return HSA_STATUS_ERROR_RESOURCE_FREE
	}
	delete(l.ranges, r.base)
	return statusOf(l.sim.MemAddressFree(hip.Thread{}, hip.Ptr(r.base), vmem.RoundUp(size)))
}

// hsaAMDVmemHandleCreate makes memory of a card's, without an address.
func hsaAMDVmemHandleCreate(h, size uint64, kind uint32, _ uint64, out *uint64) status {
	l := current.Load()
	p := l.pool(h)
	if size == 0 || size%pageSize != 0 || kind > MEMORY_TYPE_PINNED || p == nil || !p.global() || p.card == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	g, e := l.sim.MemCreate(p.card.thread(), size, &hip.MemAllocationProp{
		Type: hip.MemAllocationTypePinned, Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: p.card.index},
	}, 0)
	if e != hip.Success {
		return statusOf(e)
	}
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	*out = l.keepPhysical(&physical{is: g, pool: p, size: size, pinned: kind == MEMORY_TYPE_PINNED})
	return HSA_STATUS_SUCCESS
}

// keepPhysical enters memory, with one use of its handle. vmemMu is held.
func (l *library) keepPhysical(p *physical) uint64 {
	if l.physical == nil {
		l.physical = map[uint64]*physical{}
	}
	p.refs, p.handle = 1, firstHandle+l.handles
	l.handles += vmem.RoundUp(p.size) + pageSize
	l.physical[p.handle] = p
	return p.handle
}

// hsaAMDVmemHandleRelease ends a use of a handle; the memory lives as long as it is mapped.
func hsaAMDVmemHandleRelease(h uint64) status {
	return withPhysical(h, func(l *library, p *physical) status {
		if p.refs == 0 {
			return HSA_STATUS_ERROR_INVALID_ALLOCATION
		}
		p.refs--
		return l.dropPhysical(p)
	})
}

// withPhysical does something with the memory of a handle. vmemMu is held while it does.
func withPhysical(h uint64, do func(*library, *physical) status) status {
	l := current.Load()
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	if p := l.physical[h]; p != nil {
		return do(l, p)
	}
	return HSA_STATUS_ERROR_INVALID_ALLOCATION
}

// dropPhysical ends memory that nobody uses. vmemMu is held.
func (l *library) dropPhysical(p *physical) status {
	if p.refs > 0 || p.maps > 0 {
		return HSA_STATUS_SUCCESS
	}
	delete(l.physical, p.handle)
	return statusOf(l.sim.MemRelease(hip.Thread{}, p.is))
}

// hsaAMDVmemRetainAllocHandle is one more use of the handle that is mapped at an address, where the mapping begins.
func hsaAMDVmemRetainAllocHandle(out *uint64, va unsafe.Pointer) status {
	l := current.Load()
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	m := l.mapped[address(va)]
	if m == nil {
		return HSA_STATUS_ERROR_INVALID_ALLOCATION
	}
	m.of.refs++
	*out = m.of.handle
	return HSA_STATUS_SUCCESS
}

// hsaAMDVmemGetAllocPropertiesFromHandle is what memory was made of.
func hsaAMDVmemGetAllocPropertiesFromHandle(h uint64, pool *uint64, kind *uint32) status {
	return withPhysical(h, func(l *library, p *physical) status {
		*pool, *kind = l.handleOf(p.pool), MEMORY_TYPE_NONE
		if p.pinned {
			*kind = MEMORY_TYPE_PINNED
		}
		return HSA_STATUS_SUCCESS
	})
}
