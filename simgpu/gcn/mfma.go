package gcn

// mfma: 110100111 op:7 acc_cd abid:4 cbsz:3 vdst:8, blgp:3 acc:2 src2:9 src1:9 src0:9
//
// Sources 0 and 1 are vector registers, of the accumulation file where their
// acc bit is set; acc_cd says so of the destination and source 2.
func (d *decoder) mfma(op uint32, src [3]uint32) {
	w, h := d.w[0], d.w[1]
	if d.row(MFMA, op, 2) {
		d.matrices(w, h, src)
	}
}

// matrices fills in the operands of a matrix instruction from its two words.
func (d *decoder) matrices(w, h uint32, src [3]uint32) {
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
			t := oi.Type
			if in.Info.Flags&Formats != 0 {
				t = in.formatType(oi.Role)
			}
			d.source(o, t, src[k], false)
			if o.Kind == VGPR && h>>(27+k)&1 != 0 {
				o.Kind = AccVGPR
			}
			d.restrict(o, oi.Class, src[k])
		case RoleSrc2:
			d.source(o, oi.Type, src[2], false)
			if o.Kind == VGPR && accCD && oi.Type.Width() > 1 {
				o.Kind = AccVGPR
			}
			d.restrict(o, oi.Class, src[2])
		}
	}
}
