package simgpu

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// fill writes a pattern over and over.
func fill(b, pattern []byte) {
	n := copy(b, pattern)
	if len(pattern) == 1 && pattern[0] == 0 {
		clear(b)
		return
	}
	for n < len(b) {
		// Doubling, but no further than what stays in a cache.
		n += copy(b[n:], b[:min(n, 256<<10)])
	}
}

// placeLimit is up to how many bytes a memset whose stream is idle is done in
// place: it takes no longer than to have another goroutine do it.
const placeLimit = 32 << 10

// setting is a checked memset of height rows of width bytes.
type setting struct {
	st            *stream
	a             *vmem.Alloc // nil: registered host memory
	dst           uint64
	pitch         uint64
	width, height uint64
	slice, depth  uint64 // as many times, slice bytes apart
	span          uint64 // bytes from the first to the last
	value         uint32
	size          uint8 // bytes of value that make the pattern
}

// memset fills height rows of width bytes with a pattern, the first size bytes
// of value; width is a multiple of size.
func (r *Runtime) memset(t hip.Thread, dst hip.Ptr, pitch uint64, value uint32, size uint8, width, height uint64, s hip.Stream, wait bool) hip.Error {
	return r.set(t, setting{dst: uint64(dst), pitch: pitch, width: width, height: height, depth: 1, value: value, size: size}, s, wait)
}

// set does a memset, of which st, a and span are not known yet.
func (r *Runtime) set(t hip.Thread, set setting, s hip.Stream, wait bool) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	if set.width == 0 || set.height == 0 || set.depth == 0 {
		return hip.Success
	}
	if set.height != 1 && set.width > set.pitch {
		return hip.ErrorInvalidValue
	}
	n, ok := span(set.pitch, set.width, set.height)
	if !ok || set.depth != 1 && n > set.slice {
		return hip.ErrorInvalidValue
	}
	if n, ok = span(set.slice, n, set.depth); !ok {
		return hip.ErrorInvalidValue
	}
	a, unknown, e := r.locate(hip.Ptr(set.dst), n)
	if e != hip.Success {
		return e
	}
	if unknown || !st.d.reaches(a, set.dst, n, hip.MemAccessFlagsProtReadWrite) { // nobody has told the runtime of this memory
		return hip.ErrorInvalidValue
	}
	if a != nil && onCard(a.Kind) && a.Base == set.dst && !noteOf(a).hints.syncs.Load() {
		wait = false // HIP waits for other memory only, and for what it was told to
	}
	set.st, set.a, set.span = st, a, n
	others := (&transfer{dst: set.dst, dstA: a, width: n, height: 1, depth: 1}).others(st.d)
	if len(others) == 0 && n <= placeLimit && !st.d.meter.Condition().Hung && st.q.Begin() {
		e = set.run()
		st.q.End()
	} else {
		e = set.queue(others, wait)
	}
	if wait && e == hip.Success {
		return st.d.status()
	}
	if !wait {
		return hip.Success // a failure is the stream's, as if it had been queued
	}
	return e
}

// queue has the memset done in the stream's turn, behind others, and may wait.
func (m setting) queue(others []queue.Fence, wait bool) hip.Error {
	task := queue.Task{After: others}
	if !wait {
		task.Run = func() { m.run() }
		m.st.q.Add(task)
		return hip.Success
	}
	result := hip.Success
	task.Run = func() { result = m.run() }
	m.st.q.Do(task)
	return result
}

// run fills the memory and accounts it.
func (m *setting) run() hip.Error {
	if d := m.st.d; !d.meter.Well(d.resets.Load()) { // on a card a memset is a kernel
		d.hold(d.context())
		if e := d.status(); e != hip.Success {
			return e
		}
	}
	begin := mono.Now()
	addr := guard(func() {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], m.value)
		for z := range m.depth {
			at := m.dst + z*m.slice
			if m.pitch == m.width {
				fill(vmem.Raw(at, m.width*m.height), b[:m.size])
				continue
			}
			for y := range m.height {
				fill(vmem.Raw(at+y*m.pitch, m.width), b[:m.size])
			}
		}
	})
	if addr != 0 {
		return m.st.d.copyFault(m.st, "memset", addr)
	}
	if m.a != nil && onCard(m.a.Kind) {
		m.st.d.meter.Copied(card.Fill, m.width*m.height*m.depth, uint64(mono.Since(begin)))
	}
	return hip.Success
}

