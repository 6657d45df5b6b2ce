package hipabi

import "C"

import "github.com/rocwire/rocwire/hip"

// Copies of rows to arrays and from them. All are the copy of a box.

// end is one end of a copy that is not an array.
type end struct {
	kind  hip.MemoryType
	p     uintptr
	pitch uint64
}

// kinds are the memories that a direction says source and destination are.
func kinds(k hip.MemcpyKind) (src, dst hip.MemoryType, ok bool) {
	switch k {
	case hip.MemcpyHostToHost:
		return hip.MemoryTypeHost, hip.MemoryTypeHost, true
	case hip.MemcpyHostToDevice:
		return hip.MemoryTypeHost, hip.MemoryTypeDevice, true
	case hip.MemcpyDeviceToHost:
		return hip.MemoryTypeDevice, hip.MemoryTypeHost, true
	case hip.MemcpyDeviceToDevice, hip.MemcpyDeviceToDeviceNoCU:
		return hip.MemoryTypeDevice, hip.MemoryTypeDevice, true
	case hip.MemcpyDefault:
		return hip.MemoryTypeUnified, hip.MemoryTypeUnified, true
	}
	return 0, 0, false
}

// toArray is the box of rows from memory to a place in an array.
func toArray(dst hip.Array, x, y uint64, src end, width, height uint64) *hip.DrvMEMCPY3D {
	return &hip.DrvMEMCPY3D{
		SrcMemoryType: src.kind, SrcHost: hip.Ptr(src.p), SrcDevice: hip.Ptr(src.p), SrcPitch: src.pitch,
		DstMemoryType: hip.MemoryTypeArray, DstArray: dst, DstXInBytes: x, DstY: y,
		WidthInBytes: width, Height: height, Depth: 1,
	}
}

// fromArray is the reverse.
func fromArray(dst end, src hip.Array, x, y uint64, width, height uint64) *hip.DrvMEMCPY3D {
	return &hip.DrvMEMCPY3D{
		SrcMemoryType: hip.MemoryTypeArray, SrcArray: src, SrcXInBytes: x, SrcY: y,
		DstMemoryType: dst.kind, DstHost: hip.Ptr(dst.p), DstDevice: hip.Ptr(dst.p), DstPitch: dst.pitch,
		WidthInBytes: width, Height: height, Depth: 1,
	}
}

// turn is who waits for a copy: the caller, or a stream.
type turn struct {
	async  bool
	stream uint64
}

// copyBox makes the copy of a box.
func copyBox(t hip.Thread, p *hip.DrvMEMCPY3D, o turn) hip.Error {
	if a, ok := arrays.get(p.SrcArray); ok && p.SrcMemoryType == hip.MemoryTypeArray && p.DstMemoryType == hip.MemoryTypeHost &&
		!a.layered1D() && p.DstHeight != 0 && p.DstHeight < p.Height {
		return hip.ErrorInvalidValue // slices that lie in each other
	}
	if !o.async {
		return runtime().DrvMemcpy3D(t, p)
	}
	s, err := resolveStream(t, hip.Stream(o.stream))
	if err != hip.Success {
		return err
	}
	return runtime().DrvMemcpy3DAsync(t, p, s)
}

