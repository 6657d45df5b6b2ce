package gcn

// smemRDNA: 111101 op:8 0 0 0 glc dlc sdata:7 sbase:6, soffset:7 0:4 offset:21
//
// The offset is the sum of the immediate and a register, which can be null.
func (d *decoder) smemRDNA() {
	w, h := d.w[0], d.w[1]
	if !d.row(SMEM, w>>18&0xff, 2) {
		return
	}
	in := d.in
	in.Simm16 = uint16(w >> 6 & 0x7f)
	if in.Info.Flags&IsLoad != 0 {
		in.cacheRDNA(w>>14, 0, w>>13)
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			n := w >> 6 & 0x7f
			if d.sreg(o, oi.Type, n); n == 125 || n >= RegEXEC {
				d.bad(o, n)
			}
		case RoleBase:
			d.sreg(o, oi.Type, w&0x3f<<1)
		case RoleSOffset:
			in.HasSImm = true
			in.Offset = int32(h<<11) >> 11
			if n := h >> 25; n != nullRDNA {
				d.sreg(o, oi.Type, n)
				in.HasSImm = in.Offset != 0
			}
		}
	}
}
