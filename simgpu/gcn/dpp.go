package gcn

// dpp reads the second word of a DPP form and returns the number of source 0:
// row_mask:4 bank_mask:4 abs1 neg1 abs0 neg0 bound_ctrl 0:2 dpp_ctrl:9 src0:8
func (d *decoder) dpp() uint32 {
	in, w := d.in, d.w[1]
	if w&in.Info.DPP.Zero != 0 {
		d.err = "reserved bits of DPP"
		return 0
	}
	in.Form = FormDPP
	in.DPP = DPP{
		Ctrl:      DPPCtrl(w >> 8 & 0x1ff),
		BoundCtrl: w>>19&1 != 0,
		BankMask:  uint8(w >> 24 & 15),
		RowMask:   uint8(w >> 28),
	}
	m := w & in.Info.DPP.Mods
	in.Neg = uint8(m>>20&1 | m>>22&1<<1)
	in.Abs = uint8(m>>21&1 | m>>23&1<<1)
	in.noSigns()
	return w&0xff | 256
}

// noSigns clears the negation and absolute-value bits of integer sources, where they
// mean nothing.
func (in *Inst) noSigns() {
	if in.Neg == 0 && in.Abs == 0 {
		return
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		if oi.Role < RoleSrc0 || oi.Role > RoleSrc2 || oi.Type != I16 && oi.Type != I32 {
			continue
		}
		bit := uint8(1) << (oi.Role - RoleSrc0)
		in.Neg &^= bit
		in.Abs &^= bit
	}
}

// Valid reports whether the target knows the permutation. Executing another
// one is an error.
func (c DPPCtrl) Valid(a Arch) bool {
	switch {
	case c <= 0xff:
		return true
	case c > DPPRowShl && c < DPPRowShl+16, c > DPPRowShr && c < DPPRowShr+16, c > DPPRowRor && c < DPPRowRor+16:
		return true
	case c >= DPPRowNewBcast && c < DPPRowNewBcast+16:
		return true
	}
	switch c {
	case DPPRowMirror, DPPRowHalfMirror:
		return true
	}
	if a.Has(RDNA) {
		return c >= DPPRowXMask && c < DPPRowXMask+16
	}
	switch c {
	case DPPWaveShl, DPPWaveRol, DPPWaveShr, DPPWaveRor, DPPBcast15, DPPBcast31:
		return true
	}
	return false
}

// dp64 reports whether the instruction works on 64-bit values, for which DPP
// has row_newbcast only.
func (in *Inst) dp64() bool {
	for i := range in.Info.Operands {
		switch in.Info.Operands[i].Role {
		case RoleDst, RoleSrc0, RoleSrc1:
			if in.Info.Operands[i].Type.Width() == 2 && in.Info.Operands[i].Type != Mask {
				return true
			}
		}
	}
	return false
}
