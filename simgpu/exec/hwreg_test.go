package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Hardware registers of a wave that is known: the fields' places are those of
// AMD's documents.
func TestHardwareRegisters(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		get := func(reg string) uint32 {
			t.Helper()
			m.run("s_getreg_b32 s8, hwreg(" + reg + ")")
			return m.S[8]
		}
		m.S[regSCC] = 1
		if got := get("HW_REG_STATUS"); got&1 != 1 || got>>16&1 != 1 || got>>9&1 != 0 || got>>11&1 != 0 {
			t.Errorf("%v: STATUS %#x", arch, got)
		}
		m.run("s_setprio 2; s_getreg_b32 s8, hwreg(HW_REG_STATUS, 3, 2)")
		if m.S[8] != 2 {
			t.Errorf("%v: priority %d", arch, m.S[8])
		}
		m.setMask(0)
		m.setS64(regVCC, 0)
		m.run("s_getreg_b32 s8, hwreg(HW_REG_STATUS, 9, 2)")
		if m.S[8] != 3 {
			t.Errorf("%v: EXECZ and VCCZ %d", arch, m.S[8])
		}
		m.setMask(^uint64(0))
		for reg, want := range map[string]uint32{
			"HW_REG_MODE":                 m.mode,
			"HW_REG_GPR_ALLOC, 8, 6":      192/8 - 1,
			"HW_REG_GPR_ALLOC, 24, 4":     6,
			"HW_REG_LDS_ALLOC, 12, 9":     1024 / 512,
			"HW_REG_IB_STS":               0,
			"HW_REG_HW_ID, 0, 6":          0,
			"HW_REG_SH_MEM_BASES, 16, 16": uint32(sharedBase >> 48),
			"HW_REG_SH_MEM_BASES, 0, 16":  uint32(privateBase >> 48),
			"HW_REG_TRAPSTS":              0,
			"HW_REG_TBA_LO":               0,
			"HW_REG_TMA_HI":               0,
		} {
			if got := get(reg); got != want {
				t.Errorf("%v: %s is %#x, want %#x", arch, reg, got, want)
			}
		}
		// What can be written, bit by bit.
		m.S[9] = 0x3
		m.run("s_setreg_b32 hwreg(HW_REG_TRAPSTS, 4, 2), s9; s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 1), 1; s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS); " +
			"v_clrexcp; s_getreg_b32 s9, hwreg(HW_REG_TRAPSTS); s_setreg_imm32_b32 hwreg(HW_REG_HW_ID, 0, 32), -1; s_getreg_b32 s10, hwreg(HW_REG_HW_ID, 0, 6)")
		if m.S[8] != 0x31 || m.S[9] != 0 || m.S[10] != 0 {
			t.Errorf("%v: TRAPSTS %#x, then %#x; HW_ID %#x", arch, m.S[8], m.S[9], m.S[10])
		}
		m.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5; s_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 8)")
		if m.S[8] != 0xf5 {
			t.Errorf("%v: MODE %#x", arch, m.S[8])
		}
	}
}

// Workgroups say where they execute: every die and every compute unit has its
// share.
func TestPlaces(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		const groups = 1000
		addr, data := m.alloc(groups * 8)
		text := "v_mov_b32 v1, s4; s_getreg_b32 s8, hwreg(HW_REG_HW_ID); "
		if arch.Has(gcn.XCCRegisters) {
			text += "s_getreg_b32 s9, hwreg(HW_REG_XCC_ID, 0, 4); "
		} else {
			text += "s_mov_b32 s9, 0; "
		}
		text += "v_mov_b32 v2, s8; v_mov_b32 v3, s9; v_lshlrev_b32 v1, 3, v1; global_store_dwordx2 v1, v[2:3], s[0:1]"
		for i, c := range append(append([]uint32(nil), assemble(t, arch, text)...), endpgm) {
			binary.LittleEndian.PutUint32(m.codeData[4*i:], c)
		}
		d := *m.wave.d
		d.Entry, d.Kernarg = m.code, addr
		d.Grid = [3]uint32{64, groups, 1}
		d.Desc.Properties = propKernargPtr
		d.Desc.Rsrc2 = 4<<1 | 1<<8 // user registers, workgroup id y
		if _, err := d.Run(context.Background(), 2); err != nil {
			t.Fatal(err)
		}
		units, dies := map[[3]uint32]int{}, map[uint32]int{}
		for i := range groups {
			id, xcc := binary.LittleEndian.Uint32(data[8*i:]), binary.LittleEndian.Uint32(data[8*i+4:])
			units[[3]uint32{xcc, id >> 13 & 7, id >> 8 & 15}]++
			dies[xcc]++
		}
		wantUnits, wantDies := 104, 1
		if arch.Has(gcn.XCCRegisters) {
			wantUnits, wantDies = 304, 8
		}
		if len(units) != wantUnits || len(dies) != wantDies {
			t.Errorf("%v: %d compute units on %d dies", arch, len(units), len(dies))
		}
	}
}

// Instructions that stop a wave, and messages.
func TestHalt(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		var sent []uint16
		m.wave.d.OnMessage = func(msg uint16, m0 uint32) { sent = append(sent, msg, uint16(m0)) }
		m.S[regM0] = 42
		m.run("s_sethalt 0; s_setkill 0; s_mov_b32 s8, 1; s_sendmsg sendmsg(MSG_INTERRUPT); s_setkill 1; s_mov_b32 s8, 2")
		if m.S[8] != 1 || len(sent) != 2 || sent[0] != 1 || sent[1] != 42 {
			t.Errorf("%v: s8 is %d, messages %v", arch, m.S[8], sent)
		}
		for _, text := range []string{"s_sethalt 1", "s_sendmsghalt sendmsg(MSG_INTERRUPT)", "s_trap 2", "s_trap 1"} {
			if err := m.try(text); !errors.Is(err, ErrTrap) {
				t.Errorf("%v %s: %v", arch, text, err)
			}
		}
		if len(sent) != 4 {
			t.Errorf("%v: messages %v", arch, sent)
		}
		m.run("s_trap 3; s_nop 3; s_waitcnt vmcnt(0) lgkmcnt(0); s_wakeup; s_incperflevel 1; s_decperflevel 1; s_ttracedata; " +
			"s_cbranch_cdbgsys 1; s_cbranch_cdbguser 1; s_mov_b32 s8, 3; s_cbranch_cdbgsys_or_user 1; s_cbranch_cdbgsys_and_user 1; s_add_u32 s8, s8, 1; s_endpgm_saved; s_mov_b32 s8, 9")
		if m.S[8] != 4 {
			t.Errorf("%v: s8 is %d", arch, m.S[8])
		}
		m.run("s_mov_b32 s8, 5; s_endpgm_ordered_ps_done; s_mov_b32 s8, 9")
		if m.S[8] != 5 {
			t.Errorf("%v: s8 is %d", arch, m.S[8])
		}
	}
}
