package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/gcn"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// object is a texture or surface object.
type object struct {
	d *device
	a *vmem.Alloc
}

// maxBuffer is how many elements a texture of linear memory has at most.
const maxBuffer = 1<<32 - 1

// TexObjectCreate makes a texture object of an array, of linear memory or of a
// pitched rectangle. The simulated card does what AMD's runtime on Linux
// does: no levels, no anisotropy, and on gfx90a no linear filter for arrays with a depth.
func (r *Runtime) TexObjectCreate(t hip.Thread, res *hip.DrvResourceDesc, tex *hip.DrvTextureDesc, view *hip.DrvResourceViewDesc) (hip.TextureObject, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if !r.product.images {
		return 0, hip.ErrorNotSupported
	}
	if res == nil || tex == nil || view != nil && res.ResType != hip.DrvResourceTypeArray && res.ResType != hip.DrvResourceTypeMipmappedArray {
		return 0, hip.ErrorInvalidValue
	}
	var words [descriptor.ImageWords]uint32
	switch res.ResType {
	case hip.DrvResourceTypeArray:
		words, e = r.arrayTexture(res, tex, view)
	case hip.DrvResourceTypeMipmappedArray:
		e = hip.ErrorNotSupported
	case hip.DrvResourceTypeLinear:
		words, e = r.linearTexture(res, tex)
	case hip.DrvResourceTypePitch2d:
		words, e = r.pitchTexture(res, tex)
	default:
		e = hip.ErrorInvalidValue
	}
	if e != hip.Success {
		return 0, e
	}
	sampler := samplerOf(tex, res.ResType == hip.DrvResourceTypeLinear)
	a, e := d.object(append(words[:], sampler[:]...))
	if e != hip.Success {
		return 0, e
	}
	r.textures.put(hip.TextureObject(a.Base), &object{d, a})
	return hip.TextureObject(a.Base), hip.Success
}

// supported answers what the card's samplers lack.
func supported(tex *hip.DrvTextureDesc) hip.Error {
	if tex.MaxAnisotropy != 0 || tex.MipmapLevelBias != 0 {
		return hip.ErrorNotSupported
	}
	return hip.Success
}

// as is how a texture reads elements of a format; false if it cannot.
func as(f texel, tex *hip.DrvTextureDesc) (texel, bool) {
	if tex.Flags&hip.TRSFReadAsInteger == 0 {
		f = f.normalized()
	}
	if tex.Flags&hip.TRSFSRGB != 0 && f.channels == 4 {
		if f.kind != descriptor.Unorm || f.bits != 8 {
			return f, false
		}
		f.kind = descriptor.SRGB
	}
	return f, true
}

func (r *Runtime) arrayTexture(res *hip.DrvResourceDesc, tex *hip.DrvTextureDesc, view *hip.DrvResourceViewDesc) (w [descriptor.ImageWords]uint32, e hip.Error) {
	v, ok := r.arrays.get(res.Array())
	if !ok {
		return w, hip.ErrorInvalidValue
	}
	if v.desc.Depth > 0 && tex.FilterMode == hip.DrvTrFilterModeLinear && r.product.arch == gcn.GFX90A {
		return w, hip.ErrorNotSupported
	}
	if e := supported(tex); e != hip.Success {
		return w, e
	}
	f := v.format
	if view != nil {
		format, channels, ok := view.Elements()
		if !ok {
			return w, hip.ErrorInvalidValue
		}
		if f, ok = texelOf(format, channels); !ok || f.size() != v.format.size() {
			return w, hip.ErrorInvalidValue
		}
	}
	if f, ok = as(f, tex); !ok {
		return w, hip.ErrorInvalidValue
	}
	return v.Words(r.product.layout(), f.format()), hip.Success
}

