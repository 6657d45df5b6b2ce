package gcn

import "math/bits"

// mimg: 111100 slc op:7 lwe acc a16 da glc unorm dmask:4 scc 0:6 0, d16 0:5 ssamp:5 srsrc:5 vdata:8 vaddr:8
func (d *decoder) mimg() {
	w, h := d.w[0], d.w[1]
	if !d.row(MIMG, w>>18&0x7f, 2) {
		return
	}
	in := d.in
	in.cache(w>>13, w>>25, w>>7)
	in.DMask = uint8(w >> 8 & 15)
	for _, f := range [...]struct {
		set uint32
		bit ImageBits
	}{{w >> 12, Unorm}, {w >> 15, A16}, {w >> 17, LWE}, {w >> 14, DA}, {h >> 31, D16}} {
		if f.set&1 != 0 {
			in.Image |= f.bit
		}
	}
	acc := w>>16&1 != 0
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst, RoleData:
			t := in.imageData(oi.Type)
			if h>>8&0xff+uint32(t.Width()) > 256 { // LLVM then ignores the mask
				if t = oi.Type; t == X4 {
					t = I32
				}
			}
			d.vgpr(o, t, h>>8, acc)
		case RoleAddr:
			d.vgpr(o, oi.Type, h, false)
		case RoleBase:
			d.sreg(o, oi.Type, h>>16&0x1f<<2)
		case RoleSOffset:
			d.sreg(o, oi.Type, h>>21&0x1f<<2)
		}
	}
	if in.Info.Flags&IsAtomic != 0 && in.Cache&GLC != 0 {
		in.Dst = in.Data
	}
}

// imageData is the type of the data registers: as many as there are components,
// half of that for 16-bit data. Atomics work on one value or, for
// compare-and-swap, on a pair, whatever LLVM makes of odd masks.
func (in *Inst) imageData(t Type) Type {
	n := bits.OnesCount8(in.DMask)
	if in.Info.Flags&IsAtomic != 0 {
		if t == I64 {
			return [5]Type{I64, I64, I64, X3, X4}[n]
		}
		return [5]Type{I32, I32, I64, X3, I32}[n]
	}
	if in.Image&D16 != 0 {
		n = (n + 1) / 2
	}
	return [5]Type{I32, I32, I64, X3, X4}[n]
}
