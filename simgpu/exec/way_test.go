package exec

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Vector instructions of every kind are skipped, others are not, over branches
// and in both directions.
func TestVectorSkip(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, data := m.alloc(64)
		m.setS64(4, addr)
		m.set64(2, 0, addr)
		m.S[8] = 0b100
		m.setMask(1)
		m.V[1][0] = 77
		m.run("s_setvskip s8, 2; v_mov_b32 v0, 1; global_store_dword v[2:3], v1, off; ds_write_b32 v0, v1; v_readfirstlane_b32 s9, v1; " +
			"s_mov_b32 s10, 5; s_cmp_eq_u32 s10, 5; s_cbranch_scc1 1; s_endpgm; v_mov_b32 v0, 2; s_getreg_b32 s11, hwreg(HW_REG_MODE, 28, 1); " +
			"s_setvskip 0, 0; v_mov_b32 v4, 3; v_cmpx_eq_u32 vcc, 1, v4; v_mov_b32 v4, 4; s_getreg_b32 s12, hwreg(HW_REG_MODE, 28, 1)")
		if m.V[0][0] != 0 || m.V[4][0] != 3 || data[0] != 0 || m.wg.lds[0] != 0 || m.S[9] != 0 || m.S[10] != 5 || m.S[11] != 1 || m.S[12] != 0 {
			t.Errorf("%v: v0 %d, v4 %d, s9-12 %d", arch, m.V[0][0], m.V[4][0], m.S[9:13])
		}
		// Through MODE, and a barrier while it is on.
		m.setMask(1)
		m.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1; v_mov_b32 v0, 9; s_barrier; v_mov_b32 v0, 10; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0; v_mov_b32 v4, 6")
		if m.V[0][0] != 0 || m.V[4][0] != 6 {
			t.Errorf("%v: v0 %d, v4 %d", arch, m.V[0][0], m.V[4][0])
		}
	}
}

// Relative registers stay on over branches, changes of EXEC, calls and barriers,
// and what M0 names changes with M0.
func TestRelativeRegistersAcrossBlocks(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, data := m.alloc(64)
		for r := range 32 {
			for i := range 64 {
				m.V[r][i] = uint32(1000*r + i)
			}
		}
		m.set64(40, 0, addr)
		m.S[8] = 3
		// v[1+3], then over a branch v[1+5]; a lane's mask narrowed; then the destination.
		m.run("s_set_gpr_idx_on s8, gpr_idx(SRC0); v_mov_b32 v50, v1; s_cmp_eq_u32 s8, 3; s_cbranch_scc1 1; s_endpgm; v_mov_b32 v51, v1; s_set_gpr_idx_idx 5; " +
			"s_mov_b64 exec, 1; v_mov_b32 v52, v1; s_getreg_b32 s9, hwreg(HW_REG_MODE, 27, 1); s_mov_b32 m0, 0x8002; v_mov_b32 v53, v1; s_barrier; " +
			"s_set_gpr_idx_mode gpr_idx(SRC1); v_add_u32 v56, v1, v1; global_store_dword v[40:41], v1, off; s_set_gpr_idx_off; v_mov_b32 v57, v1; s_getreg_b32 s10, hwreg(HW_REG_MODE, 27, 1)")
		if m.V[50][7] != 4007 || m.V[51][7] != 4007 || m.V[52][0] != 6000 || m.V[55][0] != 1000 || m.V[53][0] != 0 {
			t.Errorf("%v: %d %d %d %d %d", arch, m.V[50][7], m.V[51][7], m.V[52][0], m.V[55][0], m.V[53][0])
		}
		if m.V[56][0] != 1000+3000 || m.V[57][0] != 1000 || m.S[9] != 1 || m.S[10] != 0 {
			t.Errorf("%v: v56 %d, v57 %d, MODE %d %d", arch, m.V[56][0], m.V[57][0], m.S[9], m.S[10])
		}
		if got := wordsOf(data[:4])[0]; got != 1000 { // no relative registers for memory
			t.Errorf("%v: stored %d", arch, got)
		}
		// The mode alone does nothing.
		m.S[regM0] = 0
		m.run("s_set_gpr_idx_mode gpr_idx(SRC0,SRC1,SRC2,DST); s_set_gpr_idx_idx 5; v_mov_b32 v58, v1")
		if m.V[58][0] != 1000 || m.S[regM0] != 0xf005 {
			t.Errorf("%v: v58 %d, m0 %#x", arch, m.V[58][0], m.S[regM0])
		}
		m.S[8] = 255
		var f *Fault
		if err := m.try("s_set_gpr_idx_on s8, gpr_idx(SRC0); s_branch 0; v_mov_b32 v50, v1"); !errors.As(err, &f) || f.Kind != RegisterFault {
			t.Errorf("%v: beyond the registers: %v", arch, err)
		}
	}
}

