package gcn

// sdwa reads the second word of an SDWA form and returns the source numbers:
// s1 0 abs1 neg1 sext1 src1_sel:3 s0 0 abs0 neg0 sext0 src0_sel:3 omod:2 clamp dst_unused:2 dst_sel:3 src0:8
// VOPC has sd sdst:7 instead of what concerns the destination.
func (d *decoder) sdwa(src1 uint32) (uint32, uint32) {
	in, w := d.in, d.w[1]
	info := in.Info
	if w&info.SDWA.Zero != 0 {
		d.err = "reserved bits of SDWA"
		return 0, 0
	}
	in.Form = FormSDWA
	s := &in.SDWA
	m := w & info.SDWA.Mods
	s.Sext = uint8(m>>19&1 | m>>27&1<<1)
	in.Neg = uint8(m>>20&1 | m>>28&1<<1)
	in.Abs = uint8(m>>21&1 | m>>29&1<<1)
	s.Src0Sel, s.Src1Sel = Sel(w>>16&7), Sel(w>>24&7)
	s.DstSel = Dword
	if in.Enc != VOPC {
		in.Clamp = m>>13&1 != 0
		in.Omod = uint8(m >> 14 & 3)
		s.DstSel, s.DstUnused = Sel(w>>8&7), Unused(w>>11&3)
		if info.Flags&NoDstSel != 0 {
			s.DstUnused = UnusedPad
		}
	}
	switch {
	case s.DstSel > Dword || s.Src0Sel > Dword || s.Src1Sel > Dword || s.DstUnused > UnusedPreserve,
		info.Flags&NoDstSel != 0 && s.DstSel != Dword:
		d.err = "SDWA selector"
	}
	src0 := w & 0xff
	if w>>23&1 == 0 {
		src0 |= 256
	}
	if w>>31&1 != 0 {
		src1 &= 0xff
	}
	return src0, src1
}
