package gcn

import "strconv"

// appendImm prints the immediate of SOPK, SOPP and the like.
func (in *Inst) appendImm(b []byte) []byte {
	v := uint64(in.Simm16)
	switch in.Op {
	case S_WAITCNT:
		return in.appendWaitcnt(b)
	case S_SENDMSG, S_SENDMSGHALT:
		if in.Arch.Has(RDNA) {
			return appendMessage(b, in.Simm16)
		}
		return appendSendmsg(b, in.Simm16)
	case S_SENDMSG_RTN_B32, S_SENDMSG_RTN_B64:
		return appendMessage(b, in.Simm16)
	case S_DELAY_ALU:
		return appendDelay(b, in.Simm16)
	case S_VERSION:
		return appendVersion(b, in.Simm16)
	case S_WAITCNT_DEPCTR:
		return appendDepctr(b, in.Simm16)
	case S_CLAUSE, S_SET_INST_PREFETCH_DISTANCE, S_ROUND_MODE, S_WAIT_EVENT, S_TTRACEDATA_IMM:
		return appendHex(b, v)
	case S_GETREG_B32, S_SETREG_B32, S_SETREG_IMM32_B32:
		return appendHwreg(b, in.Arch, in.Simm16)
	case S_SET_GPR_IDX_ON, S_SET_GPR_IDX_MODE:
		return appendGPRIdx(b, in.Simm16)
	case S_NOP, S_SLEEP, S_SETPRIO, S_SETKILL, S_SETHALT, S_INCPERFLEVEL, S_DECPERFLEVEL, S_TRAP,
		S_ATC_PROBE, S_ATC_PROBE_BUFFER, S_DENORM_MODE:
		if v <= 64 {
			return strconv.AppendUint(b, v, 10)
		}
		return appendHex(b, v)
	}
	if in.Enc == SOPK && in.Info.Flags&IsBranch == 0 {
		return appendHex(b, v)
	}
	return strconv.AppendUint(b, v, 10)
}

// Waitcnt takes s_waitcnt's immediate apart. The greatest value of a counter
// (63, 7, 15) means not to wait for it.
func Waitcnt(simm16 uint16) (vm, exp, lgkm uint8) {
	return uint8(simm16&15 | simm16>>14<<4), uint8(simm16 >> 4 & 7), uint8(simm16 >> 8 & 15)
}

// WaitcntRDNA is Waitcnt for RDNA, where the greatest values are 63, 7 and 63.
func WaitcntRDNA(simm16 uint16) (vm, exp, lgkm uint8) {
	return uint8(simm16 >> 10), uint8(simm16 & 7), uint8(simm16 >> 4 & 63)
}

func (in *Inst) appendWaitcnt(b []byte) []byte {
	vm, exp, lgkm := Waitcnt(in.Simm16)
	most := uint8(15)
	if in.Arch.Has(RDNA) {
		vm, exp, lgkm = WaitcntRDNA(in.Simm16)
		most = 63
	}
	all := vm == 63 && exp == 7 && lgkm == most
	sep := ""
	put := func(name string, v uint8) {
		b = append(append(append(b, sep...), name...), '(')
		b = append(strconv.AppendUint(b, uint64(v), 10), ')')
		sep = " "
	}
	if all || vm != 63 {
		put("vmcnt", vm)
	}
	if all || exp != 7 {
		put("expcnt", exp)
	}
	if all || lgkm != most {
		put("lgkmcnt", lgkm)
	}
	return b
}

var hwregNames = map[uint16]string{
	1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS", 4: "HW_REG_HW_ID", 5: "HW_REG_GPR_ALLOC",
	6: "HW_REG_LDS_ALLOC", 7: "HW_REG_IB_STS", 15: "HW_REG_SH_MEM_BASES", 16: "HW_REG_TBA_LO",
	17: "HW_REG_TBA_HI", 18: "HW_REG_TMA_LO", 19: "HW_REG_TMA_HI",
}

var hwregNamesXCC = map[uint16]string{
	20: "HW_REG_XCC_ID", 21: "HW_REG_SQ_PERF_SNAPSHOT_DATA", 22: "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
	23: "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 24: "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
}

// Hwreg takes the immediate of s_getreg and s_setreg apart: register, first
// bit, number of bits.
func Hwreg(simm16 uint16) (id, offset, width uint8) {
	return uint8(simm16 & 63), uint8(simm16 >> 6 & 31), uint8(simm16>>11) + 1
}

