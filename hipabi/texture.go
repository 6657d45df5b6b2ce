package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// textures are the process's texture objects: HIP tells what they were made of.
var textures table[hip.TextureObject, *texture]

type texture struct {
	resource hip.ResourceDesc
	sampling hip.TextureDesc
	view     hip.ResourceViewDesc
	device   int32
}

// driverResource is a resource as the driver API describes it.
func driverResource(d *hip.ResourceDesc) (r hip.DrvResourceDesc) {
	r.ResType = hip.DrvResourcetypeEnum(d.ResType)
	switch d.ResType {
	case hip.ResourceTypeArray, hip.ResourceTypeMipmappedArray:
		r.Res[0] = d.Res[0]
	case hip.ResourceTypeLinear:
		p, desc, size := d.Linear()
		f, n := formatOf(&desc)
		r.SetLinear(p, f, n, size)
	case hip.ResourceTypePitch2D:
		p, desc, width, height, pitch := d.Pitch2D()
		f, n := formatOf(&desc)
		r.SetPitch2D(p, f, n, width, height, pitch)
	}
	return r
}

// runtimeResource is the reverse.
func runtimeResource(d *hip.DrvResourceDesc) (r hip.ResourceDesc) {
	r.ResType = hip.ResourceType(d.ResType)
	switch d.ResType {
	case hip.DrvResourceTypeArray, hip.DrvResourceTypeMipmappedArray:
		r.Res[0] = d.Res[0]
	case hip.DrvResourceTypeLinear:
		p, f, n, size := d.Linear()
		r.SetLinear(p, channelsOf(f, n), size)
	case hip.DrvResourceTypePitch2d:
		p, f, n, width, height, pitch := d.Pitch2D()
		r.SetPitch2D(p, channelsOf(f, n), width, height, pitch)
	}
	return r
}

// driverSampling and runtimeSampling turn a texture's description into the other API's.
func driverSampling(d *hip.TextureDesc) (r hip.DrvTextureDesc) {
	for i, m := range d.AddressMode {
		r.AddressMode[i] = hip.DrvAddressModeEnum(m)
	}
	if d.ReadMode == hip.ReadModeElementType {
		r.Flags |= hip.TRSFReadAsInteger
	}
	if d.SRGB == 1 {
		r.Flags |= hip.TRSFSRGB
	}
	if d.NormalizedCoords != 0 {
		r.Flags |= hip.TRSFNormalizedCoordinates
	}
	r.FilterMode, r.MipmapFilterMode = hip.DrvFilterModeEnum(d.FilterMode), hip.DrvFilterModeEnum(d.MipmapFilterMode)
	r.MaxAnisotropy, r.BorderColor = d.MaxAnisotropy, d.BorderColor
	r.MipmapLevelBias, r.MinMipmapLevelClamp, r.MaxMipmapLevelClamp = d.MipmapLevelBias, d.MinMipmapLevelClamp, d.MaxMipmapLevelClamp
	return r
}

func runtimeSampling(d *hip.DrvTextureDesc) (r hip.TextureDesc) {
	for i, m := range d.AddressMode {
		r.AddressMode[i] = hip.TextureAddressMode(m)
	}
	r.ReadMode = hip.ReadModeNormalizedFloat
	if d.Flags&hip.TRSFReadAsInteger != 0 {
		r.ReadMode = hip.ReadModeElementType
	}
	if d.Flags&hip.TRSFSRGB != 0 {
		r.SRGB = 1
	}
	if d.Flags&hip.TRSFNormalizedCoordinates != 0 {
		r.NormalizedCoords = 1
	}
	r.FilterMode, r.MipmapFilterMode = hip.TextureFilterMode(d.FilterMode), hip.TextureFilterMode(d.MipmapFilterMode)
	r.MaxAnisotropy, r.BorderColor = d.MaxAnisotropy, d.BorderColor
	r.MipmapLevelBias, r.MinMipmapLevelClamp, r.MaxMipmapLevelClamp = d.MipmapLevelBias, d.MinMipmapLevelClamp, d.MaxMipmapLevelClamp
	return r
}

func driverView(v *hip.ResourceViewDesc) hip.DrvResourceViewDesc {
	return hip.DrvResourceViewDesc{
		Format: hip.DrvResourceViewFormatEnum(v.Format), Width: v.Width, Height: v.Height, Depth: v.Depth,
		FirstMipmapLevel: v.FirstMipmapLevel, LastMipmapLevel: v.LastMipmapLevel, FirstLayer: v.FirstLayer, LastLayer: v.LastLayer,
	}
}

func runtimeView(v *hip.DrvResourceViewDesc) hip.ResourceViewDesc {
	return hip.ResourceViewDesc{
		Format: hip.ResourceViewFormat(v.Format), Width: v.Width, Height: v.Height, Depth: v.Depth,
		FirstMipmapLevel: v.FirstMipmapLevel, LastMipmapLevel: v.LastMipmapLevel, FirstLayer: v.FirstLayer, LastLayer: v.LastLayer,
	}
}

// makeTexture makes a texture object and keeps what it is made of.
func makeTexture(t hip.Thread, res *hip.ResourceDesc, tex *hip.TextureDesc, view *hip.ResourceViewDesc) (hip.TextureObject, hip.Error) {
	r, s := driverResource(res), driverSampling(tex)
	x := &texture{resource: *res, sampling: *tex, device: t.Device}
	var v *hip.DrvResourceViewDesc
	if view != nil {
		x.view = *view
		d := driverView(view)
		v = &d
	}
	o, err := runtime().TexObjectCreate(t, &r, &s, v)
	if err == hip.Success {
		textures.put(o, x)
	}
	return o, err
}

