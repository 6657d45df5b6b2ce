package gcn

import (
	"strconv"
	"strings"
)

// appendMods prints what follows the operands; start is where they begin in b.
func (in *Inst) appendMods(b []byte, start int) []byte {
	switch in.Enc {
	case VOP1, VOP2, VOPC, VOP3:
		return in.appendVectorMods(b)
	case VOP3P:
		return in.appendPackedMods(b)
	case MFMA:
		if in.Scale[0].Kind != None {
			b = appendBits(b, " op_sel:[", in.OpSel, 3, 0)
			b = appendBits(b, " op_sel_hi:[", in.OpSelHi, 3, 7)
		}
		b = appendNum(b, " cbsz:", uint64(in.CBSZ))
		b = appendNum(b, " abid:", uint64(in.ABID))
		if t := in.Info.Operands[0].Type; in.BLGP != 0 && in.Arch.Has(MatrixNegate) && (t == F64 || t == F64X4) {
			return append(append(b, " neg:["...), '0'+in.BLGP&1, ',', '0'+in.BLGP>>1&1, ',', '0'+in.BLGP>>2, ']')
		}
		return appendNum(b, " blgp:", uint64(in.BLGP))
	case SMEM:
		return in.appendCache(b)
	case DS:
		return in.appendDSMods(b)
	case FLAT, GLOBAL, SCRATCH:
		offset := in.Offset
		if in.Enc == FLAT {
			offset = int32(in.Words[0] & 0x1fff) // with the sign, which RDNA ignores
		}
		b = appendSigned(b, " offset:", int64(offset))
		b = in.appendCache(b)
		if in.LDS && in.Info.Flags&LDSDest == 0 {
			b = append(b, " lds"...)
		}
	case MUBUF, MTBUF:
		return in.appendBufferMods(b)
	case MIMG:
		if in.Arch.Has(RDNA) {
			return in.appendImageModsRDNA(b)
		}
		return in.appendImageMods(b)
	case VINTERP, LDSDIR, EXPORT:
		return in.appendGraphicsMods(b)
	}
	return b
}

func appendNum(b []byte, name string, v uint64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendUint(append(b, name...), v, 10)
}

func appendSigned(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), v, 10)
}

func (in *Inst) appendCache(b []byte) []byte {
	glc, slc, scc := " glc", " slc", " scc"
	if in.Arch.Has(ScopeBits) && in.Enc != SMEM {
		glc, slc, scc = " sc0", " nt", " sc1"
	}
	if in.Cache&GLC != 0 {
		b = append(b, glc...)
	}
	if in.Cache&SLC != 0 {
		b = append(b, slc...)
	}
	if in.Cache&SCC != 0 {
		b = append(b, scc...)
	}
	if in.Cache&DLC != 0 {
		b = append(b, " dlc"...)
	}
	return b
}

func (in *Inst) appendOmod(b []byte) []byte {
	return append(b, [4]string{"", " mul:2", " mul:4", " div:2"}[in.Omod&3]...)
}

func (in *Inst) appendVectorMods(b []byte) []byte {
	switch in.Op {
	case V_BITOP3_B32, V_BITOP3_B16:
		if in.Simm16 > 9 {
			b = appendHex(append(b, " bitop3:"...), uint64(in.Simm16))
		} else {
			b = appendNum(b, " bitop3:", uint64(in.Simm16))
		}
	case V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32:
		if in.OpSel&2 != 0 {
			b = append(b, " bound_ctrl:1"...)
		}
		if in.OpSel&1 != 0 {
			b = append(b, " fi:1"...)
		}
		return b
	}
	if in.Enc == VOP3 && in.Info.Mods&(0xf<<11) != 0 && !in.hasSDst() && in.OpSel != 0 && (!in.Arch.Has(RDNA) || in.halves()) && in.Op != V_CNDMASK_B16 {
		b = append(b, " op_sel:["...)
		for i := 0; i < 3; i++ {
			if in.Info.Mods>>(11+i)&1 != 0 || in.Src[i].Kind != None && in.Arch.Has(RDNA) && !in.permlane16() {
				b = append(b, '0'+in.OpSel>>i&1, ',')
			}
		}
		if in.permlane16() || in.execOnly() || in.Form == FormDPP && in.Dst.Type == Mask { // it has none for the destination
			b[len(b)-1] = ']'
		} else {
			b = append(b, '0'+in.OpSel>>3&1, ']')
		}
	}
	if in.Clamp {
		b = append(b, " clamp"...)
	}
	b = in.appendOmod(b)
	switch in.Form {
	case FormSDWA:
		return in.appendSDWA(b)
	case FormDPP:
		return in.appendDPP(b)
	}
	return b
}

