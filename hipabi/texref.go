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
	if err != hip.Success || size != uint64(unsafe.Sizeof(hip.TextureReference{})) {
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

// ofModule is where kernels find a reference of a module.
func ofModule(ref unsafe.Pointer) (hip.Ptr, hip.Error) {
	if r, ok := references.get(ref); ok {
		return r.at, hip.Success
	}
	return 0, hip.ErrorNotFound
}

// ofProgram is where kernels find a reference that the program declares.
func ofProgram(t hip.Thread, ref unsafe.Pointer) (hip.Ptr, hip.Error) {
	p, size, err := symbol(t, uintptr(ref))
	if err == hip.Success && size < uint64(unsafe.Sizeof(hip.TextureReference{})) {
		err = hip.ErrorInvalidSymbol
	}
	return p, err
}

// unbind ends the texture object that a reference has.
func unbind(t hip.Thread, ref unsafe.Pointer) hip.Error {
	r := (*hip.TextureReference)(ref)
	err := endTexture(t, r.TextureObject)
	if err == hip.Success {
		r.TextureObject = 0
		if !images(t) {
			err = hip.ErrorNotSupported
		}
	}
	return err
}

// bind gives a reference a texture object of a resource, in place of the one it
// has, and kernels the reference, at its address on the device.
func bind(t hip.Thread, at hip.Ptr, ref unsafe.Pointer, res *hip.ResourceDesc, view *hip.ResourceViewDesc) int32 {
	if err := unbind(t, ref); err != hip.Success {
		return int32(err)
	}
	r := (*hip.TextureReference)(ref)
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

// bindMemory is bind for memory from an address on, which resource describes.
// offset gets how far it is from the next that is aligned, as AMD's library has
// it; so much before it the texture begins.
func bindMemory(t hip.Thread, at hip.Ptr, offset, ref unsafe.Pointer, p uintptr, resource func(p hip.Ptr) hip.ResourceDesc) int32 {
	if err := unbind(t, ref); err != hip.Success {
		return int32(err)
	}
	n := -uint64(p) % textureAlign
	if offset != nil {
		*(*uint64)(offset) = n
	} else if n != 0 {
		return int32(hip.ErrorInvalidValue)
	}
	res := resource(hip.Ptr(uint64(p) - n))
	return bind(t, at, ref, &res, nil)
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

//export rw_hipUnbindTexture
func rw_hipUnbindTexture(thread uint64, ref unsafe.Pointer) int32 {
	if ref == nil {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(unbind(threadOf(thread), ref))
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
