package hipabi

/*
#include <stdlib.h>
*/
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// Texture references, HIP's older textures: a variable of the program that
// kernels have a copy of. Binding one makes a texture object, whose address goes
// into both.

// references are those of modules, by the address of what the program sees.
var references table[unsafe.Pointer, reference]

type reference struct {
	at     hip.Ptr // on the device
	module hip.Module
	name   string
}

// forgetReferences drops the references of a module.
func forgetReferences(h hip.Module) {
	references.deleteFunc(func(p unsafe.Pointer, r reference) bool {
		if r.module == h {
			C.free(p)
		}
		return r.module == h
	})
}

//export rw_hipModuleGetTexRef
func rw_hipModuleGetTexRef(thread uint64, out unsafe.Pointer, h uint64, name unsafe.Pointer) int32 {
	if out == nil || name == nil || *(*byte)(name) == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	switch {
	case h == 0:
		return int32(hip.ErrorInvalidHandle)
	case !images(t):
		return int32(hip.ErrorNotSupported)
	}
	m := modules.module(hip.Module(h))
	if m == nil {
		return int32(hip.ErrorNotFound)
	}
	at, size, err := runtime().ModuleGetGlobal(t, m.handle, goString(name))
	if err != hip.Success || size < uint64(unsafe.Sizeof(hip.TextureReference{})) {
		return int32(hip.ErrorNotFound)
	}
	key := reference{at, m.handle, goString(name)}
	var p unsafe.Pointer
	references.each(func(q unsafe.Pointer, r reference) {
		if r == key {
			p = q
		}
	})
	if p == nil {
		if p = C.calloc(1, C.size_t(unsafe.Sizeof(hip.TextureReference{}))); p == nil {
			return int32(hip.ErrorOutOfMemory)
		}
		*(*hip.TextureReference)(p) = hip.TextureReference{
			AddressMode: [3]hip.TextureAddressMode{hip.AddressModeClamp, hip.AddressModeClamp, hip.AddressModeClamp},
			ChannelDesc: hip.ChannelFormatDesc{X: 8, F: hip.ChannelFormatKindSigned},
		}
		references.put(p, key)
	}
	r := (*hip.TextureReference)(p)
	r.ReadMode, r.Format, r.NumChannels = hip.ReadModeNormalizedFloat, hip.DrvAdFormatFloat, 1
	*(*unsafe.Pointer)(out) = p
	return int32(hip.Success)
}

// reading is the call of a reader of a reference: out and ref must be there.
func reading(thread uint64, ref unsafe.Pointer, get func(r *hip.TextureReference), out ...unsafe.Pointer) int32 {
	for _, p := range append(out, ref) {
		if p == nil {
			return int32(hip.ErrorInvalidValue)
		}
	}
	if !images(threadOf(thread)) {
		return int32(hip.ErrorNotSupported)
	}
	get((*hip.TextureReference)(ref))
	return int32(hip.Success)
}

// onDevice is where kernels find a reference.
func onDevice(t hip.Thread, ref unsafe.Pointer) (hip.Ptr, hip.Error) {
	if r, ok := references.get(ref); ok {
		return r.at, hip.Success
	}
	p, size, err := symbol(t, uintptr(ref))
	if err == hip.Success && size < uint64(unsafe.Sizeof(hip.TextureReference{})) {
		err = hip.ErrorInvalidSymbol
	}
	return p, err
}

// bind gives a reference a texture object of a resource, in place of the one it
// has, and kernels the reference.
func bind(thread uint64, ref unsafe.Pointer, res *hip.ResourceDesc, view *hip.ResourceViewDesc) int32 {
	t := threadOf(thread)
	at, err := onDevice(t, ref)
	if err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
	if err := endTexture(t, r.TextureObject); err != hip.Success {
		return int32(err)
	}
	r.TextureObject = 0
	if !images(t) {
		return int32(hip.ErrorNotSupported)
	}
	o, err := makeTexture(t, res, &hip.TextureDesc{
		AddressMode: r.AddressMode, FilterMode: r.FilterMode, ReadMode: r.ReadMode, SRGB: r.SRGB, NormalizedCoords: r.Normalized,
		MaxAnisotropy: r.MaxAnisotropy, MipmapFilterMode: r.MipmapFilterMode, MipmapLevelBias: r.MipmapLevelBias,
		MinMipmapLevelClamp: r.MinMipmapLevelClamp, MaxMipmapLevelClamp: r.MaxMipmapLevelClamp,
	}, view)
	if err != hip.Success {
		return int32(err)
	}
	r.TextureObject = o
	return int32(runtime().Memcpy(t, at, hip.Ptr(uintptr(ref)), uint64(unsafe.Sizeof(*r)), hip.MemcpyHostToDevice))
}

