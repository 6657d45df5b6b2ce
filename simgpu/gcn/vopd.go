package gcn

// vopd: 110010 opx:4 opy:5 vsrc1x:8 src0x:9, vdstx:8 vdsty:7 vsrc1y:8 src0y:9
//
// The numbers of the destinations are one even and one odd. A literal is for both.
func (d *decoder) vopd() {
	w, h := d.w[0], d.w[1]
	if !d.row(VOPD, w>>22&15, 2) {
		return
	}
	in := d.in
	dual := &Inst{Arch: in.Arch, Enc: VOPD, PC: in.PC, Info: lookup(in.Arch, VOPD, w>>17&31)}
	if dual.Info == nil {
		d.err = "no such second operation"
		return
	}
	if in.Op == V_MOV_B32 && w>>9&0xff != 0 || dual.Info.Op == V_MOV_B32 && h>>9&0xff != 0 {
		d.err = "reserved bits are set"
		return
	}
	dual.Op, dual.Opcode = dual.Info.Op, uint16(w>>17&31)
	xdst := h >> 24
	ydst := h>>17&0x7f<<1 | ^xdst&1
	d.vector(xdst, 0, [3]uint32{w & 0x1ff, w>>9&0xff | 256, w>>9&0xff | 256}, true)
	d.in = dual
	d.vector(ydst, 0, [3]uint32{h & 0x1ff, h>>9&0xff | 256, h>>9&0xff | 256}, true)
	in.Len += dual.Len // of the literal, if only the second operation has it
	dual.Len = 0
	d.in, in.Dual = in, dual
}
