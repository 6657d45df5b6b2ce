package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// What HIP calls a shareable handle is a file descriptor, which a program may
// inherit or send to another. It stands for a small memory file that holds the
// runtime's token: who has the descriptor can have what the token names.

// descriptorAt is the descriptor that a program names: itself in place of the
// address, or at the address, as releases of HIP differ.
func descriptorAt(p uintptr) int32 {
	const most = 1 << 20 // no address lies below
	if p < most {
		return int32(p)
	}
	return *(*int32)(pointer(p))
}

//export rw_hipMemExportToShareableHandle
func rw_hipMemExportToShareableHandle(thread uint64, shareable uintptr, handle uint64, handleType int32, flags uint64) int32 {
	if shareable == 0 || handle == 0 || flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	token, err := runtime().MemExportToShareableHandle(threadOf(thread), hip.GenericAllocation(handle), hip.MemAllocationHandleType(handleType), flags)
	return export(shareable, &token, err)
}

//export rw_hipMemPoolExportToShareableHandle
func rw_hipMemPoolExportToShareableHandle(thread uint64, shareable uintptr, pool uint64, handleType int32, flags uint32) int32 {
	if shareable == 0 || pool == 0 || flags != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	token, err := runtime().MemPoolExportToShareableHandle(threadOf(thread), hip.MemPool(pool), hip.MemAllocationHandleType(handleType), flags)
	return export(shareable, &token, err)
}

// export gives the program a descriptor for a token.
func export(out uintptr, token *hip.IpcMemHandle, err hip.Error) int32 {
	if err != hip.Success {
		return int32(err)
	}
	fd, err := descriptorOf(token)
	if err == hip.Success {
		*(*int32)(pointer(out)) = fd
	}
	return int32(err)
}

//export rw_hipMemImportFromShareableHandle
func rw_hipMemImportFromShareableHandle(thread uint64, handle unsafe.Pointer, osHandle uintptr, handleType int32) int32 {
	if handle == nil || osHandle == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	token, ok := tokenOf(descriptorAt(osHandle))
	if !ok {
		return int32(hip.ErrorInvalidValue)
	}
	h, err := runtime().MemImportFromShareableHandle(threadOf(thread), token, hip.MemAllocationHandleType(handleType))
	if err == hip.Success {
		*(*hip.GenericAllocation)(handle) = h
	}
	return int32(err)
}

//export rw_hipMemPoolImportFromShareableHandle
func rw_hipMemPoolImportFromShareableHandle(thread uint64, pool unsafe.Pointer, osHandle uintptr, handleType int32, flags uint32) int32 {
	if pool == nil || osHandle == 0 || flags != 0 || hip.MemAllocationHandleType(handleType) == hip.MemHandleTypeNone {
		return int32(hip.ErrorInvalidValue)
	}
	token, ok := tokenOf(int32(osHandle))
	if !ok {
		return int32(hip.ErrorOutOfMemory) // as AMD's says
	}
	p, err := runtime().MemPoolImportFromShareableHandle(threadOf(thread), token, hip.MemAllocationHandleType(handleType), flags)
	if err == hip.Success {
		memPools.add(p, 0)
		*(*hip.MemPool)(pool) = p
	}
	return int32(err)
}
