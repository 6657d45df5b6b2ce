package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Sub-dword addressing: an operation on a byte or word of its sources and
// destination.

// part is where a selection lies: shift and width in bits.
func part(s gcn.Sel) (shift, width uint32) {
	switch s {
	case gcn.Byte0, gcn.Byte1, gcn.Byte2, gcn.Byte3:
		return uint32(s-gcn.Byte0) * 8, 8
	case gcn.Word0, gcn.Word1:
		return uint32(s-gcn.Word0) * 16, 16
	}
	return 0, 32
}

// sdwaSource extracts a part of a source, zero or sign extended.
func sdwaSource(sel gcn.Sel, sext bool) prep {
	shift, width := part(sel)
	if width == 32 {
		return nil
	}
	up := 32 - shift - width
	if sext {
		return func(_ *wave, d, s *Vec) *Vec {
			for i := range d {
				d[i] = uint32(int32(s[i]<<(up&31)) >> ((32 - width) & 31))
			}
			return d
		}
	}
	return func(_ *wave, d, s *Vec) *Vec {
		for i := range d {
			d[i] = s[i] << (up & 31) >> ((32 - width) & 31)
		}
		return d
	}
}

// sdwaDest puts the result into a part of the destination.
func sdwaDest(s *gcn.SDWA) func(w *wave, old *Vec) {
	shift, width := part(s.DstSel)
	if width == 32 {
		return nil
	}
	field := uint32(1)<<width - 1
	switch s.DstUnused {
	case gcn.UnusedPreserve:
		keep := ^(field << shift)
		return func(w *wave, old *Vec) {
			out := &w.out[0]
			for i := range out {
				out[i] = out[i]&field<<shift | old[i]&keep
			}
		}
	case gcn.UnusedSext:
		// Sign above the part; below it zero.
		return func(w *wave, _ *Vec) {
			out := &w.out[0]
			for i := range out {
				out[i] = uint32(int32(out[i]<<(32-width))>>(32-width)) << shift
			}
		}
	}
	return func(w *wave, _ *Vec) {
		out := &w.out[0]
		for i := range out {
			out[i] = out[i] & field << shift
		}
	}
}
