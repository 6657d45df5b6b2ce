package gcn

// cache sets cache policy bits.
func (in *Inst) cache(glc, slc, scc uint32) {
	if glc&1 != 0 {
		in.Cache |= GLC
	}
	if slc&1 != 0 {
		in.Cache |= SLC
	}
	if scc&1 != 0 {
		in.Cache |= SCC
	}
}

// ds: 110110 acc op:8 gds offset1:8 offset0:8, vdst:8 data1:8 data0:8 addr:8
func (d *decoder) ds() {
	w, h := d.w[0], d.w[1]
	if !d.row(DS, w>>17&0xff, 2) {
		return
	}
	in := d.in
	acc := w>>25&1 != 0
	in.GDS = w>>16&1 != 0
	in.Offset = int32(w & 0xffff)
	in.Offset0, in.Offset1 = uint8(w), uint8(w>>8)
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		var n uint32
		switch oi.Role {
		case RoleDst:
			n = h >> 24
		case RoleAddr:
			n = h
		case RoleData:
			n = h >> 8
		case RoleData1:
			n = h >> 16
		}
		d.vgpr(in.place(oi.Role), oi.Type, n, acc && oi.Class == ClassVA)
	}
}

// nullSAddr is the saddr field that means no scalar address.
const nullSAddr = 0x7f

// flat: 110111 scc op:7 slc glc seg:2 lds offset:13, vdst:8 acc saddr:7 data:8 addr:8
func (d *decoder) flat() {
	w, h := d.w[0], d.w[1]
	var enc Encoding
	switch w >> 14 & 3 {
	case 0:
		enc = FLAT
	case 1:
		enc = SCRATCH
	case 2:
		enc = GLOBAL
	default:
		d.err = "flat segment 3"
		return
	}
	if !d.row(enc, w>>18&0x7f, 2) {
		return
	}
	in := d.in
	in.cache(w>>16, w>>17, w>>25)
	in.LDS = w>>13&1 != 0
	in.Offset = int32(w<<19) >> 19
	if enc == FLAT {
		in.Offset = int32(w & 0xfff)
	}
	acc, saddr := h>>23&1 != 0, h>>16&0x7f
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			if in.Info.Flags&ReturnsGLC == 0 || in.Cache&GLC != 0 {
				d.vgpr(o, oi.Type, h>>24, acc)
			}
		case RoleData:
			d.vgpr(o, oi.Type, h>>8, acc)
		case RoleAddr:
			switch {
			case enc == GLOBAL && saddr != nullSAddr:
				d.vgpr(o, I32, h, false)
			case enc == SCRATCH && !d.scratchVAddr(saddr):
				o.Kind = Off
			default:
				d.vgpr(o, oi.Type, h, false)
			}
		case RoleBase:
			if saddr == nullSAddr {
				o.Kind = Off
			} else {
				d.sreg(o, oi.Type, saddr)
			}
		}
	}
}

// scratchVAddr reports whether a scratch instruction has a vector address:
// on gfx942 the lds bit says so, on gfx90a it has one unless it has a scalar.
func (d *decoder) scratchVAddr(saddr uint32) bool {
	if d.in.Arch == GFX942 {
		return d.in.LDS
	}
	return saddr == nullSAddr
}

// mubuf: 111000 0 op:7 slc lds scc glc idxen offen offset:12, soffset:8 acc 00 srsrc:5 vdata:8 vaddr:8
func (d *decoder) mubuf() {
	w, h := d.w[0], d.w[1]
	if !d.row(MUBUF, w>>18&0x7f, 2) {
		return
	}
	d.in.LDS = w>>16&1 != 0
	d.in.cache(w>>14, w>>17, w>>15)
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
		}
	}
}
