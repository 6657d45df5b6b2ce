package hipabi

import "C"

import (
	"math"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// Copies of volumes, and of rectangles of the driver API: each is the copy of a box.

// longestRow is one more than the bytes that a row of a volume may have.
const longestRow = math.MaxInt32

// judge answers what is wrong with the copy of a volume before memory is looked at.
func judge(p *hip.Memcpy3DParms) hip.Error {
	s, d := &p.SrcPtr, &p.DstPtr
	if (p.SrcArray != 0) == (s.Ptr != 0) || (p.DstArray != 0) == (d.Ptr != 0) { // one of both
		return hip.ErrorInvalidValue
	}
	from, inFrom := arrays.get(p.SrcArray)
	to, inTo := arrays.get(p.DstArray)
	if p.SrcArray != 0 && !inFrom || p.DstArray != 0 && !inTo || inFrom && inTo && from.ElementSize() != to.ElementSize() {
		return hip.ErrorInvalidValue
	}
	if s.Pitch < s.Xsize || d.Pitch < d.Xsize {
		return hip.ErrorInvalidPitchValue
	}
	if s.Pitch >= longestRow || d.Pitch >= longestRow {
		return hip.ErrorInvalidValue
	}
	if !inFrom && !inTo {
		w := p.Extent.Width
		if p.DstPos.X > d.Pitch || w > d.Pitch-p.DstPos.X || p.SrcPos.X > s.Pitch || w > s.Pitch-p.SrcPos.X {
			return hip.ErrorInvalidValue
		}
	}
	if _, _, ok := kinds(p.Kind); !ok {
		return hip.ErrorInvalidMemcpyDirection
	}
	return hip.Success
}

// boxOf is the copy of a volume as one of the driver API. Positions in arrays
// and extents are in elements there; layers of rows are rows.
func boxOf(p *hip.Memcpy3DParms) *hip.DrvMEMCPY3D {
	from, to, _ := kinds(p.Kind)
	b := &hip.DrvMEMCPY3D{
		SrcMemoryType: from, SrcHost: p.SrcPtr.Ptr, SrcDevice: p.SrcPtr.Ptr, SrcPitch: p.SrcPtr.Pitch, SrcHeight: p.SrcPtr.Ysize,
		SrcXInBytes: p.SrcPos.X, SrcY: p.SrcPos.Y, SrcZ: p.SrcPos.Z,
		DstMemoryType: to, DstHost: p.DstPtr.Ptr, DstDevice: p.DstPtr.Ptr, DstPitch: p.DstPtr.Pitch, DstHeight: p.DstPtr.Ysize,
		DstXInBytes: p.DstPos.X, DstY: p.DstPos.Y, DstZ: p.DstPos.Z,
		WidthInBytes: p.Extent.Width, Height: p.Extent.Height, Depth: p.Extent.Depth,
	}
	turned, element := false, uint64(1)
	if a, ok := arrays.get(p.SrcArray); ok {
		element = a.ElementSize()
		b.SrcMemoryType, b.SrcArray, b.SrcHost, b.SrcDevice, b.SrcPitch, b.SrcHeight = hip.MemoryTypeArray, p.SrcArray, 0, 0, 0, 0
		b.SrcXInBytes = times(b.SrcXInBytes, element)
		if a.layered1D() {
			turned = true
			b.SrcY, b.SrcZ = b.SrcZ, b.SrcY
		}
	}
	if a, ok := arrays.get(p.DstArray); ok {
		element = a.ElementSize()
		b.DstMemoryType, b.DstArray, b.DstHost, b.DstDevice, b.DstPitch, b.DstHeight = hip.MemoryTypeArray, p.DstArray, 0, 0, 0, 0
		b.DstXInBytes = times(b.DstXInBytes, element)
		if a.layered1D() {
			turned = true
			b.DstY, b.DstZ = b.DstZ, b.DstY
		}
	}
	b.WidthInBytes = times(b.WidthInBytes, element)
	if turned {
		b.Height, b.Depth = b.Depth, b.Height
	}
	return b
}

// times is a product, or more than any memory has.
func times(a, b uint64) uint64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

func copyVolume(thread uint64, p unsafe.Pointer, o turn) int32 {
	if p == nil {
		return int32(hip.ErrorInvalidValue)
	}
	v := (*hip.Memcpy3DParms)(p)
	if err := judge(v); err != hip.Success {
		return int32(err)
	}
	return int32(copyBox(threadOf(thread), boxOf(v), o))
}

//export rw_hipMemcpy3D
func rw_hipMemcpy3D(thread uint64, p unsafe.Pointer) int32 { return copyVolume(thread, p, turn{}) }

//export rw_hipMemcpy3DAsync
func rw_hipMemcpy3DAsync(thread uint64, p unsafe.Pointer, stream uint64) int32 {
	return copyVolume(thread, p, turn{true, stream})
}

func copyRectangle(thread uint64, p unsafe.Pointer, o turn) int32 {
	if p == nil {
		return int32(hip.ErrorInvalidValue)
	}
	r := (*hip.Memcpy2D)(p)
	b := &hip.DrvMEMCPY3D{
		SrcMemoryType: r.SrcMemoryType, SrcHost: r.SrcHost, SrcDevice: r.SrcDevice, SrcArray: r.SrcArray, SrcPitch: r.SrcPitch, SrcXInBytes: r.SrcXInBytes, SrcY: r.SrcY,
		DstMemoryType: r.DstMemoryType, DstHost: r.DstHost, DstDevice: r.DstDevice, DstArray: r.DstArray, DstPitch: r.DstPitch, DstXInBytes: r.DstXInBytes, DstY: r.DstY,
		WidthInBytes: r.WidthInBytes, Height: r.Height, Depth: 1,
	}
	if b.SrcPitch == 0 {
		b.SrcPitch = b.SrcXInBytes + b.WidthInBytes
	}
	if b.DstPitch == 0 {
		b.DstPitch = b.DstXInBytes + b.WidthInBytes
	}
	return int32(copyBox(threadOf(thread), b, o))
}

//export rw_hipMemcpyParam2D
func rw_hipMemcpyParam2D(thread uint64, p unsafe.Pointer) int32 {
	return copyRectangle(thread, p, turn{})
}

//export rw_hipDrvMemcpy2DUnaligned
func rw_hipDrvMemcpy2DUnaligned(thread uint64, p unsafe.Pointer) int32 {
	return copyRectangle(thread, p, turn{})
}

//export rw_hipMemcpyParam2DAsync
func rw_hipMemcpyParam2DAsync(thread uint64, p unsafe.Pointer, stream uint64) int32 {
	return copyRectangle(thread, p, turn{true, stream})
}

// holds says whether a box lies within the rows and slices of p. A volume of one slice need not say how many rows a slice has.
func holds(p *hip.PitchedPtr, e *hip.Extent) bool {
	return e.Width <= p.Pitch && (e.Depth == 1 || e.Height <= p.Ysize)
}

// fillVolume fills rows where slices lie behind each other without a gap.
func fillVolume(p, extent unsafe.Pointer, rows func(p *hip.PitchedPtr, width, height uint64) hip.Error, box func(*hip.PitchedPtr, *hip.Extent) hip.Error) int32 {
	v, e := *(*hip.PitchedPtr)(p), *(*hip.Extent)(extent)
	switch {
	case e.Width == 0 || e.Height == 0 || e.Depth == 0:
		return int32(hip.Success)
	case v.Ptr == 0 || !holds(&v, &e):
		return int32(hip.ErrorInvalidValue)
	case e.Depth == 1:
		return int32(rows(&v, e.Width, e.Height))
	case v.Ysize == e.Height && e.Height <= math.MaxUint64/e.Depth:
		return int32(rows(&v, e.Width, e.Height*e.Depth))
	case v.Ysize > math.MaxInt64/v.Pitch/e.Depth: // of no memory
		return int32(hip.ErrorInvalidValue)
	}
	return int32(box(&v, &e))
}

//export rw_hipMemset3D
func rw_hipMemset3D(thread uint64, p unsafe.Pointer, value int32, extent unsafe.Pointer) int32 {
	t := threadOf(thread)
	return fillVolume(p, extent, func(p *hip.PitchedPtr, width, height uint64) hip.Error {
		return runtime().Memset2D(t, p.Ptr, p.Pitch, value, width, height)
	}, func(p *hip.PitchedPtr, e *hip.Extent) hip.Error {
		return runtime().Memset3D(t, p, value, e)
	})
}

//export rw_hipMemset3DAsync
func rw_hipMemset3DAsync(thread uint64, p unsafe.Pointer, value int32, extent unsafe.Pointer, stream uint64) int32 {
	t := threadOf(thread)
	s, err := resolveStream(t, hip.Stream(stream))
	if err != hip.Success {
		return int32(err)
	}
	return fillVolume(p, extent, func(p *hip.PitchedPtr, width, height uint64) hip.Error {
		return runtime().Memset2DAsync(t, p.Ptr, p.Pitch, value, width, height, s)
	}, func(p *hip.PitchedPtr, e *hip.Extent) hip.Error {
		return runtime().Memset3DAsync(t, p, value, e, s)
	})
}
