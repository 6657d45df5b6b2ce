package exec

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// scalarOp is an instruction with sources s[0:1] and s[2:3], destination
// s[4:5] (kept if not written), and a model that gives result and SCC; a
// negative SCC means unchanged.
type scalarOp struct {
	f     func(a, b, d uint64, scc int) (uint64, int)
	width int
	asm   string
	words []uint32
}

func sop(width int, f func(a, b, d uint64, scc int) (uint64, int), asm string, words ...uint32) scalarOp {
	return scalarOp{f, width, asm, words}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nz is a result whose SCC is "not zero", keep one that leaves SCC alone.
func nz32(r uint64) (uint64, int) { return u32(r), flag(u32(r) != 0) }
func nz64(r uint64) (uint64, int) { return r, flag(r != 0) }
func keep(r uint64) (uint64, int) { return r, -1 }

func TestScalar(t *testing.T) {
	type u = uint64
	fits := func(x int64) bool { return x == int64(int32(x)) }
	runScalars(t, gcn.GFX90A, []scalarOp{
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a + b), int((u32(a) + u32(b)) >> 32) }, "s_add_u32 s4, s0, s2", 0x80040200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a - b), flag(u32(a) < u32(b)) }, "s_sub_u32 s4, s0, s2", 0x80840200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a + b + u(c)), int((u32(a) + u32(b) + u(c)) >> 32) }, "s_addc_u32 s4, s0, s2", 0x82040200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a - b - u(c)), flag(u32(a) < u32(b)+u(c)) }, "s_subb_u32 s4, s0, s2", 0x82840200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a + b), flag(!fits(sx(a, 32) + sx(b, 32))) }, "s_add_i32 s4, s0, s2", 0x81040200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a - b), flag(!fits(sx(a, 32) - sx(b, 32))) }, "s_sub_i32 s4, s0, s2", 0x81840200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(min(u32(a), u32(b))), flag(u32(a) < u32(b)) }, "s_min_u32 s4, s0, s2", 0x83840200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(u(max(sx(a, 32), sx(b, 32)))), flag(sx(a, 32) > sx(b, 32)) }, "s_max_i32 s4, s0, s2", 0x84040200),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32([]u{b, a}[c])) }, "s_cselect_b32 s4, s0, s2", 0x85040200),
		sop(2, func(a, b, d u, c int) (u, int) { return keep([]u{b, a}[c]) }, "s_cselect_b64 s[4:5], s[0:1], s[2:3]", 0x85840200),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(a &^ b) }, "s_andn2_b32 s4, s0, s2", 0x89040200),
		sop(2, func(a, b, d u, c int) (u, int) { return nz64(a | ^b) }, "s_orn2_b64 s[4:5], s[0:1], s[2:3]", 0x8a840200),
		sop(2, func(a, b, d u, c int) (u, int) { return nz64(a & b) }, "s_and_b64 s[4:5], s[0:1], s[2:3]", 0x86840200),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(^(a ^ b)) }, "s_xnor_b32 s4, s0, s2", 0x8d040200),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(a << (b % 32)) }, "s_lshl_b32 s4, s0, s2", 0x8e040200),
		sop(2, func(a, b, d u, c int) (u, int) { return nz64(a << (b % 64)) }, "s_lshl_b64 s[4:5], s[0:1], s2", 0x8e840200),
		sop(2, func(a, b, d u, c int) (u, int) { return nz64(u(int64(a) >> (b % 64))) }, "s_ashr_i64 s[4:5], s[0:1], s2", 0x90840200),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u(sx(a, 32) >> (b % 32))) }, "s_ashr_i32 s4, s0, s2", 0x90040200),
		sop(1, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range min(int(b>>16&127), 32) {
				r |= bit(u32(a), min(int(b&31)+k, 63)) << k
			}
			return nz32(r)
		}, "s_bfe_u32 s4, s0, s2", 0x92840200),
		sop(2, func(a, b, d u, c int) (u, int) {
			n, off := int(b>>16&127), int(b&63)
			if n == 0 {
				return nz64(0)
			}
			var r u
			for k := range 64 {
				r |= bit(a, min(off+min(k, n-1), 63)) << k
			}
			return nz64(r)
		}, "s_bfe_i64 s[4:5], s[0:1], s2", 0x94040200),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32((1<<(a%32) - 1) << (b % 32))) }, "s_bfm_b32 s4, s0, s2", 0x91040200),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(a * b)) }, "s_mul_i32 s4, s0, s2", 0x92040200),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(a) * u32(b) >> 32) }, "s_mul_hi_u32 s4, s0, s2", 0x96040200),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(u(sx(a, 32) * sx(b, 32) >> 32))) }, "s_mul_hi_i32 s4, s0, s2", 0x96840200),
		sop(1, func(a, b, d u, c int) (u, int) {
			x := sx(u32(a-b), 32)
			return nz32(u(max(x, -x)))
		}, "s_absdiff_i32 s4, s0, s2", 0x95040200),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(a<<3 + b), flag((u32(a)<<3+u32(b))>>32 != 0) }, "s_lshl3_add_u32 s4, s0, s2", 0x98040200),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(a&0xffff | b&0xffff0000) }, "s_pack_lh_b32_b16 s4, s0, s2", 0x99840200),
		// One source.
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(a)) }, "s_mov_b32 s4, s0", 0xbe840000),
		sop(1, func(a, b, d u, c int) (u, int) { return keep([]u{u32(d), u32(a)}[c]) }, "s_cmov_b32 s4, s0", 0xbe840200),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(^a) }, "s_not_b32 s4, s0", 0xbe840400),
		sop(2, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range 16 {
				if a>>(4*k)&15 != 0 {
					r |= 15 << (4 * k)
				}
			}
			return nz64(r)
		}, "s_wqm_b64 s[4:5], s[0:1]", 0xbe840700),
		sop(1, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range 8 {
				r |= u(flag(a>>(4*k)&15 != 0)) << k
			}
			return nz32(r)
		}, "s_quadmask_b32 s4, s0", 0xbe842800),
		sop(2, func(a, b, d u, c int) (u, int) { return keep(bits.Reverse64(a)) }, "s_brev_b64 s[4:5], s[0:1]", 0xbe840900),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u(64 - bits.OnesCount64(a))) }, "s_bcnt0_i32_b64 s4, s[0:1]", 0xbe840b00),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u(bits.OnesCount32(uint32(a)))) }, "s_bcnt1_i32_b32 s4, s0", 0xbe840c00),
		sop(1, func(a, b, d u, c int) (u, int) {
			for k := range 64 {
				if bit(a, k) == 0 {
					return keep(u(k))
				}
			}
			return keep(1<<32 - 1)
		}, "s_ff0_i32_b64 s4, s[0:1]", 0xbe840f00),
		sop(1, func(a, b, d u, c int) (u, int) {
			if u32(a) == 0 {
				return keep(1<<32 - 1)
			}
			return keep(u(bits.LeadingZeros32(uint32(a))))
		}, "s_flbit_i32_b32 s4, s0", 0xbe841200),
		sop(1, func(a, b, d u, c int) (u, int) {
			for k := 62; k >= 0; k-- {
				if bit(a, k) != bit(a, 63) {
					return keep(u(63 - k))
				}
			}
			return keep(1<<32 - 1)
		}, "s_flbit_i32_i64 s4, s[0:1]", 0xbe841500),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(u(sx(a, 8)))) }, "s_sext_i32_i8 s4, s0", 0xbe841600),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(d) | 1<<(a%32)) }, "s_bitset1_b32 s4, s0", 0xbe841a00),
		sop(2, func(a, b, d u, c int) (u, int) { return keep(d &^ (1 << (a % 64))) }, "s_bitset0_b64 s[4:5], s0", 0xbe841900),
		sop(1, func(a, b, d u, c int) (u, int) { return nz32(u(max(sx(a, 32), -sx(a, 32)))) }, "s_abs_i32 s4, s0", 0xbe843000),
		sop(2, func(a, b, d u, c int) (u, int) {
			var r u
			for k := range 64 {
				r |= bit(a, k/2) << k
			}
			return keep(r)
		}, "s_bitreplicate_b64_b32 s[4:5], s0", 0xbe843700),
		// Immediates.
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(u(sx(0x8001, 16)))) }, "s_movk_i32 s4, 0x8001", 0xb0048001),
		sop(1, func(a, b, d u, c int) (u, int) { return u32(d - 5), flag(!fits(sx(d, 32) - 5)) }, "s_addk_i32 s4, 0xfffb", 0xb704fffb),
		sop(1, func(a, b, d u, c int) (u, int) { return keep(u32(d * 300)) }, "s_mulk_i32 s4, 0x12c", 0xb784012c),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(sx(a, 32) > -3) }, "s_cmpk_gt_i32 s0, 0xfffd", 0xb200fffd),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(u32(a) >= 0xfffd) }, "s_cmpk_ge_u32 s0, 0xfffd", 0xb580fffd),
		// Comparisons.
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(sx(a, 32) < sx(b, 32)) }, "s_cmp_lt_i32 s0, s2", 0xbf040200),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(u32(a) <= u32(b)) }, "s_cmp_le_u32 s0, s2", 0xbf0b0200),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(a != b) }, "s_cmp_lg_u64 s[0:1], s[2:3]", 0xbf130200),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(bit(a, int(b%32)) == 0) }, "s_bitcmp0_b32 s0, s2", 0xbf0c0200),
		sop(0, func(a, b, d u, c int) (u, int) { return d, flag(bit(a, int(b%64)) == 1) }, "s_bitcmp1_b64 s[0:1], s2", 0xbf0f0200),
	})
}

