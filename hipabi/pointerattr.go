package hipabi

// void *rw_context_of(int device);
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// pointerAnswer is how an attribute of a pointer is written: in so many bytes,
// as AMD's runtime has them, and what is written if there is no answer.
type pointerAnswer struct {
	size int
	none uint64
}

// pointerAnswers are the attributes that have a value.
var pointerAnswers = map[hip.PointerAttribute]pointerAnswer{
	hip.DrvPointerAttributeMemoryType:     {4, 0},
	hip.DrvPointerAttributeDevicePointer:  {8, 0},
	hip.DrvPointerAttributeHostPointer:    {8, 0},
	hip.DrvPointerAttributeSyncMemops:     {1, 0},
	hip.DrvPointerAttributeBufferId:       {4, 0},
	hip.DrvPointerAttributeIsManaged:      {1, 0},
	hip.DrvPointerAttributeDeviceOrdinal:  {4, 1<<32 - 2}, // hip.InvalidDeviceID
	hip.DrvPointerAttributeRangeStartAddr: {8, 0},
	hip.DrvPointerAttributeRangeSize:      {4, 0},
	hip.DrvPointerAttributeMapped:         {1, 0},
	hip.DrvPointerAttributeAccessFlags:    {4, 0},
}

// pointerAttribute asks for one attribute and writes it to data, or what stands
// for no answer.
func pointerAttribute(t hip.Thread, data unsafe.Pointer, attribute hip.PointerAttribute, ptr hip.Ptr) hip.Error {
	if attribute == hip.DrvPointerAttributeContext {
		return pointerContext(t, data, ptr)
	}
	if err := hip.PointerAttributeKnown(attribute); err != hip.Success {
		return err
	}
	a := pointerAnswers[attribute]
	v, err := runtime().PointerGetAttribute(t, attribute, ptr)
	if err != hip.Success {
		v = a.none
		if _, ok := arrays.get(hip.Array(ptr)); ok && attribute == hip.DrvPointerAttributeMemoryType {
			v, err = uint64(hip.MemoryTypeArray), hip.Success
		}
	}
	switch a.size {
	case 1:
		*(*uint8)(data) = uint8(v)
	case 4:
		*(*uint32)(data) = uint32(v)
	case 8:
		*(*uint64)(data) = v
	}
	return err
}

// pointerContext writes the context of a device's memory: its device's. The
// host's is in none, managed memory too. Contexts are C's.
func pointerContext(t hip.Thread, data unsafe.Pointer, ptr hip.Ptr) hip.Error {
	kind, err := runtime().PointerGetAttribute(t, hip.DrvPointerAttributeMemoryType, ptr)
	if err == hip.Success && kind != uint64(hip.MemoryTypeDevice) {
		err = hip.ErrorInvalidValue
	}
	if err != hip.Success {
		return err
	}
	device, err := runtime().PointerGetAttribute(t, hip.DrvPointerAttributeDeviceOrdinal, ptr)
	if err == hip.Success {
		*(*unsafe.Pointer)(data) = C.rw_context_of(C.int(device))
	}
	return err
}

//export rw_hipPointerGetAttribute
func rw_hipPointerGetAttribute(thread uint64, data uintptr, attribute int32, ptr uintptr) int32 {
	if data == 0 || ptr == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(pointerAttribute(threadOf(thread), pointer(data), hip.PointerAttribute(attribute), hip.Ptr(ptr)))
}

// rw_hipDrvPointerGetAttributes answers what it can; a pointer that has no
// attributes is no error.
//
//export rw_hipDrvPointerGetAttributes
func rw_hipDrvPointerGetAttributes(thread uint64, n uint32, attributes, data unsafe.Pointer, ptr uintptr) int32 {
	if n == 0 || n > hiprpc.MaxList || attributes == nil || data == nil || ptr == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	out := unsafe.Slice((*unsafe.Pointer)(data), n)
	for i, a := range unsafe.Slice((*hip.PointerAttribute)(attributes), n) {
		if out[i] != nil {
			_ = pointerAttribute(threadOf(thread), out[i], a, hip.Ptr(ptr)) // HIP says nothing of single attributes
		}
	}
	return int32(hip.Success)
}

//export rw_hipPointerSetAttribute
func rw_hipPointerSetAttribute(thread uint64, value uintptr, attribute int32, ptr uintptr) int32 {
	if value == 0 || ptr == 0 || hip.PointerAttribute(attribute) != hip.DrvPointerAttributeSyncMemops {
		return int32(hip.ErrorInvalidValue)
	}
	v := uint64(*(*uint32)(pointer(value)))
	if v > 1 {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(runtime().PointerSetAttribute(threadOf(thread), v, hip.PointerAttribute(attribute), hip.Ptr(ptr)))
}