// elements is count elements of size bytes; a length that cannot be if it wraps.
func elements(count, size uint64) uint64 {
	if count > ^uint64(0)/size {
		return ^uint64(0)
	}
	return count * size
}

// Memset sets bytes, and waits where HIP does.
func (r *Runtime) Memset(t hip.Thread, dst hip.Ptr, value int32, n uint64) hip.Error {
	return r.memset(t, dst, n, uint32(byte(value)), 1, n, 1, hip.StreamNull, true)
}

// MemsetAsync sets bytes.
func (r *Runtime) MemsetAsync(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return r.memset(t, dst, n, uint32(byte(value)), 1, n, 1, s, false)
}

// MemsetD8 sets count bytes, and waits where HIP does.
func (r *Runtime) MemsetD8(t hip.Thread, dst hip.Ptr, value uint8, count uint64) hip.Error {
	return r.memset(t, dst, count, uint32(value), 1, count, 1, hip.StreamNull, true)
}

// MemsetD8Async sets count bytes.
func (r *Runtime) MemsetD8Async(t hip.Thread, dst hip.Ptr, value uint8, count uint64, s hip.Stream) hip.Error {
	return r.memset(t, dst, count, uint32(value), 1, count, 1, s, false)
}

// MemsetD16 sets count 16-bit elements, and waits where HIP does.
func (r *Runtime) MemsetD16(t hip.Thread, dst hip.Ptr, value uint16, count uint64) hip.Error {
	n := elements(count, 2)
	return r.memset(t, dst, n, uint32(value), 2, n, 1, hip.StreamNull, true)
}

// MemsetD16Async sets count 16-bit elements.
func (r *Runtime) MemsetD16Async(t hip.Thread, dst hip.Ptr, value uint16, count uint64, s hip.Stream) hip.Error {
	n := elements(count, 2)
	return r.memset(t, dst, n, uint32(value), 2, n, 1, s, false)
}

// MemsetD32 sets count 32-bit elements, and waits where HIP does.
func (r *Runtime) MemsetD32(t hip.Thread, dst hip.Ptr, value int32, count uint64) hip.Error {
	n := elements(count, 4)
	return r.memset(t, dst, n, uint32(value), 4, n, 1, hip.StreamNull, true)
}

// MemsetD32Async sets count 32-bit elements.
func (r *Runtime) MemsetD32Async(t hip.Thread, dst hip.Ptr, value int32, count uint64, s hip.Stream) hip.Error {
	n := elements(count, 4)
	return r.memset(t, dst, n, uint32(value), 4, n, 1, s, false)
}

// Memset2D sets rows of bytes, and waits where HIP does.
func (r *Runtime) Memset2D(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64) hip.Error {
	return r.memset(t, dst, pitch, uint32(byte(value)), 1, width, height, hip.StreamNull, true)
}

// Memset2DAsync sets rows of bytes.
func (r *Runtime) Memset2DAsync(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64, s hip.Stream) hip.Error {
	return r.memset(t, dst, pitch, uint32(byte(value)), 1, width, height, s, false)
}

// Memset3D sets boxes of bytes, and waits where HIP does: slices of Ysize rows,
// of which those of extent are set.
func (r *Runtime) Memset3D(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent) hip.Error {
	return r.memset3D(t, p, value, extent, hip.StreamNull, true)
}

// Memset3DAsync sets boxes of bytes.
func (r *Runtime) Memset3DAsync(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent, s hip.Stream) hip.Error {
	return r.memset3D(t, p, value, extent, s, false)
}

func (r *Runtime) memset3D(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent, s hip.Stream, wait bool) hip.Error {
	return r.set(t, setting{
		dst: uint64(p.Ptr), pitch: p.Pitch, slice: elements(p.Pitch, max(p.Ysize, 1)), width: extent.Width, height: extent.Height, depth: extent.Depth,
		value: uint32(byte(value)), size: 1,
	}, s, wait)
}
