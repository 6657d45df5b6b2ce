package exec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func bits64(x float64) uint64 { return math.Float64bits(x) }

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// exactFMA is a*b+c by rational arithmetic, rounded to nearest even to 24 or 53
// bits; sums that are exactly zero, and infinities, follow IEEE.
func exactFMA(a, b, c float64, bits int) float64 {
	if !finite(a, b, c) {
		return a*b + c
	}
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	s := new(big.Rat).Mul(rat(a), rat(b))
	if p := s.Sign(); p == 0 || c == 0 && p == 0 {
		if c == 0 {
			return a*b + c
		}
	}
	s.Add(s, rat(c))
	if s.Sign() == 0 {
		return 0
	}
	if bits == 24 {
		f, _ := s.Float32()
		return float64(f)
	}
	f, _ := s.Float64()
	return f
}

func same64(a, b float64) bool {
	return a != a && b != b || bits64(a) == bits64(b)
}

// tries is how many of n random operands are tried: in short, a twentieth.
func tries(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range tries(300000) {
		a, b, c := f32(wild32(r)), f32(wild32(r)), f32(wild32(r))
		switch r.IntN(3) {
		case 0: // cancellation, and sums halfway between two values
			c = float32(-float64(a) * float64(b))
		case 1:
			p := float64(a) * float64(b)
			c = float32(p * math.Ldexp(1, -24-r.IntN(30)))
		}
		want := exactFMA(float64(a), float64(b), float64(c), 24)
		if got := float64(fma32(a, b, c)); !same64(got, want) {
			t.Fatalf("fma(%g, %g, %g) = %g, want %g", a, b, c, got, want)
		}
	}
	// Rounding the sum to 53 bits first would end halfway.
	a, b, c := float32(1+0x1p-12), float32(1-0x1p-12), float32(0x1p-60)
	if got, want := fma32(a, b, c), float32(exactFMA(float64(a), float64(b), float64(c), 24)); got != want {
		t.Errorf("fma = %x, want %x", got, want)
	}
}

// TestSoft compares the functions that serve unusual modes with whole numbers: every
// rounding, random operands, ends of the ranges, cancellation, sums next to halfway.
func TestSoft(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, model := range formats {
		f := map[string]format{"f16": fmt16, "f32": fmt32, "f64": fmt64}[name]
		check := func(what string, mode int, got, want uint64, of ...uint64) {
			if got != want && !(model.nan(got) && model.nan(want)) {
				t.Fatalf("%s %s of %#x, mode %d: %#x, want %#x", name, what, of, mode, got, want)
			}
		}
		for i := range tries(40000) {
			a, b, c := model.operand(r), model.operand(r), model.operand(r)
			mode := i & 3
			switch r.IntN(4) {
			case 0:
				c = model.fma("mul", a, b, 0, r.IntN(4)) ^ uint64(r.IntN(3)) ^ model.sign()
			case 1:
				c = model.power(r.IntN(2*int(f.emax)+1)-int(f.emax)) + uint64(r.IntN(3)) ^ a&model.sign()
			}
			check("fma", mode, f.fma(rounding(mode), a, b, c), model.fma("", a, b, c, mode), a, b, c)
			check("mul", mode, f.mul(rounding(mode), a, b), model.fma("mul", a, b, 0, mode), a, b)
			if name == "f64" {
				if x := model.exact(a); x.m.Sign() != 0 && !model.nan(a) && !model.infinite(a) {
					n := r.IntN(3400) - 2500
					x.e += n
					check("ldexp", mode, ldexpRounded(rounding(mode), a, n), model.round(x, mode), a, uint64(n))
				}
			} else if x := (f.value(a) + f.value(a^uint64(r.IntN(4)))) / 2; x != 0 && finite(x) { // halfway, or next to it
				x = math.Float64frombits(bits64(x) + uint64(r.IntN(3)) - 1)
				check("narrow", mode, f.narrow(rounding(mode), x), model.round(formats["f64"].exact(bits64(x)), mode), bits64(x))
			}
		}
	}
	// Every half, times some others and plus one.
	for a := range uint64(1 << 16) {
		b, mode := formats["f16"].operand(r), int(a&3)
		if got, want := fmt16.fma(rounding(mode), a, b, fmt16.one()), formats["f16"].fma("", a, b, fmt16.one(), mode); got != want && !formats["f16"].nan(want) {
			t.Fatalf("f16 %#x * %#x + 1, mode %d: %#x, want %#x", a, b, mode, got, want)
		}
	}
	// Directed rounding at the edges.
	tiny, huge := uint64(1), fmt32.encode(math.MaxFloat32)
	for mode, want := range []struct{ under, over, negUnder, negOver uint64 }{
		{0, 0x7f800000, 0x80000000, 0xff800000}, {1, 0x7f800000, 0x80000000, 0xff7fffff},
		{0, 0x7f7fffff, 0x80000001, 0xff800000}, {0, 0x7f7fffff, 0x80000000, 0xff7fffff}} {
		m := rounding(mode)
		if u, o := fmt32.mul(m, tiny, tiny), fmt32.mul(m, huge, huge); u != want.under || o != want.over {
			t.Errorf("mode %d: underflow %#x, overflow %#x, want %#x, %#x", mode, u, o, want.under, want.over)
		}
		if u, o := fmt32.mul(m, tiny|1<<31, tiny), fmt32.mul(m, huge|1<<31, huge); u != want.negUnder || o != want.negOver {
			t.Errorf("mode %d: underflow %#x, overflow %#x, want %#x, %#x", mode, u, o, want.negUnder, want.negOver)
		}
	}
	// x - x is -0 only when rounding down.
	one := fmt32.one()
	for mode, want := range []uint64{0, 0, 1 << 31, 0} {
		if got := fmt32.fma(rounding(mode), one, one, one|1<<31); got != want {
			t.Errorf("mode %d: 1-1 = %#x, want %#x", mode, got, want)
		}
	}
}

