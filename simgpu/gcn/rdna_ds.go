package gcn

// dsRDNA: 110110 op:8 gds 0 offset1:8 offset0:8, vdst:8 data1:8 data0:8 addr:8
func (d *decoder) dsRDNA() {
	w, h := d.w[0], d.w[1]
	if !d.row(DS, w>>18&0xff, 2) {
		return
	}
	in := d.in
	in.Offset = int32(w & 0xffff)
	in.Offset0, in.Offset1 = uint8(w), uint8(w>>8)
	gws := in.Info.Flags&IsGWS != 0
	in.GDS = w>>17&1 != 0
	if gws && !in.GDS {
		d.err = "global wave sync without gds"
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		var n uint32
		switch {
		case oi.Role == RoleDst:
			n = h >> 24
		case oi.Role == RoleAddr:
			n = h
		case oi.Role == RoleData && gws && in.Dst.Kind == None: // the global wave sync operations have their data here
			n = h
		case oi.Role == RoleData:
			n = h >> 8
		case oi.Role == RoleData1:
			n = h >> 16
		}
		d.vgpr(in.place(oi.Role), oi.Type, n, false)
	}
}
