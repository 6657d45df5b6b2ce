package simgpu

import (
	"runtime"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// The general copy: a box of bytes from one volume or array to another. A
// volume is rows of pitch bytes and slices of height rows.

// side is one side of it, as far as the other does not matter.
type side struct {
	addr         uint64 // of the box's first byte
	pitch, slice uint64
	a            *vmem.Alloc // nil: host memory of the program's own
	own          bool        // which nobody has told the runtime of
	array        *array
}

// limit bounds every number of a copy, so that sums of two products cannot wrap.
const limit = 1 << 46

// inArray finds the box in an array.
func (r *Runtime) inArray(v *hip.BoxSide, box [3]uint64) (s side, e hip.Error) {
	a, ok := r.arrays.get(v.Array)
	if !ok {
		return s, hip.ErrorInvalidValue
	}
	height, depth, slice := a.Height, a.Depth, a.Slice()
	if a.Kind == descriptor.Image1DArray { // its layers are rows here
		height, depth, slice = a.Depth, 1, 0
	}
	row := a.Width * a.format.size()
	if v.XInBytes >= row || box[0] > row-v.XInBytes || v.Y >= height || box[1] > height-v.Y || v.Z >= depth || box[2] > depth-v.Z {
		return s, hip.ErrorInvalidValue
	}
	return side{addr: a.Base + v.Z*slice + v.Y*a.Pitch + v.XInBytes, pitch: a.Pitch, slice: slice, a: a.a, array: a}, hip.Success
}

// side finds the box on one side. host stands for the side that is host memory, if it is
// not nil.
func (d *device) side(v hip.BoxSide, box [3]uint64, host []byte, access hip.MemAccessFlags) (s side, e hip.Error) {
	r := d.r
	if v.MemoryType == hip.MemoryTypeArray {
		return r.inArray(&v, box)
	}
	switch v.MemoryType {
	case hip.MemoryTypeHost, hip.MemoryTypeDevice, hip.MemoryTypeUnified, hip.MemoryTypeManaged:
	default:
		return s, hip.ErrorInvalidValue
	}
	s = side{pitch: v.Pitch}
	if s.pitch == 0 {
		s.pitch = box[0]
	}
	rows := v.Height
	if rows == 0 {
		rows = box[1]
	}
	if s.pitch < box[0] || max(rows, v.Y, box[1]) > limit/s.pitch {
		return s, hip.ErrorInvalidValue
	}
	s.slice = s.pitch * rows
	if max(v.Z, box[2]) > limit/s.slice {
		return s, hip.ErrorInvalidValue
	}
	start := v.Z*s.slice + v.Y*s.pitch + v.XInBytes
	n := (box[2]-1)*s.slice + (box[1]-1)*s.pitch + box[0]
	if host != nil && v.MemoryType == hip.MemoryTypeHost {
		if start > uint64(len(host)) || n > uint64(len(host))-start {
			return s, hip.ErrorInvalidValue
		}
		s.addr = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(host)))) + start
		return s, hip.Success
	}
	p := v.Ptr()
	if p == 0 || uint64(p)+start < start {
		return s, hip.ErrorInvalidValue
	}
	s.addr = uint64(p) + start
	if s.a, s.own, e = r.locate(hip.Ptr(s.addr), n); e != hip.Success {
		return s, e
	}
	if !d.reaches(s.a, s.addr, n, access) {
		return s, hip.ErrorInvalidValue
	}
	if s.own && v.MemoryType == hip.MemoryTypeDevice {
		return s, hip.ErrorInvalidValue
	}
	return s, hip.Success
}

