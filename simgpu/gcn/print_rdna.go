package gcn

import (
	"strconv"
	"strings"
)

// execOnly reports whether the instruction is a comparison that writes EXEC and nothing else, which is not written.
func (in *Inst) execOnly() bool {
	return in.Info.Flags&WritesEXEC != 0 && in.Arch.Has(RDNA) && (in.Enc == VOPC || in.Enc == VOP3)
}

// hwregNamesRDNA are the hardware registers that CDNA does not have under their numbers.
var hwregNamesRDNA = map[uint16]string{
	4: "", 16: "", 17: "", 18: "HW_REG_PERF_SNAPSHOT_PC_LO", 19: "HW_REG_PERF_SNAPSHOT_PC_HI", 20: "HW_REG_FLAT_SCR_LO",
	21: "HW_REG_FLAT_SCR_HI", 23: "HW_REG_HW_ID1", 24: "HW_REG_HW_ID2", 27: "HW_REG_PERF_SNAPSHOT_DATA", 29: "HW_REG_SHADER_CYCLES",
}

// versionNames are the targets that s_version names.
var versionNames = map[uint16]string{0: "GFX7", 4: "GFX10", 6: "GFX11", 9: "GFX12"}

// versionBits are what s_version says beside the target.
var versionBits = [...]struct {
	bit  uint16
	name string
}{{0x2000, "W64_BIT"}, {0x4000, "W32_BIT"}, {0x8000, "MDP_BIT"}}

// appendVersion prints the immediate of s_version, as an expression.
func appendVersion(b []byte, simm16 uint16) []byte {
	if simm16&0x1f00 != 0 {
		return appendHex(b, uint64(simm16))
	}
	n := 0
	for _, v := range versionBits {
		if simm16&v.bit != 0 {
			n++
		}
	}
	for range n - 1 {
		b = append(b, '(')
	}
	if name := versionNames[simm16&0xff]; name != "" {
		b = append(append(b, "UC_VERSION_"...), name...)
	} else {
		b = strconv.AppendUint(b, uint64(simm16&0xff), 10)
	}
	for _, v := range versionBits {
		if simm16&v.bit == 0 {
			continue
		}
		b = append(append(b, "|UC_VERSION_"...), v.name...)
		if n--; n > 0 {
			b = append(b, ')')
		}
	}
	return b
}

// messagesRDNA are the messages of s_sendmsg, and from 128 on those of s_sendmsg_rtn, which are answered.
var messagesRDNA = map[uint16]string{1: "MSG_INTERRUPT", 2: "MSG_HS_TESSFACTOR", 3: "MSG_DEALLOC_VGPRS", 5: "MSG_STALL_WAVE_GEN", 6: "MSG_HALT_WAVES", 9: "MSG_GS_ALLOC_REQ",
	128: "MSG_RTN_GET_DOORBELL", 129: "MSG_RTN_GET_DDID", 130: "MSG_RTN_GET_TMA", 131: "MSG_RTN_GET_REALTIME",
	132: "MSG_RTN_SAVE_WAVE", 133: "MSG_RTN_GET_TBA",
	134: "MSG_RTN_GET_TBA_TO_PC"}

// appendMessage prints a message, whose number has 8 bits.
func appendMessage(b []byte, simm16 uint16) []byte {
	id := simm16 & 0xff
	switch name := messagesRDNA[id]; {
	case name != "":
		return append(append(append(b, "sendmsg("...), name...), ')')
	case id == simm16:
		return append(strconv.AppendUint(append(b, "sendmsg("...), uint64(id), 10), ", 0, 0)"...)
	}
	return strconv.AppendUint(b, uint64(simm16), 10)
}

// What s_delay_alu waits for, and how many instructions are between its two delays.
var (
	delayNames = [...]string{"NO_DEP", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3",
		"FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"}
	skipNames = [...]string{"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"}
)

// appendDelay prints the immediate of s_delay_alu: instid1:4 instskip:3 instid0:4.
func appendDelay(b []byte, simm16 uint16) []byte {
	start := len(b)
	put := func(what string, v uint16, names []string) {
		if v == 0 {
			return
		}
		if len(b) > start {
			b = append(b, " | "...)
		}
		b = append(append(b, what...), '(')
		if int(v) < len(names) {
			b = append(b, names[v]...)
		} else {
			b = append(append(append(b, "/* invalid "...), strings.TrimRight(what, "01")...), " value */"...)
		}
		b = append(b, ')')
	}
	put("instid0", simm16&15, delayNames[:])
	put("instskip", simm16>>4&7, skipNames[:])
	put("instid1", simm16>>7&15, delayNames[:])
	if len(b) == start {
		b = append(b, '0')
	}
	return b
}

// depctrFields are the counters of s_waitcnt_depctr; where all bits are set it does not wait.
var depctrFields = [...]struct {
	name         string
	shift, width uint8
}{
	{"depctr_hold_cnt", 7, 1}, {"depctr_sa_sdst", 0, 1}, {"depctr_va_vdst", 12, 4}, {"depctr_va_sdst", 9, 3},
	{"depctr_va_ssrc", 8, 1}, {"depctr_va_vcc", 1, 1}, {"depctr_vm_vsrc", 2, 3},
}

// depctrUnused are the bits of no counter.
const depctrUnused = 0x60

// appendDepctr prints the counters that are waited for, or all if there is none.
func appendDepctr(b []byte, simm16 uint16) []byte {
	if simm16&depctrUnused != 0 {
		return appendHex(b, uint64(simm16))
	}
	all, sep := simm16 == 0xffff&^depctrUnused, ""
	for _, f := range depctrFields {
		most := uint16(1)<<f.width - 1
		v := simm16 >> f.shift & most
		if v == most && !all {
			continue
		}
		b = append(append(append(b, sep...), f.name...), '(')
		b = append(strconv.AppendUint(b, uint64(v), 10), ')')
		sep = " "
	}
	return b
}

func (in *Inst) appendDPP8(b []byte) []byte {
	b = append(b, " dpp8:["...)
	for i := range 8 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '0'+byte(in.DPP.Lanes>>(3*i)&7))
	}
	b = append(b, ']')
	if in.DPP.FetchInactive {
		b = append(b, " fi:1"...)
	}
	return b
}