// rectangle judges rows at a place in an array.
func rectangle(h uint64, x, y, width, height uint64) hip.Error {
	a, ok := arrays.get(hip.Array(h))
	if !ok {
		return hip.ErrorInvalidHandle
	}
	rows := max(a.Height, 1)
	if a.layered1D() {
		rows = max(rows, a.Depth)
	}
	if row := a.row(); x > row || width > row-x || y > rows || height > rows-y {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// rows judges memory.
func rows(p uintptr, pitch, width uint64) hip.Error {
	switch {
	case p == 0:
		return hip.ErrorInvalidValue
	case pitch == 0 || pitch < width:
		return hip.ErrorInvalidPitchValue
	}
	return hip.Success
}

func copy2DToArray(thread uint64, dst uint64, x, y uint64, src uintptr, pitch, width, height uint64, kind int32, o turn) int32 {
	from, _, ok := kinds(hip.MemcpyKind(kind))
	if !ok {
		return int32(hip.ErrorInvalidMemcpyDirection)
	}
	if err := rows(src, pitch, width); err != hip.Success {
		return int32(err)
	}
	if err := rectangle(dst, x, y, width, height); err != hip.Success {
		return int32(err)
	}
	return int32(copyBox(threadOf(thread), toArray(hip.Array(dst), x, y, end{from, src, pitch}, width, height), o))
}

func copy2DFromArray(thread uint64, dst uintptr, pitch uint64, src uint64, x, y, width, height uint64, kind int32, o turn) int32 {
	_, to, ok := kinds(hip.MemcpyKind(kind))
	if !ok {
		return int32(hip.ErrorInvalidMemcpyDirection)
	}
	if err := rectangle(src, x, y, width, height); err != hip.Success {
		return int32(err)
	}
	if err := rows(dst, pitch, width); err != hip.Success {
		return int32(err)
	}
	return int32(copyBox(threadOf(thread), fromArray(end{to, dst, pitch}, hip.Array(src), x, y, width, height), o))
}

//export rw_hipMemcpy2DToArray
func rw_hipMemcpy2DToArray(thread uint64, dst uint64, x, y uint64, src uintptr, pitch, width, height uint64, kind int32) int32 {
	return copy2DToArray(thread, dst, x, y, src, pitch, width, height, kind, turn{})
}

//export rw_hipMemcpy2DToArrayAsync
func rw_hipMemcpy2DToArrayAsync(thread uint64, dst uint64, x, y uint64, src uintptr, pitch, width, height uint64, kind int32, stream uint64) int32 {
	return copy2DToArray(thread, dst, x, y, src, pitch, width, height, kind, turn{true, stream})
}

//export rw_hipMemcpy2DFromArray
func rw_hipMemcpy2DFromArray(thread uint64, dst uintptr, pitch uint64, src uint64, x, y, width, height uint64, kind int32) int32 {
	return copy2DFromArray(thread, dst, pitch, src, x, y, width, height, kind, turn{})
}

//export rw_hipMemcpy2DFromArrayAsync
func rw_hipMemcpy2DFromArrayAsync(thread uint64, dst uintptr, pitch uint64, src uint64, x, y, width, height uint64, kind int32, stream uint64) int32 {
	return copy2DFromArray(thread, dst, pitch, src, x, y, width, height, kind, turn{true, stream})
}

//export rw_hipMemcpy2DArrayToArray
func rw_hipMemcpy2DArrayToArray(thread uint64, dst uint64, dx, dy uint64, src uint64, sx, sy, width, height uint64, kind int32) int32 {
	if _, _, ok := kinds(hip.MemcpyKind(kind)); !ok {
		return int32(hip.ErrorInvalidMemcpyDirection)
	}
	if err := rectangle(src, sx, sy, width, height); err != hip.Success {
		return int32(err)
	}
	if err := rectangle(dst, dx, dy, width, height); err != hip.Success {
		return int32(err)
	}
	return int32(copyBox(threadOf(thread), betweenArrays(dst, dx, dy, src, sx, sy, width, height), turn{}))
}

func betweenArrays(dst uint64, dx, dy uint64, src uint64, sx, sy, width, height uint64) *hip.DrvMEMCPY3D {
	return &hip.DrvMEMCPY3D{
		SrcMemoryType: hip.MemoryTypeArray, SrcArray: hip.Array(src), SrcXInBytes: sx, SrcY: sy,
		DstMemoryType: hip.MemoryTypeArray, DstArray: hip.Array(dst), DstXInBytes: dx, DstY: dy,
		WidthInBytes: width, Height: height, Depth: 1,
	}
}

// linear is the shape of n bytes that fill rows of an array.
func linear(h uint64, n uint64) (width, height uint64, err hip.Error) {
	a, ok := arrays.get(hip.Array(h))
	if !ok || a.row() == 0 {
		return 0, 0, hip.ErrorInvalidValue
	}
	return n / max(a.Height, 1), n / a.row(), hip.Success
}

//export rw_hipMemcpyToArray
func rw_hipMemcpyToArray(thread uint64, dst uint64, x, y uint64, src uintptr, n uint64, kind int32) int32 {
	width, height, err := linear(dst, n)
	if err != hip.Success {
		return int32(err)
	}
	from, _, ok := kinds(hip.MemcpyKind(kind))
	if !ok {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(copyBox(threadOf(thread), toArray(hip.Array(dst), x, y, end{from, src, 0}, width, height), turn{}))
}

func copyFromArray(thread uint64, dst uintptr, src uint64, x, y, n uint64, kind int32, o turn) int32 {
	width, height, err := linear(src, n)
	if err != hip.Success {
		return int32(err)
	}
	_, to, ok := kinds(hip.MemcpyKind(kind))
	if !ok {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(copyBox(threadOf(thread), fromArray(end{to, dst, 0}, hip.Array(src), x, y, width, height), o))
}

//export rw_hipMemcpyFromArray
func rw_hipMemcpyFromArray(thread uint64, dst uintptr, src uint64, x, y, n uint64, kind int32) int32 {
	return copyFromArray(thread, dst, src, x, y, n, kind, turn{})
}

//export rw_hipMemcpyFromArray_spt
func rw_hipMemcpyFromArray_spt(thread uint64, dst uintptr, src uint64, x, y, n uint64, kind int32) int32 {
	if e := copyFromArray(thread, dst, src, x, y, n, kind, turn{true, uint64(hip.StreamPerThread)}); e != 0 {
		return e
	}
	return rw_hipStreamSynchronize(thread, uint64(hip.StreamPerThread))
}

// element is what a copy of less than an element of an array is told.
func element(h uint64, n uint64) hip.Error {
	if a, ok := arrays.get(hip.Array(h)); !ok || n < a.ElementSize() {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

func copyHtoA(thread uint64, dst, x uint64, kind hip.MemoryType, src uintptr, n uint64, o turn) int32 {
	if err := element(dst, n); err != hip.Success || src == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(copyBox(threadOf(thread), toArray(hip.Array(dst), x, 0, end{kind, src, 0}, n, 1), o))
}

func copyAtoH(thread uint64, kind hip.MemoryType, dst uintptr, src, x uint64, n uint64, o turn) int32 {
	if err := element(src, n); err != hip.Success || dst == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(copyBox(threadOf(thread), fromArray(end{kind, dst, 0}, hip.Array(src), x, 0, n, 1), o))
}

//export rw_hipMemcpyHtoA
func rw_hipMemcpyHtoA(thread uint64, dst, x uint64, src uintptr, n uint64) int32 {
	return copyHtoA(thread, dst, x, hip.MemoryTypeHost, src, n, turn{})
}

//export rw_hipMemcpyHtoAAsync
func rw_hipMemcpyHtoAAsync(thread uint64, dst, x uint64, src uintptr, n uint64, stream uint64) int32 {
	return copyHtoA(thread, dst, x, hip.MemoryTypeHost, src, n, turn{true, stream})
}

//export rw_hipMemcpyAtoH
func rw_hipMemcpyAtoH(thread uint64, dst uintptr, src, x, n uint64) int32 {
	return copyAtoH(thread, hip.MemoryTypeHost, dst, src, x, n, turn{})
}

//export rw_hipMemcpyAtoHAsync
func rw_hipMemcpyAtoHAsync(thread uint64, dst uintptr, src, x, n uint64, stream uint64) int32 {
	return copyAtoH(thread, hip.MemoryTypeHost, dst, src, x, n, turn{true, stream})
}

//export rw_hipMemcpyDtoA
func rw_hipMemcpyDtoA(thread uint64, dst, x uint64, src uintptr, n uint64) int32 {
	return copyHtoA(thread, dst, x, hip.MemoryTypeDevice, src, n, turn{})
}

//export rw_hipMemcpyAtoD
func rw_hipMemcpyAtoD(thread uint64, dst uintptr, src, x, n uint64) int32 {
	return copyAtoH(thread, hip.MemoryTypeDevice, dst, src, x, n, turn{})
}

//export rw_hipMemcpyAtoA
func rw_hipMemcpyAtoA(thread uint64, dst, dx, src, sx, n uint64) int32 {
	if err := element(src, n); err != hip.Success {
		return int32(err)
	}
	return int32(copyBox(threadOf(thread), betweenArrays(dst, dx, 0, src, sx, 0, n, 1), turn{}))
}