var selNames = [8]string{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"}

var unusedNames = [4]string{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"}

func (in *Inst) appendSDWA(b []byte) []byte {
	s := &in.SDWA
	if in.Enc != VOPC && in.Info.Flags&NoDstSel == 0 {
		b = append(append(b, " dst_sel:"...), selNames[s.DstSel&7]...)
		b = append(append(b, " dst_unused:"...), unusedNames[s.DstUnused&3]...)
	}
	b = append(append(b, " src0_sel:"...), selNames[s.Src0Sel&7]...)
	if in.Enc != VOP1 {
		b = append(append(b, " src1_sel:"...), selNames[s.Src1Sel&7]...)
	}
	return b
}

// dppNames are the permutations without a number, from DPPWaveShl on.
var dppNames = [...]string{0: " wave_shl:1", DPPWaveRol - DPPWaveShl: " wave_rol:1",
	DPPWaveShr - DPPWaveShl: " wave_shr:1", DPPWaveRor - DPPWaveShl: " wave_ror:1", DPPRowMirror - DPPWaveShl: " row_mirror",
	DPPRowHalfMirror - DPPWaveShl: " row_half_mirror", DPPBcast15 - DPPWaveShl: " row_bcast:15", DPPBcast31 - DPPWaveShl: " row_bcast:31"}

func (in *Inst) appendDPP(b []byte) []byte {
	if in.DPP.Eight {
		return in.appendDPP8(b)
	}
	c := in.DPP.Ctrl
	n := uint64(c & 15)
	switch {
	case in.dp64() && (c < DPPRowNewBcast || c >= DPPRowNewBcast+16):
		b = append(b, "  /* DP ALU dpp only supports row_newbcast */"...)
	case c >= DPPRowXMask && c < DPPRowXMask+16 && !in.Arch.Has(RDNA):
		b = append(b, " /* row_xmask is not supported on ASICs earlier than GFX10 */"...)
	case c >= DPPWaveShl && c <= DPPBcast31 && in.Arch.Has(RDNA) && !c.Valid(in.Arch) && dppNames[c-DPPWaveShl] != "":
		name, _, _ := strings.Cut(dppNames[c-DPPWaveShl], ":")
		b = append(append(append(b, " /*"...), name...), " is not supported starting from GFX10 */"...)
	case !c.Valid(in.Arch):
		b = append(b, " /* Invalid dpp_ctrl value */"...)
	case c <= 0xff:
		b = append(b, " quad_perm:["...)
		for i := 0; i < 4; i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '0'+byte(c>>(2*i)&3))
		}
		b = append(b, ']')
	case c < DPPRowShr:
		b = strconv.AppendUint(append(b, " row_shl:"...), n, 10)
	case c < DPPRowRor:
		b = strconv.AppendUint(append(b, " row_shr:"...), n, 10)
	case c < DPPWaveShl:
		b = strconv.AppendUint(append(b, " row_ror:"...), n, 10)
	case c >= DPPRowXMask:
		b = strconv.AppendUint(append(b, " row_xmask:"...), n, 10)
	case c >= DPPRowNewBcast && in.Arch.Has(RDNA):
		b = strconv.AppendUint(append(b, " row_share:"...), n, 10)
	case c >= DPPRowNewBcast:
		b = strconv.AppendUint(append(b, " row_newbcast:"...), n, 10)
	default:
		b = append(b, dppNames[c-DPPWaveShl]...)
	}
	b = strconv.AppendUint(append(b, " row_mask:0x"...), uint64(in.DPP.RowMask), 16)
	b = strconv.AppendUint(append(b, " bank_mask:0x"...), uint64(in.DPP.BankMask), 16)
	if in.DPP.BoundCtrl {
		b = append(b, " bound_ctrl:1"...)
	}
	if in.DPP.FetchInactive {
		b = append(b, " fi:1"...)
	}
	return b
}

// appendBits prints a list of n bits, unless it is the usual one.
func appendBits(b []byte, name string, v uint8, n int, usual uint8) []byte {
	all := uint8(1)<<n - 1
	if v&all == usual&all {
		return b
	}
	b = append(b, name...)
	for i := 0; i < n; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '0'+v>>i&1)
	}
	return append(b, ']')
}

