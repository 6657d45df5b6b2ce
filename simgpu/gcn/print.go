package gcn

import "strconv"

// String prints the instruction as llvm-mc --disassemble does.
func (in *Inst) String() string {
	if in.Info == nil {
		return "<none>"
	}
	return string(in.AppendText(make([]byte, 0, 96)))
}

// AppendText appends what String returns to b.
func (in *Inst) AppendText(b []byte) []byte {
	b = append(b, in.Info.Name...)
	switch in.Form {
	case FormE32:
		b = append(b, "_e32"...)
	case FormE64:
		b = append(b, "_e64"...)
	case FormSDWA:
		b = append(b, "_sdwa"...)
	case FormDPP:
		switch {
		case in.Enc == VOP3 && in.Arch.Has(RDNA), in.Enc == VOP3P:
			b = append(b, "_e64_dpp"...)
		case in.Enc != VOPC:
			b = append(b, "_dpp"...)
		}
	}
	if in.Image&NSA != 0 && in.SOffset.Kind != None { // LLVM writes two spaces
		b = append(b, ' ')
	}
	start := len(b)
	if in.Enc == EXPORT {
		b = in.appendExportTarget(b)
		start = len(b)
	}
	for i := range in.Info.Operands {
		oi := &in.Info.Operands[i]
		if oi.Quiet || oi.Role == RoleDst && in.execOnly() {
			continue
		}
		if oi.Role == RoleImm {
			if in.Op == S_ENDPGM && in.Simm16 == 0 {
				continue
			}
			b = in.appendImm(appendSep(b, start))
			continue
		}
		o := in.place(oi.Role)
		if o.Kind == None && (in.Enc != SMEM || oi.Role != RoleSOffset) {
			continue
		}
		b = appendSep(b, start)
		if oi.Role >= RoleSrc0 && oi.Role <= RoleSrc2 {
			b = in.appendSource(b, o, oi)
		} else if oi.Role == RoleAddr && in.Image&NSA != 0 {
			b = in.appendImageAddress(b)
		} else if in.Enc == SMEM && oi.Role == RoleSOffset {
			b = in.appendSMEMOffset(b, o)
		} else {
			b = in.appendOperand(b, o, oi)
		}
	}
	b = in.appendMods(b, start)
	if in.Dual != nil {
		b = in.Dual.AppendText(append(b, " :: "...))
	}
	return b
}

// appendSep puts a separator before an operand.
func appendSep(b []byte, start int) []byte {
	if len(b) == start {
		return append(b, ' ')
	}
	return append(b, ", "...)
}

// appendSource appends a source operand with its sign modifiers.
func (in *Inst) appendSource(b []byte, o *Operand, oi *OperandInfo) []byte {
	bit := uint8(1) << (oi.Role - RoleSrc0)
	neg, abs := in.Neg&bit != 0, in.Abs&bit != 0
	if in.Enc == VOP3P && in.Info.Flags&MixMods == 0 {
		neg, abs = false, false // printed as neg_lo, neg_hi
	}
	if in.SDWA.Sext&bit != 0 {
		return append(in.appendOperand(append(b, "sext("...), o, oi), ')')
	}
	constant := o.IsConst() || o.Kind == Bad && o.Index >= 128 && o.Index < 256 && o.Index != SrcLDSDirect
	wrap := neg && !abs && constant // -1 is another constant than neg(1)
	switch {
	case wrap:
		b = append(b, "neg("...)
	case neg:
		b = append(b, '-')
	}
	if abs {
		b = append(b, '|')
	}
	b = in.appendOperand(b, o, oi)
	if abs {
		b = append(b, '|')
	}
	if wrap {
		b = append(b, ')')
	}
	return b
}

// appendOperand appends an operand without modifiers.
func (in *Inst) appendOperand(b []byte, o *Operand, oi *OperandInfo) []byte {
	switch o.Kind {
	case SGPR:
		return in.appendScalar(b, o.Index, o.Width)
	case VGPR:
		return in.appendHalf(appendRange(b, 'v', o.Index, o.Width), oi)
	case AccVGPR:
		return appendRange(b, 'a', o.Index, o.Width)
	case Special:
		return append(b, specialName(o.Index)...)
	case Off:
		return append(b, "off"...)
	case Inline, Literal:
		if oi.Class == ClassK && in.Enc != SOPK {
			return appendHex(b, o.Value&0xffffffff)
		}
		switch {
		case in.Op == V_CNDMASK_B16: // it has signs as floats have, but its constants are integers
			return appendConst(b, &Operand{Type: I16, Value: o.Value})
		case in.Op == V_LDEXP_F16 && in.Arch.Has(RDNA): // and the other way round
			return appendConst(b, &Operand{Type: F16, Value: o.Value})
		}
		return appendConst(b, o)
	case Bad:
		return in.appendBad(b, o, oi)
	}
	return append(b, '?')
}

