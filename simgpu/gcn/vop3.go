package gcn

// vop3: 110100 op:10 clamp opsel:4 abs:3 vdst:8, neg:3 omod:2 src2:9 src1:9 src0:9
// With a second destination, opsel and abs make room for sdst:7.
func (d *decoder) vop3() {
	w, h := d.w[0], d.w[1]
	if !d.row(VOP3, w>>16&0x3ff, 2) {
		return
	}
	in := d.in
	if in.Info.Flags&HasE64 != 0 {
		in.Form = FormE64
	}
	in.Clamp = w>>15&1 != 0
	in.Omod = uint8(h >> 27 & 3)
	in.Neg = uint8(h >> 29)
	if len(in.Info.Operands) < 2 || in.Info.Operands[1].Role != RoleSDst {
		in.Abs = uint8(w >> 8 & 7)
		in.OpSel = uint8(w >> 11 & 15)
	}
	d.vector(w&0xff, w>>8&0x7f, [3]uint32{h & 0x1ff, h >> 9 & 0x1ff, h >> 18 & 0x1ff}, false)
}

// vop3p: 110100111 op:7 clamp op_sel_hi2 op_sel:3 neg_hi:3 vdst:8, neg:3 op_sel_hi:2 src2:9 src1:9 src0:9
// Matrix instructions: 110100111 op:7 acc_cd abid:4 cbsz:3 vdst:8, blgp:3 acc:2 src2:9 src1:9 src0:9
func (d *decoder) vop3p() {
	w, h := d.w[0], d.w[1]
	op := w >> 16 & 0x7f
	src := [3]uint32{h & 0x1ff, h >> 9 & 0x1ff, h >> 18 & 0x1ff}
	if lookup(d.in.Arch, MFMA, op) != nil {
		d.mfma(op, src)
		return
	}
	if !d.row(VOP3P, op, 2) {
		return
	}
	in := d.in
	in.Clamp = w>>15&1 != 0
	in.OpSel = uint8(w >> 11 & 7)
	in.OpSelHi = uint8(h>>27&3 | w>>14&1<<2)
	in.NegHi = uint8(w >> 8 & 7)
	in.Neg = uint8(h >> 29)
	d.vector(w&0xff, 0, src, false)
}

func (d *decoder) mfma(op uint32, src [3]uint32) {
	w, h := d.w[0], d.w[1]
	if !d.row(MFMA, op, 2) {
		return
	}
	in := d.in
	in.ABID = uint8(w >> 11 & 15)
	in.CBSZ = uint8(w >> 8 & 7)
	in.BLGP = uint8(h >> 29)
	accCD := w>>15&1 != 0
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			d.vgpr(o, oi.Type, w&0xff, accCD)
		case RoleSrc0, RoleSrc1:
			k := oi.Role - RoleSrc0
			if src[k] < 256 {
				d.err = "matrix source is no vector register"
				return
			}
			d.vgpr(o, oi.Type, src[k], h>>(27+k)&1 != 0)
		case RoleSrc2:
			if oi.Class == ClassTied {
				*o = in.Dst
				break
			}
			d.source(o, oi.Type, src[2], false)
			if o.Kind == VGPR && accCD {
				o.Kind = AccVGPR
			}
		}
	}
}
