package exec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Floating-point arithmetic in every mode against whole numbers: an operand is
// m times a power of two, sums and products of these are exact, and the result is
// rounded once, here. Nothing of what the instructions use takes part.

// ieee describes a format.
type ieee struct{ bits, prec, emin uint }

var formats = map[string]ieee{"f16": {16, 11, 14}, "f32": {32, 24, 126}, "f64": {64, 53, 1022}} // emin without its sign

// exact is m × 2^e.
type exact struct {
	m *big.Int
	e int
}

func (f ieee) sign() uint64     { return 1 << (f.bits - 1) }
func (f ieee) infinity() uint64 { return f.sign() - 1<<(f.prec-1) }

func (f ieee) nan(b uint64) bool      { return b&^f.sign() > f.infinity() }
func (f ieee) infinite(b uint64) bool { return b&^f.sign() == f.infinity() }
func (f ieee) denormal(b uint64) bool { return b&^f.sign() < 1<<(f.prec-1) }

func (f ieee) exact(b uint64) exact {
	m, e := b&(1<<(f.prec-1)-1), int(b&^f.sign()>>(f.prec-1))
	if e == 0 {
		e = 1
	} else {
		m |= 1 << (f.prec - 1)
	}
	x := exact{new(big.Int).SetUint64(m), e - int(f.emin) - int(f.prec)}
	if b&f.sign() != 0 {
		x.m.Neg(x.m)
	}
	return x
}

func (x exact) times(y exact) exact { return exact{new(big.Int).Mul(x.m, y.m), x.e + y.e} }

func (x exact) plus(y exact) exact {
	if x.e < y.e {
		x, y = y, x
	}
	return exact{new(big.Int).Add(new(big.Int).Lsh(x.m, uint(x.e-y.e)), y.m), y.e}
}

// round is the bits of x, which is not zero.
func (f ieee) round(x exact, mode int) uint64 {
	negative, m := x.m.Sign() < 0, new(big.Int).Abs(x.m)
	lowest := 2 - int(f.emin) - int(f.prec) - 1 // the exponent of the last bit of a denormal number
	q := max(m.BitLen()+x.e-int(f.prec), lowest)
	if q <= x.e {
		m.Lsh(m, uint(x.e-q))
	} else {
		rest := new(big.Int)
		unit := new(big.Int).Lsh(big.NewInt(1), uint(q-x.e))
		m.QuoRem(m, unit, rest)
		middle := rest.Lsh(rest, 1).Cmp(unit) // twice the rest against a unit
		up := false
		switch mode {
		case 0:
			up = middle > 0 || middle == 0 && m.Bit(0) == 1
		case 1:
			up = rest.Sign() != 0 && !negative
		case 2:
			up = rest.Sign() != 0 && negative
		}
		if up {
			m.Add(m, big.NewInt(1))
		}
	}
	// A significand that has become one bit longer carries into the exponent by itself.
	b := m.Uint64()
	if b >= 1<<(f.prec-1) {
		b += uint64(q-lowest) << (f.prec - 1)
	}
	if b >= f.infinity() {
		if b = f.infinity(); mode == 3 || mode == 1 && negative || mode == 2 && !negative {
			b--
		}
	}
	if negative {
		b |= f.sign()
	}
	return b
}

// fma is a × b + c; add says that it is a + c, mul that it is a × b.
func (f ieee) fma(op string, a, b, c uint64, mode int) uint64 {
	if op == "mul" {
		c = 0
	}
	quiet := f.infinity() | 1<<(f.prec-2)
	for _, x := range []uint64{a, b, c} {
		if f.nan(x) {
			return quiet
		}
	}
	zero := func(x uint64) bool { return x&^f.sign() == 0 }
	p := (a ^ b) & f.sign() // the sign of the product
	if f.infinite(a) || f.infinite(b) {
		if zero(a) || zero(b) || f.infinite(c) && c&f.sign() != p {
			return quiet
		}
		return f.infinity() | p
	}
	if f.infinite(c) {
		return c
	}
	x := f.exact(a).times(f.exact(b))
	if op == "mul" {
		if x.m.Sign() == 0 {
			return p
		}
		return f.round(x, mode)
	}
	s := x.plus(f.exact(c))
	switch {
	case s.m.Sign() != 0:
		return f.round(s, mode)
	case x.m.Sign() == 0 && p == c&f.sign():
		return p
	case mode == 2:
		return f.sign()
	}
	return 0
}

// modeOp is an instruction of TestArithmeticModes.
type modeOp struct{ name, op, format string }

