package hipabi

import (
	"math"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// copying checks at the time of a capture what a copy can be checked for.
func copying(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	switch {
	case kind < hip.MemcpyHostToHost || kind > hip.MemcpyDefault && kind != hip.MemcpyDeviceToDeviceNoCU:
		return hip.ErrorInvalidMemcpyDirection
	case n > 0 && (dst == 0 || src == 0):
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// row is a copy of n bytes.
func row(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.GraphCopy {
	return hip.GraphCopy{Dst: dst, Src: src, DstPitch: n, SrcPitch: n, DstSlice: n, SrcSlice: n, Width: n, Height: 1, Depth: 1, Kind: kind}
}

// oneD is the node of a copy of n bytes.
func oneD(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) graph.Memcpy {
	return graph.Memcpy{Form: graph.Form1D, Dst: dst, Src: src, N: n, Kind: kind, Op: row(dst, src, n, kind)}
}

// twoD is the node of a copy of rows.
func twoD(dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) graph.Memcpy {
	p := hip.Memcpy3DParms{
		SrcPtr: hip.PitchedPtr{Ptr: src, Pitch: spitch}, DstPtr: hip.PitchedPtr{Ptr: dst, Pitch: dpitch},
		Extent: hip.Extent{Width: width, Height: height, Depth: 1}, Kind: kind,
	}
	return graph.Memcpy{Form: graph.Form3D, P: p, Kind: kind, Op: box(&p)}
}

// sides checks the sizes and the sides of a copy of n bytes.
func sides(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	d, s := sizeOf(t, dst), sizeOf(t, src)
	switch {
	case d.known && n > d.left, s.known && n > s.left:
		return hip.ErrorInvalidValue
	case d.known && !s.known && kind != hip.MemcpyHostToDevice && kind != hip.MemcpyDefault,
		s.known && !d.known && kind != hip.MemcpyDeviceToHost && kind != hip.MemcpyDefault:
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

func copyNode1D(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) (graph.Params, hip.Error) {
	if n == 0 || dst == 0 || src == 0 {
		return nil, hip.ErrorInvalidValue
	}
	if err := copying(dst, src, n, kind); err != hip.Success {
		return nil, err
	}
	return oneD(dst, src, n, kind), sides(t, dst, src, n, kind)
}

// copyNodeSymbol is a copy between a symbol and other memory.
func copyNodeSymbol(t hip.Thread, form graph.Form, symbol uintptr, other hip.Ptr, n, offset uint64, kind hip.MemcpyKind) (graph.Params, hip.Error) {
	if n == 0 || other == 0 {
		return nil, hip.ErrorInvalidValue
	}
	at, err := within(t, symbol, offset, n)
	if err != hip.Success {
		return nil, err
	}
	m := graph.Memcpy{Form: form, N: n, Symbol: uint64(symbol), Offset: offset, Kind: kind}
	if form == graph.FormTo {
		m.Src, m.Op = other, row(at, other, n, kind)
	} else {
		m.Dst, m.Op = other, row(other, at, n, kind)
	}
	return m, hip.Success
}

// symbolSides checks, when the parameters are set again, which side is where.
func symbolSides(t hip.Thread, m graph.Memcpy) hip.Error {
	other, wrong, host := m.Dst, hip.ErrorInvalidMemcpyDirection, hip.MemcpyDeviceToHost
	never := hip.MemcpyHostToDevice
	if m.Form == graph.FormTo {
		other, wrong, host, never = m.Src, hip.ErrorInvalidValue, hip.MemcpyHostToDevice, hip.MemcpyDeviceToHost
	}
	if _, _, err := symbol(t, uintptr(other)); err == hip.Success {
		return hip.ErrorInvalidValue // the address of a symbol's host variable
	}
	within := m.Kind == hip.MemcpyDeviceToDevice || m.Kind == hip.MemcpyDeviceToDeviceNoCU || m.Kind == hip.MemcpyDefault
	switch s := sizeOf(t, other); {
	case !s.known && m.Kind != host && m.Kind != hip.MemcpyDefault, s.device && !within, m.Kind == hip.MemcpyHostToHost, m.Kind == never:
		return wrong
	}
	return hip.Success
}

// maxPitch bounds the bytes of a row.
const maxPitch = math.MaxInt32

func copyNode3D(t hip.Thread, p *hip.Memcpy3DParms) (graph.Params, hip.Error) {
	inArray := p.SrcArray != 0 || p.DstArray != 0
	switch {
	case (p.SrcArray != 0) == (p.SrcPtr.Ptr != 0), (p.DstArray != 0) == (p.DstPtr.Ptr != 0):
		return nil, hip.ErrorInvalidValue
	case p.SrcPtr.Pitch < p.SrcPtr.Xsize, p.DstPtr.Pitch < p.DstPtr.Xsize:
		return nil, hip.ErrorInvalidPitchValue
	case p.SrcPtr.Pitch >= maxPitch, p.DstPtr.Pitch >= maxPitch:
		return nil, hip.ErrorInvalidValue
	}
	if err := copying(1, 1, 1, p.Kind); err != hip.Success {
		return nil, err
	}
	if inArray {
		if err := judge(p); err != hip.Success {
			return nil, err
		}
		b := boxOf(p)
		return graph.Memcpy{Form: graph.Form3D, P: *p, Kind: p.Kind, Op: hip.GraphCopy{Kind: p.Kind, General: b}}, fits(t, b)
	}
	e := &p.Extent
	for _, side := range []struct {
		p   *hip.PitchedPtr
		pos *hip.Pos
	}{{&p.SrcPtr, &p.SrcPos}, {&p.DstPtr, &p.DstPos}} {
		if side.pos.X > side.p.Pitch || e.Width > side.p.Pitch-side.pos.X {
			return nil, hip.ErrorInvalidValue
		}
		if e.Height > 1<<40 || e.Depth > 1<<40 || side.pos.Y > 1<<40 || side.pos.Z > 1<<40 || side.p.Ysize > 1<<40 {
			return nil, hip.ErrorInvalidValue
		}
		if !inside(t, side.p, side.pos, e) {
			return nil, hip.ErrorInvalidValue
		}
	}
	m := graph.Memcpy{Form: graph.Form3D, P: *p, Kind: p.Kind, Op: box(p)}
	return m, hip.Success
}

// inside says whether a box lies in the memory that it is said to be in, as far
// as that is known.
func inside(t hip.Thread, p *hip.PitchedPtr, pos *hip.Pos, e *hip.Extent) bool {
	if e.Width == 0 || e.Height == 0 || e.Depth == 0 {
		return true
	}
	s := sizeOf(t, p.Ptr)
	if !s.known {
		return true
	}
	rows, ok := mul(pos.Z+e.Depth-1, sliceBytes(p, e)/max(p.Pitch, 1))
	if !ok {
		return false
	}
	last, ok := mul(rows+pos.Y+e.Height-1, p.Pitch)
	return ok && last <= s.left && pos.X+e.Width <= s.left-last
}

func mul(a, b uint64) (uint64, bool) {
	if a != 0 && b > math.MaxUint64/2/a {
		return 0, false
	}
	return a * b, true
}

// sliceBytes is the bytes from one slice to the next.
func sliceBytes(p *hip.PitchedPtr, e *hip.Extent) uint64 {
	if p.Ysize != 0 {
		return p.Pitch * p.Ysize
	}
	return p.Pitch * e.Height
}

// box is the copy that parameters describe, of memory without arrays.
func box(p *hip.Memcpy3DParms) hip.GraphCopy {
	c := hip.GraphCopy{
		DstPitch: p.DstPtr.Pitch, SrcPitch: p.SrcPtr.Pitch, DstSlice: sliceBytes(&p.DstPtr, &p.Extent), SrcSlice: sliceBytes(&p.SrcPtr, &p.Extent),
		Width: p.Extent.Width, Height: p.Extent.Height, Depth: p.Extent.Depth, Kind: p.Kind,
	}
	c.Dst = p.DstPtr.Ptr + hip.Ptr(p.DstPos.Z*c.DstSlice+p.DstPos.Y*c.DstPitch+p.DstPos.X)
	c.Src = p.SrcPtr.Ptr + hip.Ptr(p.SrcPos.Z*c.SrcSlice+p.SrcPos.Y*c.SrcPitch+p.SrcPos.X)
	return c
}

func copyNodeDrv(t hip.Thread, d *hip.DrvMEMCPY3D) (graph.Params, hip.Error) {
	if d.SrcMemoryType == hip.MemoryTypeArray || d.DstMemoryType == hip.MemoryTypeArray {
		k, kind := *d, kindOf(d)
		return graph.Memcpy{Form: graph.FormDrv, D: *d, Kind: kind, Op: hip.GraphCopy{Kind: kind, General: &k}}, fits(t, &k)
	}
	p, err := drvBox(d)
	if err != hip.Success {
		return nil, err
	}
	m := graph.Memcpy{Form: graph.FormDrv, D: *d, Kind: p.Kind}
	if d.WidthInBytes == 0 || d.Height == 0 || d.Depth == 0 {
		m.Op = hip.GraphCopy{Kind: p.Kind}
		return m, hip.Success
	}
	n, err := copyNode3D(t, p)
	if err != hip.Success {
		return nil, err
	}
	m.Op = n.(graph.Memcpy).Op
	return m, hip.Success
}

// drvBox is a copy of the driver API as one of the runtime API.
func drvBox(d *hip.DrvMEMCPY3D) (*hip.Memcpy3DParms, hip.Error) {
	p := &hip.Memcpy3DParms{
		SrcPos: hip.Pos{X: d.SrcXInBytes, Y: d.SrcY, Z: d.SrcZ}, DstPos: hip.Pos{X: d.DstXInBytes, Y: d.DstY, Z: d.DstZ},
		Extent: hip.Extent{Width: d.WidthInBytes, Height: d.Height, Depth: d.Depth},
	}
	side := func(s hip.BoxSide) (hip.PitchedPtr, hip.Error) {
		q := hip.PitchedPtr{Pitch: s.Pitch, Ysize: s.Height}
		if s.Pitch == 0 {
			q.Pitch = s.XInBytes + d.WidthInBytes
		}
		switch s.MemoryType {
		case hip.MemoryTypeHost, hip.MemoryTypeDevice, hip.MemoryTypeUnified, hip.MemoryTypeManaged:
			q.Ptr = s.Ptr()
			return q, hip.Success
		}
		return q, hip.ErrorInvalidValue
	}
	var err hip.Error
	if p.SrcPtr, err = side(d.Src()); err != hip.Success {
		return nil, err
	}
	if p.DstPtr, err = side(d.Dst()); err != hip.Success {
		return nil, err
	}
	p.Kind = kindOf(d)
	return p, hip.Success
}

// kindOf is the direction of a copy of the driver API. Arrays are on the device.
func kindOf(d *hip.DrvMEMCPY3D) hip.MemcpyKind {
	unified := func(m hip.MemoryType) bool { return m == hip.MemoryTypeUnified || m == hip.MemoryTypeManaged }
	from, to := d.SrcMemoryType == hip.MemoryTypeHost, d.DstMemoryType == hip.MemoryTypeHost
	switch {
	case unified(d.SrcMemoryType) || unified(d.DstMemoryType):
		return hip.MemcpyDefault
	case from && to:
		return hip.MemcpyHostToHost
	case from:
		return hip.MemcpyHostToDevice
	case to:
		return hip.MemcpyDeviceToHost
	}
	return hip.MemcpyDeviceToDevice
}