// Half precision: every value, and the neighbourhood of every halfway point.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		h := uint16(h)
		x := f16to64(h)
		m, e := float64(h&0x3ff), int(h>>10&31)
		want := math.Ldexp(m, -24)
		if e > 0 {
			want = math.Ldexp(1024+m, e-25)
		}
		if e == 31 {
			want = math.Inf(1)
			if m != 0 {
				want = math.NaN()
			}
		}
		if h>>15 != 0 {
			want = -want
		}
		if !same64(x, want) {
			t.Fatalf("f16 %#x is %g, want %g", h, x, want)
		}
		back := f64to16(x)
		if x != x {
			if !isNaN16(back) || back&0x8000 != h&0x8000 {
				t.Fatalf("NaN %#x becomes %#x", h, back)
			}
			continue
		}
		if back != h {
			t.Fatalf("%g becomes %#x, want %#x", x, back, h)
		}
		// Between this value and the next one.
		if h&0x7fff >= 0x7bff {
			continue
		}
		next := f16to64(h + 1)
		mid := (x + next) / 2
		even := h + h&1
		up, down := h+1, h
		if x < 0 || h>>15 != 0 {
			up, down = h, h+1 // towards +inf is the smaller magnitude
		}
		for mode, want := range []uint16{even, up, down, h} {
			if got := roundF16(mid, rounding(mode)); got != want {
				t.Fatalf("mode %d: %g between %#x and %#x becomes %#x, want %#x", mode, mid, h, h+1, got, want)
			}
		}
		if got := f64to16(math.Nextafter(mid, next)); got != h+1 {
			t.Fatalf("just beyond the middle of %#x: %#x", h, got)
		}
		if got := f64to16(math.Nextafter(mid, x)); got != h {
			t.Fatalf("just below the middle of %#x: %#x", h, got)
		}
	}
	if f64to16(65520) != 0x7c00 || f64to16(65519.99) != 0x7bff || f64to16(1e300) != 0x7c00 || f64to16(math.Ldexp(1, -25)) != 0 || f64to16(math.Nextafter(math.Ldexp(1, -25), 1)) != 1 ||
		f64to16(1e-300) != 0 || roundF16(1e-300, roundUp) != 1 || roundF16(-1e-300, roundDown) != 0x8001 {
		t.Error("limits of f16")
	}
}

func TestHalfArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200000 {
		a, b, c := uint16(wild32(r)), uint16(wild32(r)), uint16(wild32(r))
		x, y, z := f16to64(a), f16to64(b), f16to64(c)
		// One operation in float64 is exact, or far from halfway, so one rounding counts.
		for _, o := range []struct {
			name      string
			got, want uint16
		}{{"add", add16(a, b), f64to16(x + y)}, {"mul", mul16(a, b), f64to16(x * y)},
			{"fma", fma16(a, b, c), uint16(fmt16.fma(roundEven, uint64(a), uint64(b), uint64(c)))}} {
			if o.got != o.want && !(isNaN16(o.got) && isNaN16(o.want)) {
				t.Fatalf("%s(%g, %g, %g) = %#x, want %#x", o.name, x, y, z, o.got, o.want)
			}
		}
	}
}

// divide32 is the sequence that compilers make of a division.
func divide32(n, d float32) float32 {
	bits := func(x float32) uint64 { return uint64(b32(x)) }
	scale := func(s0 float32) (float32, bool) {
		r, flag := div32.divScale(bits(s0), bits(d), bits(n))
		return f32(uint32(r)), flag
	}
	ds, _ := scale(d)
	ns, flag := scale(n)
	y := float32(1 / float64(ds))
	e := fma32(-ds, y, 1)
	y = fma32(e, y, y)
	q := ns * y
	e = fma32(-ds, q, ns)
	q = fma32(e, y, q)
	e = fma32(-ds, q, ns)
	q = divFmas32(e, y, q, flag)
	return f32(uint32(div32.divFixup(bits(q), bits(d), bits(n))))
}

func divide64(n, d float64) float64 {
	scale := func(s0 float64) (float64, bool) {
		r, flag := div64.divScale(bits64(s0), bits64(d), bits64(n))
		return math.Float64frombits(r), flag
	}
	ds, _ := scale(d)
	ns, flag := scale(n)
	y := 1 / ds // v_rcp_f64
	e := math.FMA(-ds, y, 1)
	y = math.FMA(y, e, y)
	e = math.FMA(-ds, y, 1)
	y = math.FMA(y, e, y)
	q := ns * y
	e = math.FMA(-ds, q, ns)
	q = divFmas64(e, y, q, flag)
	return math.Float64frombits(div64.divFixup(bits64(q), bits64(d), bits64(n)))
}

func TestDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300000 {
		a, b := wild32(r), wild32(r)
		if r.IntN(2) == 0 { // all exponents, results at both ends of the range
			a, b = r.Uint32()&0x807fffff|uint32(r.IntN(256))<<23, r.Uint32()&0x807fffff|uint32(r.IntN(256))<<23
		}
		n, d := f32(a), f32(b)
		if got, want := divide32(n, d), n/d; !same64(float64(got), float64(want)) {
			t.Fatalf("%g / %g = %g (%#x), want %g (%#x)", n, d, got, b32(got), want, b32(want))
		}
	}
	for range 300000 {
		a, b := wild64(r), wild64(r)
		if r.IntN(2) == 0 {
			a, b = r.Uint64()&0x800fffffffffffff|uint64(r.IntN(2048))<<52, r.Uint64()&0x800fffffffffffff|uint64(r.IntN(2048))<<52
		}
		n, d := math.Float64frombits(a), math.Float64frombits(b)
		if got, want := divide64(n, d), n/d; !same64(got, want) {
			t.Fatalf("%g / %g = %g (%#x), want %g (%#x)", n, d, got, bits64(got), want, bits64(want))
		}
	}
}

