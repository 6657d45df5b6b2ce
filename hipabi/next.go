package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

//export rw_hipModuleGetFunctionCount
func rw_hipModuleGetFunctionCount(thread uint64, count unsafe.Pointer, module uint64) int32 {
	if count == nil {
		return int32(hip.ErrorInvalidValue)
	}
	m := modules.module(hip.Module(module))
	if m == nil {
		return int32(hip.ErrorInvalidHandle)
	}
	*(*uint32)(count) = uint32(len(m.kernels))
	return int32(hip.Success)
}

// rw_hipStreamGetId is a number that no other stream has: the handle's, and for a
// device's null stream one that no handle can be.
//
//export rw_hipStreamGetId
func rw_hipStreamGetId(thread uint64, stream uint64, id unsafe.Pointer) int32 {
	if id == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	if _, err := runtime().StreamGetDevice(t, s); err != hip.Success {
		return int32(err)
	}
	n := uint64(s)
	if s == hip.StreamNull {
		n = ^uint64(uint32(t.Device))
	}
	*(*uint64)(id) = n
	return int32(hip.Success)
}
