package gcn

// Source numbers that announce another word in VOP1, VOP2 and VOPC.
const (
	srcSDWA = 249
	srcDPP  = 250
)

// vop1: 0111111 vdst:8 op:8 src0:9
func (d *decoder) vop1() {
	w := d.w[0]
	d.vop(VOP1, w>>9&0xff, w>>17&0xff, w&0x1ff, 0)
}

// vop2: 0 op:6 vdst:8 vsrc1:8 src0:9
func (d *decoder) vop2() {
	w := d.w[0]
	d.vop(VOP2, w>>25&0x3f, w>>17&0xff, w&0x1ff, w>>9&0xff)
}

// vopc: 0111110 op:8 vsrc1:8 src0:9
func (d *decoder) vopc() {
	w := d.w[0]
	d.vop(VOPC, w>>17&0xff, 0, w&0x1ff, w>>9&0xff)
}

// vop decodes the encodings of one word, which SDWA, DPP or a literal may
// follow.
func (d *decoder) vop(enc Encoding, op, vdst, src0, src1 uint32) {
	words := 1
	if src0 == srcSDWA || src0 == srcDPP {
		words = 2
	}
	if !d.row(enc, op, words) {
		return
	}
	in := d.in
	if in.Info.Flags&NoSuffix == 0 {
		in.Form = FormE32
	}
	s0, s1 := src0, src1|256
	switch src0 {
	case srcSDWA:
		s0, s1 = d.sdwa(s1)
	case srcDPP:
		s0 = d.dpp()
	}
	d.vector(vdst, 0, [3]uint32{s0, s1, 0}, true)
	if in.Form == FormSDWA && enc == VOPC && d.w[1]>>15&1 != 0 {
		d.sreg(&in.Dst, Mask, d.w[1]>>8)
	}
}

// sdwa reads the SDWA word and returns the source numbers.
func (d *decoder) sdwa(src1 uint32) (uint32, uint32) {
	in, w := d.in, d.w[1]
	in.Form = FormSDWA
	s := &in.SDWA
	s.Src0Sel, s.Src1Sel = Sel(w>>16&7), Sel(w>>24&7)
	s.Sext = uint8(w>>19&1 | w>>27&1<<1)
	in.Neg = uint8(w>>20&1 | w>>28&1<<1)
	in.Abs = uint8(w>>21&1 | w>>29&1<<1)
	if in.Enc != VOPC {
		s.DstSel, s.DstUnused = Sel(w>>8&7), Unused(w>>11&3)
		in.Clamp = w>>13&1 != 0
		in.Omod = uint8(w >> 14 & 3)
	} else {
		s.DstSel = Dword
	}
	src0 := w & 0xff
	if w>>23&1 == 0 {
		src0 |= 256
	}
	if w>>31&1 != 0 {
		src1 &= 0xff
	}
	return src0, src1
}

// dpp reads the DPP word and returns the number of source 0.
func (d *decoder) dpp() uint32 {
	in, w := d.in, d.w[1]
	in.Form = FormDPP
	in.DPP = DPP{
		Ctrl:      DPPCtrl(w >> 8 & 0x1ff),
		BoundCtrl: w>>19&1 != 0,
		BankMask:  uint8(w >> 24 & 15),
		RowMask:   uint8(w >> 28),
	}
	in.Neg = uint8(w>>20&1 | w>>22&1<<1)
	in.Abs = uint8(w>>21&1 | w>>23&1<<1)
	return w&0xff | 256
}

// vector fills in the operands of a vector instruction from its fields.
func (d *decoder) vector(vdst, sdst uint32, src [3]uint32, literalOK bool) {
	in := d.in
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		n := vdst
		switch oi.Role {
		case RoleSDst:
			n = sdst
		case RoleSrc0:
			n = src[0]
		case RoleSrc1:
			n = src[1]
		case RoleSrc2:
			n = src[2]
		}
		switch oi.Class {
		case ClassVCC:
			*o = Operand{Kind: SGPR, Type: Mask, Width: 2, Index: RegVCC}
		case ClassTied:
			*o = in.Dst
		case ClassK:
			d.literal(o, oi.Type)
		case ClassV:
			if oi.Role >= RoleSrc0 && n < 256 {
				d.source(o, oi.Type, n, literalOK)
				break
			}
			d.vgpr(o, oi.Type, n, false)
		case ClassA:
			d.vgpr(o, oi.Type, n, true)
		case ClassS:
			if n >= 256 {
				d.source(o, oi.Type, n, false)
				break
			}
			d.sreg(o, oi.Type, n)
		case ClassVSNL:
			d.source(o, oi.Type, n, false)
		default:
			d.source(o, oi.Type, n, literalOK)
		}
	}
}