// appendBad prints an operand that its place does not allow with the remark
// that LLVM makes.
func (in *Inst) appendBad(b []byte, o *Operand, oi *OperandInfo) []byte {
	switch n := o.Index; {
	case n == srcLiteral && in.Enc == VOP3P && oi.Role == RoleSrc2: // LLVM takes it for 0
		if o.Value <= 64 {
			return strconv.AppendUint(b, o.Value, 10)
		}
		return append(b, "0x0"...)
	case n >= 256:
		b = appendRange(b, 'v', n-256, o.Width)
	case n == SrcLDSDirect:
		b = append(b, specialName(n)...)
	case n >= 128:
		return append(appendConst(b, &Operand{Type: I32, Value: o.Value}), "/*Invalid immediate*/"...)
	default:
		d := decoder{in: &Inst{Arch: in.Arch}}
		t := Operand{Width: o.Width}
		d.scalarReg(&t, uint32(n))
		t.Width = min(t.Width, 16)
		b = in.appendScalar(b, t.Index, t.Width)
	}
	b = append(b, "/*Invalid register, operand has '"...)
	b = append(b, in.className(oi)...)
	return append(b, "' register class*/"...)
}

// className is LLVM's name of an operand's register class.
func (in *Inst) className(oi *OperandInfo) string {
	width := strconv.Itoa(32 * int(in.width(oi)))
	switch oi.Class {
	case ClassVA:
		return "AV_" + width
	case ClassA:
		return "AGPR_32"
	case ClassV:
		if oi.Type.is16() && in.Enc == VOP1 {
			return "VGPR_16_Lo128"
		}
		if width == "32" && !in.onlyVGPR() {
			return "VRegOrLds_32"
		}
		if width == "32" {
			return "VGPR_32"
		}
		return "VReg_" + width
	case ClassVC:
		if in.Dst.Kind == AccVGPR {
			return "AReg_" + width
		}
		return "VReg_" + width
	}
	switch {
	case in.Form == FormDPP && in.Enc == VOP3P:
		return "VGPR_32"
	case oi.Type == Mask && oi.Role == RoleDst:
		return "SReg_1"
	case oi.Type == Mask:
		return "SReg_1_XEXEC"
	case in.Enc == SCRATCH:
		return "SReg_32_XEXEC_HI"
	case in.Enc == GLOBAL:
		return "SReg_64_XEXEC_XNULL"
	case in.Op == V_WRITELANE_B32 && oi.Role == RoleSrc0 && in.Arch.Has(RDNA):
		return "SRegOrLds_32"
	case in.readsLane() && oi.Role == RoleDst:
		return "SReg_32_XM0"
	case in.Enc == SMEM && oi.Role != RoleBase && width == "32":
		return "SReg_32_XM0_XEXEC"
	case in.Enc == SMEM && oi.Role != RoleBase && width == "64":
		return "SReg_64_XEXEC"
	}
	return "SReg_" + width
}

// onlyVGPR reports whether a vector source cannot be what the processor reads from LDS.
func (in *Inst) onlyVGPR() bool {
	switch in.Op {
	case V_SWAP_B32, V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32, V_SWAP_B16, V_SWAPREL_B32, V_PERMLANE64_B32,
		V_MOVRELS_B32, V_MOVRELSD_B32, V_MOVRELSD_2_B32, V_PERMLANE16_B32, V_PERMLANEX16_B32:
		return true
	}
	return in.Enc == MFMA || in.Enc == VINTERP || in.Enc == VOP3P && in.Form == FormDPP
}

func (in *Inst) appendScalar(b []byte, n uint16, width uint8) []byte {
	if n <= 101 || n < RegVCC && in.Arch.Has(RDNA) {
		return appendRange(b, 's', n, width)
	}
	if n >= RegTTMP0 && n < RegTTMP0+16 {
		return appendRange(append(b, "ttm"...), 'p', n-RegTTMP0, width)
	}
	base := ""
	switch n &^ 1 {
	case RegFlatScratch:
		base = "flat_scratch"
	case RegXNACKMask:
		base = "xnack_mask"
	case RegVCC:
		base = "vcc"
	case RegM0:
		return append(b, "m0"...)
	case RegEXEC:
		base = "exec"
	}
	b = append(b, base...)
	switch {
	case width > 1:
		return b
	case n&1 == 0:
		return append(b, "_lo"...)
	}
	return append(b, "_hi"...)
}

func appendRange(b []byte, file byte, n uint16, width uint8) []byte {
	b = append(b, file)
	if width <= 1 {
		return strconv.AppendUint(b, uint64(n), 10)
	}
	b = append(b, '[')
	b = strconv.AppendUint(b, uint64(n), 10)
	b = append(b, ':')
	b = strconv.AppendUint(b, uint64(n)+uint64(width)-1, 10)
	return append(b, ']')
}

func specialName(n uint16) string {
	switch n {
	case SrcNull:
		return "null"
	case SrcSharedBase:
		return "src_shared_base"
	case SrcSharedLimit:
		return "src_shared_limit"
	case SrcPrivateBase:
		return "src_private_base"
	case SrcPrivateLimit:
		return "src_private_limit"
	case SrcPopsExitingWave:
		return "src_pops_exiting_wave_id"
	case SrcVCCZ:
		return "src_vccz"
	case SrcEXECZ:
		return "src_execz"
	case SrcSCC:
		return "src_scc"
	}
	return "src_lds_direct"
}

func appendHex(b []byte, v uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), v, 16)
}
