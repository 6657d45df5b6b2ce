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
