package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Programs exchange a flag and a value through memory with plain loads and stores of 64 or
// 128 bits, which are whole on a card: the scans of rocPRIM do. One workgroup stores
// equal dwords, the other must never load different ones.
func TestWholeAccesses(t *testing.T) {
	for _, lanes := range []struct{ name, address string }{
		{"in a row", "v_lshlrev_b32_e32 v1, %d, v0"},
		{"apart", "v_mul_u32_u24_e32 v1, %d, v0"},
	} {
		for _, width := range []int{2, 3, 4} {
			by := map[string][]int{"in a row": {0, 0, 3, 4, 4}, "apart": {0, 0, 24, 24, 48}}[lanes.name][width]
			for _, native := range []bool{true, false} {
				t.Run(fmt.Sprintf("%d dwords %s, translated %v", width, lanes.name, native), func(t *testing.T) {
					d := newDevice(t, gcn.GFX90A, 1<<20)
					buf, data := d.alloc(page)
					n, last := 100000, 5 // the dword that is compared with the first
					if width == 4 {
						last = 7
					}
					if !native {
						n, d.prog.options.TranslateAfter = 20000, -1
					}
					code := assemble(t, gcn.GFX90A, fmt.Sprintf(lanes.address, by)+fmt.Sprintf("; v_mov_b32_e32 v2, 0; v_mov_b32_e32 v3, 0; v_mov_b32_e32 v4, 0; v_mov_b32_e32 v5, 0; v_mov_b32_e32 v9, 0; s_mov_b32 s4, %#x; s_cmp_lg_u32 s2, 0; s_cbranch_scc1 reader; "+
						"writer: v_add_u32_e32 v2, 1, v2; v_mov_b32_e32 v3, v2; v_mov_b32_e32 v4, v2; v_mov_b32_e32 v5, v2; global_store_dwordx%d v1, v[2:%d], s[0:1]; s_sub_u32 s4, s4, 1; s_cmp_lg_u32 s4, 0; s_cbranch_scc1 writer; s_endpgm; "+
						"reader: global_load_dwordx%d v[4:%d], v1, s[0:1]; s_waitcnt vmcnt(0); v_xor_b32_e32 v8, v4, v%d; v_or_b32_e32 v9, v9, v8; s_sub_u32 s4, s4, 1; s_cmp_lg_u32 s4, 0; s_cbranch_scc1 reader; "+
						"v_lshlrev_b32_e32 v8, 2, v0; global_store_dword v8, v9, s[0:1] offset:3072; s_endpgm", n, width, 1+width, width, 3+width, last))
					run := d.assemble(buf, 2, 64, code)
					run.Desc.Rsrc1, run.Desc.Rsrc3 = run.Desc.Rsrc1|1, 3 // 16 registers
					if _, err := run.Run(context.Background(), 2); err != nil {
						t.Fatal(err)
					}
					for i := range 64 * 4 {
						if data[3072+i] != 0 {
							t.Fatalf("lane %d loaded dwords that nobody stored together", i/4)
						}
					}
				})
			}
		}
	}
}
