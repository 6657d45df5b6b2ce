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
	info := lookup(d.in.Arch, enc, op)
	words := 1
	if info != nil && d.isForm(src0) && len(info.Operands) > 0 {
		words = 2
	}
	if !d.row(enc, op, words) {
		return
	}
	in := d.in
	if info.Flags&NoSuffix == 0 {
		in.Form = FormE32
	}
	if len(info.Operands) == 0 { // v_nop, v_clrexcp: src0 is ignored
		return
	}
	s0, s1 := src0, src1|256
	switch {
	case d.in.Arch.Has(RDNA):
		if words == 2 {
			s0 = d.laneForm(src0, 1)
			in.noSigns()
		}
	case src0 == srcSDWA && info.SDWA.OK:
		s0, s1 = d.sdwa(s1)
	case src0 == srcDPP && info.DPP.OK:
		s0 = d.dpp()
	case words == 2:
		d.err = "no such form of the operation"
		return
	}
	d.vector(vdst, 0, [3]uint32{s0, s1, s1}, in.Form != FormSDWA)
	if in.Form == FormSDWA && enc == VOPC && d.w[1]>>15&1 != 0 {
		d.sreg(&in.Dst, Mask, d.w[1]>>8&0x7f)
	}
}

// vector fills in the operands of a vector instruction from its fields.
func (d *decoder) vector(vdst, sdst uint32, src [3]uint32, literalOK bool) {
	in := d.in
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		if oi.Role == RoleDst && in.execOnly() {
			*o = Operand{Kind: SGPR, Type: Mask, Width: d.width(Mask), Index: RegEXEC}
			continue
		}
		var n uint32
		switch oi.Role {
		case RoleDst:
			n = vdst
			if oi.Class == ClassV || oi.Class == ClassA {
				n |= 256
			}
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
			*o = Operand{Kind: SGPR, Type: Mask, Width: d.width(Mask), Index: RegVCC}
		case ClassTied:
			*o = in.Dst
		case ClassK:
			d.literal(o, oi.Type)
		default:
			n = d.halfOf(oi, n)
			d.source(o, in.typeOf(oi), n, literalOK && oi.Class != ClassVSNL)
			switch {
			case in.Form == FormSDWA && oi.Role != RoleDst: // SDWA may name any source
			case in.Form == FormDPP && oi.Role == RoleSrc1 && in.Info.Flags&MixMods != 0:
				d.restrict(o, ClassV, n)
			default:
				d.restrict(o, oi.Class, n)
			}
		}
	}
}

// typeOf is an operand's type: the elements of a result of v_wmma, 8 for each lane, are 4 for each of twice the lanes.
func (in *Inst) typeOf(oi *OperandInfo) Type {
	if oi.Type == X8 && (oi.Role == RoleDst || oi.Role == RoleSrc2) && in.Arch.Has(RDNA) && in.Arch.WaveSize() == 64 {
		return X4
	}
	return oi.Type
}

// restrict marks an operand that its class does not allow as Bad. The number
// of an accumulation register is that of the vector register.
func (d *decoder) restrict(o *Operand, c Class, n uint32) {
	ok := true
	lds := o.Kind == Special && o.Index == SrcLDSDirect
	switch {
	case o.Kind == Special && !lds: // LLVM takes these anywhere
	case c == ClassV:
		ok = o.Kind == VGPR || lds && !d.in.onlyVGPR()
	case c == ClassVC:
		ok = o.Kind != SGPR && !lds
	case c == ClassA:
		if ok = o.Kind == VGPR; ok {
			o.Kind = AccVGPR
		}
	case c == ClassVA:
		ok = o.Kind == VGPR || o.Kind == AccVGPR
	case c == ClassS:
		ok = o.Kind == SGPR && !(o.Type == Mask && o.Index&^1 == RegEXEC && o == &d.in.Src[2]) && !(d.in.readsLane() && o == &d.in.Dst && o.Index == RegM0)
	case c == ClassSS:
		ok = o.Kind != VGPR && !(lds && !(d.in.Op == V_WRITELANE_B32 && o == &d.in.Src[0] && d.in.Arch.Has(RDNA)))
	}
	if !ok {
		d.bad(o, n)
	}
}

// readsLane reports whether the destination is a scalar register that is not M0.
func (in *Inst) readsLane() bool { return in.Op == V_READLANE_B32 || in.Op == V_READFIRSTLANE_B32 }

// bad marks an operand as one that its place does not allow.
func (d *decoder) bad(o *Operand, n uint32) {
	if o.Kind == Inline {
		var c Operand
		d.source(&c, I32, n, false)
		o.Value = c.Value
	}
	o.Kind, o.Index = Bad, uint16(n)
}
