//go:build linux && amd64

package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestLDSPlaces: loops whose arithmetic takes what it reads from the LDS where that is, and those where it must not: the LDS, an
// address or the register is written in between, only some lanes are written, Go executes something, somebody else reads the register, in
// this block or behind it. v8 and v9 are addresses, of every form.
func TestLDSPlaces(t *testing.T) {
	if !useNative {
		return
	}
	defer func(cost int) { useNative, leaveCost, endsLive = true, cost, true }(leaveCost)
	forms := map[string]func(l int) uint32{
		"same":    func(l int) uint32 { return uint32(l / 16 * 64) },
		"one":     func(int) uint32 { return 128 },
		"row":     func(l int) uint32 { return uint32(4*l + l/16*8) },
		"rows":    func(l int) uint32 { return uint32(l % 16 * 4) },
		"twoRows": func(l int) uint32 { return uint32(l%16*4 + l/16%2*64) },
		"any":     func(l int) uint32 { return uint32(l * 20 % 512) },
		"outside": func(l int) uint32 { return uint32(l * 16) },
	}
	names := []string{"same", "one", "row", "rows", "twoRows", "any", "outside"}
	for _, text := range []string{
		"ds_read2_b32 v[10:11], v9 offset1:17; ds_read_b128 v[12:15], v8; v_fmac_f32_e32 v1, v12, v10; v_fmac_f32_e32 v1, v13, v11; v_fma_f32 v2, v14, v10, v2; v_fma_f32 v3, -v10, |v15|, v1",
		"ds_read2_b32 v[10:11], v9 offset1:3; ds_read2_b32 v[12:13], v8 offset1:1; v_pk_fma_f32 v[2:3], v[10:11], v[12:13], v[2:3]; v_pk_mul_f32 v[4:5], v[10:11], v[12:13] op_sel:[1,0] op_sel_hi:[0,1]; v_pk_add_f32 v[10:11], v[10:11], v[12:13]; v_add_f32_e32 v1, v10, v11",
		"ds_read2_b32 v[10:11], v8 offset1:4; v_add_u32_e32 v1, v1, v10; ds_write_b32 v16, v1; v_add_u32_e32 v2, v10, v11; ds_read2_b32 v[10:11], v9 offset1:1; v_xor_b32_e32 v3, v10, v11",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_add_u32_e32 v8, 4, v8; v_and_b32_e32 v8, 0xff, v8; v_add_u32_e32 v1, v10, v11; v_mul_lo_u32 v2, v12, v11; ds_read2_b32 v[10:11], v8 offset1:4; v_sub_u32_e32 v3, v11, v10",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_mov_b32_e32 v10, v12; v_add_u32_sdwa v11, v10, v13 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD; v_add_u32_e32 v1, v10, v11; v_sub_u32_e32 v12, v12, v13; v_add_u32_e32 v2, v12, v13",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_add_u32_dpp v1, v10, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf; v_readlane_b32 s4, v12, 5; v_writelane_b32 v13, s4, 7; v_add_u32_e32 v2, v13, v12; v_mov_b32_e32 v3, s4",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_log_f16_e32 v1, v10; v_add_u32_e32 v2, v11, v12; ds_read2_b32 v[10:11], v8 offset1:4; v_xor_b32_e32 v3, v10, v13",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; global_load_dword v10, v[6:7], off; v_add_u32_e32 v1, v10, v11; global_store_dword v[6:7], v12, off offset:1024; v_add_u32_e32 v2, v12, v13",
		"ds_read2_b32 v[8:9], v8 offset1:4; v_add_u32_e32 v1, v8, v9; v_and_b32_e32 v8, 0xfc, v8; v_and_b32_e32 v9, 0x7c, v9; ds_read2_b32 v[10:11], v9 offset1:2; v_add_u32_e32 v2, v10, v11",
		"v_add_u32_e32 v1, v10, v11; v_add_u32_e32 v2, v12, v13; ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_mul_lo_u32 v3, v10, v12",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; s_and_b64 exec, exec, s[10:11]; v_add_u32_e32 v1, v10, v12; ds_read2_b32 v[10:11], v8 offset0:1 offset1:5; v_add_u32_e32 v2, v10, v11; s_mov_b64 exec, s[12:13]; v_add_u32_e32 v3, v10, v13",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_lshlrev_b32_e32 v1, 3, v10; v_lshl_add_u32 v2, v11, v12, v13; v_bfe_u32 v3, v12, v13, v10; v_perm_b32 v4, v10, v12, v13; v_alignbit_b32 v5, v12, v11, v10",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; ds_read_b32 v10, v16; v_add_u32_e32 v1, v10, v11; v_mul_lo_u32 v2, v10, v12; v_sub_u32_e32 v3, v13, v10",
		"ds_read_b64 v[10:11], v8; ds_read_b64 v[12:13], v9; v_fma_f64 v[2:3], v[10:11], v[12:13], v[2:3]; v_lshlrev_b64 v[4:5], 3, v[10:11]; v_cndmask_b32_e64 v1, v10, v12, s[10:11]; v_cmp_lt_u32_e64 s[4:5], v12, v10; v_cndmask_b32_e64 v12, v11, v13, s[4:5]; ds_bpermute_b32 v13, v9, v12",
		"ds_read2_b32 v[10:11], v8 offset1:4; ds_read2_b32 v[12:13], v9 offset1:1; v_mov_b32_e32 v10, s8; v_add_co_u32_e32 v1, vcc, s9, v12; v_addc_co_u32_e32 v2, vcc, v10, v1, vcc; v_add_u32_e32 v10, v12, v13; v_accvgpr_write_b32 a0, v10; v_accvgpr_read_b32 v3, a0",
	} {
		body := assemble(t, gcn.GFX90A, text)
		head := assemble(t, gcn.GFX90A, "s_mov_b64 s[12:13], exec; s_mov_b32 s70, 3")
		tail := assemble(t, gcn.GFX90A, "s_mov_b64 exec, s[12:13]; s_sub_u32 s70, s70, 1; s_cmp_lg_u32 s70, 0")
		end := assemble(t, gcn.GFX90A, "global_store_dwordx4 v[6:7], v[2:5], off offset:2048; global_store_dwordx4 v[6:7], v[10:13], off offset:2064; global_store_dword v[6:7], v1, off offset:2080")
		code := append(append(append([]uint32{}, head...), body...), tail...)
		code = append(code, 0xbf850000|uint32(len(head)-len(code)-1)&0xffff)
		code = append(code, end...)
		m := newMachine(t, gcn.GFX90A)
		m.prog.options.TranslateAfter = 1 // all blocks together
		data, mem := m.alloc(2 * page)
		m.blind = true
		r := rand.New(rand.NewPCG(1, 2))
		cases := make([]struct {
			what         string
			before, want state
			err          error
		}, len(names)*len(names)*2)
		useNative = false
		for i := range cases {
			c := &cases[i]
			c.what = fmt.Sprint(names[i%len(names)], " and ", names[i/len(names)%len(names)])
			m.scramble(r)
			m.setMode(0xf0)
			for v := range 16 {
				for l := range 64 {
					m.V[v][l] = math32(float64(r.IntN(64)) - 31)
				}
			}
			for l := range 64 {
				m.V[8][l], m.V[9][l] = forms[names[i%len(names)]](l), forms[names[i/len(names)%len(names)]](l)
				m.V[16][l] = uint32(4 * l)
				m.set64(6, l, data+uint64(48*l))
			}
			for j := range len(m.wg.lds) / 4 {
				copy(m.wg.lds[4*j:], bytesOf([]uint32{math32(float64(r.IntN(64)) - 31)}))
			}
			m.setS64(10, r.Uint64()|r.Uint64())
			m.setS64(regEXEC, []uint64{^uint64(0), ^uint64(0), r.Uint64()}[i/3%3])
			c.before = m.save(mem)
			c.err = m.exec(code...)
			c.want = m.save(mem)
		}
		useNative = true
		for by, cost := range []int{8, 0, -1000, 1000} {
			for _, live := range []bool{true, false} {
				for range 2 { // strips of every length, and of some
					leaveCost, endsLive = cost, live
					m.translate(t, code)
					for i := by; i < len(cases); i += 4 {
						c := &cases[i]
						m.restore(&c.before, mem)
						if err := m.runCode(); fmt.Sprint(err) != fmt.Sprint(c.err) {
							t.Fatalf("%s: %v, want %v; %s, whole state %v", text, err, c.err, c.what, live)
						}
						got := m.save(mem)
						if !live { // only what is stored matters
							got.V, got.A, got.S = c.want.V, c.want.A, c.want.S
						}
						if d := got.differs(&c.want); d != "" {
							t.Fatalf("%s: %s; %s, EXEC %#x, whole state %v", text, d, c.what, c.before.S[regEXEC:regEXEC+2], live)
						}
					}
				}
			}
		}
	}
}