//export rw_hipCreateTextureObject
func rw_hipCreateTextureObject(thread uint64, out, res, tex, view unsafe.Pointer) int32 {
	t := threadOf(thread)
	if !images(t) {
		return int32(hip.ErrorNotSupported)
	}
	if out == nil || res == nil || tex == nil {
		return int32(hip.ErrorInvalidValue)
	}
	o, err := makeTexture(t, (*hip.ResourceDesc)(res), (*hip.TextureDesc)(tex), (*hip.ResourceViewDesc)(view))
	if err == hip.Success {
		*(*hip.TextureObject)(out) = o
	}
	return int32(err)
}

//export rw_hipCreateSurfaceObject
func rw_hipCreateSurfaceObject(thread uint64, out, res unsafe.Pointer) int32 {
	t := threadOf(thread)
	if !images(t) {
		return int32(hip.ErrorNotSupported)
	}
	if out == nil || res == nil {
		return int32(hip.ErrorInvalidValue)
	}
	o, err := runtime().CreateSurfaceObject(t, (*hip.ResourceDesc)(res))
	if err == hip.Success {
		*(*hip.SurfaceObject)(out) = o
	}
	return int32(err)
}

//export rw_hipTexObjectCreate
func rw_hipTexObjectCreate(thread uint64, out, res, tex, view unsafe.Pointer) int32 {
	if out == nil || res == nil || tex == nil {
		return int32(hip.ErrorInvalidValue)
	}
	r, s := runtimeResource((*hip.DrvResourceDesc)(res)), runtimeSampling((*hip.DrvTextureDesc)(tex))
	var v *hip.ResourceViewDesc
	if view != nil {
		d := runtimeView((*hip.DrvResourceViewDesc)(view))
		v = &d
	}
	return rw_hipCreateTextureObject(thread, out, unsafe.Pointer(&r), unsafe.Pointer(&s), unsafe.Pointer(v))
}

// endTexture ends a texture object; none is fine.
func endTexture(t hip.Thread, o hip.TextureObject) hip.Error {
	if o == 0 {
		return hip.Success
	}
	if !images(t) {
		return hip.ErrorNotSupported
	}
	x, ok := textures.take(o)
	if !ok {
		return hip.ErrorInvalidValue
	}
	err := runtime().TexObjectDestroy(t, o)
	if err != hip.Success {
		textures.put(o, x)
	}
	return err
}

//export rw_hipDestroyTextureObject
func rw_hipDestroyTextureObject(thread uint64, o uint64) int32 {
	return int32(endTexture(threadOf(thread), hip.TextureObject(o)))
}

//export rw_hipTexObjectDestroy
func rw_hipTexObjectDestroy(thread uint64, o uint64) int32 {
	return rw_hipDestroyTextureObject(thread, o)
}

// ask gives what a texture object is made of to get.
func ask(thread uint64, out unsafe.Pointer, o uint64, get func(x *texture)) int32 {
	if out == nil || o == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	if !images(threadOf(thread)) {
		return int32(hip.ErrorNotSupported)
	}
	x, ok := textures.get(hip.TextureObject(o))
	if !ok {
		return int32(hip.ErrorInvalidValue)
	}
	get(x)
	return int32(hip.Success)
}

//export rw_hipGetTextureObjectResourceDesc
func rw_hipGetTextureObjectResourceDesc(thread uint64, out unsafe.Pointer, o uint64) int32 {
	return ask(thread, out, o, func(x *texture) { *(*hip.ResourceDesc)(out) = x.resource })
}

//export rw_hipGetTextureObjectTextureDesc
func rw_hipGetTextureObjectTextureDesc(thread uint64, out unsafe.Pointer, o uint64) int32 {
	return ask(thread, out, o, func(x *texture) { *(*hip.TextureDesc)(out) = x.sampling })
}

//export rw_hipGetTextureObjectResourceViewDesc
func rw_hipGetTextureObjectResourceViewDesc(thread uint64, out unsafe.Pointer, o uint64) int32 {
	return ask(thread, out, o, func(x *texture) { *(*hip.ResourceViewDesc)(out) = x.view })
}

//export rw_hipTexObjectGetResourceDesc
func rw_hipTexObjectGetResourceDesc(thread uint64, out unsafe.Pointer, o uint64) int32 {
	return ask(thread, out, o, func(x *texture) { *(*hip.DrvResourceDesc)(out) = driverResource(&x.resource) })
}

//export rw_hipTexObjectGetTextureDesc
func rw_hipTexObjectGetTextureDesc(thread uint64, out unsafe.Pointer, o uint64) int32 {
	return ask(thread, out, o, func(x *texture) { *(*hip.DrvTextureDesc)(out) = driverSampling(&x.sampling) })
}

//export rw_hipTexObjectGetResourceViewDesc
func rw_hipTexObjectGetResourceViewDesc(thread uint64, out unsafe.Pointer, o uint64) int32 {
	return ask(thread, out, o, func(x *texture) { *(*hip.DrvResourceViewDesc)(out) = driverView(&x.view) })
}
