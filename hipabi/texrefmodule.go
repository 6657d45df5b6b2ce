package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// What the references of modules are bound to, by the driver API.

//export rw_hipTexRefSetArray
func rw_hipTexRefSetArray(thread uint64, ref unsafe.Pointer, h uint64, flags uint32) int32 {
	a, ok := arrays.get(hip.Array(h))
	if ref == nil || !ok || flags != overrideFormat {
		return int32(hip.ErrorInvalidValue)
	}
	at, err := ofModule(ref)
	if err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
	r.Format, r.NumChannels = a.Format, int32(a.NumChannels)
	res := hip.ResourceDesc{ResType: hip.ResourceTypeArray, Res: [7]uint64{h}}
	return bind(threadOf(thread), at, ref, &res, viewAs(a, a.Format, a.NumChannels))
}

// overrideFormat is HIP_TRSA_OVERRIDE_FORMAT, the only flag that there is.
const overrideFormat = 1

//export rw_hipTexRefSetMipmappedArray
func rw_hipTexRefSetMipmappedArray(thread uint64, ref unsafe.Pointer, m uint64, flags uint32) int32 {
	if ref == nil || m == 0 || flags != overrideFormat {
		return int32(hip.ErrorInvalidValue)
	}
	at, err := ofModule(ref)
	if err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
	res := hip.ResourceDesc{ResType: hip.ResourceTypeMipmappedArray, Res: [7]uint64{m}}
	return bind(threadOf(thread), at, ref, &res, &hip.ResourceViewDesc{Format: viewFormat(r.Format, uint32(r.NumChannels))})
}

//export rw_hipTexRefSetAddress
func rw_hipTexRefSetAddress(thread uint64, offset, ref unsafe.Pointer, p uintptr, size uint64) int32 {
	if ref == nil {
		return int32(hip.ErrorInvalidValue)
	}
	at, err := ofModule(ref)
	if err != hip.Success {
		return int32(err)
	}
	return bindMemory(threadOf(thread), at, offset, ref, p, func(p hip.Ptr) (res hip.ResourceDesc) {
		r := (*hip.TextureReference)(ref)
		res.SetLinear(p, channelsOf(r.Format, uint32(r.NumChannels)), size)
		return res
	})
}

//export rw_hipTexRefSetAddress2D
func rw_hipTexRefSetAddress2D(thread uint64, ref, desc unsafe.Pointer, p uintptr, pitch uint64) int32 {
	if ref == nil || desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	at, err := ofModule(ref)
	if err != hip.Success {
		return int32(err)
	}
	d := (*hip.DrvArrayDescriptor)(desc)
	var res hip.ResourceDesc
	res.SetPitch2D(hip.Ptr(p), channelsOf(d.Format, d.NumChannels), d.Width, d.Height, pitch)
	return bind(threadOf(thread), at, ref, &res, nil)
}

// resourceOf is what a reference is bound to.
func resourceOf(thread uint64, out, ref unsafe.Pointer, get func(r *hip.ResourceDesc) bool) int32 {
	if out == nil || ref == nil {
		return int32(hip.ErrorInvalidValue)
	}
	fits := true
	if e := ask(thread, out, uint64((*hip.TextureReference)(ref).TextureObject), func(x *texture) { fits = get(&x.resource) }); e != 0 {
		return e
	}
	if !fits {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(hip.Success)
}

//export rw_hipTexRefGetArray
func rw_hipTexRefGetArray(thread uint64, out, ref unsafe.Pointer) int32 {
	return resourceOf(thread, out, ref, func(r *hip.ResourceDesc) bool {
		if r.ResType == hip.ResourceTypeArray {
			*(*uint64)(out) = r.Res[0]
		}
		return r.ResType == hip.ResourceTypeArray
	})
}

//export rw_hipTexRefGetMipMappedArray
func rw_hipTexRefGetMipMappedArray(thread uint64, out, ref unsafe.Pointer) int32 {
	if out != nil && ref != nil && !images(threadOf(thread)) { // said before what is bound is looked at
		return int32(hip.ErrorNotSupported)
	}
	return resourceOf(thread, out, ref, func(r *hip.ResourceDesc) bool {
		if r.ResType == hip.ResourceTypeMipmappedArray {
			*(*uint64)(out) = r.Res[0]
		}
		return r.ResType == hip.ResourceTypeMipmappedArray
	})
}

//export rw_hipTexRefGetAddress
func rw_hipTexRefGetAddress(thread uint64, out, ref unsafe.Pointer) int32 {
	return resourceOf(thread, out, ref, func(r *hip.ResourceDesc) bool {
		memory := r.ResType == hip.ResourceTypeLinear || r.ResType == hip.ResourceTypePitch2D
		if memory {
			*(*uint64)(out) = r.Res[0]
		}
		return memory
	})
}
