package simgpu

import (
	"encoding/binary"
	"time"

	"github.com/rocwire/rocwire/hip"
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

// memset fills height rows of width bytes; width is a multiple of the
// pattern's length.
func (r *Runtime) memset(t hip.Thread, dst hip.Ptr, pitch uint64, pattern []byte, width, height uint64, s hip.Stream, wait bool) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	if width == 0 || height == 0 {
		return hip.Success
	}
	if height != 1 && width > pitch {
		return hip.ErrorInvalidValue
	}
	n, ok := span(pitch, width, height)
	if !ok {
		return hip.ErrorInvalidValue
	}
	a, e := r.locate(dst, n)
	if e != hip.Success {
		return e
	}
	if a == nil { // ordinary host memory cannot be set
		return hip.ErrorInvalidValue
	}
	result := hip.Success
	task := queue.Task{After: (&transfer{dstA: a}).others(st.d), Run: func() {
		begin := time.Now()
		addr := guard(func() {
			if pitch == width {
				fill(vmem.Raw(uint64(dst), n), pattern)
				return
			}
			for i := range height {
				fill(vmem.Raw(uint64(dst)+i*pitch, width), pattern)
			}
		})
		if addr != 0 {
			result = st.d.copyFault(st, "memset", addr)
			return
		}
		if onCard(a.Kind) {
			st.d.meter.Copied(card.Fill, width*height, uint64(time.Since(begin)))
		}
	}}
	if !wait {
		st.q.Add(task)
		return hip.Success
	}
	st.q.Do(task)
	if result != hip.Success {
		return result
	}
	return st.d.status()
}

// elements is count elements of size bytes; a length that cannot be if it wraps.
func elements(count, size uint64) uint64 {
	if count > ^uint64(0)/size {
		return ^uint64(0)
	}
	return count * size
}

// Memset sets bytes, and waits.
func (r *Runtime) Memset(t hip.Thread, dst hip.Ptr, value int32, n uint64) hip.Error {
	return r.memset(t, dst, n, []byte{byte(value)}, n, 1, hip.StreamNull, true)
}

// MemsetAsync sets bytes.
func (r *Runtime) MemsetAsync(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return r.memset(t, dst, n, []byte{byte(value)}, n, 1, s, false)
}

// MemsetD8 sets count bytes, and waits.
func (r *Runtime) MemsetD8(t hip.Thread, dst hip.Ptr, value uint8, count uint64) hip.Error {
	return r.memset(t, dst, count, []byte{value}, count, 1, hip.StreamNull, true)
}

// MemsetD8Async sets count bytes.
func (r *Runtime) MemsetD8Async(t hip.Thread, dst hip.Ptr, value uint8, count uint64, s hip.Stream) hip.Error {
	return r.memset(t, dst, count, []byte{value}, count, 1, s, false)
}

// MemsetD16 sets count 16-bit elements, and waits.
func (r *Runtime) MemsetD16(t hip.Thread, dst hip.Ptr, value uint16, count uint64) hip.Error {
	n := elements(count, 2)
	return r.memset(t, dst, n, binary.LittleEndian.AppendUint16(nil, value), n, 1, hip.StreamNull, true)
}

// MemsetD16Async sets count 16-bit elements.
func (r *Runtime) MemsetD16Async(t hip.Thread, dst hip.Ptr, value uint16, count uint64, s hip.Stream) hip.Error {
	n := elements(count, 2)
	return r.memset(t, dst, n, binary.LittleEndian.AppendUint16(nil, value), n, 1, s, false)
}

// MemsetD32 sets count 32-bit elements, and waits.
func (r *Runtime) MemsetD32(t hip.Thread, dst hip.Ptr, value int32, count uint64) hip.Error {
	n := elements(count, 4)
	return r.memset(t, dst, n, binary.LittleEndian.AppendUint32(nil, uint32(value)), n, 1, hip.StreamNull, true)
}

// MemsetD32Async sets count 32-bit elements.
func (r *Runtime) MemsetD32Async(t hip.Thread, dst hip.Ptr, value int32, count uint64, s hip.Stream) hip.Error {
	n := elements(count, 4)
	return r.memset(t, dst, n, binary.LittleEndian.AppendUint32(nil, uint32(value)), n, 1, s, false)
}

// Memset2D sets rows of bytes, and waits.
func (r *Runtime) Memset2D(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64) hip.Error {
	return r.memset(t, dst, pitch, []byte{byte(value)}, width, height, hip.StreamNull, true)
}

// Memset2DAsync sets rows of bytes.
func (r *Runtime) Memset2DAsync(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64, s hip.Stream) hip.Error {
	return r.memset(t, dst, pitch, []byte{byte(value)}, width, height, s, false)
}