// textureAlign is the alignment of a texture's memory in bytes.
const textureAlign = 256

// aligned stores how far an address is from the next that is aligned, as AMD's
// runtime does, and answers the address less that.
func aligned(offset unsafe.Pointer, p uintptr) (hip.Ptr, hip.Error) {
	n := -uint64(p) % textureAlign
	if offset == nil {
		if n != 0 {
			return 0, hip.ErrorInvalidValue
		}
		return hip.Ptr(p), hip.Success
	}
	*(*uint64)(offset) = n
	return hip.Ptr(uint64(p) - n), hip.Success
}

//export rw_hipBindTexture
func rw_hipBindTexture(thread uint64, offset, ref unsafe.Pointer, p uintptr, desc unsafe.Pointer, size uint64) int32 {
	if err := bound(thread, ref); err != hip.Success {
		return int32(err)
	}
	if p == 0 || desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	at, err := aligned(offset, p)
	if err != hip.Success {
		return int32(err)
	}
	var res hip.ResourceDesc
	res.SetLinear(at, *(*hip.ChannelFormatDesc)(desc), size)
	return bind(thread, ref, &res, nil)
}

// bound answers for a reference that the program has not registered.
func bound(thread uint64, ref unsafe.Pointer) hip.Error {
	_, err := onDevice(threadOf(thread), ref)
	return err
}

