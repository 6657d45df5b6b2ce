package gcn

// Formats of A and B in a matrix instruction with [Formats]. LLVM takes the numbers
// that stand for none as if they were [FormatFP8].
const (
	FormatFP8 = iota // e4m3
	FormatBF8        // e5m2
	FormatFP6        // e2m3
	FormatBF6        // e3m2
	FormatFP4        // e2m1
)

// formatTypes are the registers of 32 elements in each format.
var formatTypes = [8]Type{X8, X8, X6, X6, X4, X8, X8, X8}

// Opcodes of VOP3P that matter for scaled matrix instructions.
const (
	opLoadScale   = 0x2c
	opFormats     = 0x2d // v_mfma_f32_16x16x128_f8f6f4
	opFormats32   = 0x2e // v_mfma_f32_32x32x64_f8f6f4
	scaledOpcodes = 0x80 // what a scaled instruction's opcode has beside that of its second half
)

// scaled reports whether the words are a scaled matrix instruction: two of VOP3P, of
// which the first names the scales and the second has the bit that says so.
func (d *decoder) scaled(op uint32) bool {
	w := d.w[2]
	next := w >> 16 & 0x7f
	return op == opLoadScale && w>>23 == 0x1a7 && (next == opFormats || next == opFormats32) && w>>11&15 == 1 &&
		lookup(d.in.Arch, MFMA, next|scaledOpcodes) != nil
}

// mfmaScaled: 110100111 0101100 0 .. op_sel:2 .. , .. op_sel_hi:2 .. src1:9 src0:9, and a
// matrix instruction.
func (d *decoder) mfmaScaled(scale [3]uint32) {
	w, h := d.w[2], d.w[3]
	if !d.row(MFMA, w>>16&0x7f|scaledOpcodes, 4) {
		return
	}
	in := d.in
	d.matrices(w, h, [3]uint32{h & 0x1ff, h >> 9 & 0x1ff, h >> 18 & 0x1ff})
	in.ABID = 0
	in.OpSel = uint8(d.w[0] >> 11 & 3)
	in.OpSelHi = uint8(d.w[1] >> 27 & 3)
	for i := range in.Scale {
		d.source(&in.Scale[i], I32, scale[i], false)
	}
}

// width is how many registers an operand of the instruction has.
func (in *Inst) width(oi *OperandInfo) uint8 {
	if in.Info.Flags&Formats != 0 && (oi.Role == RoleSrc0 || oi.Role == RoleSrc1) {
		return in.formatType(oi.Role).Width()
	}
	return in.typeOf(oi).Width()
}

// formatType is the type of A (source 0) or B.
func (in *Inst) formatType(r Role) Type {
	if r == RoleSrc0 {
		return formatTypes[in.CBSZ]
	}
	return formatTypes[in.BLGP]
}
