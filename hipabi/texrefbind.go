package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// What the references that a program declares are bound to, by the runtime API.

//export rw_hipBindTexture
func rw_hipBindTexture(thread uint64, offset, ref unsafe.Pointer, p uintptr, desc unsafe.Pointer, size uint64) int32 {
	t := threadOf(thread)
	at, err := ofProgram(t, ref)
	if err != hip.Success {
		return int32(err)
	}
	if p == 0 || desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	return bindMemory(t, at, offset, ref, p, func(p hip.Ptr) (res hip.ResourceDesc) {
		res.SetLinear(p, *(*hip.ChannelFormatDesc)(desc), size)
		return res
	})
}

//export rw_hipBindTexture2D
func rw_hipBindTexture2D(thread uint64, offset, ref unsafe.Pointer, p uintptr, desc unsafe.Pointer, width, height, pitch uint64) int32 {
	t := threadOf(thread)
	at, err := ofProgram(t, ref)
	if err != hip.Success {
		return int32(err)
	}
	if p == 0 || desc == nil || pitch == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return bindMemory(t, at, offset, ref, p, func(p hip.Ptr) (res hip.ResourceDesc) {
		res.SetPitch2D(p, *(*hip.ChannelFormatDesc)(desc), width, height, pitch)
		return res
	})
}

//export rw_hipBindTextureToArray
func rw_hipBindTextureToArray(thread uint64, ref unsafe.Pointer, h uint64, desc unsafe.Pointer) int32 {
	a, ok := arrays.get(hip.Array(h))
	if ref == nil || desc == nil || !ok {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	at, err := ofProgram(t, ref)
	if err != hip.Success {
		return int32(err)
	}
	f, n := formatOf((*hip.ChannelFormatDesc)(desc))
	res := hip.ResourceDesc{ResType: hip.ResourceTypeArray, Res: [7]uint64{h}}
	return bind(t, at, ref, &res, viewAs(a, f, n))
}

//export rw_hipBindTextureToMipmappedArray
func rw_hipBindTextureToMipmappedArray(thread uint64, ref unsafe.Pointer, m uint64, desc unsafe.Pointer) int32 {
	t := threadOf(thread)
	at, err := ofProgram(t, ref)
	if err != hip.Success {
		return int32(err)
	}
	if m == 0 || desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	f, n := formatOf((*hip.ChannelFormatDesc)(desc))
	res := hip.ResourceDesc{ResType: hip.ResourceTypeMipmappedArray, Res: [7]uint64{m}}
	return bind(t, at, ref, &res, &hip.ResourceViewDesc{Format: viewFormat(f, n)})
}
