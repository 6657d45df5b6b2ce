package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// The fields of texture references. They count when one is bound next.

//export rw_hipTexRefSetFormat
func rw_hipTexRefSetFormat(thread uint64, ref unsafe.Pointer, format, channels int32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { r.Format, r.NumChannels = hip.ArrayFormat(format), channels })
}

//export rw_hipTexRefGetFormat
func rw_hipTexRefGetFormat(thread uint64, format, channels, ref unsafe.Pointer) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) {
		*(*hip.ArrayFormat)(format), *(*int32)(channels) = r.Format, r.NumChannels
	}, format, channels)
}

//export rw_hipTexRefSetFlags
func rw_hipTexRefSetFlags(thread uint64, ref unsafe.Pointer, flags uint32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) {
		d := runtimeSampling(&hip.DrvTextureDesc{Flags: flags})
		r.ReadMode, r.Normalized, r.SRGB = d.ReadMode, d.NormalizedCoords, d.SRGB
	})
}

//export rw_hipTexRefGetFlags
func rw_hipTexRefGetFlags(thread uint64, flags, ref unsafe.Pointer) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) {
		d := driverSampling(&hip.TextureDesc{ReadMode: r.ReadMode, NormalizedCoords: r.Normalized, SRGB: r.SRGB})
		*(*uint32)(flags) = d.Flags
	}, flags)
}

//export rw_hipTexRefSetFilterMode
func rw_hipTexRefSetFilterMode(thread uint64, ref unsafe.Pointer, mode int32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { r.FilterMode = hip.TextureFilterMode(mode) })
}

//export rw_hipTexRefGetFilterMode
func rw_hipTexRefGetFilterMode(thread uint64, mode, ref unsafe.Pointer) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { *(*hip.TextureFilterMode)(mode) = r.FilterMode }, mode)
}

//export rw_hipTexRefSetAddressMode
func rw_hipTexRefSetAddressMode(thread uint64, ref unsafe.Pointer, dim, mode int32) int32 {
	if ref == nil || dim < 0 || dim > 2 {
		return int32(hip.ErrorInvalidValue)
	}
	return reading(thread, ref, func(r *hip.TextureReference) { r.AddressMode[dim] = hip.TextureAddressMode(mode) })
}

//export rw_hipTexRefGetAddressMode
func rw_hipTexRefGetAddressMode(thread uint64, mode, ref unsafe.Pointer, dim int32) int32 {
	valid := dim == 0 || dim == 1 // as AMD's library has it
	e := reading(thread, ref, func(r *hip.TextureReference) {
		if valid {
			*(*hip.TextureAddressMode)(mode) = r.AddressMode[dim]
		}
	}, mode)
	if e == 0 && !valid {
		return int32(hip.ErrorInvalidValue)
	}
	return e
}

//export rw_hipTexRefSetMaxAnisotropy
func rw_hipTexRefSetMaxAnisotropy(thread uint64, ref unsafe.Pointer, n uint32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { r.MaxAnisotropy = n })
}

//export rw_hipTexRefGetMaxAnisotropy
func rw_hipTexRefGetMaxAnisotropy(thread uint64, n, ref unsafe.Pointer) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { *(*uint32)(n) = r.MaxAnisotropy }, n)
}

//export rw_hipTexRefSetMipmapFilterMode
func rw_hipTexRefSetMipmapFilterMode(thread uint64, ref unsafe.Pointer, mode int32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { r.MipmapFilterMode = hip.TextureFilterMode(mode) })
}

// told is the answer of AMD's library to three questions, which it answers nevertheless.
func told(e int32) int32 {
	if e == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return e
}

//export rw_hipTexRefGetMipmapFilterMode
func rw_hipTexRefGetMipmapFilterMode(thread uint64, mode, ref unsafe.Pointer) int32 {
	return told(reading(thread, ref, func(r *hip.TextureReference) { *(*hip.TextureFilterMode)(mode) = r.MipmapFilterMode }, mode))
}

//export rw_hipTexRefSetMipmapLevelBias
func rw_hipTexRefSetMipmapLevelBias(thread uint64, ref unsafe.Pointer, bias float32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { r.MipmapLevelBias = bias })
}

//export rw_hipTexRefGetMipmapLevelBias
func rw_hipTexRefGetMipmapLevelBias(thread uint64, bias, ref unsafe.Pointer) int32 {
	return told(reading(thread, ref, func(r *hip.TextureReference) { *(*float32)(bias) = r.MipmapLevelBias }, bias))
}

//export rw_hipTexRefSetMipmapLevelClamp
func rw_hipTexRefSetMipmapLevelClamp(thread uint64, ref unsafe.Pointer, low, high float32) int32 {
	return reading(thread, ref, func(r *hip.TextureReference) { r.MinMipmapLevelClamp, r.MaxMipmapLevelClamp = low, high })
}

//export rw_hipTexRefGetMipmapLevelClamp
func rw_hipTexRefGetMipmapLevelClamp(thread uint64, low, high, ref unsafe.Pointer) int32 {
	return told(reading(thread, ref, func(r *hip.TextureReference) {
		*(*float32)(low), *(*float32)(high) = r.MinMipmapLevelClamp, r.MaxMipmapLevelClamp
	}, low, high))
}

// A reference has no border colour: AMD's library checks the arguments and does
// nothing more.

//export rw_hipTexRefSetBorderColor
func rw_hipTexRefSetBorderColor(thread uint64, ref, color unsafe.Pointer) int32 {
	return reading(thread, ref, func(*hip.TextureReference) {}, color)
}

//export rw_hipTexRefGetBorderColor
func rw_hipTexRefGetBorderColor(thread uint64, color, ref unsafe.Pointer) int32 {
	return reading(thread, ref, func(*hip.TextureReference) {}, color)
}
