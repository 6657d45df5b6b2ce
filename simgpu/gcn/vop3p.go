package gcn

// vop3p: 110100111 op:7 clamp op_sel_hi2 op_sel:3 neg_hi:3 vdst:8, neg:3 op_sel_hi:2 src2:9 src1:9 src0:9
func (d *decoder) vop3p() {
	w, h := d.w[0], d.w[1]
	op := w >> 16 & 0x7f
	words := d.formWords()
	src := [3]uint32{h & 0x1ff, h >> 9 & 0x1ff, h >> 18 & 0x1ff}
	if d.avail == 4 && d.scaled(op) {
		d.mfmaScaled(src)
		return
	}
	if lookup(d.in.Arch, MFMA, op) != nil {
		d.mfma(op, src)
		return
	}
	if !d.row(VOP3P, op, words) {
		return
	}
	in := d.in
	if in.Info.Flags&NoSuffix == 0 { // v_accvgpr_read, v_accvgpr_write have no modifiers
		in.Clamp = w>>15&1 != 0
		in.OpSel = uint8(w >> 11 & 7)
		in.OpSelHi = uint8(h>>27&3 | w>>14&1<<2)
		in.NegHi = uint8(w >> 8 & 7)
		in.Neg = uint8(h >> 29)
		if in.Op == V_MFMA_LD_SCALE_B32 {
			in.Neg, in.NegHi = 0, 0
		}
		if in.Info.Flags&MixMods != 0 {
			in.Abs, in.NegHi = in.NegHi, 0
		}
	}
	if words == 3 {
		src[0] = d.laneForm(src[0], 2)
	}
	d.vector(w&0xff, 0, src, in.Arch.Has(RDNA))
	if c := &in.Src[2]; c.Kind == Literal && c.Type == X8 { // v_wmma has inline constants only
		c.Kind, c.Index = Bad, srcLiteral
	}
}
