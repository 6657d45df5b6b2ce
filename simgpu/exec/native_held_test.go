//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestHeldMasks: masks that are held, that are not because another one is, or Go may execute something, or somebody else reads
// them; and registers that are written in some lanes only before all are read. Results go to v10 and up.
func TestHeldMasks(t *testing.T) {
	if !useNative {
		return
	}
	defer func(cost int) { useNative, leaveCost, endsLive = true, cost, true }(leaveCost)
	for _, text := range []string{
		"v_add_co_u32_e32 v10, vcc, v0, v1; v_addc_co_u32_e32 v11, vcc, v2, v3, vcc; v_sub_co_u32_e32 v12, vcc, v0, v1; v_subb_co_u32_e32 v13, vcc, v2, v3, vcc; v_subbrev_co_u32_e32 v14, vcc, v2, v3, vcc",
		"v_cmp_lt_u32_e64 s[4:5], v0, v1; v_cmp_gt_i32_e64 s[6:7], v2, v3; v_cndmask_b32_e64 v10, v0, v1, s[4:5]; v_cndmask_b32_e64 v11, v0, v1, s[6:7]; v_cndmask_b32_e64 v12, v2, v3, s[4:5]",
		"v_cmp_lt_u32_e64 s[4:5], v0, v1; v_mov_b32_e32 v10, s4; v_cndmask_b32_e64 v11, v0, v1, s[4:5]; v_cmp_lt_u32_e64 s[4:5], v2, v3; v_cndmask_b32_e64 v12, v0, v1, s[4:5]",
		"v_cmp_lt_u32_e64 s[4:5], v0, v1; v_cndmask_b32_e64 v10, v0, v1, s[4:5]; ds_read_b32 v11, v4; v_cndmask_b32_e64 v12, v0, v1, s[4:5]; v_cmp_lt_u32_e64 s[4:5], v2, v3",
		"v_cmp_lt_u32_e64 s[4:5], v0, v1; s_mov_b32 s5, s8; v_cndmask_b32_e64 v10, v0, v1, s[4:5]; v_cmp_lt_u32_e64 s[4:5], v2, v3; v_cndmask_b32_e64 v11, v0, v1, s[4:5]",
		"v_cmp_lt_u32_e64 s[4:5], v0, v1; s_nop 0; v_add_co_u32_e64 v10, s[6:7], v0, v1; v_addc_co_u32_e64 v11, s[4:5], v2, v3, s[6:7]; v_cndmask_b32_e64 v12, v0, v1, s[4:5]; v_cndmask_b32_e64 v13, v0, v1, s[6:7]",
		"v_cmp_lt_u32_e32 vcc, v0, v1; v_cndmask_b32_e32 v10, v0, v1, vcc; v_cmp_gt_i32_e32 vcc, v2, v3; v_cmp_lt_u32_e64 s[4:5], v1, v2; v_cndmask_b32_e32 v11, v2, v3, vcc; v_cndmask_b32_e64 v12, v0, v1, s[4:5]",
		"v_cmp_lt_u32_e32 vcc, v0, v1; v_cndmask_b32_e32 v10, v0, v1, vcc; v_cmp_gt_i32_e32 vcc, v2, v3; v_add_co_u32_e64 v12, s[4:5], v0, v1; v_cndmask_b32_e32 v11, v2, v3, vcc; v_cmp_lt_u32_e64 s[4:5], v1, v2",
		"v_add_u32_e32 v10, v0, v1; v_cmp_lt_u32_e64 exec, v10, v2; v_xor_b32_e32 v10, v10, v2; v_cmp_lt_u32_e32 vcc, v0, v1; v_cndmask_b32_e32 v11, v0, v1, vcc",
		"v_add_u32_e32 v10, v0, v1; v_xor_b32_e32 v10, v10, v2; v_div_scale_f32 v13, vcc, v0, v1, v0; v_mov_b32_sdwa v10, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD",
		// Scalar instructions among those that are executed in turns, and scalar registers that these write in turns.
		"v_add_u32_e32 v10, s8, v0; s_add_i32 s9, s8, s4; v_add_u32_e32 v11, s9, v10; s_add_i32 s8, s8, s9; v_add_u32_e32 v12, s8, v11; s_cmp_lt_i32 s8, s9; s_cselect_b32 s9, s8, s4; v_xor_b32_e32 v13, s9, v12",
		"v_add_u32_e32 v10, v0, v1; v_cmp_lt_u32_e32 vcc, v0, v1; v_add_u32_e32 v11, v10, v2; s_and_b64 s[4:5], vcc, s[6:7]; v_mov_b32_e32 v12, s4; v_cndmask_b32_e64 v13, v0, v1, s[4:5]; v_cmp_eq_u32_e32 vcc, v10, v11",
		"v_cndmask_b32_e32 v10, v0, v1, vcc; v_add_u32_e32 v11, v10, v2; v_cmp_lt_u32_e32 vcc, v0, v11; v_cndmask_b32_e32 v12, v0, v1, vcc; v_mov_b32_e32 v13, vcc_hi",
		"v_cmp_lt_u32_e32 vcc, v0, v1; v_add_u32_e32 v10, v0, v1; v_cmp_lt_u32_e64 s[4:5], v2, v3; v_add_u32_e32 v11, v10, v1; v_cndmask_b32_e64 v12, v0, v1, s[4:5]; v_cmp_gt_u32_e32 vcc, v2, v11; v_cndmask_b32_e32 v13, v2, v3, vcc",
		"v_mov_b32_e32 v10, s8; v_add_u32_e32 v12, v0, v1; s_mov_b32 s9, s4; v_add_co_u32_e32 v11, vcc, s9, v12; v_addc_co_u32_e32 v10, vcc, v10, v1, vcc; s_mov_b32 s8, s9; v_add_u32_e32 v13, s8, v12",
		// Scalar registers that are moved to vector registers and are taken from where they are, or must not be.
		"v_mov_b32_e32 v10, s8; v_add_co_u32_e32 v11, vcc, s9, v0; v_addc_co_u32_e32 v10, vcc, v10, v1, vcc; v_mov_b32_e32 v12, s8; v_subb_co_u32_e32 v13, vcc, v2, v12, vcc; v_subbrev_co_u32_e32 v12, vcc, v12, v3, vcc",
		"v_mov_b32_e32 v10, s8; v_add_co_u32_e32 v11, vcc, s9, v0; s_mov_b32 s8, s4; v_addc_co_u32_e32 v12, vcc, v10, v1, vcc; v_mov_b32_e32 v10, s9",
		"v_mov_b32_e32 v10, vcc_lo; v_add_co_u32_e32 v11, vcc, s9, v0; v_addc_co_u32_e32 v10, vcc, v10, v1, vcc; v_mov_b32_e32 v12, 0x12345; v_sub_co_u32_e32 v13, vcc, v12, v0; v_subb_co_u32_e32 v12, vcc, v12, v12, vcc",
		"v_mov_b32_e32 v10, s8; v_add_co_u32_e32 v11, vcc, v10, v10; v_xor_b32_e32 v12, v10, v1; v_mov_b32_e32 v10, s9; ds_read_b32 v13, v4; v_sub_co_u32_e32 v14, vcc, v10, v0; v_mov_b32_e32 v10, v13",
		"v_mov_b32_e32 v10, s8; v_mov_b32_e32 v11, s9; v_add_co_u32_e32 v12, vcc, v10, v11; v_addc_co_u32_e32 v13, vcc, v11, v10, vcc; v_mov_b32_e32 v10, v12; v_fmac_f32_e32 v11, v0, v1; v_lshlrev_b64 v[12:13], 1, v[10:11]",
		"v_mov_b32_e32 v10, s8; v_sub_co_u32_e32 v11, vcc, v0, v10; ds_read_b32 v12, v4; v_subrev_co_u32_e32 v13, vcc, v0, v10; v_mov_b32_e32 v14, v13; v_add_u32_e32 v10, v11, v12",
		"s_mov_b64 s[12:13], exec; s_and_b64 exec, exec, s[10:11]; v_mov_b32_e32 v10, v0; v_add_u32_e32 v11, v10, v1; s_mov_b64 exec, s[12:13]; v_add_u32_e32 v12, v10, v11; v_readlane_b32 s4, v13, 5; v_mov_b32_e32 v14, s4",
		"s_mov_b64 s[12:13], exec; v_mov_b32_e32 v10, v0; s_and_b64 exec, exec, s[10:11]; v_mov_b32_e32 v10, v1; v_readfirstlane_b32 s4, v10; s_mov_b64 exec, s[12:13]; v_add_u32_e32 v11, v10, v10; v_add_u32_e32 v12, s4, v11",
	} {
		code := assemble(t, gcn.GFX90A, text+"; v_readlane_b32 s20, v10, 5") // behind which all registers matter
		m := newMachine(t, gcn.GFX90A)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 60 {
			leaveCost = []int{8, 0, -1000}[i%3]
			m.scramble(r)
			m.setMode(0xf0)
			for l := range 64 {
				m.V[0][l], m.V[1][l] = m.V[0][l]&3, m.V[1][l]&3-uint32(i%2) // carries of all kinds
				m.V[4][l] = uint32(4 * l)
			}
			if i%5 == 0 {
				m.V[4][7] = 1 << 20 // Go executes it
			}
			m.setS64(10, r.Uint64()|r.Uint64())
			m.setS64(regEXEC, []uint64{^uint64(0), ^uint64(0), r.Uint64()}[i/3%3])
			before := m.save(nil)
			useNative = false
			if err := m.exec(code...); err != nil {
				t.Fatal(err)
			}
			want := m.save(nil)
			useNative = true
			for _, endsLive = range []bool{true, false} {
				m.restore(&before, nil)
				if _, err := m.translated(t, code); err != nil {
					t.Fatal(err)
				}
				for v := 10; v < 15; v++ {
					for l, x := range m.V[v] {
						if !endsLive && before.S[regEXEC+l/32]>>(l%32)&1 == 0 {
							continue // it may be anything
						}
						if want := want.V[v][l]; x != want {
							t.Fatalf("%s: v%d lane %d is %#x, want %#x, before %#x; EXEC %#x, whole state %v", text, v, l, x, want, before.V[v][l], before.S[regEXEC:regEXEC+2], endsLive)
						}
					}
				}
			}
		}
	}
}
