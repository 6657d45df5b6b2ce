//go:build linux && amd64

package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestRelativeMoves: moves with registers relative to M0 are machine code, alone, among instructions that keep their registers in the processor's, and in loops;
// what is no register is a fault as before.
func TestRelativeMoves(t *testing.T) {
	if !translates(t) {
		return
	}
	on := func(mode, move string) string {
		return "s_set_gpr_idx_on s3, gpr_idx(" + mode + "); " + move + "; s_set_gpr_idx_off"
	}
	around := func(add, read, write, both string) (texts []string) {
		for _, x := range []string{read, write, both} {
			texts = append(texts, x,
				add+" v2, v3, v4; "+add+" v5, v2, v3; "+x+"; "+add+" v6, v6, v5; "+add+" v7, v2, v6",
				"s_mov_b32 s0, 5; again:; "+add+" v2, v2, v3; "+add+" v5, v5, v2; "+add+" v4, v5, v2; "+x+"; "+add+" v6, v6, v5; "+add+" v3, v3, v6; s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1 again; s_nop 0")
		}
		return texts
	}
	for arch, texts := range map[gcn.Arch][]string{
		gcn.GFX90A: append(around("v_add_u32_e32", on("SRC0", "v_mov_b32_e32 v6, v2"), on("DST", "v_mov_b32_e32 v2, v6"), on("SRC0,DST", "v_mov_b32_e32 v3, v2")),
			on("DST", "v_mov_b32_e32 v2, s20"), on("DST", "v_mov_b32_e32 v2, 0x1234567"), on("SRC0", "v_mov_b32_e32 v6, s20"), on("SRC1", "v_mov_b32_e32 v6, v3"),
			on("SRC0", "v_mov_b32_e32 v5, v2; v_mov_b32_e32 v6, v3"), on("SRC0", "ds_read_b32 v4, v1; v_mov_b32_e32 v6, v2; s_add_u32 s5, s5, s6"),
			"v_mov_b32_e32 v7, m0; "+on("SRC0", "v_mov_b32_e32 v6, v2")+"; v_add_u32_e32 v5, v7, v6; v_mov_b32_e32 v4, m0"),
		gcn.GFX1100: append(around("v_add_nc_u32_e32", "s_mov_b32 m0, s3; v_movrels_b32_e32 v6, v2", "s_mov_b32 m0, s3; v_movreld_b32_e32 v2, v6", "s_mov_b32 m0, s3; v_movrelsd_b32_e32 v3, v2"),
			"s_mov_b32 m0, s3; v_movreld_b32_e32 v2, s20", "s_mov_b32 m0, s3; v_movreld_b32_e32 v2, 0x1234567"),
	} {
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(32, 11))
		for _, text := range texts {
			m.prog.options.Profile = &Profile{}
			words := assemble(t, arch, text)
			for n := range 30 {
				m.fill(r, data)
				if n%3 == 0 {
					m.setS64(regEXEC, m.wave.ones)
				}
				m.S[3] = uint32(r.IntN(6))
				if arch != gcn.GFX1100 {
					m.S[3] |= r.Uint32() << 8
				}
				if d, _ := m.bothWays(t, words, mem); d != "" {
					t.Fatalf("%v %s: %s", arch, text, d)
				}
			}
			for _, x := range m.prog.options.Profile.Instructions() {
				if x.Why == notTranslated.String() && strings.Contains(x.Name, "mov") || x.Why == leftByCode.String() {
					t.Errorf("%v %s: %s was %s %d times", arch, text, x.Name, x.Why, x.Times)
				}
			}
		}
		for _, text := range texts[:9] {
			m.fill(r, data)
			m.S[3] = uint32(len(m.V) - 2)
			if w := m.eachWay(t, assemble(t, arch, text), mem); w.err == nil || fmt.Sprint(w.err) != fmt.Sprint(w.translatedErr) {
				t.Errorf("%v %s: %v, translated %v", arch, text, w.err, w.translatedErr)
			}
		}
	}
}
