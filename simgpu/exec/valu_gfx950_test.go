package exec

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// vop3Code encodes an operation on vector registers; word and high are the bits of
// modifiers in the two words.
func vop3Code(op, d, a, b, c, word, high uint32) []uint32 {
	return []uint32{0xd0000000 | op<<16 | word | d, high | (256 + a) | (256+b)<<9 | (256+c)<<18}
}

// fillWild gives n registers random values.
func (m *machine) fillWild(r *rand.Rand, n int) {
	for k := range n {
		for i := range m.V[k] {
			m.V[k][i] = wild32(r)
		}
	}
}

// Every table of v_bitop3, bit by bit: that of the first source counts four.
func TestBitop3(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 950))
	m := newMachine(t, gcn.GFX950)
	for table := range uint32(256) {
		for _, op := range []uint32{0x234, 0x233} { // b32, b16
			for _, sel := range []uint32{0, 0xd} { // of b16: first, third, destination
				if op == 0x234 && sel != 0 {
					continue
				}
				m.fillWild(r, 4)
				mask := r.Uint64()
				m.setMask(mask)
				before := m.V[3]
				word := table>>3&7<<8 | sel<<11
				if err := m.exec(vop3Code(op, 3, 0, 1, 2, word, table&7<<29|table>>6<<27)...); err != nil {
					t.Fatal(err)
				}
				for i := range 64 {
					a, b, c := m.V[0][i], m.V[1][i], m.V[2][i]
					want, n, to := before[i], 32, 0
					if op == 0x233 {
						n, a, c, to = 16, a>>(sel&1*16), c>>(sel>>2&1*16), int(sel>>3*16)
					}
					for k := range n {
						bit := table >> (a>>k&1*4 + b>>k&1*2 + c>>k&1) & 1
						want = want&^(1<<(to+k)) | bit<<(to+k)
					}
					if mask>>i&1 == 0 {
						want = before[i]
					}
					if m.V[3][i] != want {
						t.Fatalf("op %#x, table %#x, op_sel %#x: %#x, want %#x", op, table, sel, m.V[3][i], want)
					}
				}
			}
		}
	}
	// The tables that AMD's manual and LLVM's tests name.
	m.setMask(^uint64(0))
	m.V[0][5], m.V[1][5], m.V[2][5] = 0xf0f0aaaa, 0xff00cccc, 0x12345678
	a, b, c := m.V[0][5], m.V[1][5], m.V[2][5]
	for text, x := range map[string]struct {
		code []uint32
		want uint32
	}{
		"v_bitop3_b32 v3, v0, v1, v2 bitop3:0xea": {[]uint32{0xd2340503, 0x5c0a0300}, a&b | c},
		"v_bitop3_b32 v3, v0, v1, v2 bitop3:0x96": {[]uint32{0xd2340203, 0xd40a0300}, a ^ b ^ c},
		"v_bitop3_b32 v3, v0, v1, v2 bitop3:0x40": {[]uint32{0xd2340003, 0x0c0a0300}, a & b &^ c},
		"v_bitop3_b32 v3, v0, v1, v2 bitop3:2":    {[]uint32{0xd2340003, 0x440a0300}, ^a & ^b & c},
	} {
		m.inst(text, x.code...)
		if m.V[3][5] != x.want {
			t.Errorf("%s: %#x, want %#x", text, m.V[3][5], x.want)
		}
	}
}

// What is undefined of v_bitop3: exactly the bits that change with an undefined one.
func TestBitop3Undefined(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 950))
	for table := range uint16(256) {
		u, v := [3]uint64{r.Uint64(), r.Uint64(), r.Uint64()}, [3]uint64{r.Uint64(), r.Uint64(), r.Uint64()}
		got := bitop3Rule(table)(&u, &v)
		for i := range 64 {
			seen := map[uint16]bool{}
			for guess := range uint64(8) {
				var at uint16
				for k := range 3 {
					bit := v[k] >> i & 1
					if u[k]>>i&1 != 0 {
						bit = guess >> k & 1
					}
					at = at<<1 | uint16(bit)
				}
				seen[table>>at&1] = true
			}
			if (got>>i&1 != 0) != (len(seen) == 2) {
				t.Fatalf("table %#x, bit %d", table, i)
			}
		}
	}
}