// Code that is executed the usual way and with vector instructions skipped is
// two things, and forgotten together.
func TestWaysOfOneBlock(t *testing.T) {
	m := newMachine(t, arches[0])
	m.setMask(1)
	for i := range 200 { // often enough to be translated
		m.S[8], m.V[0][0] = uint32(i&1), 0
		m.run("s_setvskip s8, 0; s_branch 0; v_mov_b32 v0, 1; s_branch 0; v_mov_b32 v1, 2; s_setvskip 0, 0")
		if got, want := m.V[0][0], uint32(1-i&1); got != want {
			t.Fatalf("time %d: %d", i, got)
		}
	}
}

// A tree of forks: each lane adds up the branches it takes, as it would alone.
func TestForkJoin(t *testing.T) {
	const program = "s_getreg_b32 s40, hwreg(HW_REG_MODE, 29, 3); " +
		"s_cbranch_i_fork s[32:33], 4; " + // 2 instructions of 2 words: else
		"v_add_u32 v0, 0x1000, v0; s_cbranch_join s40; s_branch 3; v_add_u32 v0, 0x2000, v0; s_cbranch_join s40; " +
		"s_getreg_b32 s41, hwreg(HW_REG_MODE, 29, 3); s_mov_b64 s[44:45], exec"
	r := rand.New(rand.NewPCG(3, 4))
	for _, arch := range arches {
		m := newMachine(t, arch)
		for _, exec := range append(masks(r), ^uint64(0)) {
			for _, pass := range []uint64{0, ^uint64(0), r.Uint64(), 1, r.Uint64() & r.Uint64()} {
				m.setMode(0xf0)
				m.setMask(exec)
				m.setS64(32, pass)
				m.V[0] = Vec{}
				m.run(program)
				for i := range 64 {
					want := uint32(0)
					if exec>>i&1 != 0 {
						if want = 0x1000; pass>>i&1 != 0 {
							want = 0x2000
						}
					}
					if m.V[0][i] != want {
						t.Fatalf("%v, EXEC %#x, pass %#x, lane %d: %#x, want %#x", arch, exec, pass, i, m.V[0][i], want)
					}
				}
				if m.S[40] != 0 || m.S[41] != 0 || bits.OnesCount64(m.s64(44)) > bits.OnesCount64(exec) {
					t.Fatalf("%v: CSP %d to %d", arch, m.S[40], m.S[41])
				}
			}
		}
		// To an address of its own; the larger part waits with its PC and lanes.
		m.setMode(0xf0)
		m.setMask(0xff)
		m.setS64(32, 0x7f)
		m.run("s_getpc_b64 s[34:35]; s_add_u32 s34, s34, 24; s_addc_u32 s35, s35, 0; s_cbranch_g_fork s[32:33], s[34:35]; s_mov_b64 s[36:37], exec; s_endpgm; s_endpgm; s_mov_b32 s36, 0")
		if m.s64(36) != 0x80 || m.s64(0) != 0x7f || m.s64(2) != m.s64(34) || m.mode>>29 != 1 {
			t.Errorf("%v: EXEC %#x, entry %#x %#x, CSP %d", arch, m.s64(36), m.s64(0), m.s64(2), m.mode>>29)
		}
		m.setMode(0xf0)
		var f *Fault
		m.S[40] = 3
		if err := m.try("s_cbranch_join s40"); !errors.As(err, &f) || f.Kind != RegisterFault {
			t.Errorf("%v: a join without a fork: %v", arch, err)
		}
		m.setMode(7<<29 | 0xf0)
		m.setMask(0xff)
		if err := m.try("s_cbranch_i_fork s[32:33], 0"); !errors.As(err, &f) || f.Kind != RegisterFault {
			t.Errorf("%v: a fork too many: %v", arch, err)
		}
	}
}