func (r *Runtime) linearTexture(res *hip.DrvResourceDesc, tex *hip.DrvTextureDesc) (w [descriptor.ImageWords]uint32, e hip.Error) {
	p, format, channels, size := res.Linear()
	f, ok := texelOf(format, channels)
	if p == 0 || uint64(p)%descriptor.RowAlign != 0 || !ok || size >= maxBuffer*f.size() {
		return w, hip.ErrorInvalidValue
	}
	if e := supported(tex); e != hip.Success {
		return w, e
	}
	n := size / f.size()
	if f, ok = as(f, tex); !ok || f.kind == descriptor.SRGB || n == 0 || size>>32 != 0 {
		return w, hip.ErrorInvalidValue
	}
	if a := r.visible(p); a == nil || size > a.End()-uint64(p) {
		return w, hip.ErrorOutOfMemory // what AMD's runtime makes of it
	}
	return descriptor.Buffer(r.product.layout(), uint64(p), n, f.format()), hip.Success
}

func (r *Runtime) pitchTexture(res *hip.DrvResourceDesc, tex *hip.DrvTextureDesc) (w [descriptor.ImageWords]uint32, e hip.Error) {
	p, format, channels, width, height, pitch := res.Pitch2D()
	f, ok := texelOf(format, channels)
	if p == 0 || uint64(p)%descriptor.RowAlign != 0 || width >= descriptor.MaxImage || height >= descriptor.MaxImage || pitch%descriptor.RowAlign != 0 || !ok {
		return w, hip.ErrorInvalidValue
	}
	if e := supported(tex); e != hip.Success {
		return w, e
	}
	if f, ok = as(f, tex); !ok || width == 0 || height == 0 || pitch < width*f.size() {
		return w, hip.ErrorInvalidValue
	}
	m := descriptor.Image{Kind: descriptor.Image2D, Base: uint64(p), Width: width, Height: height, Depth: 1, Pitch: pitch}
	if !r.product.layout().Fits(&m, f.size()) {
		return w, hip.ErrorInvalidValue
	}
	n, ok := span(pitch, width*f.size(), height)
	if a := r.visible(p); !ok || a == nil || n > a.End()-uint64(p) {
		return w, hip.ErrorInvalidValue
	}
	return m.Words(r.product.layout(), f.format()), hip.Success
}

// TexObjectDestroy ends a texture object after everything its device was told
// to do is done.
func (r *Runtime) TexObjectDestroy(t hip.Thread, h hip.TextureObject) hip.Error {
	return destroyObject(r, t, &r.textures, h)
}

// CreateSurfaceObject makes a surface object of an array.
func (r *Runtime) CreateSurfaceObject(t hip.Thread, res *hip.ResourceDesc) (hip.SurfaceObject, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if !r.product.images {
		return 0, hip.ErrorNotSupported
	}
	if res == nil || res.ResType != hip.ResourceTypeArray {
		return 0, hip.ErrorInvalidValue
	}
	v, ok := r.arrays.get(res.Array())
	if !ok || v.desc.Flags != 0 && v.desc.Flags&hip.ArraySurfaceLoadStore == 0 {
		return 0, hip.ErrorInvalidValue
	}
	words := v.Words(r.product.layout(), v.format.format())
	a, e := d.object(words[:])
	if e != hip.Success {
		return 0, e
	}
	r.surfaces.put(hip.SurfaceObject(a.Base), &object{d, a})
	return hip.SurfaceObject(a.Base), hip.Success
}

// DestroySurfaceObject ends a surface object as TexObjectDestroy does.
func (r *Runtime) DestroySurfaceObject(t hip.Thread, h hip.SurfaceObject) hip.Error {
	return destroyObject(r, t, &r.surfaces, h)
}

func destroyObject[H ~uint64](r *Runtime, t hip.Thread, of *table[H, *object], h H) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if h == 0 {
		return hip.Success
	}
	o, ok := of.take(h)
	if !ok {
		return hip.ErrorInvalidValue
	}
	queue.WaitAll(o.d.queues.All())
	r.release(o.a)
	return hip.Success
}

// forgetImages ends the arrays and objects of a device that is reset. The
// memory of arrays goes with all the device's.
func (r *Runtime) forgetImages(d *device) {
	r.arrays.takeIf(func(v *array) bool { return v.d == d })
	mine := func(o *object) bool { return o.d == d }
	for _, o := range append(r.textures.takeIf(mine), r.surfaces.takeIf(mine)...) {
		r.release(o.a)
	}
}
