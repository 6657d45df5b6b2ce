package gcn

import "strconv"

// What pixel shaders have: interpolation of attributes in LDS, and the export of what they draw.

// vinterp: 11001101 op:7 clamp op_sel:4 wait_exp:3 vdst:8, neg:3 src2:9 src1:9 src0:9
func (d *decoder) vinterp() {
	w, h := d.w[0], d.w[1]
	if !d.row(VINTERP, w>>16&0x7f, 2) {
		return
	}
	in := d.in
	in.Wait = uint8(w >> 8 & 7)
	in.OpSel = uint8(w >> 11 & 15 & uint32(in.Info.Mods))
	in.Clamp = w>>15&1 != 0
	in.Neg = uint8(h >> 29)
	src := [3]uint32{h & 0x1ff, h >> 9 & 0x1ff, h >> 18 & 0x1ff}
	for _, oi := range in.Info.Operands {
		if oi.Type.is16() && oi.Role != RoleDst { // of halves LLVM ignores what says that it is a vector register
			src[oi.Role-RoleSrc0] |= 256
		}
	}
	d.vector(w&0xff, 0, src, false)
}

// ldsdir: 11001110 00 op:2 wait_vdst:4 attr:6 attr_chan:2 vdst:8
func (d *decoder) ldsdir() {
	w := d.w[0]
	if !d.row(LDSDIR, w>>20&3, 1) {
		return
	}
	in := d.in
	in.Wait = uint8(w >> 16 & 15)
	in.Simm16 = uint16(w >> 8 & 0xff)
	d.vgpr(&in.Dst, I32, w, false)
}

// export: 111110 .. row 0 done 0 target:6 en:4, src3:8 src2:8 src1:8 src0:8
//
// A source that is not enabled is off.
func (d *decoder) export() {
	w, h := d.w[0], d.w[1]
	if !d.row(EXPORT, 0, 2) {
		return
	}
	in := d.in
	in.DMask = uint8(w & 15)
	in.Simm16 = uint16(w >> 4 & 63)
	in.Done, in.Row = w>>11&1 != 0, w>>13&1 != 0
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		if o.Kind = Off; in.DMask>>i&1 != 0 {
			d.vgpr(o, oi.Type, h>>(8*i), false)
		}
	}
}

// appendExportTarget writes where an export goes.
func (in *Inst) appendExportTarget(b []byte) []byte {
	switch t := in.Simm16; {
	case t < 8:
		return append(append(b, " mrt"...), '0'+byte(t))
	case t == 8:
		return append(b, " mrtz"...)
	case t >= 12 && t < 17:
		return append(append(b, " pos"...), '0'+byte(t-12))
	case t == 20:
		return append(b, " prim"...)
	case t == 21:
		return append(b, " dual_src_blend0"...)
	case t == 22:
		return append(b, " dual_src_blend1"...)
	default:
		return strconv.AppendUint(append(b, " invalid_target_"...), uint64(t), 10)
	}
}

// channelNames are the components of an attribute.
const channelNames = "xyzw"

// appendGraphicsMods writes what follows the operands.
func (in *Inst) appendGraphicsMods(b []byte) []byte {
	switch {
	case in.Enc == EXPORT:
		if in.Done {
			b = append(b, " done"...)
		}
		if in.Row {
			b = append(b, " row_en"...)
		}
		return b
	case in.Enc == LDSDIR:
		if in.Op == LDS_PARAM_LOAD {
			b = strconv.AppendUint(append(b, ", attr"...), uint64(in.Simm16>>2), 10)
			b = append(b, '.', channelNames[in.Simm16&3])
		}
		return strconv.AppendUint(append(b, " wait_vdst:"...), uint64(in.Wait), 10)
	}
	if in.Clamp {
		b = append(b, " clamp"...)
	}
	b = appendBits(b, " op_sel:[", in.OpSel, 4, 0)
	return strconv.AppendUint(append(b, " wait_exp:"...), uint64(in.Wait), 10)
}
