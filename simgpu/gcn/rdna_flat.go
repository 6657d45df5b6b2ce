package gcn

// flatRDNA: 110111 0 op:7 seg:2 slc glc dlc offset:13, vdst:8 sve saddr:7 data:8 addr:8
//
// sve says whether a scratch instruction has a vector address.
func (d *decoder) flatRDNA() {
	w, h := d.w[0], d.w[1]
	seg := w >> 16 & 3
	if seg == 3 {
		d.err = "flat segment 3"
		return
	}
	enc := [...]Encoding{FLAT, SCRATCH, GLOBAL}[seg]
	if !d.row(enc, w>>18&0x7f, 2) {
		return
	}
	in := d.in
	in.cacheRDNA(w>>14, w>>15, w>>13)
	in.Offset = int32(w<<19) >> 19
	if enc == FLAT {
		in.Offset = int32(w & 0xfff) // the sign is ignored
	}
	saddr, vector := h>>16&0x7f, h>>23&1 != 0
	none := saddr == nullRDNA
	if enc == FLAT && !none {
		d.err = "scalar address of the flat segment"
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			if in.Info.Flags&ReturnsGLC == 0 || in.Cache&GLC != 0 {
				d.vgpr(o, oi.Type, h>>24, false)
			}
		case RoleData:
			d.vgpr(o, oi.Type, h>>8, false)
		case RoleAddr:
			switch {
			case enc == GLOBAL && !none:
				d.vgpr(o, I32, h, false)
			case enc == SCRATCH && !vector:
				o.Kind = Off
			default:
				d.vgpr(o, oi.Type, h, false)
			}
		case RoleBase:
			if none {
				o.Kind = Off
			} else {
				d.sreg(o, oi.Type, saddr)
				if in.Addr.Kind != None && (saddr == RegEXEC && enc == GLOBAL || saddr == RegEXEC+1) {
					d.bad(o, saddr)
				}
			}
		}
	}
}
