package hipabi

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// The nodes of copies that arrays take part in. What is executed is the whole
// copy as the driver API describes it.

// fits says whether the copy of a box lies in its arrays, and in memory as far
// as that is known.
func fits(t hip.Thread, b *hip.DrvMEMCPY3D) hip.Error {
	n := *b // in whole elements, as AMD's library counts
	for _, h := range [...]hip.Array{b.SrcArray, b.DstArray} {
		if a, ok := arrays.get(h); ok {
			n.WidthInBytes -= n.WidthInBytes % a.ElementSize()
		}
	}
	if b.WidthInBytes == 0 || b.Height == 0 || b.Depth == 0 {
		return hip.Success // nothing is copied
	}
	if n.WidthInBytes == 0 || !inBox(t, &n, b.Src()) || !inBox(t, &n, b.Dst()) {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// inBox is fits for one side.
func inBox(t hip.Thread, b *hip.DrvMEMCPY3D, at hip.BoxSide) bool {
	if at.MemoryType == hip.MemoryTypeArray {
		a, ok := arrays.get(at.Array)
		if !ok {
			return false
		}
		rows, slices := max(a.Height, 1), max(a.Depth, 1)
		if a.layered1D() {
			rows, slices = slices, 1
		}
		x := at.XInBytes - at.XInBytes%a.ElementSize()
		return within3(x, b.WidthInBytes, a.row()) && within3(at.Y, b.Height, rows) && within3(at.Z, b.Depth, slices)
	}
	p, pitch, height := at.Ptr(), at.Pitch, at.Height
	if pitch == 0 {
		pitch = b.WidthInBytes
	}
	if height == 0 {
		height = b.Height
	}
	const most = 1 << 46
	if p == 0 || pitch < b.WidthInBytes || pitch > most || at.XInBytes > most || max(height, b.Height, at.Y) > most/pitch || max(b.Depth, at.Z) > most/(pitch*height) {
		return false
	}
	s := sizeOf(t, p)
	if !s.known {
		return at.MemoryType != hip.MemoryTypeDevice
	}
	end := (at.Z+b.Depth-1)*pitch*height + (at.Y+b.Height-1)*pitch + at.XInBytes + b.WidthInBytes
	return end <= s.left
}

// within3 says whether n from at on lie in one dimension of an array.
func within3(at, n, size uint64) bool { return at < size && n <= size-at }

// shown are the parameters of a copy as the runtime API has them, whichever
// call made its node.
func shown(m *graph.Memcpy) hip.Memcpy3DParms {
	if m.Form == graph.Form3D {
		return m.P
	}
	b := m.Op.General
	if b == nil {
		c := &m.Op
		return hip.Memcpy3DParms{
			SrcPtr: hip.PitchedPtr{Ptr: c.Src, Pitch: c.SrcPitch, Xsize: c.Width, Ysize: c.Height},
			DstPtr: hip.PitchedPtr{Ptr: c.Dst, Pitch: c.DstPitch, Xsize: c.Width, Ysize: c.Height},
			Extent: hip.Extent{Width: c.Width, Height: c.Height, Depth: c.Depth}, Kind: m.Kind,
		}
	}
	return volumeOf(b)
}

// shownDrv is shown as the driver API has it.
func shownDrv(m *graph.Memcpy) hip.DrvMEMCPY3D {
	c := &m.Op
	switch {
	case m.Form == graph.FormDrv:
		return m.D
	case c.General != nil:
		return *c.General
	}
	return hip.DrvMEMCPY3D{
		SrcMemoryType: hip.MemoryTypeUnified, SrcDevice: c.Src, SrcPitch: c.SrcPitch, SrcHeight: c.Height,
		DstMemoryType: hip.MemoryTypeUnified, DstDevice: c.Dst, DstPitch: c.DstPitch, DstHeight: c.Height,
		WidthInBytes: c.Width, Height: c.Height, Depth: c.Depth,
	}
}

// volumeOf is the reverse of boxOf.
func volumeOf(b *hip.DrvMEMCPY3D) hip.Memcpy3DParms {
	p := hip.Memcpy3DParms{Extent: hip.Extent{Width: b.WidthInBytes, Height: b.Height, Depth: b.Depth}, Kind: kindOf(b)}
	turned, element := false, uint64(1)
	side := func(s hip.BoxSide) (at hip.Pos, q hip.PitchedPtr, of hip.Array) {
		at = hip.Pos{X: s.XInBytes, Y: s.Y, Z: s.Z}
		if s.MemoryType == hip.MemoryTypeArray {
			if a, ok := arrays.get(s.Array); ok {
				element = a.ElementSize()
				if a.layered1D() {
					turned = true
					at.Y, at.Z = s.Z, s.Y
				}
			}
			at.X /= element
			return at, q, s.Array
		}
		if s.Pitch == 0 {
			s.Pitch = s.XInBytes + b.WidthInBytes
		}
		return at, hip.PitchedPtr{Ptr: s.Ptr(), Pitch: s.Pitch, Ysize: s.Height}, 0
	}
	p.SrcPos, p.SrcPtr, p.SrcArray = side(b.Src())
	p.DstPos, p.DstPtr, p.DstArray = side(b.Dst())
	p.Extent.Width /= element
	if turned {
		p.Extent.Height, p.Extent.Depth = p.Extent.Depth, p.Extent.Height
	}
	return p
}
