package gcn

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
	in.LDS = w>>13&1 != 0 && !(enc == SCRATCH && in.Arch.Has(ArchitectedScratch)) || in.Info.Flags&LDSDest != 0
	in.Offset = int32(w<<19) >> 19
	if enc == FLAT {
		in.Offset = int32(w & 0x1fff)
	}
	if in.LDS && h>>23&1 != 0 {
		d.err = "accumulation register bit without vector data"
	}
	acc, saddr := h>>23&1 != 0, h>>16&0x7f
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		o := in.place(oi.Role)
		switch oi.Role {
		case RoleDst:
			if (in.Info.Flags&ReturnsGLC == 0 || in.Cache&GLC != 0) && !in.LDS {
				d.vgpr(o, oi.Type, h>>24, acc)
			}
		case RoleData:
			d.vgpr(o, oi.Type, h>>8, acc)
		case RoleAddr:
			switch {
			case enc == GLOBAL && saddr != nullSAddr:
				d.vgpr(o, I32, h, false)
			case enc == SCRATCH && !d.scratchVAddr(w, saddr):
				o.Kind = Off
			default:
				d.vgpr(o, oi.Type, h, false)
			}
		case RoleBase:
			if saddr == nullSAddr {
				o.Kind = Off
			} else {
				d.sreg(o, oi.Type, saddr)
				if enc == GLOBAL && saddr == RegEXEC && !in.LDS {
					d.bad(o, saddr)
				}
			}
		}
	}
}

// scratchVAddr reports whether a scratch instruction has a vector address:
// with [ArchitectedScratch] the bit that is lds elsewhere says so, otherwise it has
// one unless it has a scalar.
func (d *decoder) scratchVAddr(w, saddr uint32) bool {
	if d.in.Arch.Has(ArchitectedScratch) {
		return w>>13&1 != 0
	}
	return saddr == nullSAddr
}

// cache sets the cache policy bits.
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
