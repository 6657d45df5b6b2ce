package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What gfx1100 alone has, by models of these tests' own.

// rdnaOp is an instruction with sources v0, v2, v4 and destination v6, and a model of a lane: old is what v6 has.
type rdnaOp struct {
	asm string
	f   func(a, b, c, old uint32) uint32
}

func low(old, x uint32) uint32  { return old&0xffff0000 | x&0xffff }
func high(old, x uint32) uint32 { return old&0xffff | x<<16 }

func TestRDNALanes(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	r := rand.New(rand.NewPCG(11, 1))
	i32 := func(x uint32) int32 { return int32(x) }
	i16 := func(x uint32) int32 { return int32(int16(x)) }
	h := func(x uint32) float64 { return f16to64(uint16(x)) }
	toH := func(x float64) uint32 { return uint32(f64to16(x)) }
	bf := func(x uint32) float64 { return float64(math.Float32frombits(x << 16)) }
	toBF := func(x float64) uint32 { return math.Float32bits(float32(x)) >> 16 } // of what is exact
	f := func(x uint32) float64 { return float64(math.Float32frombits(x)) }
	toF := func(x float64) uint32 { return math.Float32bits(float32(x)) }
	wild := func() uint32 { return r.Uint32() >> (r.IntN(3) * 8) }
	halves := func() uint32 { // small whole numbers
		return toH(float64(r.IntN(64)-32)) | toH(float64(r.IntN(64)-32))<<16
	}
	brains := func() uint32 { return toBF(float64(r.IntN(16)-8)) | toBF(float64(r.IntN(16)-8))<<16 }
	wholes := func() uint32 { return toF(float64(r.IntN(200) - 100)) }
	large := func() uint32 { return toF((r.Float64() - 0.5) * math.Ldexp(1, r.IntN(24))) }
	sums := func(width int, signedA, signedB bool, a, b uint32, c int64) int64 {
		el := func(x uint32, i int, signed bool) int64 {
			v := int64(x >> (i * width) & (1<<width - 1))
			if signed && v >= 1<<(width-1) {
				v -= 1 << width
			}
			return v
		}
		for i := range 32 / width {
			c += el(a, i, signedA) * el(b, i, signedB)
		}
		return c
	}
	sat := func(x int64) uint32 { return uint32(int32(max(math.MinInt32, min(math.MaxInt32, x)))) }
	trunc := func(x uint32, lo, hi float64) uint32 {
		return uint32(int32(max(lo, min(hi, math.Trunc(f(x)))))) & 0xffff
	}
	for _, g := range []struct {
		number func() uint32
		ops    []rdnaOp
	}{
		{wild, []rdnaOp{
			{"v_maxmin_i32 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 { return uint32(min(max(i32(a), i32(b)), i32(c))) }},
			{"v_minmax_i32 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 { return uint32(max(min(i32(a), i32(b)), i32(c))) }},
			{"v_maxmin_u32 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 { return min(max(a, b), c) }},
			{"v_minmax_u32 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 { return max(min(a, b), c) }},
			{"v_cvt_i32_i16_e32 v6, v0", func(a, _, _, _ uint32) uint32 { return uint32(i16(a)) }},
			{"v_cvt_u32_u16_e32 v6, v0", func(a, _, _, _ uint32) uint32 { return a & 0xffff }},
			{"v_not_b16_e32 v6, v0", func(a, _, _, old uint32) uint32 { return low(old, ^a) }},
			{"v_and_b16 v6, v0, v2", func(a, b, _, old uint32) uint32 { return low(old, a&b) }},
			{"v_or_b16 v6, v0, v2", func(a, b, _, old uint32) uint32 { return low(old, a|b) }},
			{"v_xor_b16 v6, v0, v2", func(a, b, _, old uint32) uint32 { return low(old, a^b) }},
			{"v_add_nc_u16 v6, v0, v2 op_sel:[1,0,0]", func(a, b, _, old uint32) uint32 { return low(old, a>>16+b) }},
			{"v_sub_nc_u16 v6, v0, v2 op_sel:[0,1,1]", func(a, b, _, old uint32) uint32 { return high(old, a-b>>16) }},
			{"v_cndmask_b16 v6, v0, v2, s12", func(a, b, _, old uint32) uint32 { return 0 }}, // see below
			{"v_dot4_i32_iu8 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 { return uint32(sums(8, false, false, a, b, int64(i32(c)))) }},
			{"v_dot4_i32_iu8 v6, v0, v2, v4 neg_lo:[1,0,0]", func(a, b, c, _ uint32) uint32 { return uint32(sums(8, true, false, a, b, int64(i32(c)))) }},
			{"v_dot4_i32_iu8 v6, v0, v2, v4 neg_lo:[1,1,0] clamp", func(a, b, c, _ uint32) uint32 { return sat(sums(8, true, true, a, b, int64(i32(c)))) }},
			{"v_dot8_i32_iu4 v6, v0, v2, v4 neg_lo:[0,1,0]", func(a, b, c, _ uint32) uint32 { return uint32(sums(4, false, true, a, b, int64(i32(c)))) }},
			{"v_dot8_i32_iu4 v6, v0, v2, v4 clamp", func(a, b, c, _ uint32) uint32 { return sat(sums(4, false, false, a, b, int64(i32(c)))) }},
			{"v_permlane64_b32 v6, v0", func(_, _, _, old uint32) uint32 { return old }},
		}},
		{halves, []rdnaOp{
			{"v_maxmin_f16 v6, v0, v2, v4", func(a, b, c, old uint32) uint32 { return low(old, toH(min(max(h(a), h(b)), h(c)))) }},
			{"v_minmax_f16 v6, v0, v2, v4", func(a, b, c, old uint32) uint32 { return low(old, toH(max(min(h(a), h(b)), h(c)))) }},
			{"v_fmac_f16_e32 v6, v0, v2", nil},
			{"v_fmamk_f16 v6, v0, 0x4200, v2", func(a, b, _, old uint32) uint32 { return low(old, toH(h(a)*3+h(b))) }},
			{"v_fmaak_f16 v6, v0, v2, 0x4200", func(a, b, _, old uint32) uint32 { return low(old, toH(h(a)*h(b)+3)) }},
			{"v_dot2_f16_f16 v6, v0, v2, v4", func(a, b, c, old uint32) uint32 {
				return low(old, toH(h(a)*h(b)+h(a>>16)*h(b>>16)+h(c)))
			}},
		}},
		{brains, []rdnaOp{
			{"v_dot2_bf16_bf16 v6, v0, v2, v4", func(a, b, c, old uint32) uint32 {
				return low(old, toBF(bf(a)*bf(b)+bf(a>>16)*bf(b>>16)+bf(c)))
			}},
		}},
		{wholes, []rdnaOp{
			{"v_fma_dx9_zero_f32 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 { return toF(f(a)*f(b) + f(c)) }},
			{"v_fma_dx9_zero_f32 v6, 0, 0x7f800000, v4", func(_, _, c, _ uint32) uint32 { return c }},
			{"v_fmac_dx9_zero_f32_e32 v6, v0, v2", nil},
			{"v_mullit_f32 v6, v0, v2, v4", func(a, b, c, _ uint32) uint32 {
				if f(c) <= 0 {
					return toF(-math.MaxFloat32)
				}
				return toF(f(a) * f(b))
			}},
		}},
		{large, []rdnaOp{
			{"v_cvt_pk_i16_f32 v6, v0, v2", func(a, b, _, _ uint32) uint32 { return trunc(a, -32768, 32767) | trunc(b, -32768, 32767)<<16 }},
			{"v_cvt_pk_u16_f32 v6, v0, v2", func(a, b, _, _ uint32) uint32 { return trunc(a, 0, 65535) | trunc(b, 0, 65535)<<16 }},
		}},
	} {
		for _, o := range g.ops {
			words := assemble(t, gcn.GFX1100, o.asm)
			for _, mask := range masks(r) {
				mask &= 1<<32 - 1
				picks := r.Uint32()
				m.S[12] = picks
				var src [4][32]uint32
				for i := range 32 {
					for j := range src {
						src[j][i] = g.number()
						m.V[2*j][i] = src[j][i]
					}
				}
				m.setMask(mask)
				if err := m.exec(words...); err != nil {
					t.Fatalf("%s: %v", o.asm, err)
				}
				for i := range 32 {
					a, b, c, old := src[0][i], src[1][i], src[2][i], src[3][i]
					want := old
					switch {
					case mask>>i&1 == 0:
					case strings.HasPrefix(o.asm, "v_cndmask"):
						if want = low(old, a); picks>>i&1 != 0 {
							want = low(old, b)
						}
					case strings.HasPrefix(o.asm, "v_fmac_f16"):
						want = low(old, toH(h(a)*h(b)+h(old)))
					case strings.HasPrefix(o.asm, "v_fmac_dx9"):
						want = toF(f(a)*f(b) + f(old))
					default:
						want = o.f(a, b, c, old)
					}
					if got := m.V[6][i]; got != want && !(f(got) == 0 && f(want) == 0) && !(h(got) == 0 && got&0xffff0000 == want&0xffff0000 && h(want) == 0) {
						t.Fatalf("%s: EXEC %#x, lane %d: sources %#x %#x %#x, before %#x: got %#x, want %#x", o.asm, mask, i, a, b, c, old, got, want)
					}
				}
			}
		}
	}
}

// Halves of registers in VOP1, VOP2 and VOPC: the eighth bit of a register's number.
func TestRDNAHalves(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	m.setMask(1<<32 - 1)
	const mov, swap = 0x1c, 0x66
	vop1 := func(op, dst, src uint32) uint32 { return 0x7e000000 | dst<<17 | op<<9 | 256 + src }
	for _, c := range []struct {
		word         uint32
		v6, v0       uint32
		want6, want0 uint32
	}{
		{vop1(mov, 6, 0), 0x11112222, 0x33334444, 0x11114444, 0x33334444},
		{vop1(mov, 6, 128), 0x11112222, 0x33334444, 0x11113333, 0x33334444},
		{vop1(mov, 128+6, 0), 0x11112222, 0x33334444, 0x44442222, 0x33334444},
		{vop1(mov, 128+6, 128), 0x11112222, 0x33334444, 0x33332222, 0x33334444},
		{vop1(swap, 6, 0), 0x11112222, 0x33334444, 0x11114444, 0x33332222},
		{vop1(swap, 128+6, 0), 0x11112222, 0x33334444, 0x44442222, 0x33331111},
	} {
		for i := range 32 {
			m.V[6][i], m.V[0][i] = c.v6, c.v0
		}
		if err := m.exec(c.word); err != nil {
			t.Fatal(err)
		}
		if m.V[6][31] != c.want6 || m.V[0][31] != c.want0 {
			t.Errorf("%#x: v6 %#x, v0 %#x, want %#x %#x", c.word, m.V[6][31], m.V[0][31], c.want6, c.want0)
		}
	}
}

// rdnaWaves is gfx1100 with each size of waves.
var rdnaWaves = []gcn.Arch{gcn.GFX1100, gcn.GFX1100.Wave64()}

// Moves between lanes and rows.
func TestRDNARows(t *testing.T) {
	for _, arch := range rdnaWaves {
		t.Run(fmt.Sprint(arch.WaveSize()), func(t *testing.T) { rdnaRows(t, arch) })
	}
}

func rdnaRows(t *testing.T, arch gcn.Arch) {
	m, size := newMachine(t, arch), arch.WaveSize()
	all := ^uint64(0) >> (64 - size)
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		text         string
		other        int
		fetch, zeros bool
	}{
		{"v_permlane16_b32 v6, v0, s8, s9", 0, false, false},
		{"v_permlane16_b32 v6, v0, s8, s9 op_sel:[1,0]", 0, true, false},
		{"v_permlane16_b32 v6, v0, s8, s9 op_sel:[0,1]", 0, false, true},
		{"v_permlanex16_b32 v6, v0, s8, s9", 16, false, false},
		{"v_permlanex16_b32 v6, v0, s8, s9 op_sel:[1,1]", 16, true, true},
	} {
		for _, mask := range masks(r) {
			mask &= all
			m.S[8], m.S[9] = r.Uint32(), r.Uint32()
			for i := range size {
				m.V[0][i], m.V[6][i] = uint32(1000+i), uint32(i)
			}
			m.setMask(mask)
			m.run(c.text)
			for i := range size {
				j := i&^15 ^ c.other + int((uint64(m.S[8])|uint64(m.S[9])<<32)>>(4*(i&15))&15)
				want := uint32(i)
				switch {
				case mask>>i&1 == 0:
				case c.fetch || mask>>j&1 != 0:
					want = uint32(1000 + j)
				case c.zeros:
					want = 0
				}
				if m.V[6][i] != want {
					t.Fatalf("%s: EXEC %#x, lane %d: %d, want %d", c.text, mask, i, m.V[6][i], want)
				}
			}
		}
	}
	// Data-parallel primitives: eight lanes, shared and exclusive-or of rows, lanes that are off.
	from := func(f func(i int) int) func(i int, mask uint64) (uint32, bool) {
		return func(i int, mask uint64) (uint32, bool) { j := f(i); return uint32(1000 + j), mask>>j&1 != 0 }
	}
	for _, c := range []struct {
		text  string
		f     func(i int, mask uint64) (uint32, bool)
		fetch bool
		zero  bool
	}{
		{"v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0]", from(func(i int) int { return i&^7 | 7 - i&7 }), false, true},
		{"v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0] fi:1", from(func(i int) int { return i&^7 | 7 - i&7 }), true, true},
		{"v_mov_b32_dpp v6, v0 row_share:3 row_mask:0xf bank_mask:0xf bound_ctrl:1", from(func(i int) int { return i&^15 | 3 }), false, true},
		{"v_mov_b32_dpp v6, v0 row_xmask:5 row_mask:0xf bank_mask:0xf bound_ctrl:1 fi:1", from(func(i int) int { return i ^ 5 }), true, true},
		{"v_add_nc_u32_e64_dpp v6, v0, v2 row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", from(func(i int) int { return i ^ 1 }), false, true},
	} {
		for _, mask := range masks(r) {
			mask &= all
			for i := range size {
				m.V[0][i], m.V[6][i], m.V[2][i] = uint32(1000+i), uint32(i), 0
			}
			m.setMask(mask)
			m.run(c.text)
			for i := range size {
				want := uint32(i)
				if mask>>i&1 != 0 {
					if v, on := c.f(i, mask); on || c.fetch {
						want = v
					} else if c.zero {
						want = 0
					}
				}
				if m.V[6][i] != want {
					t.Fatalf("%s: EXEC %#x, lane %d: %d, want %d", c.text, mask, i, m.V[6][i], want)
				}
			}
		}
	}
	// By address, within each 32 lanes; and the halves of a wave of 64, exchanged.
	for _, mask := range masks(r) {
		mask &= all
		for i := range size {
			m.V[0][i], m.V[2][i], m.V[6][i], m.V[7][i], m.V[8][i] = r.Uint32(), uint32(1000+i), 9, 9, 9
		}
		m.setMask(mask)
		m.run("ds_bpermute_b32 v6, v0, v2 offset:8; ds_permute_b32 v7, v0, v2; v_permlane64_b32 v8, v2")
		var scattered Vec
		for i := range size {
			if mask>>i&1 != 0 {
				scattered[i&32|int(m.V[0][i]>>2&31)] = uint32(1000 + i)
			}
		}
		for i := range size {
			want := [3]uint32{9, 9, 9}
			if mask>>i&1 != 0 {
				want = [3]uint32{0, scattered[i], uint32(1000 + (i ^ 32))}
				if j := i&32 | int((m.V[0][i]+8)>>2&31); mask>>j&1 != 0 {
					want[0] = uint32(1000 + j)
				}
				if size == 32 { // there is no other half
					want[2] = 9
				}
			}
			if got := [3]uint32{m.V[6][i], m.V[7][i], m.V[8][i]}; got != want {
				t.Fatalf("EXEC %#x, lane %d: %d, want %d", mask, i, got, want)
			}
		}
	}
	// Registers relative to M0.
	m.setMask(all)
	for reg := range 32 {
		m.V[reg][3] = uint32(100 + reg)
	}
	m.run("s_mov_b32 m0, 4; v_movrelsd_b32_e32 v10, v11; v_movreld_b32_e32 v20, 7; v_movrels_b32_e32 v30, v0; s_mov_b32 m0, 0x30002; v_movrelsd_2_b32_e32 v1, v2")
	for reg, want := range map[int]uint32{14: 115, 24: 7, 30: 104, 4: 104} {
		if m.V[reg][3] != want {
			t.Errorf("v%d = %d, want %d", reg, m.V[reg][3], want)
		}
	}
	m.V[5][3], m.V[9][3] = 55, 99
	m.run("s_mov_b32 m0, 0x30002; v_swaprel_b32 v2, v7")
	if m.V[5][3] != 99 || m.V[9][3] != 55 {
		t.Errorf("v_swaprel: %d %d", m.V[5][3], m.V[9][3])
	}
	if err := m.try("s_movk_i32 m0, 0x400; v_movrels_b32_e32 v30, v0"); err == nil {
		t.Error("a register beyond the last was read")
	}
}

// Two operations in one instruction: both read before either writes.
func TestRDNADual(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	m.setMask(1<<32 - 1)
	for _, c := range []struct {
		text   string
		v2, v3 uint32
	}{
		{"v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2", 30, 20}, // exchanged
		{"v_dual_mov_b32 v3, v2 :: v_dual_mov_b32 v2, v3", 30, 20},
		{"v_dual_mov_b32 v2, v3 :: v_dual_add_nc_u32 v3, 1, v2", 30, 21},
		{"v_dual_mov_b32 v2, 7 :: v_dual_lshlrev_b32 v3, 1, v2", 7, 40},
	} {
		for i := range 32 {
			m.V[2][i], m.V[3][i] = 20, 30
		}
		m.run(c.text)
		if m.V[2][5] != c.v2 || m.V[3][5] != c.v3 {
			t.Errorf("%s: %d %d, want %d %d", c.text, m.V[2][5], m.V[3][5], c.v2, c.v3)
		}
	}
}

// EXEC of 32 lanes, and the scalar operations that are new.
func TestRDNAScalar(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	const s, e = 0xff00ff0f, 0x0ff0f0f0
	for text, want := range map[string]uint32{
		"s_and_saveexec_b32 s8, s4": s & e, "s_or_saveexec_b32 s8, s4": s | e, "s_xor_saveexec_b32 s8, s4": s ^ e,
		"s_nand_saveexec_b32 s8, s4": ^uint32(s & e), "s_nor_saveexec_b32 s8, s4": ^uint32(s | e), "s_xnor_saveexec_b32 s8, s4": ^uint32(s ^ e),
		"s_and_not0_saveexec_b32 s8, s4": ^uint32(s) & e, "s_or_not0_saveexec_b32 s8, s4": ^uint32(s) | e,
		"s_and_not1_saveexec_b32 s8, s4": s &^ e, "s_or_not1_saveexec_b32 s8, s4": s | ^uint32(e),
		"s_and_not0_wrexec_b32 s8, s4": ^uint32(s) & e, "s_and_not1_wrexec_b32 s8, s4": s &^ e,
	} {
		m.setS64(regEXEC, e)
		m.S[4], m.S[8] = s, 0
		m.run(text)
		saved := uint32(e)
		if strings.Contains(text, "wrexec") {
			saved = want
		}
		if m.S[regEXEC] != want || m.S[regEXEC+1] != 0 || m.S[8] != saved || m.S[regSCC] != 1 {
			t.Errorf("%s: EXEC %#x %#x, s8 %#x, SCC %d, want %#x, %#x", text, m.S[regEXEC], m.S[regEXEC+1], m.S[8], m.S[regSCC], want, saved)
		}
	}
	m.setS64(regEXEC, 1<<32-1)
	m.S[4], m.S[5] = 0x11112222, 0x33334444
	m.run("s_pack_hl_b32_b16 s8, s4, s5")
	if m.S[8] != 0x44441111 {
		t.Errorf("s_pack_hl: %#x", m.S[8])
	}
	m.S[12] = 77
	m.run("s_mov_b32 m0, 0x50004; s_movrelsd_2_b32 s8, s8")
	if m.S[13] != 77 {
		t.Errorf("s_movrelsd_2: %d", m.S[13])
	}
	m.run("s_round_mode 0x5; s_denorm_mode 10")
	if m.mode&0xff != 0xa5 {
		t.Errorf("MODE %#x", m.mode)
	}
	m.setMode(0xf0)
	// VCC has its low half for the lanes; the high half is a register like others, and so are s102 to s105.
	m.S[regVCC], m.S[regVCC+1] = 0, 5
	m.S[8] = 0
	m.run("s_cbranch_vccnz 1; s_mov_b32 s8, 1; s_mov_b32 s102, 9; s_add_u32 s9, s102, vcc_hi")
	if m.S[8] != 1 || m.S[9] != 14 {
		t.Errorf("s8 %d, s9 %d", m.S[8], m.S[9])
	}
	// What only orders changes nothing.
	before := m.S
	m.run("s_version 7; s_ttracedata_imm 0x3; s_wait_event 0x1; s_wait_idle; s_gl1_inv; s_waitcnt_expcnt null, 0x0; s_waitcnt_lgkmcnt null, 0x0; " +
		"s_waitcnt_vmcnt null, 0x0; s_waitcnt_vscnt null, 0x0; v_pipeflush; buffer_gl0_inv; buffer_gl1_inv; s_clause 0x1; s_delay_alu 0; s_mov_b32 null, 5")
	for i := range 128 {
		if m.S[i] != before[i] {
			t.Errorf("scalar register %d has changed", i)
		}
	}
	m.run("s_sendmsg_rtn_b64 s[8:9], sendmsg(MSG_RTN_GET_REALTIME)")
	if m.s64(8) == 0 {
		t.Error("no time")
	}
	if err := m.try("s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_DOORBELL)"); err == nil || !strings.Contains(err.Error(), forTrapHandlers) {
		t.Errorf("a doorbell: %v", err)
	}
	if err := m.try("image_sample_c v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_1D"); err == nil || !strings.Contains(err.Error(), forGraphics) {
		t.Errorf("a depth: %v", err)
	}
}

// Loads to one half of a register leave the other, and what else memory has that is new.
func TestRDNAMemory(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	m.setMask(1<<32 - 1)
	addr, data := m.alloc(4096)
	m.setS64(4, addr)
	word := func(i int) uint32 {
		return uint32(data[4*i]) | uint32(data[4*i+1])<<8 | uint32(data[4*i+2])<<16 | uint32(data[4*i+3])<<24
	}
	put := func(i int, x uint32) {
		data[4*i], data[4*i+1], data[4*i+2], data[4*i+3] = byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
	}
	for text, want := range map[string]uint32{
		"global_load_d16_u8 v6, v0, s[4:5]": 0x11110089, "global_load_d16_hi_u8 v6, v0, s[4:5]": 0x00892222,
		"global_load_d16_i8 v6, v0, s[4:5]": 0x1111ff89, "global_load_d16_hi_i8 v6, v0, s[4:5]": 0xff892222,
		"global_load_d16_b16 v6, v0, s[4:5]": 0x11119a89, "global_load_d16_hi_b16 v6, v0, s[4:5]": 0x9a892222,
	} {
		for i := range 32 {
			put(i, 0xbcab9a89)
			m.V[0][i], m.V[6][i] = uint32(4*i), 0x11112222
		}
		m.run(text)
		if m.V[6][9] != want {
			t.Errorf("%s: %#x, want %#x", text, m.V[6][9], want)
		}
	}
	m.run("global_load_addtid_b32 v6, s[4:5] offset:16; v_add_nc_u32_e32 v6, 1, v6; global_store_addtid_b32 v6, s[4:5] offset:512")
	if word(128+7) != 0xbcab9a8a {
		t.Errorf("addtid: %#x", word(128+7))
	}
	if err := m.try("s_mov_b64 s[8:9], 64; global_load_addtid_b32 v6, s[8:9]"); err == nil {
		t.Error("addtid of no memory")
	}
	f := math.Float32bits
	// A lane has a place of its own: old and data make new.
	for _, c := range []struct {
		asm              string // of flat, global and buffer
		old, data, cmp   uint32
		want             uint32
		everywhere, only string
	}{
		{"atomic_csub_u32", 10, 3, 0, 7, "global buffer", ""},
		{"atomic_csub_u32", 2, 3, 0, 0, "global buffer", ""},
		{"atomic_min_f32", f(2), f(-3), 0, f(-3), "flat global buffer", ""},
		{"atomic_max_f32", f(2), f(-3), 0, f(2), "flat global buffer", ""},
		{"atomic_cmpswap_f32", f(2), f(5), f(2), f(5), "flat global buffer", ""},
		{"atomic_cmpswap_f32", f(2), f(5), f(3), f(2), "flat global buffer", ""},
		{"atomic_cmpswap_f32", f(0), f(5), 1 << 31, f(5), "flat global buffer", ""},
	} {
		for kind := range strings.FieldsSeq(c.everywhere) {
			d := "v2"
			if strings.Contains(c.asm, "cmpswap") {
				d = "v[2:3]"
			}
			text := map[string]string{"flat": "flat_" + c.asm + " v6, v[8:9], " + d + " glc", "global": "global_" + c.asm + " v6, v0, " + d + ", s[4:5] glc",
				"buffer": "buffer_" + c.asm + " " + d + ", v0, s[8:11], 0 offen glc"}[kind]
			m.S[8], m.S[9], m.S[10], m.S[11] = uint32(addr), uint32(addr>>32), 4096, 3<<28
			for i := range 32 {
				put(i, c.old)
				m.V[0][i], m.V[2][i], m.V[3][i], m.V[6][i] = uint32(4*i), c.data, c.cmp, 0
				m.set64(8, i, addr+uint64(4*i))
			}
			m.run(text)
			got := m.V[6][5]
			if kind == "buffer" {
				got = m.V[2][5]
			}
			if word(5) != c.want || got != c.old {
				t.Errorf("%s of %#x and %#x: %#x, want %#x; gave back %#x", text, c.old, c.data, word(5), c.want, got)
			}
		}
	}
	// The LDS: the data come before what is compared.
	for _, c := range []struct {
		text          string
		wide          bool
		old, new, cmp uint64
		want          uint64
	}{
		{"ds_cmpstore_b32 v0, v2, v4", false, 7, 9, 7, 9}, {"ds_cmpstore_b32 v0, v2, v4", false, 7, 9, 8, 7},
		{"ds_cmpstore_rtn_b32 v6, v0, v2, v4", false, 7, 9, 7, 9},
		{"ds_cmpstore_f32 v0, v2, v4", false, 0, 9, 1 << 31, 9}, {"ds_cmpstore_rtn_f32 v6, v0, v2, v4", false, 5, 9, 6, 5},
		{"ds_cmpstore_b64 v0, v[2:3], v[4:5]", true, 7 << 40, 9 << 40, 7 << 40, 9 << 40}, {"ds_cmpstore_rtn_b64 v[6:7], v0, v[2:3], v[4:5]", true, 7 << 40, 9, 7, 7 << 40},
		{"ds_cmpstore_f64 v0, v[2:3], v[4:5]", true, 0, 9, 1 << 63, 9}, {"ds_cmpstore_rtn_f64 v[6:7], v0, v[2:3], v[4:5]", true, 5, 9, 6, 5},
	} {
		lds := m.wg.lds
		for i := range 32 {
			for k := range 8 {
				lds[8*i+k] = byte(c.old >> (8 * k))
			}
			m.V[0][i] = uint32(8 * i)
			m.set64(2, i, c.new)
			m.set64(4, i, c.cmp)
			m.set64(6, i, 0)
		}
		m.run(c.text)
		var got uint64
		for k := range 8 {
			got |= uint64(lds[8*5+k]) << (8 * k)
		}
		if !c.wide {
			got &= 1<<32 - 1
		}
		if back := m.get64(6, 5); got != c.want || strings.Contains(c.text, "rtn") && back != c.old {
			t.Errorf("%s of %#x: %#x, want %#x; gave back %#x", c.text, c.old, got, c.want, back)
		}
	}
}

// Matrix instructions against plain sums.
func TestRDNAMatrices(t *testing.T) {
	for _, arch := range rdnaWaves {
		t.Run(fmt.Sprint(arch.WaveSize()), func(t *testing.T) { rdnaMatrices(t, arch) })
	}
}

// rdnaMatrices has the instructions as they are written for waves of 32 lanes, with twice the registers for C and D.
func rdnaMatrices(t *testing.T, arch gcn.Arch) {
	m, rows := newMachine(t, arch), arch.WaveSize()/16
	r := rand.New(rand.NewPCG(3, 3))
	for _, k := range []struct {
		text   string
		bits   int
		encode func(x int) uint32
		accum  func(x int) uint32 // of C and D
		half   uint32             // where they are: 0, 16, or 32 for whole registers
		least  int                // elements of A and B
		signed [2]bool
	}{
		{"v_wmma_f32_16x16x16_f16 v[48:55], v[8:15], v[16:23], v[24:31]", 16, func(x int) uint32 { return uint32(f64to16(float64(x))) },
			func(x int) uint32 { return math.Float32bits(float32(x)) }, 32, -8, [2]bool{true, true}},
		{"v_wmma_f32_16x16x16_bf16 v[48:55], v[8:15], v[16:23], v[24:31]", 16, func(x int) uint32 { return math.Float32bits(float32(x)) >> 16 },
			func(x int) uint32 { return math.Float32bits(float32(x)) }, 32, -8, [2]bool{true, true}},
		{"v_wmma_f16_16x16x16_f16 v[48:55], v[8:15], v[16:23], v[24:31]", 16, func(x int) uint32 { return uint32(f64to16(float64(x))) },
			func(x int) uint32 { return uint32(f64to16(float64(x))) }, 0, -4, [2]bool{true, true}},
		{"v_wmma_f16_16x16x16_f16 v[48:55], v[8:15], v[16:23], v[24:31] op_sel:[0,0,1]", 16, func(x int) uint32 { return uint32(f64to16(float64(x))) },
			func(x int) uint32 { return uint32(f64to16(float64(x))) }, 16, -4, [2]bool{true, true}},
		{"v_wmma_bf16_16x16x16_bf16 v[48:55], v[8:15], v[16:23], v[24:31]", 16, func(x int) uint32 { return math.Float32bits(float32(x)) >> 16 },
			func(x int) uint32 { return math.Float32bits(float32(x)) >> 16 }, 0, -1, [2]bool{true, true}},
		{"v_wmma_i32_16x16x16_iu8 v[48:55], v[8:11], v[16:19], v[24:31] neg_lo:[1,0,0]", 8, func(x int) uint32 { return uint32(x) }, func(x int) uint32 { return uint32(x) }, 32,
			-128, [2]bool{true, false}},
		{"v_wmma_i32_16x16x16_iu4 v[48:55], v[8:9], v[16:17], v[24:31] neg_lo:[0,1,0]", 4, func(x int) uint32 { return uint32(x) }, func(x int) uint32 { return uint32(x) }, 32,
			-8, [2]bool{false, true}},
	} {
		var a, b, c [16][16]int
		number := func(signed bool) int {
			x := r.IntN(-2 * k.least)
			if signed {
				x += k.least
			}
			return x
		}
		m.setMask(0x3) // which lanes are on does not matter
		for reg := range m.V {
			m.V[reg] = Vec{}
		}
		for i := range 16 {
			for j := range 16 {
				a[i][j], b[i][j], c[i][j] = number(k.signed[0]), number(k.signed[1]), r.IntN(3)-1
				for lane := i; lane < arch.WaveSize(); lane += 16 { // row i of A, and column i of B
					at := j * k.bits
					m.V[8+at/32][lane] |= k.encode(a[i][j]) & (1<<k.bits - 1) << (at % 32)
					m.V[16+at/32][lane] |= k.encode(b[i][j]) & (1<<k.bits - 1) << (at % 32)
				}
				reg, lane := i/rows, i%rows*16+j
				m.V[24+reg][lane] = k.accum(c[i][j]) << (k.half & 16)
				m.V[48+reg][lane] = 0x12345678
			}
		}
		m.run(k.text)
		for i := range 16 {
			for j := range 16 {
				sum := c[i][j]
				for n := range 16 {
					sum += a[i][n] * b[j][n]
				}
				want := k.accum(sum)
				switch k.half {
				case 0:
					want |= 0x12340000
				case 16:
					want = want<<16 | 0x5678
				}
				if got := m.V[48+i/rows][i%rows*16+j]; got != want && got&0x7fff7fff != want&0x7fff7fff {
					t.Fatalf("%s: element %d %d is %#x, want %#x", k.text, i, j, got, want)
				}
			}
		}
	}
}

// TestWaves64 executes a kernel for waves of 64 lanes on a program that has waves of 32: its code is kept as such code, and goes when it is unloaded.
func TestWaves64(t *testing.T) {
	c := kernels.CasesOf("saxpy", 3)[0]
	var d *device
	if _, _, err := runCaseWith(t, gcn.GFX1100.Wave64(), c, 1, func(on *device) { d = on }, func(*device, *Dispatch) {}); err != nil {
		t.Fatal(err)
	}
	p := d.prog
	wide := p.wide.Load()
	if p.kept != 0 || wide == nil || wide.kept == 0 || wide.arch.WaveSize() != 64 || p.arch.WaveSize() != 32 {
		t.Fatalf("%d kept of waves of 32, %+v", p.kept, wide)
	}
	p.Invalidate(d.mem.Base, d.mem.Size)
	if wide.kept != 0 {
		t.Errorf("%d are kept of what was unloaded", wide.kept)
	}
	for _, arch := range []gcn.Arch{gcn.GFX90A, gcn.GFX1100.Wave64()} { // a kernel of no other size
		q := NewProgram(arch, d.mem, Options{})
		if q.forWaves(&Descriptor{}) != q {
			t.Errorf("%s: another program for waves of 64 lanes", arch)
		}
	}
}
