package exec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// compareModel says what a condition of a type gives.
func compareModel(cond, typ string, a, b uint64) bool {
	var lt, eq, unordered bool
	switch typ {
	case "f16", "f32", "f64":
		x, y := f16to64(uint16(a)), f16to64(uint16(b))
		if typ == "f32" {
			x, y = float64(f32(uint32(a))), float64(f32(uint32(b)))
		} else if typ == "f64" {
			x, y = math.Float64frombits(a), math.Float64frombits(b)
		}
		lt, eq, unordered = x < y, x == y, x != x || y != y
	case "u16", "u32", "u64":
		n := map[string]uint{"u16": 16, "u32": 32, "u64": 64}[typ]
		x, y := a<<(64-n), b<<(64-n)
		lt, eq = x < y, x == y
	default:
		n := map[string]uint{"i16": 16, "i32": 32, "i64": 64}[typ]
		lt, eq = sx(a, n) < sx(b, n), sx(a, n) == sx(b, n)
	}
	gt := !lt && !eq && !unordered
	switch cond {
	case "f":
		return false
	case "lt":
		return lt
	case "eq":
		return eq
	case "le":
		return lt || eq
	case "gt":
		return gt
	case "lg":
		return lt || gt
	case "ge":
		return gt || eq
	case "o":
		return !unordered
	case "u":
		return unordered
	case "nge":
		return !(gt || eq)
	case "nlg":
		return !(lt || gt)
	case "ngt":
		return !gt
	case "nle":
		return !(lt || eq)
	case "neq", "ne":
		return !eq
	case "nlt":
		return !lt
	}
	return true // t, tru
}

// Every comparison of the table, both forms, and their v_cmpx versions.
func TestCompare(t *testing.T) {
	m := newMachine(t, gcn.GFX942)
	r := rand.New(rand.NewPCG(21, 22))
	n := 0
	for op := range uint32(256) {
		code := 0x7c000000 | op<<17 | 2<<9 | 256 // v0, v2
		in, err := gcn.Decode(gcn.GFX942, binary.LittleEndian.AppendUint32(nil, code), 0)
		if err != nil || strings.Contains(in.Info.Name, "_class_") {
			continue
		}
		n++
		x := strings.HasPrefix(in.Info.Name, "v_cmpx_")
		_, rest, _ := strings.Cut(in.Info.Name[2:], "_")
		cond, typ, _ := strings.Cut(rest, "_")
		for _, form := range []uint32{0, 1} {
			words := []uint32{code}
			out := uint8(regVCC)
			if form == 1 {
				words = []uint32{0xd0000000 | op<<16 | 20, 256 | 258<<9}
				out = 20
			}
			for _, mask := range masks(r) {
				var want uint64
				for i := range 64 {
					a, b := wild64(r), wild64(r)
					if !strings.HasSuffix(typ, "64") {
						a, b = wildF(r), wildF(r)
					}
					if r.IntN(4) == 0 {
						b = a
					}
					m.set64(0, i, a)
					m.set64(2, i, b)
					if compareModel(cond, typ, a, b) {
						want |= 1 << i & mask
					}
				}
				m.setMask(mask)
				if err := m.exec(words...); err != nil {
					t.Fatalf("%s: %v", in.String(), err)
				}
				if got := m.s64(out); got != want {
					t.Fatalf("%s: EXEC %#x: %#x, want %#x", in.String(), mask, got, want)
				}
				wantExec := mask
				if x {
					wantExec = want
				}
				if got := m.s64(regEXEC); got != wantExec {
					t.Fatalf("%s: EXEC becomes %#x, want %#x", in.String(), got, wantExec)
				}
			}
		}
	}
	if n != 192 {
		t.Errorf("%d comparisons, the instruction set has 192", n)
	}
}

