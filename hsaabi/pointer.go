//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import "unsafe"

// hsaAMDPointerInfo is what memory an address is in, and which agents reach it: all that were allowed, and its own.
func hsaAMDPointerInfo(ptr unsafe.Pointer, info *amdPointerInfo, alloc unsafe.Pointer, n *uint32, accessible *unsafe.Pointer) status {
	if info.size == 0 || accessible != nil && (alloc == nil || n == nil) {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l := current.Load()
	var out amdPointerInfo
	var agents []uint64
	at := address(ptr)
	if a := l.containing(at); a != nil {
		l.allocated.mu.Lock()
		out = amdPointerInfo{type_: HSA_EXT_POINTER_TYPE_HSA, agentBaseAddress: uintptr(a.base), sizeInBytes: a.size, userData: uintptr(a.userData),
			agentOwner: a.pool.owner, globalFlags: a.pool.flags}
		agents = append([]uint64{a.pool.owner}, a.allowed...)
		l.allocated.mu.Unlock()
		if a.shared {
			out.type_ = HSA_EXT_POINTER_TYPE_IPC
		}
		if a.pool.card == nil {
			out.hostBaseAddress = uintptr(a.base)
		}
	} else if base, size, ok := l.lockAt(at); ok {
		out = amdPointerInfo{type_: HSA_EXT_POINTER_TYPE_LOCKED, agentBaseAddress: uintptr(base), hostBaseAddress: uintptr(base), sizeInBytes: size,
			agentOwner: agentBase, globalFlags: HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED}
		agents = []uint64{agentBase}
		for _, c := range l.cards {
			agents = append(agents, c.handle())
		}
	} else if v, reach, ok := l.virtualInfo(at); ok {
		out, agents = v, reach
	}
	out.size = min(info.size, uint32(unsafe.Sizeof(out)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(info)), out.size), unsafe.Slice((*byte)(unsafe.Pointer(&out)), out.size))
	if accessible == nil {
		return HSA_STATUS_SUCCESS
	}
	*n, *accessible = uint32(len(agents)), nil
	if len(agents) == 0 {
		return HSA_STATUS_SUCCESS
	}
	list := C.rw_hsa_alloc(alloc, C.size_t(len(agents)*8))
	if list == nil {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	copy(unsafe.Slice((*uint64)(list), len(agents)), agents)
	*accessible = list
	return HSA_STATUS_SUCCESS
}

// hsaAMDPointerInfoSetUserdata keeps a word of the program's with an allocation.
func hsaAMDPointerInfoSetUserdata(ptr, data unsafe.Pointer) status {
	l := current.Load()
	a := l.containing(address(ptr))
	if a == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l.allocated.mu.Lock()
	defer l.allocated.mu.Unlock()
	a.userData = address(data)
	return HSA_STATUS_SUCCESS
}
