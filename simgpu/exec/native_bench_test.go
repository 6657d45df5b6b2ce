//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// BenchmarkTranslated executes loops of instructions, which are what programs make of one operation, as machine code. left/translated is how many
// times as long the same takes if these instructions are left to Go, which is what becomes of those that are not translated.
func BenchmarkTranslated(b *testing.B) {
	if !useNative {
		b.Skip("nothing is translated: this processor has no AVX2")
	}
	for _, c := range []struct{ name, left, text string }{
		{"div_f32", "v_div_scale_f32 v_div_fmas_f32 v_div_fixup_f32", "v_div_scale_f32 v6, s[10:11], v2, v2, v0; v_div_scale_f32 v7, vcc, v0, v2, v0; v_rcp_f32 v8, v6; v_fma_f32 v9, -v6, v8, 1.0; v_fma_f32 v8, v9, v8, v8; " +
			"v_mul_f32 v9, v7, v8; v_fma_f32 v10, -v6, v9, v7; v_fma_f32 v9, v10, v8, v9; v_fma_f32 v6, -v6, v9, v7; v_div_fmas_f32 v6, v6, v8, v9; v_div_fixup_f32 v4, v6, v2, v0"},
		{"div_f64", "v_div_scale_f64 v_div_fmas_f64 v_div_fixup_f64", "v_div_scale_f64 v[6:7], s[10:11], v[2:3], v[2:3], v[0:1]; v_rcp_f64 v[8:9], v[6:7]; v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0; v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]; " +
			"v_div_scale_f64 v[10:11], vcc, v[0:1], v[2:3], v[0:1]; v_mul_f64 v[12:13], v[10:11], v[8:9]; v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]; v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]; " +
			"v_div_fixup_f64 v[4:5], v[6:7], v[2:3], v[0:1]"},
		{"log_f32", "v_log_f32", "v_add_f32 v4, v2, v2; v_log_f32 v4, v4; v_add_f32 v6, v4, v4"},
		{"sin_f32", "v_sin_f32", "v_add_f32 v4, v2, v2; v_sin_f32 v4, v4; v_add_f32 v6, v4, v4"},
		{"ldexp_f64", "v_ldexp_f64", "v_add_f64 v[4:5], v[2:3], v[2:3]; v_ldexp_f64 v[4:5], v[4:5], -3; v_add_f64 v[6:7], v[4:5], v[4:5]"},
		{"class_f32", "v_cmp_class_f32", "v_add_f32 v4, v2, v2; v_cmp_class_f32 vcc, v4, v2; v_cndmask_b32 v6, v4, v2, vcc"},
		{"atomic_add_f32", "global_atomic_add_f32", "global_atomic_add_f32 v10, v2, s[2:3]"},
		{"atomic_add_returns", "global_atomic_add", "global_atomic_add v4, v10, v2, s[2:3] glc"},
		{"atomic_cmpswap_x2", "global_atomic_cmpswap_x2", "global_atomic_cmpswap_x2 v[4:5], v11, v[0:3], s[2:3] glc"},
		{"lds_add", "ds_add_u32", "ds_add_u32 v10, v2"},
		{"lds_add_returns", "ds_add_rtn_u32", "ds_add_rtn_u32 v4, v10, v2"},
		{"lds_cmpst_returns_b64", "ds_cmpst_rtn_b64", "ds_cmpst_rtn_b64 v[4:5], v11, v[0:1], v[2:3]"},
		{"dpp_row_bcast", "v_mov_b32", "v_add_u32 v4, v2, v2; v_mov_b32_dpp v5, v4 row_bcast:15 row_mask:0xf bank_mask:0xf; v_add_u32 v6, v5, v5"},
		{"sub_u32_clamp", "v_sub_u32", "v_add_u32 v4, v2, v2; v_sub_u32 v4, v4, v3 clamp; v_add_u32 v6, v4, v4"},
		{"cndmask_sdwa", "v_cndmask_b32", "v_add_u32 v4, v2, v2; v_cndmask_b32_sdwa v5, v4, v3, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0; v_add_u32 v6, v5, v5"},
		{"pk_add_u16", "v_pk_add_u16", "v_add_u32 v4, v2, v2; v_pk_add_u16 v4, v4, v3 op_sel:[1,0] op_sel_hi:[0,1]; v_add_u32 v6, v4, v4"},
		{"mad_legacy_u16", "v_mad_legacy_u16", "v_add_u32 v4, v2, v2; v_mad_legacy_u16 v4, v4, 9, v3; v_add_u32 v6, v4, v4"},
		{"rcp_f16", "v_rcp_f16", "v_add_u32 v4, v2, v2; v_rcp_f16 v4, v4; v_add_u32 v6, v4, v4"},
		{"exp_f16", "v_exp_f16", "v_add_u32 v4, v2, v2; v_exp_f16 v4, v4; v_add_u32 v6, v4, v4"},
		{"sin_f16", "v_sin_f16", "v_add_u32 v4, v2, v2; v_sin_f16 v4, v4; v_add_u32 v6, v4, v4"},
		{"atomic_inc", "global_atomic_inc", "global_atomic_inc v10, v2, s[2:3]"},
		{"atomic_pk_add_f16", "global_atomic_pk_add_f16", "global_atomic_pk_add_f16 v10, v2, s[2:3]"},
		{"atomic_max_f64", "global_atomic_max_f64", "global_atomic_max_f64 v11, v[2:3], s[2:3]"},
		{"bfrev_b32", "v_bfrev_b32", "v_add_u32 v4, v2, v2; v_bfrev_b32 v4, v4; v_add_u32 v6, v4, v4"},
	} {
		b.Run(c.name, func(b *testing.B) {
			words := assemble(b, gcn.GFX90A, "s_movk_i32 s0, 0x1000; again:; "+c.text+"; s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1 again; s_endpgm")
			m := newMachine(b, gcn.GFX90A)
			m.blind = true
			m.V = registers(m.V, 32)
			m.setBases()
			data, _ := m.alloc(page)
			run := func() float64 {
				m.prog.Invalidate(m.code, page)
				for i, w := range words {
					binary.LittleEndian.PutUint32(m.codeData[4*i:], w)
				}
				best := 0.0
				for i := range 5 {
					for l := range WaveSize {
						m.set64(0, l, 0x3ff8000000000000|uint64(l)<<30|0x3f800000)
						m.set64(2, l, 0x4009000000000000|uint64(l)<<29|0x40400000)
						m.V[10][l], m.V[11][l] = uint32(4*l), uint32(8*l)
					}
					m.setS64(2, data)
					m.setMode(0xf0)
					m.setS64(regEXEC, ^uint64(0))
					start := cpuTime()
					if err := m.runCode(); err != nil {
						b.Fatal(err)
					}
					if d := cpuTime() - start; i == 1 || i > 1 && d < best { // the first one translates
						best = d
					}
				}
				return best / 0x1000
			}
			var with, without float64
			for b.Loop() {
				with = run()
				kept := [2]map[string]emitter{}
				for i, names := range []map[string]emitter{nativeVector, nativeMemory} {
					kept[i] = map[string]emitter{}
					for _, name := range strings.Fields(c.left) {
						if f := names[name]; f != nil {
							kept[i][name] = f
							delete(names, name)
						}
					}
				}
				without = run()
				for i, names := range []map[string]emitter{nativeVector, nativeMemory} {
					for name, f := range kept[i] {
						names[name] = f
					}
				}
			}
			b.ReportMetric(with*1e9, "ns/operation")
			b.ReportMetric(without/with, "left/translated")
		})
	}
}
