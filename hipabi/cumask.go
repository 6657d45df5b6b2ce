package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

//export rw_hipExtStreamCreateWithCUMask
func rw_hipExtStreamCreateWithCUMask(thread uint64, stream unsafe.Pointer, n uint32, mask unsafe.Pointer) int32 {
	if stream == nil {
		return int32(hip.ErrorInvalidHandle)
	}
	m, ok := listOf[uint32](mask, uint64(n))
	if !ok || n == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	s, err := runtime().ExtStreamCreateWithCUMask(threadOf(thread), m)
	if err == hip.Success {
		*(*hip.Stream)(stream) = s
	}
	return int32(err)
}

// maskWords is more than the mask of any card has.
const maskWords = 256

//export rw_hipExtStreamGetCUMask
func rw_hipExtStreamGetCUMask(thread uint64, stream uint64, n uint32, mask unsafe.Pointer) int32 {
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	m, err := runtime().ExtStreamGetCUMask(t, s, min(n, maskWords)) // who has more room is answered the same
	if err == hip.Success {
		copy(unsafe.Slice((*uint32)(mask), min(n, maskWords)), m)
	}
	return int32(err)
}
