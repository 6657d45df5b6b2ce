package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Arrays are images in card memory: rows of a multiple of pitchAlign bytes, a
// slice or layer after another. gfx942 has no image instructions, and its
// runtime no arrays.

// What an array may measure, in elements.
const (
	maxImage  = 16384
	maxSlices = 8192 // of a 3D image; layers of others
)

// rowAlign is the alignment of an image's rows in bytes.
const rowAlign = 256

// array is one.
type array struct {
	d    *device
	a    *vmem.Alloc
	desc hip.DrvArray3dDescriptor
	image
}

// image is how elements lie in memory.
type image struct {
	kind   imageKind
	format texel
	base   uint64
	width  uint64
	height uint64 // 1 if there is none
	depth  uint64 // slices or layers, 1 if there are none
	pitch  uint64 // bytes of a row
}

func (m *image) slice() uint64 { return m.pitch * m.height }

// imageKind is the type field of an image descriptor.
type imageKind uint32

const (
	noImage      imageKind = 0
	image1D      imageKind = 8
	image2D      imageKind = 9
	image3D      imageKind = 10
	image1DArray imageKind = 12
	image2DArray imageKind = 13
)

// kindOf is the kind of image that a descriptor asks for, and whether it can be.
func kindOf(p *hip.DrvArray3dDescriptor) (k imageKind, ok bool) {
	w, h, d := p.Width, p.Height, p.Depth
	switch {
	case w == 0:
		return noImage, false
	case p.Flags&hip.ArrayLayered != 0 && d == 0:
		return noImage, false
	case p.Flags&hip.ArrayLayered != 0 && h == 0:
		k = image1DArray
	case p.Flags&hip.ArrayLayered != 0:
		k = image2DArray
	case h == 0 && d == 0:
		k = image1D
	case h == 0:
		return noImage, false
	case d == 0:
		k = image2D
	default:
		k = image3D
	}
	return k, w <= maxImage && h <= maxImage && d <= maxSlices
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
	v := &array{d: d, desc: *p, image: image{kind: kind, format: f, width: p.Width, height: max(p.Height, 1), depth: max(p.Depth, 1)}}
	v.pitch = (v.width*f.size() + rowAlign - 1) &^ (rowAlign - 1)
	if v.a, e = d.allocate(v.slice()*v.depth, vmem.Image, 0); e != hip.Success {
		return 0, e
	}
	v.base = v.a.Base
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