// known does so for the driver API.
func known(thread uint64, ref unsafe.Pointer) hip.Error {
	if bound(thread, ref) != hip.Success {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

//export rw_hipBindTexture2D
func rw_hipBindTexture2D(thread uint64, offset, ref unsafe.Pointer, p uintptr, desc unsafe.Pointer, width, height, pitch uint64) int32 {
	if err := bound(thread, ref); err != hip.Success {
		return int32(err)
	}
	if p == 0 || desc == nil || pitch == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	at, err := aligned(offset, p)
	if err != hip.Success {
		return int32(err)
	}
	var res hip.ResourceDesc
	res.SetPitch2D(at, *(*hip.ChannelFormatDesc)(desc), width, height, pitch)
	return bind(thread, ref, &res, nil)
}

// viewAs is an array's view with elements of a format.
func viewAs(a *array, f hip.ArrayFormat, channels uint32) *hip.ResourceViewDesc {
	return &hip.ResourceViewDesc{Format: viewFormat(f, channels), Width: a.Width, Height: a.Height, Depth: a.Depth}
}

func viewFormat(f hip.ArrayFormat, channels uint32) hip.ResourceViewFormat {
	for v := hip.ResViewFormatUnsignedChar1; v <= hip.ResViewFormatFloat4; v++ {
		d := hip.DrvResourceViewDesc{Format: hip.DrvResourceViewFormatEnum(v)}
		if g, n, ok := d.Elements(); ok && g == f && n == channels {
			return v
		}
	}
	return hip.ResViewFormatNone
}

//export rw_hipBindTextureToArray
func rw_hipBindTextureToArray(thread uint64, ref unsafe.Pointer, h uint64, desc unsafe.Pointer) int32 {
	a, ok := arrays.get(hip.Array(h))
	if ref == nil || desc == nil || !ok {
		return int32(hip.ErrorInvalidValue)
	}
	f, n := formatOf((*hip.ChannelFormatDesc)(desc))
	res := hip.ResourceDesc{ResType: hip.ResourceTypeArray, Res: [7]uint64{h}}
	return bind(thread, ref, &res, viewAs(a, f, n))
}

//export rw_hipBindTextureToMipmappedArray
func rw_hipBindTextureToMipmappedArray(thread uint64, ref unsafe.Pointer, m uint64, desc unsafe.Pointer) int32 {
	if err := bound(thread, ref); err != hip.Success {
		return int32(err)
	}
	if m == 0 || desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	f, n := formatOf((*hip.ChannelFormatDesc)(desc))
	res := hip.ResourceDesc{ResType: hip.ResourceTypeMipmappedArray, Res: [7]uint64{m}}
	return bind(thread, ref, &res, &hip.ResourceViewDesc{Format: viewFormat(f, n)})
}

//export rw_hipUnbindTexture
func rw_hipUnbindTexture(thread uint64, ref unsafe.Pointer) int32 {
	if ref == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	if !images(t) {
		return int32(hip.ErrorNotSupported)
	}
	r := (*hip.TextureReference)(ref)
	err := endTexture(t, r.TextureObject)
	if err == hip.Success {
		r.TextureObject = 0
	}
	return int32(err)
}

//export rw_hipGetTextureAlignmentOffset
func rw_hipGetTextureAlignmentOffset(thread uint64, offset, ref unsafe.Pointer) int32 {
	return reading(thread, ref, func(*hip.TextureReference) { *(*uint64)(offset) = 0 }, offset)
}

//export rw_hipGetTextureReference
func rw_hipGetTextureReference(thread uint64, ref unsafe.Pointer, host uintptr) int32 {
	if ref == nil {
		return int32(hip.ErrorInvalidValue)
	}
	if !images(threadOf(thread)) {
		return int32(hip.ErrorNotSupported)
	}
	*(*uintptr)(ref) = host
	return int32(hip.Success)
}

//export rw_hipTexRefSetArray
func rw_hipTexRefSetArray(thread uint64, ref unsafe.Pointer, h uint64, flags uint32) int32 {
	a, ok := arrays.get(hip.Array(h))
	if ref == nil || !ok || flags != overrideFormat {
		return int32(hip.ErrorInvalidValue)
	}
	if err := known(thread, ref); err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
	r.Format, r.NumChannels = a.Format, int32(a.NumChannels)
	res := hip.ResourceDesc{ResType: hip.ResourceTypeArray, Res: [7]uint64{h}}
	return bind(thread, ref, &res, viewAs(a, a.Format, a.NumChannels))
}

// overrideFormat is HIP_TRSA_OVERRIDE_FORMAT, the only flag that there is.
const overrideFormat = 1

//export rw_hipTexRefSetMipmappedArray
func rw_hipTexRefSetMipmappedArray(thread uint64, ref unsafe.Pointer, m uint64, flags uint32) int32 {
	if ref == nil || m == 0 || flags != overrideFormat {
		return int32(hip.ErrorInvalidValue)
	}
	if err := known(thread, ref); err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
	res := hip.ResourceDesc{ResType: hip.ResourceTypeMipmappedArray, Res: [7]uint64{m}}
	return bind(thread, ref, &res, &hip.ResourceViewDesc{Format: viewFormat(r.Format, uint32(r.NumChannels))})
}

//export rw_hipTexRefSetAddress
func rw_hipTexRefSetAddress(thread uint64, offset, ref unsafe.Pointer, p uintptr, size uint64) int32 {
	if ref == nil {
		return int32(hip.ErrorInvalidValue)
	}
	if err := known(thread, ref); err != hip.Success {
		return int32(err)
	}
	at, err := aligned(offset, p)
	if err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
	var res hip.ResourceDesc
	res.SetLinear(at, channelsOf(r.Format, uint32(r.NumChannels)), size)
	return bind(thread, ref, &res, nil)
}

//export rw_hipTexRefSetAddress2D
func rw_hipTexRefSetAddress2D(thread uint64, ref, desc unsafe.Pointer, p uintptr, pitch uint64) int32 {
	if ref == nil || desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	if err := known(thread, ref); err != hip.Success {
		return int32(err)
	}
	d := (*hip.DrvArrayDescriptor)(desc)
	var res hip.ResourceDesc
	res.SetPitch2D(hip.Ptr(p), channelsOf(d.Format, d.NumChannels), d.Width, d.Height, pitch)
	return bind(thread, ref, &res, nil)
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
