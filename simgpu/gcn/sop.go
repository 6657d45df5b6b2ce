package gcn

// sop1: 101111101 sdst:7 op:8 ssrc0:8
func (d *decoder) sop1() {
	w := d.w[0]
	if d.row(SOP1, w>>8&0xff, 1) {
		d.in.Simm16 = uint16(w & 0xff) // s_sendmsg_rtn has a message there
		d.scalar(w>>16&0x7f, w&0xff, 0)
	}
}

// sop2: 10 op:7 sdst:7 ssrc1:8 ssrc0:8
func (d *decoder) sop2() {
	w := d.w[0]
	if d.row(SOP2, w>>23&0x7f, 1) {
		d.scalar(w>>16&0x7f, w&0xff, w>>8&0xff)
	}
}

// sopc: 101111110 op:7 ssrc1:8 ssrc0:8
func (d *decoder) sopc() {
	w := d.w[0]
	if d.row(SOPC, w>>16&0x7f, 1) {
		d.in.Simm16 = uint16(w >> 8 & 0xff) // s_set_gpr_idx_on has bits here, not a register
		d.scalar(0, w&0xff, w>>8&0xff)
	}
}

// sopk: 1011 op:5 sdst:7 simm16
func (d *decoder) sopk() {
	w := d.w[0]
	if d.row(SOPK, w>>23&0x1f, 1) {
		d.in.Simm16 = uint16(w)
		d.scalar(w>>16&0x7f, w>>16&0x7f, 0)
	}
}

// sopp: 101111111 op:7 simm16
func (d *decoder) sopp() {
	w := d.w[0]
	if d.row(SOPP, w>>16&0x7f, 1) {
		d.in.Simm16 = uint16(w)
	}
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
		default:
			d.source(o, oi.Type, n, true)
			d.restrict(o, oi.Class, n)
		}
	}
}