// runScalars executes each instruction with random sources and both values of
// SCC.
func runScalars(t *testing.T, arch gcn.Arch, ops []scalarOp) {
	t.Helper()
	m := newMachine(t, arch)
	r := rand.New(rand.NewPCG(81, 82))
	for _, o := range ops {
		if o.words == nil {
			o.words = assemble(t, arch, o.asm)
		} else {
			m.check(o.asm, o.words)
		}
		for range 200 {
			a, b, d := wild64(r), wild64(r), wild64(r)
			if r.IntN(3) == 0 { // field positions that fit
				b = uint64(r.IntN(64)) | uint64(r.IntN(70))<<16
			}
			scc := r.IntN(2)
			m.setS64(0, a)
			m.setS64(2, b)
			m.setS64(4, d)
			m.S[regSCC] = uint32(scc)
			if err := m.exec(o.words...); err != nil {
				t.Fatalf("%s: %v", o.asm, err)
			}
			want, wantSCC := o.f(a, b, d, scc)
			if o.width == 1 {
				want = want&(1<<32-1) | d&^(1<<32-1)
			}
			if wantSCC < 0 {
				wantSCC = scc
			}
			if got := m.s64(4); got != want || int(m.S[regSCC]) != wantSCC {
				t.Fatalf("%s of %#x, %#x, destination %#x, SCC %d: %#x, SCC %d, want %#x, SCC %d", o.asm, a, b, d, scc, got, m.S[regSCC], want, wantSCC)
			}
		}
	}
}