func TestArithmeticModes(t *testing.T) {
	ops := []modeOp{{"v_add_f32", "add", "f32"}, {"v_sub_f32", "sub", "f32"}, {"v_subrev_f32", "rev", "f32"}, {"v_mul_f32", "mul", "f32"}, {"v_fma_f32", "fma", "f32"},
		{"v_add_f64", "add", "f64"}, {"v_mul_f64", "mul", "f64"}, {"v_fma_f64", "fma", "f64"},
		{"v_add_f16", "add", "f16"}, {"v_sub_f16", "sub", "f16"}, {"v_subrev_f16", "rev", "f16"}, {"v_mul_f16", "mul", "f16"}, {"v_fma_f16", "fma", "f16"}}
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(14, 1))
	m := newMachine(t, gcn.GFX942)
	codes := map[string]uint32{}
	for _, info := range gcn.Ops(gcn.GFX942) {
		if info.Enc == gcn.VOP3 {
			codes[info.Name] = uint32(info.Opcode[gcn.GFX942])
		}
	}
	for n := range rounds {
		o := ops[n%len(ops)]
		f := formats[o.format]
		mode := uint32(r.IntN(1 << 10)) // rounding, denormals, DX10_CLAMP, IEEE
		rounding, denormals := int(mode&3), mode>>4&3
		if o.format != "f32" {
			rounding, denormals = int(mode>>2&3), mode>>6&3
		}
		var omod, clamp, neg, abs uint32
		if r.IntN(3) == 0 {
			omod = uint32(r.IntN(4))
		}
		if r.IntN(4) == 0 {
			clamp = 1
		}
		if r.IntN(3) == 0 {
			neg, abs = uint32(r.IntN(4)), uint32(r.IntN(4))
		}
		words := []uint32{0x34<<26 | codes[o.name]<<16 | clamp<<15 | abs<<8 | 6, 256 | (256+2)<<9 | omod<<27 | neg<<29}
		if o.op == "fma" {
			words[1] |= (256 + 4) << 18
		}
		var src [3][64]uint64
		for i := range 64 {
			for j := range src {
				src[j][i] = f.operand(r)
			}
			switch r.IntN(3) {
			case 0: // cancellation
				src[1][i] = src[0][i] ^ uint64(r.IntN(4)) ^ uint64(r.IntN(2))<<(f.bits-1)
			case 1:
				src[2][i] = f.fma("mul", src[0][i], src[1][i], 0, r.IntN(4)) ^ uint64(r.IntN(3)) ^ f.sign()
			}
			for j := range src {
				m.set64(2*j, i, src[j][i])
			}
		}
		m.setMask(^uint64(0))
		m.setMode(mode)
		if err := m.exec(words...); err != nil {
			t.Fatal(err)
		}
		in, _ := gcn.Decode(gcn.GFX942, bytesOf(words), 0)
		for i := range 64 {
			var x [3]uint64
			for j := range x {
				x[j] = src[j][i]
				if abs>>j&1 != 0 {
					x[j] &^= f.sign()
				}
				if neg>>j&1 != 0 {
					x[j] ^= f.sign()
				}
				if denormals&1 == 0 && f.denormal(x[j]) {
					x[j] &= f.sign()
				}
			}
			want := f.apply(o.op, x, rounding)
			if denormals&2 == 0 && f.denormal(want) {
				want &= f.sign()
			}
			if omod != 0 && denormals&2 == 0 && mode>>9&1 == 0 {
				if want&^f.sign() == 0 {
					want = 0
				} else if want = f.fma("mul", want, f.power([4]int{0, 1, 2, -1}[omod]), 0, rounding); f.denormal(want) {
					want &= f.sign()
				}
			}
			if clamp != 0 {
				switch one := f.power(0); {
				case f.nan(want):
					if mode>>8&1 != 0 {
						want = 0
					}
				case want&f.sign() != 0:
					want = 0
				case want > one:
					want = one
				}
			}
			got := m.get64(6, i) & (f.sign()<<1 - 1)
			if got != want && !(f.nan(got) && f.nan(want)) {
				t.Fatalf("%s, MODE %#x, of %#x: %#x, want %#x", in.String(), mode, [3]uint64{src[0][i], src[1][i], src[2][i]}, got, want)
			}
		}
	}
}

// apply is the operation.
func (f ieee) apply(op string, x [3]uint64, mode int) uint64 {
	one := f.power(0)
	switch op {
	case "mul":
		return f.fma("mul", x[0], x[1], 0, mode)
	case "add":
		return f.fma("", x[0], one, x[1], mode)
	case "sub":
		return f.fma("", x[0], one, x[1]^f.sign(), mode)
	case "rev":
		return f.fma("", x[1], one, x[0]^f.sign(), mode)
	}
	return f.fma("", x[0], x[1], x[2], mode)
}

// power is 2^n.
func (f ieee) power(n int) uint64 { return uint64(int(f.emin)+1+n) << (f.prec - 1) }

// operand is any number, often near others, near the ends of the range, or special.
func (f ieee) operand(r *rand.Rand) uint64 {
	b := r.Uint64() & (f.sign()<<1 - 1)
	switch r.IntN(8) {
	case 0:
		return b & (f.sign() | 1<<(f.prec-1) - 1) // denormal
	case 1:
		return f.infinity() - 1 - b&7 | b&f.sign()
	case 2:
		return []uint64{0, f.sign(), f.infinity(), f.infinity() | f.sign(), f.infinity() + 1, 1, 1 << (f.prec - 1)}[r.IntN(7)]
	case 3:
		return 1<<(f.prec-1)*uint64(1+r.IntN(3)) + b&3 | b&f.sign()
	case 4, 5:
		return f.power(r.IntN(5)-2) + b&(1<<(f.prec-1)-1) | b&f.sign()
	}
	return b
}

