package gcn

// is16 reports whether an operand is half a register.
func (t Type) is16() bool { return t == I16 || t == F16 || t == BF16 }

// halfOf takes the half out of the number of a vector register in VOP1, VOP2 and VOPC, whose eighth bit
// it is where an operand has 16 bits, and notes it as VOP3 does.
func (d *decoder) halfOf(oi *OperandInfo, n uint32) uint32 {
	in := d.in
	if !in.Arch.Has(RDNA) || n < 256+128 || !oi.Type.is16() || in.Enc != VOP1 && in.Enc != VOP2 && in.Enc != VOPC {
		return n
	}
	in.OpSel |= halfBit(oi.Role)
	return n &^ 128
}

// halfBit is the bit of [Inst.OpSel] that says which half an operand is.
func halfBit(r Role) uint8 {
	if r == RoleDst {
		return 8
	}
	return 1 << (r - RoleSrc0)
}

// halves reports whether vector registers of 16 bits are written with the half that is meant. LLVM writes
// no halves if op_sel has a bit for an operand that is not there, though the others still hold.
func (in *Inst) halves() bool {
	if !in.Arch.Has(RDNA) {
		return false
	}
	switch in.Enc {
	case VOP1, VOP2, VOPC, VINTERP:
		return true
	case VOP3:
		return in.hasSDst() || in.strayOpSel(in.Words[0]) == 0
	}
	return false
}

// permlane16 reports whether the bits of op_sel are no halves.
func (in *Inst) permlane16() bool { return in.Op == V_PERMLANE16_B32 || in.Op == V_PERMLANEX16_B32 }

// strayOpSel are the bits of op_sel in VOP3 that no operand has.
func (in *Inst) strayOpSel(w uint32) uint32 {
	if in.Info.Mods&(15<<11) == 0 || in.permlane16() {
		return 0
	}
	stray := uint32(15)
	for i := range in.Info.Operands {
		switch oi := &in.Info.Operands[i]; {
		case oi.Type == Mask, oi.Quiet:
		default:
			stray &^= uint32(halfBit(oi.Role))
		}
	}
	return w >> 11 & stray
}

// appendHalf writes which half of a register an operand is.
func (in *Inst) appendHalf(b []byte, oi *OperandInfo) []byte {
	if !oi.Type.is16() || !in.halves() {
		return b
	}
	if in.OpSel&halfBit(oi.Role) != 0 {
		return append(b, ".h"...)
	}
	return append(b, ".l"...)
}