func TestSaveexec(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(91, 92))
	for _, o := range []struct {
		f     func(s, e uint64) uint64
		asm   string
		words []uint32
	}{
		{func(s, e uint64) uint64 { return s & e }, "s_and_saveexec_b64 s[4:5], s[0:1]", []uint32{0xbe842000}},
		{func(s, e uint64) uint64 { return s | e }, "s_or_saveexec_b64 s[4:5], s[0:1]", []uint32{0xbe842100}},
		{func(s, e uint64) uint64 { return s &^ e }, "s_andn2_saveexec_b64 s[4:5], s[0:1]", []uint32{0xbe842300}},
		{func(s, e uint64) uint64 { return e &^ s }, "s_andn1_saveexec_b64 s[4:5], s[0:1]", []uint32{0xbe843300}},
		{func(s, e uint64) uint64 { return ^(s ^ e) }, "s_xnor_saveexec_b64 s[4:5], s[0:1]", []uint32{0xbe842700}},
	} {
		for range 50 {
			s, e := r.Uint64()&r.Uint64(), r.Uint64()&r.Uint64()
			m.setS64(0, s)
			m.setMask(e)
			m.inst(o.asm, o.words...)
			if want := o.f(s, e); m.s64(4) != e || m.s64(regEXEC) != want || m.S[regSCC] != uint32(flag(want != 0)) {
				t.Fatalf("%s: saved %#x of %#x, EXEC %#x, want %#x", o.asm, m.s64(4), e, m.s64(regEXEC), want)
			}
			// The next instruction of the same run sees the new EXEC.
			m.setMask(e)
			m.setS64(0, s)
			m.V[0], m.V[6] = Vec{}, Vec{}
			if err := m.exec(append(o.words[:1:1], words("v_mov_b32_e32 v6, -1", 0x7e0c02c1)...)...); err != nil {
				t.Fatal(err)
			}
			for i := range 64 {
				if got := m.V[6][i]; got != uint32(-int32(bit(o.f(s, e), i))) {
					t.Fatalf("%s: lane %d is %#x", o.asm, i, got)
				}
			}
		}
	}
	m.setMask(0xff)
	m.setS64(0, 0x0f)
	m.inst("s_andn2_wrexec_b64 s[4:5], s[0:1]", 0xbe843600)
	if m.s64(4) != 0 || m.s64(regEXEC) != 0 {
		t.Errorf("s_andn2_wrexec: %#x", m.s64(4))
	}
	// VCCZ, EXECZ and SCC as operands.
	m.setS64(regVCC, 0)
	m.S[regSCC] = 1
	m.inst("s_mov_b32 s4, src_vccz", 0xbe8400fb)
	m.inst("s_mov_b32 s5, src_execz", 0xbe8500fc)
	m.inst("s_mov_b32 s6, src_scc", 0xbe8600fd)
	m.setS64(regVCC, 1)
	m.inst("s_mov_b32 s7, src_vccz", 0xbe8700fb)
	m.inst("s_mov_b64 s[8:9], src_shared_base", 0xbe8801eb)
	m.inst("s_mov_b64 s[10:11], src_private_base", 0xbe8a01ed)
	if m.S[4] != 1 || m.S[5] != 1 || m.S[6] != 1 || m.S[7] != 0 || m.s64(8) != sharedBase || m.s64(10) != privateBase {
		t.Errorf("special sources: %v", m.S[4:12])
	}
}