// TestModel: the model itself, in the mode that this processor has.
func TestModel(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 2))
	f := formats["f64"]
	for range tries(20000) {
		a, b, c := f.operand(r), f.operand(r), f.operand(r)
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		for op, want := range map[string]float64{"mul": x * y, "": math.FMA(x, y, z)} {
			if got := math.Float64frombits(f.fma(op, a, b, c, 0)); !same64(got, want) {
				t.Fatalf("%s of %g, %g, %g: %g, want %g", op, x, y, z, got, want)
			}
		}
	}
}

// toHalf and number convert by the model.
func toHalf(x float64) uint64 {
	f := formats["f16"]
	var sign uint64
	if math.Signbit(x) {
		sign = f.sign()
	}
	switch {
	case x != x:
		return f.infinity() + 1
	case math.IsInf(x, 0):
		return f.infinity() | sign
	case x == 0:
		return sign
	}
	return f.round(formats["f64"].exact(math.Float64bits(x)), 0)
}

func number(b uint64) float64 {
	f := formats["f16"]
	switch {
	case f.nan(b):
		return math.NaN()
	case f.infinite(b):
		return math.Inf(1 - 2*int(b>>15))
	}
	x := f.exact(b)
	v := math.Ldexp(float64(new(big.Int).Abs(x.m).Int64()), x.e)
	if b>>15 != 0 {
		return -v
	}
	return v
}

// TestEveryHalf: operations of one half, on all of them.
func TestEveryHalf(t *testing.T) {
	limited := func(x, lo, hi float64) uint64 { // to an integer
		if x != x {
			return 0
		}
		return uint64(int64(max(lo, min(hi, math.Trunc(x))))) & 0xffff
	}
	norm := func(scale float64) func(x float64) uint64 {
		return func(x float64) uint64 {
			lo := 0.0
			if scale == 32767 {
				lo = -1
			}
			if x != x {
				return 0
			}
			return uint64(int64(math.RoundToEven(max(lo, min(1, x))*scale))) & 0xffff
		}
	}
	h := func(f func(x float64) float64) func(x float64) uint64 {
		return func(x float64) uint64 { return toHalf(f(x)) }
	}
	ops := map[string]func(x float64) uint64{
		"v_floor_f16": h(math.Floor), "v_ceil_f16": h(math.Ceil), "v_trunc_f16": h(math.Trunc), "v_rndne_f16": h(math.RoundToEven),
		"v_sqrt_f16": h(math.Sqrt), "v_rcp_f16": h(func(x float64) float64 { return 1 / x }), "v_rsq_f16": h(func(x float64) float64 { return 1 / math.Sqrt(x) }),
		"v_cvt_u16_f16": func(x float64) uint64 { return limited(x, 0, 65535) }, "v_cvt_i16_f16": func(x float64) uint64 { return limited(x, -32768, 32767) },
		"v_cvt_norm_i16_f16": norm(32767), "v_cvt_norm_u16_f16": norm(65535),
		"v_frexp_mant_f16": h(func(x float64) float64 { m, _ := math.Frexp(x); return m }),
		"v_frexp_exp_i16_f16": func(x float64) uint64 {
			if x == 0 || !finite(x) {
				return 0
			}
			_, e := math.Frexp(x)
			return uint64(e) & 0xffff
		},
		"v_cvt_f32_f16": func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) },
	}
	m := newMachine(t, gcn.GFX942)
	m.setMask(^uint64(0))
	for _, info := range gcn.Ops(gcn.GFX942) {
		model := ops[info.Name]
		if model == nil || info.Enc != gcn.VOP1 {
			continue
		}
		delete(ops, info.Name)
		wide := info.Name == "v_cvt_f32_f16"
		for at := uint64(0); at < 1<<16; at += 64 {
			for i := range 64 {
				m.V[0][i] = uint32(at) + uint32(i)
			}
			if err := m.exec(0x3f<<25 | 6<<17 | uint32(info.Opcode[gcn.GFX942])<<9 | 256); err != nil {
				t.Fatal(err)
			}
			for i := range 64 {
				b := at + uint64(i)
				got, want := uint64(m.V[6][i]), model(number(b))
				if !wide {
					got &= 0xffff
				}
				if got != want && !(wide && isNaN32(uint32(got)) && isNaN32(uint32(want))) && !(!wide && info.Operands[0].Type == gcn.F16 && formats["f16"].nan(got) && formats["f16"].nan(want)) {
					t.Fatalf("%s of %#x (%g): %#x, want %#x", info.Name, b, number(b), got, want)
				}
			}
		}
	}
	for name := range ops {
		t.Errorf("%s was not tried", name)
	}
}
