//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// knownLane computes v8, the number of the lane, and v9, one more than the last one.
const knownLane = "v_mbcnt_lo_u32_b32 v8, -1, 0|v_mbcnt_hi_u32_b32 v8, -1, v8|v_and_b32_e32 v9, 64, v8|v_add_u32_e32 v9, 64, v9"

// knownUnits are what programs of TestKnown consist of: registers to v9 are known, if nothing went wrong with them, others are not.
var knownUnits = []string{
	// __shfl_xor as clang 17 has it
	"v_xor_b32_e32 v3, 32, v8|v_cmp_lt_i32_e32 vcc, v3, v9|v_cndmask_b32_e32 v3, v8, v3, vcc|v_lshlrev_b32_e32 v4, 2, v3|ds_bpermute_b32 v12, v4, v11",
	"v_xor_b32_e32 v3, 16, v8|v_cmp_lt_i32_e32 vcc, v3, v9|v_cndmask_b32_e32 v3, v8, v3, vcc|v_lshlrev_b32_e32 v5, 2, v3|ds_bpermute_b32 v11, v5, v11",
	"v_xor_b32_e32 v3, 8, v8|v_cmp_lt_i32_e64 s[40:41], v3, v9|v_cndmask_b32_e64 v3, v8, v3, s[40:41]|v_lshlrev_b32_e32 v6, 2, v3|ds_bpermute_b32 v12, v6, v11",
	"v_xor_b32_e32 v3, 1, v8|v_cmp_lt_i32_e32 vcc, v3, v9|v_cndmask_b32_e32 v3, v8, v3, vcc|v_lshlrev_b32_e32 v7, 2, v3|ds_bpermute_b32 v13, v7, v12 offset:8",
	// up and down: of several quarters
	"v_sub_u32_e32 v3, v8, v9|v_add_u32_e32 v3, 1, v8|v_cmp_gt_u32_e32 vcc, v9, v3|v_cndmask_b32_e32 v3, v8, v3, vcc|v_lshlrev_b32_e32 v4, 2, v3|ds_bpermute_b32 v12, v4, v11",
	"v_lshlrev_b32_e32 v5, 2, v8|ds_bpermute_b32 v12, v5, v11 offset:64|ds_bpermute_b32 v13, v5, v12",
	// in each quarter others, and a mask of which a half is something else
	"v_lshrrev_b32_e32 v3, 4, v8|v_xor_b32_e32 v3, v3, v8|v_lshlrev_b32_e32 v5, 2, v3|ds_bpermute_b32 v12, v5, v11",
	"v_cmp_lt_i32_e64 s[40:41], v8, v9|s_mov_b32 s40, 7|v_cndmask_b32_e64 v5, v8, v9, s[40:41]|ds_bpermute_b32 v12, v5, v11",
	"v_lshlrev_b32_e32 v4, 2, v8|v_and_b32_sdwa v4, v8, v11 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD|v_add_u32_e32 v12, v4, v12",
	"v_lshlrev_b32_e32 v4, 2, v8|ds_bpermute_b32 v12, v4, v4|v_mov_b32_e32 v4, v11",
	// moves by what is known from before, or is not
	"ds_bpermute_b32 v12, v4, v11|v_add_u32_e32 v11, v11, v12", "ds_bpermute_b32 v13, v5, v11|v_xor_b32_e32 v11, v11, v13", "ds_bpermute_b32 v11, v6, v11|ds_bpermute_b32 v12, v7, v11",
	"ds_bpermute_b32 v6, v6, v11", "ds_bpermute_b32 v12, v4, v4", "ds_bpermute_b32 v13, v11, v12",
	// who else reads and writes the registers
	"v_add_u32_e32 v11, v11, v8", "v_add_u32_e32 v12, v4, v12", "v_mov_b32_e32 v3, v11", "v_mov_b32_e32 v5, v7", "v_mov_b32_e32 v6, 8", "v_add_u32_e32 v8, v8, v11", "v_readlane_b32 s42, v5, 3|v_add_u32_e32 v11, s42, v11",
	"v_cndmask_b32_e32 v11, v11, v12, vcc", "v_cndmask_b32_e64 v12, v11, v12, s[40:41]", "s_xor_b64 vcc, vcc, s[40:41]", "s_mov_b32 s41, 7", "v_cmp_lt_i32_e32 vcc, v11, v12", "v_addc_co_u32_e32 v11, vcc, v11, v4, vcc",
	"v_mbcnt_lo_u32_b32 v7, -1, v11", "ds_write_b32 v5, v11", "ds_read_b32 v7, v5", "v_cvt_f32_u32_e32 v12, v8",
	"global_store_dword v2, v4, s[0:1] offset:1024", "v_and_b32_e32 v3, 0x3fc, v5|global_load_dword v12, v3, s[0:1]",
}