func TestClass(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	values := []uint64{0x7ff0000000000001, 0x7ff8000000000000, 0xfff0000000000000, 0xbff0000000000000, 1<<63 | 1, 1 << 63,
		0, 1, 0x3ff0000000000000, 0x7ff0000000000000}
	singles := []uint32{0x7f800001, 0xffc00000, 0xff800000, 0xc0000000, 0x80000001, 0x80000000, 0, 0x7fffff, 0x00800000, 0x7f800000}
	halves := []uint32{0x7c01, 0xfe00, 0xfc00, 0x8400, 0x83ff, 0x8000, 0, 1, 0x7bff, 0x7c00}
	for k := range values {
		for i := range 64 {
			m.set64(0, i, values[k])
			m.V[2][i] = 1 << (i & 15)
			m.V[3][i] = singles[k]
			m.V[4][i] = halves[k] | 0x12340000
		}
		var want uint64
		for i := 0; i < 64; i += 16 {
			want |= 1 << (i + k)
		}
		m.inst("v_cmp_class_f64_e32 vcc, v[0:1], v2", 0x7c240500)
		m.inst("v_cmp_class_f32_e64 s[20:21], v3, v2", 0xd0100014, 0x00020503)
		m.inst("v_cmp_class_f16_e64 s[22:23], v4, v2", 0xd0140016, 0x00020504)
		if m.s64(regVCC) != want || m.s64(20) != want || m.s64(22) != want {
			t.Errorf("class %d: f64 %#x, f32 %#x, f16 %#x, want %#x", k, m.s64(regVCC), m.s64(20), m.s64(22), want)
		}
	}
}

