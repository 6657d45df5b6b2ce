package hipabi

import "C"

import (
	"math"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// pitchAlign is the alignment of a row that hipMallocPitch gives, in bytes.
const pitchAlign = 256

//export rw_hipMallocPitch
func rw_hipMallocPitch(thread uint64, ptr, pitch unsafe.Pointer, width, height uint64) int32 {
	if ptr == nil || pitch == nil {
		return int32(hip.ErrorInvalidValue)
	}
	if width == 0 || height == 0 {
		*(*hip.Ptr)(ptr) = 0 // and the pitch stays what it was
		return int32(hip.Success)
	}
	if width > math.MaxUint64-pitchAlign {
		return int32(hip.ErrorInvalidValue)
	}
	row := (width + pitchAlign - 1) &^ (pitchAlign - 1)
	if height > math.MaxInt64/row {
		return int32(hip.ErrorOutOfMemory)
	}
	p, err := runtime().Malloc(threadOf(thread), row*height)
	if err != hip.Success {
		return int32(err)
	}
	*(*hip.Ptr)(ptr), *(*uint64)(pitch) = p, row
	return int32(hip.Success)
}

//export rw_hipMemAllocPitch
func rw_hipMemAllocPitch(thread uint64, ptr, pitch unsafe.Pointer, width, height uint64, element uint32) int32 {
	if element != 4 && element != 8 && element != 16 {
		return int32(hip.ErrorInvalidValue)
	}
	return rw_hipMallocPitch(thread, ptr, pitch, width, height)
}

// hostAllocFlags are all that hipHostAlloc takes. hipHostMalloc has more.
const hostAllocFlags = hip.HostAllocPortable | hip.HostAllocMapped | hip.HostAllocWriteCombined

//export rw_hipHostAlloc
func rw_hipHostAlloc(thread uint64, ptr unsafe.Pointer, size uint64, flags uint32) int32 {
	if flags > hostAllocFlags {
		return int32(hip.ErrorInvalidValue)
	}
	return rw_hipHostMalloc(thread, ptr, size, flags)
}

//export rw_hipMallocHost
func rw_hipMallocHost(thread uint64, ptr unsafe.Pointer, size uint64) int32 {
	return rw_hipHostMalloc(thread, ptr, size, 0)
}

//export rw_hipMemAllocHost
func rw_hipMemAllocHost(thread uint64, ptr unsafe.Pointer, size uint64) int32 {
	return rw_hipHostMalloc(thread, ptr, size, 0)
}

//export rw_hipFreeHost
func rw_hipFreeHost(thread uint64, ptr uintptr) int32 { return rw_hipHostFree(thread, ptr) }

//export rw_hipMemcpyHtoD
func rw_hipMemcpyHtoD(thread uint64, dst, src uintptr, n uint64) int32 {
	return rw_hipMemcpy(thread, dst, src, n, int32(hip.MemcpyHostToDevice))
}

//export rw_hipMemcpyHtoDAsync
func rw_hipMemcpyHtoDAsync(thread uint64, dst, src uintptr, n uint64, stream uint64) int32 {
	return rw_hipMemcpyAsync(thread, dst, src, n, int32(hip.MemcpyHostToDevice), stream)
}

//export rw_hipMemcpyDtoH
func rw_hipMemcpyDtoH(thread uint64, dst, src uintptr, n uint64) int32 {
	return rw_hipMemcpy(thread, dst, src, n, int32(hip.MemcpyDeviceToHost))
}

//export rw_hipMemcpyDtoHAsync
func rw_hipMemcpyDtoHAsync(thread uint64, dst, src uintptr, n uint64, stream uint64) int32 {
	return rw_hipMemcpyAsync(thread, dst, src, n, int32(hip.MemcpyDeviceToHost), stream)
}

//export rw_hipMemcpyDtoD
func rw_hipMemcpyDtoD(thread uint64, dst, src uintptr, n uint64) int32 {
	return rw_hipMemcpy(thread, dst, src, n, int32(hip.MemcpyDeviceToDevice))
}

//export rw_hipMemcpyDtoDAsync
func rw_hipMemcpyDtoDAsync(thread uint64, dst, src uintptr, n uint64, stream uint64) int32 {
	return rw_hipMemcpyAsync(thread, dst, src, n, int32(hip.MemcpyDeviceToDevice), stream)
}