// appendPackedMods prints the per-half modifiers of VOP3P.
func (in *Inst) appendPackedMods(b []byte) []byte {
	if in.Info.Flags&NoSuffix != 0 {
		return b
	}
	n := 0
	for i := range in.Info.Operands {
		if r := in.Info.Operands[i].Role; r >= RoleSrc0 && r <= RoleSrc2 && !in.Info.Operands[i].Quiet {
			n++
		}
	}
	list := func(name string, v, usual uint8) { b = appendBits(b, name, v, n, usual) }
	usual := uint8(7)
	if in.Info.Flags&MixMods != 0 {
		usual = 0
	}
	if in.Info.Flags&NoOpSel == 0 {
		list(" op_sel:[", in.OpSel, 0)
		list(" op_sel_hi:[", in.OpSelHi, usual)
	}
	if in.Info.Flags&MixMods == 0 {
		list(" neg_lo:[", in.Neg, 0)
		list(" neg_hi:[", in.NegHi, 0)
	}
	if in.Clamp {
		b = append(b, " clamp"...)
	}
	if in.Form == FormDPP {
		return in.appendDPP(b)
	}
	return b
}

func (in *Inst) appendDSMods(b []byte) []byte {
	switch {
	case in.Info.Flags&TwoAddr != 0:
		b = appendNum(b, " offset0:", uint64(in.Offset0))
		b = appendNum(b, " offset1:", uint64(in.Offset1))
	case in.Op == DS_SWIZZLE_B32:
		b = appendSwizzle(b, uint16(in.Offset))
	default:
		b = appendNum(b, " offset:", uint64(in.Offset))
	}
	if in.GDS {
		b = append(b, " gds"...)
	}
	return b
}

func (in *Inst) appendImageMods(b []byte) []byte {
	if in.DMask != 0 {
		b = appendHex(append(b, " dmask:"...), uint64(in.DMask))
	}
	put := func(bit ImageBits, name string) {
		if in.Image&bit != 0 {
			b = append(b, name...)
		}
	}
	put(Unorm, " unorm")
	b = in.appendCache(b)
	put(A16, " a16")
	put(LWE, " lwe")
	put(DA, " da")
	put(D16, " d16")
	return b
}

var dfmtNames = [16]string{"BUF_DATA_FORMAT_INVALID", "BUF_DATA_FORMAT_8", "BUF_DATA_FORMAT_16", "BUF_DATA_FORMAT_8_8",
	"BUF_DATA_FORMAT_32", "BUF_DATA_FORMAT_16_16", "BUF_DATA_FORMAT_10_11_11", "BUF_DATA_FORMAT_11_11_10",
	"BUF_DATA_FORMAT_10_10_10_2", "BUF_DATA_FORMAT_2_10_10_10", "BUF_DATA_FORMAT_8_8_8_8", "BUF_DATA_FORMAT_32_32",
	"BUF_DATA_FORMAT_16_16_16_16", "BUF_DATA_FORMAT_32_32_32", "BUF_DATA_FORMAT_32_32_32_32", "BUF_DATA_FORMAT_RESERVED_15"}

var nfmtNames = [8]string{"BUF_NUM_FORMAT_UNORM", "BUF_NUM_FORMAT_SNORM", "BUF_NUM_FORMAT_USCALED", "BUF_NUM_FORMAT_SSCALED",
	"BUF_NUM_FORMAT_UINT", "BUF_NUM_FORMAT_SINT", "BUF_NUM_FORMAT_RESERVED_6", "BUF_NUM_FORMAT_FLOAT"}

func (in *Inst) appendBufferMods(b []byte) []byte {
	if len(in.Info.Operands) == 0 {
		return in.appendCache(b)
	}
	switch {
	case in.Enc == MTBUF && in.Arch.Has(RDNA):
		b = in.appendFormatRDNA(b)
	case in.Enc == MTBUF:
		dfmt, nfmt := in.Format&15, in.Format>>4
		if dfmt != 1 || nfmt != 0 {
			b = append(b, " format:["...)
			if dfmt != 1 {
				b = append(b, dfmtNames[dfmt]...)
				if nfmt != 0 {
					b = append(b, ',')
				}
			}
			if nfmt != 0 {
				b = append(b, nfmtNames[nfmt]...)
			}
			b = append(b, ']')
		}
	}
	if in.IdxEn {
		b = append(b, " idxen"...)
	}
	if in.OffEn {
		b = append(b, " offen"...)
	}
	b = appendNum(b, " offset:", uint64(in.Offset))
	if in.Info.Flags&LDSDest != 0 {
		return in.appendCache(append(b, " lds"...))
	}
	b = in.appendCache(b)
	if in.LDS {
		b = append(b, " lds"...)
	}
	if in.TFE {
		b = append(b, " tfe"...)
	}
	return b
}
