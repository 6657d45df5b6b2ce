package quota

import (
	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// object is something other than an address that takes memory of a device.
type object struct {
	kind   hip.HandleKind
	handle uint64
}

// create has an object made within the limit of t's device.
func (q *Runtime) create(t hip.Thread, kind hip.HandleKind, size uint64, make func() (uint64, hip.Error)) (uint64, hip.Error) {
	d, n := q.device(t.Device), pages(size)
	if d == nil {
		return make()
	}
	if !q.take(d, n) {
		return 0, hip.ErrorOutOfMemory
	}
	h, code := pressed(q, d, n, make)
	if code != hip.Success {
		d.give(n)
		return h, code
	}
	q.mu.Lock()
	q.objects[object{kind, h}] = block{device: t.Device, size: n}
	q.mu.Unlock()
	return h, code
}

// destroy takes an object out of the account before it is destroyed, as its handle may be another's right afterwards.
func (q *Runtime) destroy(o object, end func() hip.Error) hip.Error {
	q.mu.Lock()
	b, known := q.objects[o]
	delete(q.objects, o)
	q.mu.Unlock()
	code := end()
	switch {
	case !known:
	case code == hip.Success:
		q.freed(b)
	default:
		q.mu.Lock()
		q.objects[o] = b
		q.mu.Unlock()
	}
	return code
}

// ModuleLoadData implements hip.Runtime.
func (q *Runtime) ModuleLoadData(t hip.Thread, image []byte) (hip.Module, hip.Error) {
	var n uint64
	if o, err := codeobject.Parse(image); err == nil { // what is wrong with it, the runtime says
		n = o.MemSize
	}
	h, code := q.create(t, hip.HandleModule, n, func() (uint64, hip.Error) {
		m, code := q.Runtime.ModuleLoadData(t, image)
		return uint64(m), code
	})
	return hip.Module(h), code
}

// ModuleUnload implements hip.Runtime.
func (q *Runtime) ModuleUnload(t hip.Thread, m hip.Module) hip.Error {
	return q.destroy(object{hip.HandleModule, uint64(m)}, func() hip.Error { return q.Runtime.ModuleUnload(t, m) })
}

// Array3DCreate implements hip.Runtime.
func (q *Runtime) Array3DCreate(t hip.Thread, d *hip.DrvArray3dDescriptor) (hip.Array, hip.Error) {
	h, code := q.create(t, hip.HandleArray, elements(d, 1), func() (uint64, hip.Error) {
		a, code := q.Runtime.Array3DCreate(t, d)
		return uint64(a), code
	})
	return hip.Array(h), code
}

// ArrayDestroy implements hip.Runtime.
func (q *Runtime) ArrayDestroy(t hip.Thread, a hip.Array) hip.Error {
	return q.destroy(object{hip.HandleArray, uint64(a)}, func() hip.Error { return q.Runtime.ArrayDestroy(t, a) })
}

// MipmappedArrayCreate implements hip.Runtime.
func (q *Runtime) MipmappedArrayCreate(t hip.Thread, d *hip.DrvArray3dDescriptor, levels uint32) (hip.MipmappedArray, hip.Error) {
	h, code := q.create(t, hip.HandleMipmappedArray, elements(d, levels), func() (uint64, hip.Error) {
		m, code := q.Runtime.MipmappedArrayCreate(t, d, levels)
		return uint64(m), code
	})
	return hip.MipmappedArray(h), code
}

// MipmappedArrayDestroy implements hip.Runtime.
func (q *Runtime) MipmappedArrayDestroy(t hip.Thread, m hip.MipmappedArray) hip.Error {
	return q.destroy(object{hip.HandleMipmappedArray, uint64(m)}, func() hip.Error { return q.Runtime.MipmappedArrayDestroy(t, m) })
}

// elements is about how many bytes the levels of an array hold; more than any device has if it makes no sense, which the runtime then says.
func elements(d *hip.DrvArray3dDescriptor, levels uint32) uint64 {
	size := uint64(4)
	switch d.Format {
	case hip.DrvAdFormatUnsignedInt8, hip.DrvAdFormatSignedInt8:
		size = 1
	case hip.DrvAdFormatUnsignedInt16, hip.DrvAdFormatSignedInt16, hip.DrvAdFormatHalf:
		size = 2
	}
	const most = 1 << 20 // of each extent
	if max(d.Width, d.Height, d.Depth) > most || d.NumChannels > 4 {
		return 0
	}
	w, h, z, n := d.Width, max(d.Height, 1), max(d.Depth, 1), uint64(0)
	for range min(levels, 32) {
		n += w * h * z * size * uint64(d.NumChannels)
		w, h, z = max(w/2, 1), max(h/2, 1), max(z/2, 1)
	}
	return n
}
