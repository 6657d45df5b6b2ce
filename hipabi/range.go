package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// rangeAttribute asks for one attribute of memory and writes all size bytes of
// data: what lies beyond the answer is devices that are none.
func rangeAttribute(t hip.Thread, data unsafe.Pointer, size uint64, attribute hip.MemRangeAttribute, ptr hip.Ptr, count uint64) hip.Error {
	b, err := runtime().MemRangeGetAttribute(t, size, attribute, ptr, count)
	if err != hip.Success {
		return err
	}
	out := memory(data, size)
	for i := copy(out, b); i+4 <= len(out); i += 4 {
		const none int32 = hip.InvalidDeviceID
		*(*int32)(unsafe.Pointer(&out[i])) = none
	}
	return hip.Success
}

//export rw_hipMemRangeGetAttribute
func rw_hipMemRangeGetAttribute(thread uint64, data uintptr, size uint64, attribute int32, ptr uintptr, count uint64) int32 {
	if data == 0 || size == 0 || ptr == 0 || count == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(rangeAttribute(threadOf(thread), pointer(data), size, hip.MemRangeAttribute(attribute), hip.Ptr(ptr), count))
}

//export rw_hipMemRangeGetAttributes
func rw_hipMemRangeGetAttributes(thread uint64, data, sizes, attributes unsafe.Pointer, n uint64, ptr uintptr, count uint64) int32 {
	if data == nil || sizes == nil || attributes == nil || n == 0 || n > hiprpc.MaxList || ptr == 0 || count == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	out, size := unsafe.Slice((*unsafe.Pointer)(data), n), unsafe.Slice((*uint64)(sizes), n)
	for i, a := range unsafe.Slice((*hip.MemRangeAttribute)(attributes), n) {
		if out[i] == nil || size[i] == 0 {
			return int32(hip.ErrorInvalidValue)
		}
		if err := rangeAttribute(threadOf(thread), out[i], size[i], a, hip.Ptr(ptr), count); err != hip.Success {
			return int32(err)
		}
	}
	return int32(hip.Success)
}
