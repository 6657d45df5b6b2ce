package gcn

// sop1: 101111101 sdst:7 op:8 ssrc0:8
func (d *decoder) sop1() {
	w := d.w[0]
	if !d.row(SOP1, w>>8&0xff, 1) {
		return
	}
	d.scalar(w>>16&0x7f, w&0xff, 0)
}

// sop2: 10 op:7 sdst:7 ssrc1:8 ssrc0:8
func (d *decoder) sop2() {
	w := d.w[0]
	if !d.row(SOP2, w>>23&0x7f, 1) {
		return
	}
	d.scalar(w>>16&0x7f, w&0xff, w>>8&0xff)
}

// sopc: 101111110 op:7 ssrc1:8 ssrc0:8
func (d *decoder) sopc() {
	w := d.w[0]
	if !d.row(SOPC, w>>16&0x7f, 1) {
		return
	}
	d.in.Simm16 = uint16(w >> 8 & 0xff)
	d.scalar(0, w&0xff, w>>8&0xff)
}

// sopk: 1011 op:5 sdst:7 simm16
func (d *decoder) sopk() {
	w := d.w[0]
	op := w >> 23 & 0x1f
	if !d.row(SOPK, op, 1) {
		return
	}
	d.in.Simm16 = uint16(w)
	d.scalar(w>>16&0x7f, w>>16&0x7f, 0)
}

// sopp: 101111111 op:7 simm16
func (d *decoder) sopp() {
	w := d.w[0]
	if !d.row(SOPP, w>>16&0x7f, 1) {
		return
	}
	d.in.Simm16 = uint16(w)
}

// scalar fills in the operands of a scalar instruction from its fields.
func (d *decoder) scalar(sdst, ssrc0, ssrc1 uint32) {
	in := d.in
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		if o == nil {
			continue
		}
		n := ssrc0
		switch oi.Role {
		case RoleDst:
			n = sdst
		case RoleSrc1:
			n = ssrc1
		}
		switch oi.Class {
		case ClassTied:
			*o = in.Dst
		case ClassK:
			d.literal(o, oi.Type)
		case ClassS:
			d.sreg(o, oi.Type, n)
		default:
			d.source(o, oi.Type, n, true)
		}
	}
}

// smem: 110000 op:8 imm glc nv soffset_en 0 sdata:7 sbase:6, soffset:7 0:4 offset:21
func (d *decoder) smem() {
	w, h := d.w[0], d.w[1]
	if !d.row(SMEM, w>>18&0xff, 2) {
		return
	}
	in := d.in
	if w>>16&1 != 0 {
		in.Cache |= GLC
	}
	if w>>15&1 != 0 {
		in.Cache |= NV
	}
	imm, soff := w>>17&1 != 0, w>>14&1 != 0
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst, RoleData:
			d.sreg(o, oi.Type, w>>6&0x7f)
		case RoleBase:
			d.sreg(o, oi.Type, w&0x3f<<1)
		case RoleSOffset:
			switch {
			case imm:
				in.HasSImm = true
				in.Offset = int32(h<<11) >> 11
				if soff {
					d.sreg(o, oi.Type, h>>25)
				}
			case soff:
				d.sreg(o, oi.Type, h>>25)
			default:
				d.sreg(o, oi.Type, h)
			}
		}
	}
	if in.Info.Flags&IsAtomic != 0 && in.Cache&GLC != 0 {
		in.Dst = in.Data
	}
}