// A shift register with the polynomial x^32 + x^7 + x^6 + x^2 + 1.
func TestPRNG(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 950))
	m := newMachine(t, gcn.GFX950)
	for range 20 {
		m.fillWild(r, 1)
		m.inst("v_prng_b32_e32 v1, v0", 0x7e02b100)
		for i, x := range m.V[0] {
			p := new(big.Int).Lsh(big.NewInt(int64(x)), 1)
			if p.Bit(32) != 0 {
				p.Xor(p, new(big.Int).SetUint64(1<<32|1<<7|1<<6|1<<2|1))
			}
			if uint64(m.V[1][i]) != p.Uint64() {
				t.Fatalf("%#x becomes %#x, want %#x", x, m.V[1][i], p)
			}
		}
	}
}

func TestAshrPack(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 950))
	m := newMachine(t, gcn.GFX950)
	for range 20 {
		for op, limits := range map[uint32][2]int64{0x265: {-128, 127}, 0x266: {0, 255}} {
			for _, high := range []bool{false, true} {
				m.fillWild(r, 4)
				for i := range m.V[0] {
					m.V[0][i] = uint32(int32(m.V[0][i]) >> r.IntN(32))
				}
				before, word := m.V[3], uint32(0)
				if high {
					word = 8 << 11
				}
				if err := m.exec(vop3Code(op, 3, 0, 1, 2, word, 0)...); err != nil {
					t.Fatal(err)
				}
				for i := range 64 {
					var want uint32
					for k := range 2 {
						x := new(big.Int).Rsh(big.NewInt(int64(int32(m.V[k][i]))), uint(m.V[2][i]&31)).Int64()
						switch {
						case x < limits[0]:
							x = limits[0]
						case x > limits[1]:
							x = limits[1]
						}
						want |= uint32(x) & 0xff << (8 * k)
					}
					if high {
						want = want<<16 | before[i]&0xffff
					} else {
						want |= before[i] & 0xffff0000
					}
					if m.V[3][i] != want {
						t.Fatalf("%#x, %#x >> %d: %#x, want %#x", m.V[0][i], m.V[1][i], m.V[2][i]&31, m.V[3][i], want)
					}
				}
			}
		}
	}
}

// Sources of 32 bits have no halves.
func TestAshrPackSource(t *testing.T) {
	if err := newMachine(t, gcn.GFX950).exec(vop3Code(0x265, 3, 0, 1, 2, 1<<11, 0)...); err == nil || !strings.Contains(err.Error(), errModifier.Error()) {
		t.Errorf("op_sel of a source: %v", err)
	}
}

// Rows exchanged are those of AMD's manual; where lanes are off it is refused.
func TestPermlaneSwap(t *testing.T) {
	m := newMachine(t, gcn.GFX950)
	for _, c := range []struct {
		text         string
		code         []uint32
		first, other [4]int // which row of 16 lanes stands where: 0 to 3 of the first register, 4 to 7 of the other
	}{
		{"v_permlane16_swap_b32_e32 v1, v2", []uint32{0x7e02b302}, [4]int{0, 4, 2, 6}, [4]int{1, 5, 3, 7}},
		{"v_permlane32_swap_b32_e32 v1, v2", []uint32{0x7e02b502}, [4]int{0, 1, 4, 5}, [4]int{2, 3, 6, 7}},
		{"v_permlane16_swap_b32_e64 v1, v2 bound_ctrl:1 fi:1", []uint32{0xd1991801, 0x00000102}, [4]int{0, 4, 2, 6}, [4]int{1, 5, 3, 7}},
		{"v_permlane32_swap_b32_e32 v1, v1", []uint32{0x7e02b501}, [4]int{2, 3, 0, 1}, [4]int{4, 5, 6, 7}},
	} {
		for i := range 64 {
			m.V[1][i], m.V[2][i] = uint32(i), uint32(64+i)
		}
		m.inst(c.text, c.code...)
		for i := range 64 {
			if a, b := uint32(16*c.first[i/16]+i%16), uint32(16*c.other[i/16]+i%16); m.V[1][i] != a || m.V[2][i] != b {
				t.Fatalf("%s: lane %d: %d, %d, want %d, %d", c.text, i, m.V[1][i], m.V[2][i], a, b)
			}
		}
	}
	m.setMask(^uint64(0) >> 1)
	if err := m.exec(0x7e02b302); err == nil || !strings.Contains(err.Error(), lanesOff) {
		t.Errorf("with a lane off: %v", err)
	}
}

// extreme is the minimum or maximum of IEEE 754-2019.
func extreme(maximum bool, x ...float64) float64 {
	r := x[0]
	for _, y := range x[1:] {
		if maximum {
			r = math.Max(r, y)
		} else {
			r = math.Min(r, y)
		}
		if x[0] != x[0] || y != y { // math.Max prefers infinity
			r = math.NaN()
		}
	}
	for _, y := range x {
		if y != y {
			r = y
		}
	}
	return r
}

