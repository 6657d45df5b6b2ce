package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Arrays are images in card memory: rows of a multiple of pitchAlign bytes, a
// slice or layer after another. gfx942 has no image instructions, and its
// runtime no arrays.

// array is one.
type array struct {
	d    *device
	a    *vmem.Alloc
	desc hip.DrvArray3dDescriptor
	descriptor.Image
	format texel
}

// kindOf is the kind of image that a descriptor asks for, and whether it can be.
func kindOf(p *hip.DrvArray3dDescriptor) (k descriptor.Kind, ok bool) {
	w, h, d := p.Width, p.Height, p.Depth
	switch {
	case w == 0:
		return descriptor.NoImage, false
	case p.Flags&hip.ArrayLayered != 0 && d == 0:
		return descriptor.NoImage, false
	case p.Flags&hip.ArrayLayered != 0 && h == 0:
		k = descriptor.Image1DArray
	case p.Flags&hip.ArrayLayered != 0:
		k = descriptor.Image2DArray
	case h == 0 && d == 0:
		k = descriptor.Image1D
	case h == 0:
		return descriptor.NoImage, false
	case d == 0:
		k = descriptor.Image2D
	default:
		k = descriptor.Image3D
	}
	return k, w <= descriptor.MaxImage && h <= descriptor.MaxImage && d <= descriptor.MaxSlices
}

// Array3DCreate makes an array. ErrorInvalidValue for a description that none
// can have, ErrorNotSupported if the card has no images.
func (r *Runtime) Array3DCreate(t hip.Thread, p *hip.DrvArray3dDescriptor) (hip.Array, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	const known = hip.ArrayLayered | hip.ArraySurfaceLoadStore | hip.ArrayTextureGather // no cubes
	if p == nil || p.Flags&^known != 0 {
		return 0, hip.ErrorInvalidValue
	}
	if p.Flags&hip.ArrayTextureGather != 0 && (p.Width == 0 || p.Height == 0 || p.Depth > 0) {
		return 0, hip.ErrorInvalidValue
	}
	f, ok := texelOf(p.Format, p.NumChannels)
	if !ok {
		return 0, hip.ErrorInvalidValue
	}
	if !r.product.images {
		return 0, hip.ErrorNotSupported
	}
	kind, ok := kindOf(p)
	if !ok {
		return 0, hip.ErrorInvalidValue
	}
	v := &array{d: d, desc: *p, format: f, Image: descriptor.Image{Kind: kind, Width: p.Width, Height: max(p.Height, 1), Depth: max(p.Depth, 1)}}
	v.Pitch = descriptor.Pitch(v.Width, f.size())
	if v.a, e = d.allocate(v.Slice()*v.Depth, vmem.Image, 0); e != hip.Success {
		return 0, e
	}
	v.Base = v.a.Base
	h := hip.Array(r.handle())
	r.arrays.put(h, v)
	return h, hip.Success
}

// ArrayDestroy ends an array after everything its device was told to do is done.
func (r *Runtime) ArrayDestroy(t hip.Thread, h hip.Array) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if h == 0 {
		return hip.ErrorInvalidValue
	}
	v, ok := r.arrays.take(h)
	if !ok {
		return hip.ErrorContextIsDestroyed
	}
	queue.WaitAll(v.d.queues.All())
	if noteOf(v.a).freed.CompareAndSwap(false, true) {
		r.release(v.a)
	}
	return hip.Success
}

// MipmappedArrayCreate: the card's images have one level, and AMD's runtime for
// it none of these.
func (r *Runtime) MipmappedArrayCreate(t hip.Thread, _ *hip.DrvArray3dDescriptor, _ uint32) (hip.MipmappedArray, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	return 0, hip.ErrorNotSupported
}

// MipmappedArrayDestroy: there is none.
func (r *Runtime) MipmappedArrayDestroy(t hip.Thread, _ hip.MipmappedArray) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	return hip.ErrorInvalidValue
}

// MipmappedArrayGetLevel: there is none.
func (r *Runtime) MipmappedArrayGetLevel(t hip.Thread, m hip.MipmappedArray, _ uint32) (hip.Array, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if m == 0 {
		return 0, hip.ErrorInvalidHandle
	}
	return 0, hip.ErrorInvalidValue
}