func TestSDWA(t *testing.T) {
	type u = uint64
	b := func(x u, k int) u { return x >> (8 * k) & 255 }
	w := func(x u, k int) u { return x >> (16 * k) & 0xffff }
	runOps(t, gcn.GFX90A, []op3{
		op(func(x, y, z u, i int) u { return b(x, 2) + w(y, 1) }, "v_add_u32_sdwa v6, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1", 0x680c04f9, 0x05020600),
		op(func(x, y, z u, i int) u { return u(sx(b(x, 3), 8)) + y }, "v_add_u32_sdwa v6, sext(v0), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD", 0x680c04f9, 0x060b0600),
		op(func(x, y, z u, i int) u { return b(x^y, 0)<<8 | 0x55550055 }, "v_xor_b32_sdwa v6, v0, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD", 0x2a0c04f9, 0x06061100),
		op(func(x, y, z u, i int) u { return w(x|y, 0) << 16 }, "v_or_b32_sdwa v6, v0, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 0x280c04f9, 0x06060500),
		op(func(x, y, z u, i int) u { return u(sx(w(x, 1)*w(y, 0), 8)) << 8 }, "v_mul_u32_u24_sdwa v6, v0, v2 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:WORD_1 src1_sel:WORD_0", 0x100c04f9, 0x04050900),
		op(func(x, y, z u, i int) u { return y << (x & 255 & 31) }, "v_lshlrev_b32_sdwa v6, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", 0x240c04f9, 0x06000600),
		op(func(x, y, z u, i int) u { return 0xcafe & b(y, 1) }, "v_and_b32_sdwa v6, s9, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_1", 0x260c04f9, 0x01850609),
		op(func(x, y, z u, i int) u { return u(math32(float64(b(x, 1)))) }, "v_cvt_f32_u32_sdwa v6, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1", 0x7e0c0cf9, 0x00010600),
	}, wild64, nil)
	m := newMachine(t, gcn.GFX90A)
	for i := range 64 {
		m.V[0][i], m.V[2][i] = uint32(i)<<16|7, uint32(20)
	}
	m.inst("v_cmp_lt_u32_sdwa s[20:21], v0, v2 src0_sel:WORD_1 src1_sel:DWORD", 0x7d9204f9, 0x06059400)
	if got := m.s64(20); got != 1<<20-1 {
		t.Errorf("v_cmp_lt_u32_sdwa: %#x", got)
	}
}

func TestDPP(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(31, 32))
	row := func(i int) int { return i &^ 15 }
	inRow := func(i, j int) int { // j if it is in i's row
		if j >= 0 && row(i) == row(j) {
			return j
		}
		return -1
	}
	for _, c := range []struct {
		from func(i int) int // source lane, -1: none
		lane func(i int) bool
		zero bool // invalid sources read 0
		asm  string
		code []uint32
	}{
		{func(i int) int { return i&^3 | []int{2, 3, 0, 1}[i&3] }, nil, false, "v_mov_b32_dpp v6, v0 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff004e00}},
		{func(i int) int { return inRow(i, i+3) }, nil, false, "v_mov_b32_dpp v6, v0 row_shl:3 row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff010300}},
		{func(i int) int { return inRow(i, i-1) }, nil, true, "v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", []uint32{0x7e0c02fa, 0xff091100}},
		{func(i int) int { return row(i) + (i+16-5)%16 }, nil, false, "v_mov_b32_dpp v6, v0 row_ror:5 row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff012500}},
		{func(i int) int { return row(i) + 15 - i%16 }, nil, false, "v_mov_b32_dpp v6, v0 row_mirror row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff014000}},
		{func(i int) int { return i&^7 + 7 - i%8 }, nil, false, "v_mov_b32_dpp v6, v0 row_half_mirror row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff014100}},
		{func(i int) int { return row(i) - 1 }, func(i int) bool { return i/16 == 1 || i/16 == 3 }, false, "v_mov_b32_dpp v6, v0 row_bcast:15 row_mask:0xa bank_mask:0xf", []uint32{0x7e0c02fa, 0xaf014200}},
		{func(i int) int { return map[bool]int{true: 31, false: -1}[i > 31] }, nil, false, "v_mov_b32_dpp v6, v0 row_bcast:31 row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff014300}},
		{func(i int) int { return i + 1 - 65*(i/63) }, nil, false, "v_mov_b32_dpp v6, v0 wave_shl:1 row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff013000}},
		{func(i int) int { return i - 1 }, nil, true, "v_mov_b32_dpp v6, v0 wave_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", []uint32{0x7e0c02fa, 0xff093800}},
		{func(i int) int { return (i + 1) % 64 }, nil, false, "v_mov_b32_dpp v6, v0 wave_rol:1 row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff013400}},
		{func(i int) int { return (i + 63) % 64 }, nil, false, "v_mov_b32_dpp v6, v0 wave_ror:1 row_mask:0xf bank_mask:0xf", []uint32{0x7e0c02fa, 0xff013c00}},
		{func(i int) int { return row(i) + 4 }, func(i int) bool { return i>>2&3 == 0 || i>>2&3 == 3 }, false, "v_mov_b32_dpp v6, v0 row_newbcast:4 row_mask:0xf bank_mask:0x9", []uint32{0x7e0c02fa, 0xf9015400}},
	} {
		for _, mask := range masks(r) {
			for i := range 64 {
				m.V[0][i], m.V[6][i] = uint32(1000+i), uint32(i)
			}
			m.setMask(mask)
			m.inst(c.asm, c.code...)
			for i := range 64 {
				want := uint32(i)
				if mask>>i&1 != 0 && (c.lane == nil || c.lane(i)) {
					if j := c.from(i); j >= 0 && mask>>j&1 != 0 {
						want = uint32(1000 + j)
					} else if c.zero {
						want = 0
					}
				}
				if m.V[6][i] != want {
					t.Fatalf("%s: EXEC %#x: lane %d is %d, want %d", c.asm, mask, i, m.V[6][i], want)
				}
			}
		}
	}
	// An operation: the second source is the lane's own.
	m.setMask(^uint64(0))
	for i := range 64 {
		m.V[0][i], m.V[2][i], m.V[6][i] = uint32(i), 100, 7
	}
	m.inst("v_add_u32_dpp v6, v0, v2 row_shr:2 row_mask:0xf bank_mask:0xf", 0x680c04fa, 0xff011200)
	if m.V[6][1] != 7 || m.V[6][5] != 103 {
		t.Errorf("v_add_u32_dpp: %d, %d", m.V[6][1], m.V[6][5])
	}
	m.inst("v_add_f32_dpp v6, -v0, |v2| quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf", 0x020c04fa, 0xff900000)
	if want := b32(f32(100) - f32(4)); m.V[6][5] != want {
		t.Errorf("v_add_f32_dpp: %#x, want %#x", m.V[6][5], want)
	}
}

func TestLanes(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	for i := range 64 {
		m.V[0][i], m.V[2][i] = uint32(1000+i), uint32(i*4)
	}
	m.S[4] = 37
	m.inst("v_readlane_b32 s5, v0, s4", 0xd2890005, 0x00000900)
	m.inst("v_readlane_b32 s6, v0, 63", 0xd2890006, 0x00017f00)
	m.inst("v_writelane_b32 v0, s4, 5", 0xd28a0000, 0x00010a04)
	m.setMask(0xf0)
	m.inst("v_readfirstlane_b32 s7, v0", 0x7e0e0500)
	m.setMask(0)
	m.inst("v_readfirstlane_b32 s8, v0", 0x7e100500)
	m.inst("v_writelane_b32 v0, s4, 6", 0xd28a0000, 0x00010c04)
	if m.S[5] != 1037 || m.S[6] != 1063 || m.S[7] != 1004 || m.S[8] != 1000 || m.V[0][5] != 37 || m.V[0][6] != 37 {
		t.Errorf("readlane %d %d, readfirstlane %d %d, writelane %d %d", m.S[5], m.S[6], m.S[7], m.S[8], m.V[0][5], m.V[0][6])
	}
	mask := uint64(0xffffffff0000ffff)
	m.setMask(mask)
	for i := range 64 {
		m.V[0][i], m.V[2][i], m.V[4][i] = uint32(1000+i), uint32((63-i)*4), uint32(i*7)
	}
	m.inst("ds_bpermute_b32 v6, v2, v0", 0xd87e0000, 0x06000002)
	m.inst("ds_permute_b32 v8, v2, v0 offset:4", 0xd87c0004, 0x08000002)
	m.inst("ds_swizzle_b32 v10, v0 offset:swizzle(SWAP,16)", 0xd87a401f, 0x0a000000)
	m.inst("ds_swizzle_b32 v12, v0 offset:swizzle(QUAD_PERM,3,2,1,0)", 0xd87a801b, 0x0c000000)
	for i := range 64 {
		if mask>>i&1 == 0 {
			if m.V[6][i] != 0 || m.V[8][i] != 0 || m.V[10][i] != 0 {
				t.Errorf("inactive lane %d is written", i)
			}
			continue
		}
		active := func(j int) uint32 {
			if mask>>(j&63)&1 != 0 {
				return uint32(1000 + j&63)
			}
			return 0
		}
		if m.V[6][i] != active(63-i) || m.V[8][i] != active(64-i) || m.V[10][i] != active(i^16) || m.V[12][i] != active(i^3) {
			t.Errorf("lane %d: bpermute %d, permute %d, swizzle %d %d", i, m.V[6][i], m.V[8][i], m.V[10][i], m.V[12][i])
		}
	}
	m.setMask(^uint64(0))
	m.inst("v_swap_b32 v0, v4", 0x7e00a304)
	m.inst("v_accvgpr_write_b32 a3, v0", 0xd3d94003, 0x18000100)
	m.inst("v_accvgpr_mov_b32 a4, a3", 0x7e08a503)
	m.inst("v_accvgpr_read_b32 v14, a4", 0xd3d8400e, 0x18000104)
	if m.V[4][9] != 1009 || m.V[14][9] != 63 || m.A[3][9] != 63 {
		t.Errorf("swap %d, accumulation registers %d %d", m.V[4][9], m.V[14][9], m.A[3][9])
	}
	// Registers relative to M0.
	indexed := func(on, move []uint32) error {
		code := append(append([]uint32(nil), on...), move...)
		return m.exec(append(code, words("s_set_gpr_idx_off", 0xbf9c0000)...)...)
	}
	m.S[20] = 5
	if err := indexed(words("s_set_gpr_idx_on s20, gpr_idx(SRC0)", 0xbf110114), words("v_mov_b32_e32 v16, v9", 0x7e200309)); err != nil {
		t.Fatal(err)
	}
	if m.V[16] != m.V[14] {
		t.Error("v_mov_b32 with an indexed source")
	}
	if err := indexed(words("s_set_gpr_idx_on s20, gpr_idx(DST)", 0xbf110814), words("v_mov_b32_e32 v13, v0", 0x7e1a0300)); err != nil {
		t.Fatal(err)
	}
	if m.V[18] != m.V[0] {
		t.Error("v_mov_b32 with an indexed destination")
	}
	m.S[20] = 250
	if err := indexed(words("s_set_gpr_idx_on s20, gpr_idx(SRC0)", 0xbf110114), words("v_mov_b32_e32 v16, v9", 0x7e200309)); err == nil {
		t.Error("a register that the wave does not have was read")
	}
}

func words(_ string, code ...uint32) []uint32 { return code }
