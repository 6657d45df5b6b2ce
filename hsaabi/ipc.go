//go:build linux

package hsaabi

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// tokenOf is what the 32 bytes that stand for shared memory say.
func tokenOf(h *amdIPCMemory) *hip.ShareToken { return (*hip.ShareToken)(unsafe.Pointer(h)) }

// hsaAMDIPCMemoryCreate is what another process attaches memory of a card's by: a whole allocation.
func hsaAMDIPCMemoryCreate(ptr unsafe.Pointer, size uint64, out *amdIPCMemory) status {
	*out = amdIPCMemory{}
	l := current.Load()
	a := l.containing(address(ptr))
	if a == nil || a.base != address(ptr) || size != a.size && size != vmem.RoundUp(a.size) || a.pool.card == nil || a.shared {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	token, e := l.sim.Share(hip.Ptr(a.base))
	if e != hip.Success {
		return statusOf(e)
	}
	*tokenOf(out) = token
	return HSA_STATUS_SUCCESS
}

// hsaAMDIPCMemoryAttach is that memory here, which all agents reach.
func hsaAMDIPCMemoryAttach(h *amdIPCMemory, size uint64, n uint32, agents *uint64, out *unsafe.Pointer) status {
	l := current.Load()
	if n > 0 && agents == nil || len(l.cards) == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if st := l.known(unsafe.Slice(agents, n)); st != HSA_STATUS_SUCCESS {
		return st
	}
	p, pages, device, e := l.sim.Attach(hip.Thread{}, *tokenOf(h))
	if e != hip.Success {
		return statusOf(e)
	}
	if size == 0 || size > pages {
		_ = l.sim.Detach(p)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l.keepAllocation(&allocation{base: uint64(p), size: size, pool: l.poolOf(l.cards[device]), shared: true})
	*out = pointer(uint64(p))
	return HSA_STATUS_SUCCESS
}

// hsaAMDIPCMemoryDetach ends it.
func hsaAMDIPCMemoryDetach(ptr unsafe.Pointer) status {
	l := current.Load()
	a := l.takeAllocation(address(ptr), true)
	if a == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return statusOf(l.sim.Detach(hip.Ptr(a.base)))
}

// hsaAMDPortableExportDmabuf is memory of a card's as a descriptor, the caller's. It is a memory file: who maps it sees the memory.
func hsaAMDPortableExportDmabuf(ptr unsafe.Pointer, size uint64, fd *int32, offset *uint64) status {
	l := current.Load()
	a := l.containing(address(ptr))
	switch {
	case size == 0:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	case a == nil || size > a.size-(address(ptr)-a.base) || a.shared:
		return HSA_STATUS_ERROR_INVALID_ALLOCATION
	case a.pool.card == nil:
		return HSA_STATUS_ERROR_INVALID_AGENT
	}
	n, at, e := l.sim.SharedFile(hip.Ptr(address(ptr)))
	if e != hip.Success {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	*fd, *offset = int32(n), at
	return HSA_STATUS_SUCCESS
}

// hsaAMDPortableCloseDmabuf closes it.
func hsaAMDPortableCloseDmabuf(fd int32) status {
	if unix.Close(int(fd)) != nil {
		return HSA_STATUS_ERROR_RESOURCE_FREE
	}
	return HSA_STATUS_SUCCESS
}
