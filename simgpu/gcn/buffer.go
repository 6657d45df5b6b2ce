package gcn

// mubuf: 111000 0 op:7 slc lds scc glc idxen offen offset:12, soffset:8 acc 00 srsrc:5 vdata:8 vaddr:8
func (d *decoder) mubuf() {
	w, h := d.w[0], d.w[1]
	if !d.row(MUBUF, w>>18&0x7f, 2) {
		return
	}
	in := d.in
	in.LDS = w>>16&1 != 0
	if in.Info.Flags&LDSDest != 0 && !in.LDS {
		d.err = "lds bit is not set"
	}
	if len(in.Info.Operands) == 0 { // cache control
		if in.Arch.Has(ScopeBits) {
			in.cache(w>>14, 0, w>>15)
		}
		return
	}
	in.cache(w>>14, w>>17, w>>15)
	d.buffer(w, h)
}

// mtbuf: 111010 nfmt:3 dfmt:4 op:4 glc idxen offen offset:12, soffset:8 acc slc scc srsrc:5 vdata:8 vaddr:8
func (d *decoder) mtbuf() {
	w, h := d.w[0], d.w[1]
	if !d.row(MTBUF, w>>15&15, 2) {
		return
	}
	d.in.Format = uint8(w >> 19 & 0x7f)
	d.in.cache(w>>14, h>>22, h>>21)
	d.buffer(w, h)
}

// buffer fills in what MUBUF and MTBUF have in common.
func (d *decoder) buffer(w, h uint32) {
	in := d.in
	in.Offset = int32(w & 0xfff)
	in.OffEn, in.IdxEn = w>>12&1 != 0, w>>13&1 != 0
	acc := h>>23&1 != 0
	if in.LDS && acc {
		d.err = "accumulation register bit without vector data"
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			if (in.Info.Flags&ReturnsGLC == 0 || in.Cache&GLC != 0) && !in.LDS {
				d.vgpr(o, oi.Type, h>>8, acc)
			}
		case RoleData:
			d.vgpr(o, oi.Type, h>>8, acc)
		case RoleAddr:
			switch {
			case in.OffEn && in.IdxEn:
				d.vgpr(o, I64, h, false)
			case in.OffEn || in.IdxEn:
				d.vgpr(o, I32, h, false)
			default:
				o.Kind = Off
			}
		case RoleBase:
			d.sreg(o, oi.Type, h>>16&0x1f<<2)
		case RoleSOffset:
			d.source(o, oi.Type, h>>24, false)
			d.restrict(o, oi.Class, h>>24)
		}
	}
}
