package rocm

import (
	"encoding/binary"
	"math/bits"
	"runtime/debug"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// AMD's library fills host memory with the processor, in the call, when the stream
// has come to it: an asynchronous set waits for its stream (fillBuffer in its
// rocblit.cpp). A session must not wait there, so such memory is set by a function
// of the host.

// hostSet is rows to set: a value of some bytes over and over.
type hostSet struct {
	dst            hip.Ptr
	pitch, slice   uint64
	width          uint64 // bytes of a row
	height, depth  uint64
	element, value uint32
}

// line is n elements without gaps.
func line(dst hip.Ptr, element, value uint32, n uint64) hostSet {
	high, width := bits.Mul64(n, uint64(element))
	if high != 0 {
		width = 0
	}
	return hostSet{dst: dst, width: width, height: 1, depth: 1, element: element, value: value}
}

// size is from the first byte to the last; false if that is none, or more than any memory.
func (x *hostSet) size() (uint64, bool) {
	const most = 1 << 46
	if x.width == 0 || x.height == 0 || x.depth == 0 || max(x.width, x.height, x.depth, x.pitch, x.slice) > most ||
		x.height > 1 && (x.pitch < x.width || x.height > most/x.pitch) || x.depth > 1 && (x.slice < x.pitch*(x.height-1)+x.width || x.depth > most/x.slice) {
		return 0, false
	}
	return x.slice*(x.depth-1) + x.pitch*(x.height-1) + x.width, true
}

// ofHost says whether all that is to be set is host memory that the library knows. What it does not know or what is too long is the library's to refuse.
func (r *Runtime) ofHost(t hip.Thread, x *hostSet) bool {
	n, ok := x.size()
	if !ok || r.placed.has(x.dst, n) {
		return false
	}
	if a, err := r.pointerGetAttributes(t, x.dst); err != hip.Success || a.Type != hip.MemoryTypeHost {
		return false
	}
	base, size, err := r.MemGetAddressRange(t, x.dst)
	return err == hip.Success && x.dst >= base && uint64(x.dst-base) <= size && n <= size-uint64(x.dst-base)
}

// set is an asynchronous set: by the host where it is host memory, or else by the library.
func (r *Runtime) set(t hip.Thread, s hip.Stream, x hostSet, library func() hip.Error) hip.Error {
	if !r.ofHost(t, &x) {
		return library()
	}
	return r.LaunchHostFunc(t, s, x.fill)
}

// fill sets the rows. A program that takes the memory away meanwhile harms nobody else.
func (x hostSet) fill() {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }()
	for z := range x.depth {
		for y := range x.height {
			at := x.dst + hip.Ptr(z*x.slice+y*x.pitch)
			fillRow(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), x.width), x.element, x.value)
		}
	}
}

func fillRow(row []byte, element, value uint32) {
	var one [4]byte
	binary.LittleEndian.PutUint32(one[:], value)
	n := copy(row, one[:element])
	for n < len(row) { // twice as much each time
		n += copy(row[n:], row[:n])
	}
}

// MemsetAsync is hipMemsetAsync.
func (r *Runtime) MemsetAsync(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return r.set(t, s, line(dst, 1, uint32(value), n), func() hip.Error { return r.memsetAsync(t, dst, value, n, s) })
}

// MemsetD8Async is hipMemsetD8Async.
func (r *Runtime) MemsetD8Async(t hip.Thread, dst hip.Ptr, value uint8, n uint64, s hip.Stream) hip.Error {
	return r.set(t, s, line(dst, 1, uint32(value), n), func() hip.Error { return r.memsetD8Async(t, dst, value, n, s) })
}

// MemsetD16Async is hipMemsetD16Async.
func (r *Runtime) MemsetD16Async(t hip.Thread, dst hip.Ptr, value uint16, n uint64, s hip.Stream) hip.Error {
	return r.set(t, s, line(dst, 2, uint32(value), n), func() hip.Error { return r.memsetD16Async(t, dst, value, n, s) })
}

// MemsetD32Async is hipMemsetD32Async.
func (r *Runtime) MemsetD32Async(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return r.set(t, s, line(dst, 4, uint32(value), n), func() hip.Error { return r.memsetD32Async(t, dst, value, n, s) })
}

// Memset2DAsync is hipMemset2DAsync.
func (r *Runtime) Memset2DAsync(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64, s hip.Stream) hip.Error {
	x := hostSet{dst: dst, pitch: pitch, width: width, height: height, depth: 1, element: 1, value: uint32(value)}
	return r.set(t, s, x, func() hip.Error { return r.memset2DAsync(t, dst, pitch, value, width, height, s) })
}

// Memset3DAsync is hipMemset3DAsync.
func (r *Runtime) Memset3DAsync(t hip.Thread, p *hip.PitchedPtr, value int32, e *hip.Extent, s hip.Stream) hip.Error {
	library := func() hip.Error { return r.memset3DAsync(t, p, value, e, s) }
	if p == nil || e == nil {
		return library()
	}
	high, slice := bits.Mul64(p.Pitch, p.Ysize)
	if high != 0 {
		return library()
	}
	return r.set(t, s, hostSet{dst: p.Ptr, pitch: p.Pitch, slice: slice, width: e.Width, height: e.Height, depth: e.Depth, element: 1, value: uint32(value)}, library)
}
