package gcn

// Source numbers that announce a word with lanes of eight; the second one fetches from lanes that are
// off as well.
const (
	srcDPP8   = 233
	srcDPP8FI = 234
)

// isForm reports whether source 0 announces another word.
func (d *decoder) isForm(src0 uint32) bool {
	if d.in.Arch.Has(RDNA) {
		return src0 == srcDPP || src0 == srcDPP8 || src0 == srcDPP8FI
	}
	return src0 == srcSDWA || src0 == srcDPP
}

// laneForm reads the word of a DPP form, the one with number at, and returns the number of source 0:
// row_mask:4 bank_mask:4 abs1 neg1 abs0 neg0 bound_ctrl fi 0 dpp_ctrl:9 src0:8, or lane numbers 8 × 3 src0:8.
// VOP3 has its signs in its own words.
func (d *decoder) laneForm(src0 uint32, at int) uint32 {
	in, w := d.in, d.w[at]
	if !in.Info.DPP.OK {
		d.err = "no such form of the operation"
		return 0
	}
	in.Form = FormDPP
	if src0 != srcDPP {
		in.DPP = DPP{Eight: true, Lanes: w >> 8, FetchInactive: src0 == srcDPP8FI, RowMask: 15, BankMask: 15}
		return w&0xff | 256
	}
	if w&in.Info.DPP.Zero != 0 {
		d.err = "reserved bits of DPP"
		return 0
	}
	in.DPP = DPP{
		Ctrl: DPPCtrl(w >> 8 & 0x1ff), FetchInactive: w>>18&1 != 0, BoundCtrl: w>>19&1 != 0,
		BankMask: uint8(w >> 24 & 15), RowMask: uint8(w >> 28),
	}
	if at == 1 {
		m := w & in.Info.DPP.Mods
		in.Neg = uint8(m>>20&1 | m>>22&1<<1)
		in.Abs = uint8(m>>21&1 | m>>23&1<<1)
	}
	return w&0xff | 256
}

// formWords is the length of VOP3 and VOP3P, whose second word names source 0 in its low bits.
func (d *decoder) formWords() int {
	if d.avail > 1 && d.in.Arch.Has(RDNA) && d.isForm(d.w[1]&0x1ff) {
		return 3
	}
	return 2
}