// knownEnd stores what there is, as the registers are not looked at where nobody reads them any more.
const knownEnd = "s_mov_b64 exec, -1|global_store_dword v2, v11, s[0:1]|global_store_dword v2, v12, s[0:1] offset:4|global_store_dword v2, v13, s[0:1] offset:8|v_mov_b32_e32 v3, vcc_lo|global_store_dword v2, v3, s[0:1] offset:12"

// knownRDNA is how its instructions are called.
var knownRDNA = strings.NewReplacer("v_add_u32", "v_add_nc_u32", "v_sub_u32", "v_sub_nc_u32", "v_addc_co_u32_e32", "v_add_co_ci_u32_e32", "vcc_lo", "vcc_lo", "vcc", "vcc_lo", "s[40:41]", "s40", "s[52:53]", "s52",
	"s_xor_b64", "s_xor_b32", "s_mov_b64 exec", "s_mov_b32 exec_lo", "store_dword", "store_b32", "load_dword", "load_b32", "ds_write", "ds_store", "ds_read", "ds_load")

// TestKnown: programs that move registers between lanes that are known, as sums of waves do, random ones: a loop of few blocks, some of which are left
// out, what is not known in between, and other lanes than all.
func TestKnown(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func(cost, strip int) { leaveCost, leastOfStrip = cost, strip }(leaveCost, leastOfStrip)
	n := 600
	if testing.Short() {
		n = 100
	}
	for _, arch := range []gcn.Arch{gcn.GFX90A, gcn.GFX1100} {
		m := newProgramMachine(t, arch)
		r := rand.New(rand.NewPCG(13, uint64(arch)))
		scc1, branch := uint32(0xbf850000), uint32(0xbf820000)
		line := func(text string) []uint32 { return assemble(t, arch, text) }
		if arch.Has(gcn.RDNA) {
			scc1, branch = 0xbfa20000, 0xbfa00000
			line = func(text string) []uint32 {
				if strings.Contains(text, "sdwa") { // there is no such thing
					return nil
				}
				return assemble(t, arch, knownRDNA.Replace(text))
			}
		}
		folded, faults := 0, 0
		for i := range n {
			leaveCost, leastOfStrip = []int{8, 0, -1000}[i%3], 1+i%2
			var words []uint32
			var text []string
			add := func(unit string) {
				for part := range strings.SplitSeq(unit, "|") {
					words = append(words, line(part)...)
					text = append(text, part)
				}
			}
			if r.IntN(8) != 0 {
				add("s_mov_b64 exec, -1")
			}
			add("s_mov_b32 s54, 2")
			first := len(words) // the first time the loop begins with its second part, where nothing is known
			words = append(words, branch)
			top := len(words)
			for part := range 1 + r.IntN(3) {
				add("s_cmp_lg_u32 s50, s51") // and what follows may be left out
				from := len(words)
				words = append(words, 0)
				if r.IntN(2) == 0 {
					add(knownLane)
				}
				for range 1 + r.IntN(8) {
					add(knownUnits[r.IntN(len(knownUnits))])
				}
				words[from] = scc1
				if r.IntN(4) == 0 {
					words[from] |= uint32(len(words) - from - 1)
				}
				if part == 0 && i%2 == 0 {
					words[first] |= uint32(len(words) - top)
				}
				if r.IntN(6) == 0 {
					add("s_mov_b64 exec, s[52:53]")
				}
			}
			add("s_sub_u32 s54, s54, 1|s_cmp_lg_u32 s54, 0") // once more, with what is known by then
			words = append(words, scc1|uint32(uint16(top-len(words)-1)))
			add(knownEnd)
			add("s_endpgm")
			m.start(r)
			m.S[51] = m.S[50] + uint32(r.IntN(2))
			before := m.save(m.mem)
			diff, err := m.compare(words, &before, []int32{1, 2, 3})
			if err != nil && err == errTooLong || diff != "" {
				t.Fatalf("%s: program %d: %s %v\n%s", arch, i, diff, err, strings.Join(text, "\n"))
			}
			if err != nil {
				faults++
			}
			if e := m.prog.block(m.at).entry.Load(); e != nil {
				folded += e.r.folded
			}
		}
		t.Logf("%s: %.1f instructions are not executed, %d programs end with a fault", arch, float64(folded)/float64(n), faults)
		if folded < 2*n {
			t.Errorf("%s: only %d instructions are not executed", arch, folded)
		}
	}
}