// box checks a copy; nothing is true if there is nothing to copy.
func (r *Runtime) box(d *device, p *hip.DrvMEMCPY3D, host []byte) (tr transfer, nothing bool, e hip.Error) {
	if p == nil {
		return tr, false, hip.ErrorInvalidValue
	}
	size := [3]uint64{p.WidthInBytes, p.Height, p.Depth}
	if size[0] == 0 || size[1] == 0 || size[2] == 0 {
		return tr, true, hip.Success
	}
	from, to := p.Src(), p.Dst()
	for _, n := range [...]uint64{size[0], size[1], size[2], from.XInBytes, from.Y, from.Z, from.Pitch, to.XInBytes, to.Y, to.Z, to.Pitch} {
		if n > limit {
			return tr, false, hip.ErrorInvalidValue
		}
	}
	for _, v := range [...]*hip.BoxSide{&from, &to} {
		if v.MemoryType != hip.MemoryTypeArray {
			continue
		}
		a, ok := r.arrays.get(v.Array)
		if !ok {
			return tr, false, hip.ErrorInvalidValue
		}
		n := a.format.size() // whole elements, as AMD's runtime counts them
		v.XInBytes -= v.XInBytes % n
		size[0] -= size[0] % n
	}
	if size[0] == 0 || size[1] > limit/size[0] || size[2] > limit/(size[0]*size[1]) {
		return tr, false, hip.ErrorInvalidValue
	}
	src, e := d.side(from, size, host, hip.MemAccessFlagsProtRead)
	if e != hip.Success {
		return tr, false, e
	}
	dst, e := d.side(to, size, host, hip.MemAccessFlagsProtReadWrite)
	if e != hip.Success {
		return tr, false, e
	}
	if src.array != nil && dst.array != nil && src.array.format.size() != dst.array.format.size() {
		return tr, false, hip.ErrorInvalidValue
	}
	return transfer{
		dst: dst.addr, src: src.addr, dpitch: dst.pitch, spitch: src.pitch, dslice: dst.slice, sslice: src.slice,
		width: size[0], height: size[1], depth: size[2], dstA: dst.a, srcA: src.a, dstOwn: dst.own, srcOwn: src.own,
	}, false, hip.Success
}

// DrvMemcpy3D copies a box and waits, but for a copy from device memory to device memory.
func (r *Runtime) DrvMemcpy3D(t hip.Thread, p *hip.DrvMEMCPY3D) hip.Error {
	return r.memcpy3D(t, p, hip.StreamNull, p != nil && (p.SrcMemoryType != hip.MemoryTypeDevice || p.DstMemoryType != hip.MemoryTypeDevice))
}

// DrvMemcpy3DAsync copies a box. It waits where MemcpyAsync does.
func (r *Runtime) DrvMemcpy3DAsync(t hip.Thread, p *hip.DrvMEMCPY3D, s hip.Stream) hip.Error {
	return r.memcpy3D(t, p, s, false)
}

func (r *Runtime) memcpy3D(t hip.Thread, p *hip.DrvMEMCPY3D, s hip.Stream, wait bool) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	tr, nothing, e := r.box(st.d, p, nil)
	if nothing || e != hip.Success {
		return e
	}
	if wait {
		return tr.copyNow(st)
	}
	return tr.copyLater(st)
}

// Copy3D makes a copy in a stream's turn, without waiting. host is the memory
// of the side that is said to be host memory; it is the runtime's until done is
// called, which happens in any case if the answer is Success, with the outcome:
// in that turn, or with over when it is over.
func (r *Runtime) Copy3D(t hip.Thread, p *hip.DrvMEMCPY3D, host []byte, s hip.Stream, over bool, done func(hip.Error)) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	tr, nothing, e := r.box(st.d, p, host)
	if e != hip.Success {
		return e
	}
	if nothing || tr.dstOwn || tr.srcOwn || p.SrcMemoryType == hip.MemoryTypeHost && p.DstMemoryType == hip.MemoryTypeHost {
		return hip.ErrorInvalidValue // there is memory that nobody has told the runtime of
	}
	code, then := hip.Success, (func())(nil)
	tell := func() { done(code) }
	if over {
		tell, then = func() {}, tell
	}
	tr.add(st, queue.Task{Always: true, Then: then, Size: min(len(host), stageBytes), Run: func() {
		if code = st.d.status(); code == hip.Success {
			code = tr.run(st)
		}
		runtime.KeepAlive(host)
		tell()
	}})
	return hip.Success
}
