package gcn

// smem: 110000 op:8 imm glc nv soffset_en 0 sdata:7 sbase:6, soffset:7 0:4 offset:21
//
// The offset is the immediate, a register, or (soffset_en) both. Without
// either bit the register's number stands where the immediate would.
func (d *decoder) smem() {
	w, h := d.w[0], d.w[1]
	if !d.row(SMEM, w>>18&0xff, 2) {
		return
	}
	in := d.in
	if in.Info.Flags&(IsLoad|IsStore|IsAtomic) != 0 {
		if w>>16&1 != 0 {
			in.Cache |= GLC
		}
		if w>>15&1 != 0 {
			in.Cache |= NV
		}
	}
	imm, soff := w>>17&1 != 0, w>>14&1 != 0
	in.Simm16 = uint16(w >> 6 & 0x7f)
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst, RoleData:
			d.sreg(o, oi.Type, w>>6&0x7f)
			if n := w >> 6 & 0x7f; n == RegM0 || n >= RegEXEC {
				d.bad(o, n)
			}
		case RoleBase:
			d.sreg(o, oi.Type, w&0x3f<<1)
		case RoleSOffset:
			if imm {
				in.HasSImm = true
				in.Offset = int32(h<<11) >> 11
			}
			switch {
			case soff:
				d.sreg(o, oi.Type, h>>25)
			case !imm:
				d.sreg(o, oi.Type, h&0x7f)
			}
		}
	}
	if in.Info.Flags&IsAtomic != 0 && in.Cache&GLC != 0 {
		in.Dst = in.Data
		if in.Info.Flags&IsCmpSwap != 0 {
			in.Dst.Width /= 2
			in.Dst.Type = [...]Type{1: I32, 2: I64}[in.Dst.Width]
		}
	}
}