// Branches, calls and returns.
func TestControl(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	program := func(parts ...[]uint32) []uint32 {
		var code []uint32
		for _, p := range parts {
			code = append(code, p...)
		}
		return code
	}
	// A loop of 10 rounds.
	m.S[0], m.S[1] = 10, 0
	if err := m.exec(program(words("s_add_u32 s1, s1, 3", 0x80018301), words("s_sub_u32 s0, s0, 1", 0x80808100), words("s_cmp_lg_u32 s0, 0", 0xbf078000), words("s_cbranch_scc1 65532", 0xbf85fffc))...); err != nil {
		t.Fatal(err)
	}
	if m.S[1] != 30 {
		t.Errorf("loop: %d", m.S[1])
	}
	// A call and its return; the caller goes on after it.
	code := program(
		words("s_getpc_b64 s[4:5]", 0xbe841c00), words("s_add_u32 s4, s4, 24", 0x80049804), words("s_addc_u32 s5, s5, 0", 0x82058005), words("s_swappc_b64 s[6:7], s[4:5]", 0xbe861e04),
		words("s_add_u32 s8, s8, 1", 0x80088108), words("s_branch 3", 0xbf820003), []uint32{endpgm},
		words("s_add_u32 s8, s8, 10", 0x80088a08), words("s_setpc_b64 s[6:7]", 0xbe801d06))
	m.S[8] = 0
	if err := m.exec(code...); err != nil {
		t.Fatal(err)
	}
	if m.S[8] != 11 {
		t.Errorf("call and return: %d", m.S[8])
	}
	m.S[8] = 0
	if err := m.exec(program(words("s_call_b64 s[6:7], 2", 0xba860002), words("s_add_u32 s8, s8, 1", 0x80088108), []uint32{endpgm}, words("s_add_u32 s8, s8, 10", 0x80088a08), words("s_setpc_b64 s[6:7]", 0xbe801d06))...); err != nil {
		t.Fatal(err)
	}
	if m.S[8] != 11 {
		t.Errorf("s_call_b64: %d", m.S[8])
	}
	for _, c := range []struct {
		name  string
		taken bool
		code  []uint32
		set   func()
	}{
		{"vccz", true, words("s_cbranch_vccz 1", 0xbf860001), func() { m.setS64(regVCC, 0) }},
		{"vccz", false, words("s_cbranch_vccz 1", 0xbf860001), func() { m.setS64(regVCC, 1<<40) }},
		{"vccnz", true, words("s_cbranch_vccnz 1", 0xbf870001), func() { m.setS64(regVCC, 1<<40) }},
		{"execz", false, words("s_cbranch_execz 1", 0xbf880001), func() {}},
		{"execnz", true, words("s_cbranch_execnz 1", 0xbf890001), func() {}},
		{"scc0", true, words("s_cbranch_scc0 1", 0xbf840001), func() { m.S[regSCC] = 0 }},
	} {
		m.S[8] = 0
		c.set()
		if err := m.exec(program(c.code, words("s_mov_b32 s8, 1", 0xbe880081))...); err != nil {
			t.Fatal(err)
		}
		if got := m.S[8] == 0; got != c.taken {
			t.Errorf("s_cbranch_%s: taken %v", c.name, got)
		}
	}
}

