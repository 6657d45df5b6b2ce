package gcn

// mubufRDNA: 111000 op:8 0 0 0 glc dlc slc offset:12, soffset:8 idxen offen tfe srsrc:5 vdata:8 vaddr:8
func (d *decoder) mubufRDNA() {
	w, h := d.w[0], d.w[1]
	if d.row(MUBUF, w>>18&0xff, 2) && len(d.in.Info.Operands) > 0 {
		d.bufferRDNA(w, h)
	}
}

// mtbufRDNA: 111010 format:7 op:4 glc dlc slc offset:12, soffset:8 idxen offen tfe srsrc:5 vdata:8 vaddr:8
func (d *decoder) mtbufRDNA() {
	w, h := d.w[0], d.w[1]
	if d.row(MTBUF, w>>15&15, 2) {
		d.in.Format = uint8(w >> 19 & 0x7f)
		d.bufferRDNA(w, h)
		if d.in.TFE {
			d.err = "texture fail enable of a typed buffer"
		}
	}
}

// bufferRDNA fills in what both have in common.
func (d *decoder) bufferRDNA(w, h uint32) {
	in := d.in
	in.cacheRDNA(w>>14, w>>12, w>>13)
	in.Offset = int32(w & 0xfff)
	if in.TFE = h>>21&1 != 0; in.TFE && in.Info.Flags&IsAtomic != 0 {
		d.err = "texture fail enable of an atomic"
	}
	more := int(h >> 21 & 1)
	in.OffEn, in.IdxEn = h>>22&1 != 0, h>>23&1 != 0
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			if in.Info.Flags&ReturnsGLC == 0 || in.Cache&GLC != 0 {
				d.vgprs(o, oi.Type, h>>8&0xff, int(oi.Type.Width())+more)
			}
		case RoleData:
			d.vgprs(o, oi.Type, h>>8&0xff, int(oi.Type.Width())+more)
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
