package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

//export rw_hipUserObjectCreate
func rw_hipUserObjectCreate(thread uint64, out unsafe.Pointer, data uintptr, destroy unsafe.Pointer, refs, flags uint32) int32 {
	if out == nil || destroy == nil {
		return int32(hip.ErrorInvalidValue)
	}
	o, err := graphs().CreateObject(hostCall(hip.Ptr(uintptr(destroy)), hip.Ptr(data)), refs, flags)
	return give(out, o, err)
}

//export rw_hipUserObjectRelease
func rw_hipUserObjectRelease(thread uint64, object uint64, n uint32) int32 {
	return int32(graphs().ReleaseObject(object, n))
}

//export rw_hipUserObjectRetain
func rw_hipUserObjectRetain(thread uint64, object uint64, n uint32) int32 {
	return int32(graphs().RetainObject(object, n))
}

//export rw_hipGraphRetainUserObject
func rw_hipGraphRetainUserObject(thread uint64, g, object uint64, n, flags uint32) int32 {
	return int32(graphs().GraphRetainObject(g, object, n, flags))
}

//export rw_hipGraphReleaseUserObject
func rw_hipGraphReleaseUserObject(thread uint64, g, object uint64, n uint32) int32 {
	return int32(graphs().GraphReleaseObject(g, object, n))
}

//export rw_hipDeviceGetGraphMemAttribute
func rw_hipDeviceGetGraphMemAttribute(thread uint64, device, attribute int32, value uintptr) int32 {
	if err := valid(device); err != hip.Success {
		return int32(err)
	}
	if value == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	v, err := graphs().MemAttribute(device, hip.GraphMemAttributeType(attribute))
	return give(pointer(value), v, err)
}

//export rw_hipDeviceSetGraphMemAttribute
func rw_hipDeviceSetGraphMemAttribute(thread uint64, device, attribute int32, value uintptr) int32 {
	if err := valid(device); err != hip.Success {
		return int32(err)
	}
	if value == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	a := hip.GraphMemAttributeType(attribute)
	if a != hip.GraphMemAttrUsedMemHigh && a != hip.GraphMemAttrReservedMemHigh { // the value is not looked at then
		return int32(hip.ErrorInvalidValue)
	}
	return int32(graphs().SetMemAttribute(device, a, *(*uint64)(pointer(value))))
}

// rw_hipDeviceGraphMemTrim has nothing to give back: memory that a launch has
// freed belongs to its graph, whose address it keeps, and goes with it.
//
//export rw_hipDeviceGraphMemTrim
func rw_hipDeviceGraphMemTrim(thread uint64, device int32) int32 { return int32(valid(device)) }