func TestFaultsOfCode(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	for _, c := range []struct {
		name string
		code []uint32
		kind FaultKind
		text string
		at   uint64
	}{
		{"no instruction", []uint32{0xbf800000, 0xffffffff}, InstructionFault, "", 4},
		{"not executable", append([]uint32{0xbf800000}, words("s_rfe_b64 s[0:1]", 0xbe801f00)...), InstructionFault, "s_rfe_b64", 4},
		{"register", words("v_mov_b32_e32 v6, v200", 0x7e0c03c8), RegisterFault, "v_mov_b32", 0},
		{"accumulation register", words("v_accvgpr_read_b32 v6, a100", 0xd3d84006, 0x18000164), RegisterFault, "v_accvgpr_read", 0},
		{"jump to nowhere", words("s_setpc_b64 s[30:31]", 0xbe801d1e), MemoryFault, "", 0},
		{"trap", words("s_trap 2", 0xbf920002), TrapFault, "s_trap 2", 0},
	} {
		m.setS64(30, 8)
		err := m.exec(c.code...)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(f.Inst, c.text) {
			t.Errorf("%s: %v (%+v)", c.name, err, f)
			continue
		}
		if want := m.code + c.at; c.name != "jump to nowhere" && f.PC != want {
			t.Errorf("%s: pc %#x, want %#x", c.name, f.PC, want)
		}
		if !strings.Contains(err.Error(), "test") || len(f.Bytes) == 0 && c.kind != MemoryFault {
			t.Errorf("%s: %v names neither kernel nor bytes", c.name, err)
		}
	}
	// Debug traps without a debugger do nothing.
	if err := m.exec(words("s_trap 3", 0xbf920003)...); err != nil {
		t.Error(err)
	}
	// Code that runs off its page into one that is not mapped.
	addr, mem := m.alloc(page)
	for i := range mem {
		mem[i] = []byte{0x00, 0x00, 0x80, 0xbf}[i%4] // s_nop 0
	}
	m.setS64(30, addr+page-16)
	err := m.exec(words("s_setpc_b64 s[30:31]", 0xbe801d1e)...)
	var f *Fault
	if !errors.As(err, &f) || f.Kind != MemoryFault || f.Addr != addr+page {
		t.Errorf("running off the code: %v", err)
	}
}