func TestMinimumMaximum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 950))
	m := newMachine(t, gcn.GFX950)
	for range 40 {
		for k, maximum := range []bool{false, true} {
			m.fillWild(r, 3)
			for i := range 16 { // zeros of both signs
				m.V[r.IntN(3)][i], m.V[r.IntN(3)][i] = 1<<31, 0
			}
			x, pk := []string{"minimum", "maximum"}[k], uint32(27+k)
			m.inst("v_"+x+"3_f32 v3, v0, v1, v2", vop3Code(0x2a8+uint32(k), 3, 0, 1, 2, 0, 0)...)
			m.inst("v_pk_"+x+"3_f16 v4, v0, v1, v2", 0xd3804004|pk<<16, 0x1c0a0300)
			for i := range 64 {
				a, b, c := m.V[0][i], m.V[1][i], m.V[2][i]
				got, want := float64(f32(m.V[3][i])), extreme(maximum, float64(f32(a)), float64(f32(b)), float64(f32(c)))
				if got != got && m.V[3][i]&0x400000 == 0 || !same64(got, want) {
					t.Fatalf("%s of %#x, %#x, %#x: %#x, want %v", x, a, b, c, m.V[3][i], want)
				}
				for s := 0; s < 32; s += 16 {
					h := func(v uint32) float64 { return f16to64(uint16(v >> s)) }
					if got, want := h(m.V[4][i]), extreme(maximum, h(a), h(b), h(c)); !same64(got, want) {
						t.Fatalf("%s of halves of %#x, %#x, %#x: %#x, want %v", x, a, b, c, m.V[4][i], want)
					}
				}
			}
		}
	}
	// A signalling NaN is the result before others, and becomes quiet.
	m.V[0][0], m.V[1][0], m.V[2][0] = 0x7fc00001, 0xff800002, 0x3f800000
	m.inst("v_minimum3_f32 v3, v0, v1, v2", vop3Code(0x2a8, 3, 0, 1, 2, 0, 0)...)
	if m.V[3][0] != 0xffc00002 {
		t.Errorf("NaN: %#x", m.V[3][0])
	}
	m.V[0][0], m.V[1][0], m.V[2][0] = 0x7e01, 0xfc02, 0x3c00
	m.inst("v_pk_maximum3_f16 v4, v0, v1, v2", 0xd39c4004, 0x1c0a0300)
	if m.V[4][0] != 0xfe02 {
		t.Errorf("NaN of a half: %#x", m.V[4][0])
	}
	// MODE flushes denormals of f32.
	m.setMode(0xc0)
	m.V[0][0], m.V[1][0], m.V[2][0] = 1, 0x3f800000, 0x3f800000
	m.inst("v_minimum3_f32 v3, v0, v1, v2", vop3Code(0x2a8, 3, 0, 1, 2, 0, 0)...)
	if m.V[3][0] != 0 {
		t.Errorf("denormal: %#x", m.V[3][0])
	}
}

// bf16 is a float32 rounded to 8 bits of mantissa, to the nearest even, in big arithmetic.
func bf16Of(x uint32) uint32 {
	f := float64(f32(x))
	if f != f || math.IsInf(f, 0) || f == 0 {
		return x >> 16
	}
	_, e := math.Frexp(f)
	prec := min(8, e+133) // denormals have less
	if prec < 1 {         // half of the smallest number, or less: that is the tie to zero
		if prec == 0 && new(big.Float).SetFloat64(math.Abs(f)).Cmp(new(big.Float).SetMantExp(big.NewFloat(1), -134)) > 0 {
			return x>>31<<15 | 1
		}
		return x >> 31 << 15
	}
	r, _ := new(big.Float).SetPrec(uint(prec)).SetMode(big.ToNearestEven).SetFloat64(f).Float64()
	return math32(r) >> 16
}

