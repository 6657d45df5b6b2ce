//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// sameTranslated executes instructions, one a line, by their functions and as machine code, from random registers, and compares what they leave. prepare
// changes the registers before.
func sameTranslated(t *testing.T, m *machine, mem []byte, data uint64, r *rand.Rand, text string, rounds int, prepare func()) {
	t.Helper()
	words := assembleLines(t, m.prog.arch, text)
	for i := range rounds {
		m.fill(r, data)
		m.setMode(0xf0)
		if prepare != nil {
			prepare()
		}
		exec := m.s64(regEXEC)
		d, returns := m.bothWays(t, words, mem)
		if in, _, err := m.prog.instAt(m.code); i == 0 && (err != nil || returns != 0 && nativeMemory[in.Op.String()] == nil) {
			t.Errorf("%s: it is left to Go", text) // of accesses of memory, only some addresses are
		}
		if d != "" {
			t.Fatalf("%s: %s; EXEC %#x", text, d, exec)
		}
	}
}

// assembleLines assembles an instruction a line.
func assembleLines(t *testing.T, arch gcn.Arch, text string) (words []uint32) {
	t.Helper()
	for line := range strings.Lines(text) {
		words = append(words, assemble(t, arch, strings.TrimSpace(line))...)
	}
	return words
}

// TestTranslatedForms: forms that compilers make and random words hardly ever have: rows that read another row, also of what they write, saturating sums, selected
// halves.
func TestTranslatedForms(t *testing.T) {
	if !translates(t) {
		return
	}
	m := newMachine(t, gcn.GFX90A)
	m.blind = true
	data, mem := m.alloc(page)
	r := rand.New(rand.NewPCG(3, 9))
	for _, text := range []string{
		"v_mov_b32_dpp v6, v4 row_bcast:15 row_mask:0xf bank_mask:0xf", "v_mov_b32_dpp v4, v4 row_bcast:15 row_mask:0xf bank_mask:0xf",
		"v_add_u32_dpp v4, v4, v4 row_bcast:15 row_mask:0xa bank_mask:0xf", "v_add_u32_dpp v4, v4, v5 row_bcast:31 row_mask:0xc bank_mask:0xf",
		"v_max_i32_dpp v4, v4, v4 row_bcast:31 row_mask:0xf bank_mask:0x3 bound_ctrl:0", "v_add_u32_dpp v5, v4, v5 row_bcast:15 row_mask:0xf bank_mask:0xf bound_ctrl:0",
		"v_mov_b32_dpp v6, v4 wave_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
		"v_mov_b32_dpp v4, v4 wave_shl:1 row_mask:0xf bank_mask:0xf",
		"v_mov_b32_dpp v4, v4 wave_shr:1 row_mask:0xf bank_mask:0xf",
		"v_add_u32_dpp v4, v4, v4 wave_shr:1 row_mask:0xb bank_mask:0x7 bound_ctrl:0",
		"v_add_u32_dpp v4, v4, v5 wave_shl:1 row_mask:0xe bank_mask:0xd",
		"v_max_i32_dpp v5, v4, v5 wave_shl:1 row_mask:0xf bank_mask:0xf",
		"v_sub_u32 v6, v3, v4 clamp", "v_add_u32 v6, v3, v5 clamp", "v_subrev_u32 v6, s3, v4 clamp", "v_add_u32 v3, v3, v3 clamp", "v_sub_u32 v4, v3, v4 clamp",
		"v_cndmask_b32_sdwa v5, v5, v4, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0",
		"v_cndmask_b32_sdwa v5, v4, v3, vcc dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:BYTE_3",
		"v_add_co_u32_sdwa v4, vcc, v4, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_0",
		"v_add_co_u32_sdwa v6, vcc, v4, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_3",
		"v_add_co_u32_sdwa v4, vcc, v4, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_0; v_addc_co_u32_e32 v5, vcc, 0, v5, vcc; v_mov_b32 v6, vcc_lo",
		"v_sub_co_u32_sdwa v6, vcc, sext(v4), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
		"v_sub_co_u32_sdwa v4, vcc, s3, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_2",
		"v_subrev_co_u32_sdwa v3, vcc, v4, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD",
		"v_subrev_co_u32_sdwa v4, vcc, v4, sext(v3) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1",
		"v_addc_co_u32_sdwa v6, vcc, v4, sext(v3), vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:BYTE_0",
		"v_subb_co_u32_sdwa v3, vcc, v4, v3, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1",
		"v_subbrev_co_u32_sdwa v4, vcc, v4, v3, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD",
		"v_pk_add_u16 v6, v3, v4 op_sel:[1,0] op_sel_hi:[0,1]", "v_pk_add_u16 v6, v3, v4 clamp", "v_pk_sub_i16 v6, v3, v4 op_sel_hi:[0,1] clamp", "v_pk_mad_u16 v6, v3, v4, v5 op_sel:[0,1,1]",
		"v_pk_lshlrev_b16 v6, 3, v4 op_sel_hi:[0,1]", "v_pk_ashrrev_i16 v6, v3, v4", "v_pk_max_i16 v6, v3, s4", "v_sub_u16 v6, v3, v4 clamp", "v_mad_legacy_u16 v12, v3, 9, v4",
		"v_alignbyte_b32 v6, v3, v4, v5", "v_alignbyte_b32 v4, v3, v4, 3", "v_alignbyte_b32 v6, 0, 0, v5", "v_alignbyte_b32 v6, s4, v3, s4", "s_getpc_b64 s[10:11]", "s_nop 0; s_getpc_b64 vcc",
		"v_cmp_nlt_f64 s[10:11], |v[4:5]|, s[2:3]", "v_cmp_gt_f64 vcc, -v[4:5], |v[2:3]|", "v_cmp_le_f64 s[10:11], -|s[2:3]|, v[4:5]", "v_cmpx_neq_f64 vcc, |v[4:5]|, -v[4:5]",
		"v_mad_u16 v6, v3, v4, v5 op_sel:[1,0,0,1]", "v_med3_i16 v6, v3, v4, v5 op_sel:[0,1,0,0]", "v_mad_i32_i16 v6, v3, v4, v5",
	} {
		sameTranslated(t, m, mem, data, r, text, 40, nil)
	}
}