// v_trig_preop_f64 gives pieces of 2/π that sum up to it.
func TestTrigPreop(t *testing.T) {
	if got, want := trigPreop(0, 0)+trigPreop(0, 1), 2/math.Pi; got != want {
		t.Errorf("first pieces make %g, want %g", got, want)
	}
	twoPi, _ := new(big.Float).SetPrec(400).SetString("0.63661977236758134307553505349005744813783858296182579499066937623558719053690614036045")
	sum := new(big.Float).SetPrec(400)
	for seg := range uint32(5) {
		sum.Add(sum, new(big.Float).SetFloat64(trigPreop(0, seg)))
	}
	diff, _ := sum.Sub(sum, twoPi).Float64()
	if math.Abs(diff) > 0x1p-264 {
		t.Errorf("five pieces are off by %g", diff)
	}
	// A large exponent skips the pieces that make whole turns.
	if got, want := trigPreop(1077+53, 0), trigPreop(0, 1); got != want {
		t.Errorf("shifted piece %g, want %g", got, want)
	}
	// Every piece is the 53 bits behind those that are skipped.
	for exponent := range uint32(2048) {
		for seg := range uint32(34) {
			skip := 53*(int(seg)%32) + max(0, int(exponent)-1077)
			bits := new(big.Int).Lsh(twoOverPi(), uint(skip))
			bits.Rsh(bits, twoOverPiBits-53).And(bits, big.NewInt(1<<53-1))
			scale := 0
			if exponent >= 1968 {
				scale = 128
			}
			if got, want := trigPreop(exponent, seg), math.Ldexp(float64(bits.Int64()), scale-skip-53); got != want {
				t.Fatalf("exponent %d, piece %d: %g, want %g", exponent, seg, got, want)
			}
		}
	}
}

func TestSinTurns(t *testing.T) {
	for _, c := range []struct{ x, sin, cos float64 }{{0, 0, 1}, {0.25, 1, 0}, {0.5, 0, -1}, {0.75, -1, 0}, {1, 0, 1}, {-0.25, -1, 0}, {17.25, 1, 0}, {1.0 / 12, 0.5, math.Sqrt(3) / 2}, {300, 0, 1}} {
		if s, k := sinTurns(c.x), cosTurns(c.x); math.Abs(s-c.sin) > 1e-15 || math.Abs(k-c.cos) > 1e-15 {
			t.Errorf("%g turns: sin %g, cos %g", c.x, s, k)
		}
	}
	if !math.IsNaN(sinTurns(math.Inf(1))) || !math.IsNaN(cosTurns(math.NaN())) {
		t.Error("sin of infinity, cos of NaN")
	}
}

// TestTrigPreopExecutes: the instruction selects 53 bits of 2/π, as known from elsewhere.
func TestTrigPreopExecutes(t *testing.T) {
	twoPi, _ := new(big.Float).SetPrec(400).SetString("0.63661977236758134307553505349005744813783858296182579499066937623558719053690614036045")
	for _, arch := range arches {
		m := newMachine(t, arch)
		for segment := range uint32(4) {
			for i := range 64 {
				m.set64(0, i, uint64(1050+i)<<52|uint64(i)) // from an exponent of 1077 on, whole turns are left out
				m.V[2][i] = segment
			}
			m.run("v_trig_preop_f64 v[6:7], v[0:1], v2")
			for i := range 64 {
				shift := 53*int(segment) + max(0, 1050+i-1077)
				n, _ := new(big.Float).SetMantExp(twoPi, shift+53).Int(nil)
				n.And(n, big.NewInt(1<<53-1))
				want := math.Ldexp(float64(n.Int64()), -53-shift)
				if got := math.Float64frombits(m.get64(6, i)); got != want {
					t.Errorf("%s: piece %d of an exponent of %d: %g, want %g", arch, segment, 1050+i, got, want)
				}
			}
		}
	}
}

// TestDot2Accumulates: products and sums of small whole numbers are exact.
func TestDot2Accumulates(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		h := func(n int) uint32 { return uint32(toHalf(float64(n))) }
		for i := range 64 {
			m.V[0][i], m.V[2][i], m.V[6][i] = h(i)|h(-3*i)<<16, h(i-20)|h(7)<<16, math32(float64(100*i))
		}
		m.run("v_dot2c_f32_f16 v6, v0, v2")
		for i := range 64 {
			if got, want := f32(m.V[6][i]), float32(100*i+i*(i-20)-21*i); got != want {
				t.Errorf("%s: %g, want %g", arch, got, want)
			}
		}
	}
}