func appendHwreg(b []byte, arch Arch, simm16 uint16) []byte {
	id, offset, width := Hwreg(simm16)
	name := hwregNames[uint16(id)]
	if n, ok := hwregNamesRDNA[uint16(id)]; ok && arch.Has(RDNA) {
		name = n
	}
	if name == "" && arch.Has(XCCRegisters) {
		name = hwregNamesXCC[uint16(id)]
	}
	b = append(b, "hwreg("...)
	if name != "" {
		b = append(b, name...)
	} else {
		b = strconv.AppendUint(b, uint64(id), 10)
	}
	if offset != 0 || width != 32 {
		b = strconv.AppendUint(append(b, ", "...), uint64(offset), 10)
		b = strconv.AppendUint(append(b, ", "...), uint64(width), 10)
	}
	return append(b, ')')
}

var msgNames = [16]string{1: "MSG_INTERRUPT", 2: "MSG_GS", 3: "MSG_GS_DONE", 4: "MSG_SAVEWAVE",
	5: "MSG_STALL_WAVE_GEN", 6: "MSG_HALT_WAVES", 7: "MSG_ORDERED_PS_DONE", 8: "MSG_EARLY_PRIM_DEALLOC",
	9: "MSG_GS_ALLOC_REQ", 10: "MSG_GET_DOORBELL", 15: "MSG_SYSMSG"}

var gsOpNames = [4]string{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"}

var sysOpNames = [5]string{1: "SYSMSG_OP_ECC_ERR_INTERRUPT", 2: "SYSMSG_OP_REG_RD", 4: "SYSMSG_OP_TTRACE_PC"}

// appendSendmsg prints a message: id:4 op:3 0 stream:2.
func appendSendmsg(b []byte, simm16 uint16) []byte {
	id, op, stream := simm16&15, simm16>>4&7, simm16>>8&3
	opName, withStream, ok := "", false, msgNames[id] != ""
	switch id {
	case 2, 3:
		ok = op < 4 && (op != 0 || id == 3)
		if ok {
			opName, withStream = gsOpNames[op], op != 0
		}
	case 15:
		ok = op == 1 || op == 2 || op == 4
		if ok {
			opName = sysOpNames[op]
		}
	default:
		ok = ok && op == 0
	}
	if ok && stream != 0 && !withStream {
		ok = false
	}
	if !ok && simm16&^0x37f != 0 {
		return strconv.AppendUint(b, uint64(simm16), 10)
	}
	b = append(b, "sendmsg("...)
	if !ok {
		b = strconv.AppendUint(b, uint64(id), 10)
		b = strconv.AppendUint(append(b, ", "...), uint64(op), 10)
		b = strconv.AppendUint(append(b, ", "...), uint64(stream), 10)
		return append(b, ')')
	}
	b = append(b, msgNames[id]...)
	if opName != "" {
		b = append(append(b, ", "...), opName...)
		if withStream {
			b = strconv.AppendUint(append(b, ", "...), uint64(stream), 10)
		}
	}
	return append(b, ')')
}

var gprIdxNames = [4]string{"SRC0", "SRC1", "SRC2", "DST"}

func appendGPRIdx(b []byte, v uint16) []byte {
	if v&^15 != 0 {
		return appendHex(b, uint64(v))
	}
	b = append(b, "gpr_idx("...)
	sep := ""
	for i, name := range gprIdxNames {
		if v>>i&1 != 0 {
			b = append(append(b, sep...), name...)
			sep = ","
		}
	}
	return append(b, ')')
}

// appendSMEMOffset prints the offset of a scalar memory instruction: a
// register, an immediate, or both.
func (in *Inst) appendSMEMOffset(b []byte, o *Operand) []byte {
	if o.Kind != None {
		b = in.appendOperand(b, o, &OperandInfo{})
		if !in.HasSImm {
			return b
		}
		b = append(b, " offset:"...)
	} else if in.Offset == 0 && in.Arch.Has(RDNA) {
		return append(b, specialName(SrcNull)...)
	}
	if in.Offset < 0 {
		return appendHex(append(b, '-'), uint64(-int64(in.Offset)))
	}
	return appendHex(b, uint64(in.Offset))
}
