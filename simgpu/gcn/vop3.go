package gcn

// vop3Signs are the bits of negation and absolute value.
const vop3Signs = 7<<61 | 7<<8

// vop3: 110100 op:10 clamp opsel:4 abs:3 vdst:8, neg:3 omod:2 src2:9 src1:9 src0:9
// With a second destination, opsel and abs make room for sdst:7.
func (d *decoder) vop3() {
	w, h := d.w[0], d.w[1]
	words := d.formWords()
	if !d.row(VOP3, w>>16&0x3ff, words) {
		return
	}
	in := d.in
	if in.Info.Flags&(HasE64|NoSuffix) == HasE64 {
		in.Form = FormE64
	}
	if in.Arch.Has(RDNA) && in.Info.Mods&vop3Signs == 0 && in.strayOpSel(w) != 0 && (uint64(h)<<32|uint64(w))&vop3Signs != 0 {
		d.err = "modifiers that mean nothing"
	}
	m, mh := w&uint32(in.Info.Mods), h&uint32(in.Info.Mods>>32)
	in.Clamp = m>>15&1 != 0
	in.Omod = uint8(mh >> 27 & 3)
	in.Neg = uint8(mh >> 29)
	if !in.hasSDst() {
		in.Abs = uint8(m >> 8 & 7)
		in.OpSel = uint8(m >> 11 & 15)
	}
	switch in.Op {
	case V_BITOP3_B32, V_BITOP3_B16:
		in.Simm16 = uint16(in.Neg) | uint16(in.Abs)<<3 | uint16(in.Omod)<<6
		in.Neg, in.Abs, in.Omod = 0, 0, 0
	}
	in.noSigns()
	src0 := h & 0x1ff
	if words == 3 {
		src0 = d.laneForm(src0, 2)
	}
	d.vector(w&0xff, w>>8&0x7f, [3]uint32{src0, h >> 9 & 0x1ff, h >> 18 & 0x1ff}, in.Arch.Has(RDNA))
}

// hasSDst reports whether the operation has a second destination.
func (in *Inst) hasSDst() bool {
	return len(in.Info.Operands) > 1 && in.Info.Operands[1].Role == RoleSDst
}