func TestCvtPkBF16(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 950))
	m := newMachine(t, gcn.GFX950)
	for _, mode := range []uint32{0xf0, 0xff, 0xf5} { // rounding does not matter
		m.setMode(mode)
		for range 40 {
			m.fillWild(r, 2)
			for i := range 32 { // ties, and denormal results
				m.V[0][i] = m.V[0][i]&^0xffff | 0x8000
				m.V[1][i] &= 0x80ffffff
			}
			m.inst("v_cvt_pk_bf16_f32 v2, v0, v1", 0xd2680002, 0x00020300)
			m.inst("v_cvt_pk_bf16_f32 v3, -v0, |v1|", 0xd2680203, 0x20020300)
			for i := range 64 {
				for k := range 2 {
					x, got, signs := m.V[k][i], m.V[2][i]>>(16*k)&0xffff, m.V[3][i]>>(16*k)&0xffff
					want := bf16Of(x)
					if isNaN32(x) {
						if want = x>>16 | 0x40; got != want {
							t.Fatalf("NaN %#x becomes %#x", x, got)
						}
					}
					if got != want {
						t.Fatalf("%#x becomes %#x, want %#x", x, got, want)
					}
					if want = []uint32{want ^ 0x8000, want & 0x7fff}[k]; signs != want {
						t.Fatalf("%#x with a modifier becomes %#x, want %#x", x, signs, want)
					}
				}
			}
		}
	}
	for _, code := range [][]uint32{{0xd2688002, 0x00020300}, {0xd2680002, 0x08020300}} {
		if err := m.exec(code...); err == nil || !strings.Contains(fmt.Sprint(err), errModifier.Error()) {
			t.Errorf("clamp and omod: %v", err)
		}
	}
}

func TestCvtPkF16(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 950))
	m := newMachine(t, gcn.GFX950)
	for _, mode := range []uint32{0xf0, 0xff, 0xf5} { // rounding does not matter
		m.setMode(mode)
		m.fillWild(r, 2)
		m.inst("v_cvt_pk_f16_f32 v2, v0, -v1", 0xd2670002, 0x40020300)
		for i := range 64 {
			for k, sign := range []float64{1, -1} {
				x := sign * float64(f32(m.V[k][i]))
				if got := uint16(m.V[2][i] >> (16 * k)); x == x && uint32(got) != binary16.nearest(x, false) || x != x && !isNaN16(got) {
					t.Fatalf("%v becomes %#x", x, got)
				}
			}
		}
	}
}

func TestCvtF32BF16(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 950))
	m := newMachine(t, gcn.GFX950)
	m.fillWild(r, 1)
	m.inst("v_cvt_f32_bf16_e32 v1, v0", 0x7e02b700)
	m.inst("v_cvt_f32_bf16_sdwa v2, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 0x7e04b6f9, 0x00050600)
	for i, x := range m.V[0] {
		if m.V[1][i] != x<<16 || m.V[2][i] != x&0xffff0000 {
			t.Fatalf("%#x becomes %#x and %#x", x, m.V[1][i], m.V[2][i])
		}
	}
}

// Whole numbers, whose sums are not rounded, and the order where they are.
func TestDot2BF16(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 950))
	m := newMachine(t, gcn.GFX950)
	var a, b [2][64]int
	var c [64]int
	for i := range 64 {
		m.V[0][i], m.V[1][i] = 0, 0
		for k := range 2 {
			a[k][i], b[k][i] = r.IntN(255)-127, r.IntN(255)-127
			m.V[0][i] |= math32(float64(a[k][i])) >> 16 << (16 * k)
			m.V[1][i] |= math32(float64(b[k][i])) >> 16 << (16 * k)
		}
		c[i] = r.IntN(1000)
		m.V[2][i], m.V[5][i] = math32(float64(c[i])), math32(float64(c[i]))
	}
	m.inst("v_dot2_f32_bf16 v3, v0, v1, v2", 0xd39a4003, 0x1c0a0300)
	m.inst("v_dot2_f32_bf16 v4, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[1,0,0] neg_hi:[0,1,0]", 0xd39a4a04, 0x340a0300)
	m.inst("v_dot2c_f32_bf16_e32 v5, v0, v1", 0x2c0a0300)
	for i := range 64 {
		want := float64(a[0][i]*b[0][i] + a[1][i]*b[1][i] + c[i])
		other := float64(-a[1][i]*b[0][i] - a[0][i]*b[1][i] + c[i])
		if m.V[3][i] != math32(want) || m.V[5][i] != math32(want) || m.V[4][i] != math32(other) {
			t.Fatalf("lane %d: %v, %v and %v, want %v twice and %v", i, f32(m.V[3][i]), f32(m.V[5][i]), f32(m.V[4][i]), want, other)
		}
	}
	// 2^24 and twice 1: together 2 more, one by one nothing.
	m.V[0][0], m.V[1][0], m.V[2][0], m.V[5][0] = 0x3f803f80, 0x3f803f80, 0x4b800000, 0x4b800000
	m.inst("v_dot2_f32_bf16 v3, v0, v1, v2", 0xd39a4003, 0x1c0a0300)
	m.inst("v_dot2c_f32_bf16_e32 v5, v0, v1", 0x2c0a0300)
	if m.V[3][0] != 0x4b800001 || m.V[5][0] != 0x4b800000 {
		t.Errorf("the order: %#x, %#x", m.V[3][0], m.V[5][0])
	}
}