// TestHalfFunctions: of all f16 the functions of the instructions and machine code make the same.
func TestHalfFunctions(t *testing.T) {
	if !translates(t) {
		return
	}
	m := newMachine(t, gcn.GFX90A)
	m.blind = true
	defer func() { useNative = true }()
	for _, name := range []string{"rcp", "sqrt", "rsq", "exp", "log", "sin", "cos", "floor", "ceil", "trunc", "rndne", "fract"} {
		words := assemble(t, gcn.GFX90A, "v_"+name+"_f16 v60, v6")
		for base := 0; base < 1<<16; base += WaveSize {
			for l := range WaveSize {
				m.V[6][l] = uint32(base + l)
			}
			m.setS64(regEXEC, ^uint64(0))
			if base == 0 {
				if returns, err := m.translated(t, words); err != nil || returns != 0 {
					t.Fatalf("%s: %d returns, %v", name, returns, err)
				}
			} else if err := m.runCode(); err != nil {
				t.Fatal(err)
			}
			got := m.V[60]
			useNative = false
			err := m.runCode()
			useNative = true
			if err != nil {
				t.Fatal(err)
			}
			for l := range WaveSize {
				if x, y := got[l], m.V[60][l]; x != y && !(isNaN16(uint16(x)) && isNaN16(uint16(y))) {
					t.Fatalf("v_%s_f16 of %#x: %#x, translated %#x", name, base+l, y, x)
				}
			}
		}
	}
}

// TestAtomicEdges: atomic operations at the edges of what is compared and rounded leave the same in memory, NaNs included, and return the same.
func TestAtomicEdges(t *testing.T) {
	if !translates(t) {
		return
	}
	for _, c := range []struct {
		arch gcn.Arch
		text string
		wide bool
	}{
		{gcn.GFX90A, "global_atomic_inc v4, v10, v6, s[2:3] glc", false}, {gcn.GFX90A, "global_atomic_dec v4, v10, v6, s[2:3] glc", false},
		{gcn.GFX90A, "global_atomic_inc_x2 v[4:5], v10, v[6:7], s[2:3] glc", true}, {gcn.GFX90A, "global_atomic_dec_x2 v[4:5], v10, v[6:7], s[2:3] glc", true},
		{gcn.GFX90A, "global_atomic_min_f64 v[4:5], v10, v[6:7], s[2:3] glc", true}, {gcn.GFX90A, "global_atomic_max_f64 v[4:5], v10, v[6:7], s[2:3] glc", true},
		{gcn.GFX90A, "global_atomic_pk_add_f16 v10, v6, s[2:3]", false}, {gcn.GFX942, "global_atomic_pk_add_f16 v4, v10, v6, s[2:3] sc0", false},
		{gcn.GFX942, "global_atomic_pk_add_bf16 v4, v10, v6, s[2:3] sc0", false},
	} {
		m := newMachine(t, c.arch)
		m.blind = true
		data, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(3, 11))
		sameTranslated(t, m, mem, data, r, c.text, 60, func() {
			m.setS64(2, data)
			some := func() uint64 {
				if c.wide {
					return [...]uint64{edges64[r.IntN(len(edges64))], r.Uint64(), 0x7ff0000000000123, 0xfff8000000000456}[r.IntN(4)]
				}
				return uint64([...]uint32{edges32[r.IntN(len(edges32))], r.Uint32(), 0x7c017e02, 0x7f80ff81}[r.IntN(4)])
			}
			for i := 0; i < len(mem); i += 8 {
				v := some()
				if !c.wide {
					v |= some() << 32
				}
				for j := range 8 {
					mem[i+j] = byte(v >> (8 * j))
				}
			}
			for l := range WaveSize {
				m.V[10][l] = uint32(8 * (l &^ (l & 3 >> 1))) // some lanes share an address
				v := some()
				m.V[6][l], m.V[7][l] = uint32(v), uint32(v>>32)
			}
		})
	}
}
