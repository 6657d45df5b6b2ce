package exec

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// miniFormats are the formats as their standards' tables have them: OCP 8-bit Floating Point (OFP8) and
// OCP Microscaling Formats (MX), and IEEE 754 binary16: bits of the exponent and the mantissa, the largest
// number, the smallest normal and the smallest one, and whether the codes after the largest number are infinity, or NaN, or none.
var miniFormats = map[string]struct {
	f                         *minifloat
	exponent, mantissa        int
	largest, normal, smallest float64
	infinity, nan             bool
}{
	"e4m3": {&e4m3, 4, 3, 448, 0x1p-6, 0x1p-9, false, true},
	"e5m2": {&e5m2, 5, 2, 57344, 0x1p-14, 0x1p-16, true, true},
	"e2m3": {&e2m3, 2, 3, 7.5, 1, 0.125, false, false},
	"e3m2": {&e3m2, 3, 2, 28, 0.25, 0.0625, false, false},
	"e2m1": {&e2m1, 2, 1, 6, 1, 0.5, false, false},
	"f16":  {&binary16, 5, 10, 65504, 0x1p-14, 0x1p-24, true, true},
}

// miniValues are the numbers that are not negative of a format, in the order of their codes. They
// are counted up from the smallest one: the step doubles with each exponent but the first.
func miniValues(mantissa int, smallest, largest float64) []float64 {
	var v []float64
	for x, step := 0.0, smallest; x <= largest; x += step {
		v = append(v, x)
		if n := len(v) - 1; n > 1<<mantissa && n%(1<<mantissa) == 0 {
			step *= 2
		}
	}
	return v
}

func TestMinifloatValues(t *testing.T) {
	for name, f := range miniFormats {
		v := miniValues(f.mantissa, f.smallest, f.largest)
		if v[len(v)-1] != f.largest || v[1<<f.mantissa] != f.normal {
			t.Fatalf("%s: the largest number is %v, the smallest normal one %v", name, v[len(v)-1], v[1<<f.mantissa])
		}
		half := uint32(1) << (f.exponent + f.mantissa)
		for c := range half {
			want := math.NaN()
			switch {
			case int(c) < len(v):
				want = v[c]
			case int(c) == len(v) && f.infinity:
				want = math.Inf(1)
			case !f.nan:
				t.Fatalf("%s: %#x is no number", name, c)
			}
			for _, minus := range []uint32{0, half} {
				got := f.f.value(c | minus | 1<<20*half) // what is above does not matter
				if minus != 0 {
					want = -want
				}
				if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Fatalf("%s: %#x is %v, want %v", name, c|minus, got, want)
				}
				if want == want {
					if back := f.f.nearest(got, false); back != c|minus {
						t.Fatalf("%s: %v becomes %#x, want %#x", name, got, back, c|minus)
					}
				}
			}
		}
	}
}

// Random numbers of all sizes, against the distance to the neighbours in the table of all numbers; above
// the largest one, its neighbour would be the next that the step leads to.
func TestMinifloatRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for name, f := range miniFormats {
		v := miniValues(f.mantissa, f.smallest, f.largest)
		over := uint32(len(v)) // infinity, or NaN
		if !f.nan {
			over--
		}
		next := f.largest + (f.largest - v[len(v)-2])
		all := append(slices.Clone(v), next)
		minus := uint32(1) << (f.exponent + f.mantissa)
		check := func(x float64, limit bool, got, want uint32) {
			t.Helper()
			if int(want) >= len(v) {
				if want = over; limit {
					want = uint32(len(v)) - 1
				}
			}
			if math.Signbit(x) {
				want |= minus
			}
			if got != want {
				t.Fatalf("%s: %v (limit %v) becomes %#x, want %#x", name, x, limit, got, want)
			}
		}
		for n := range 20000 {
			i := r.IntN(len(v))
			lo, hi := all[i], all[i+1]
			x := lo + (hi-lo)*r.Float64()
			switch n % 8 {
			case 0:
				x = (lo + hi) / 2
			case 1:
				x = math.Nextafter((lo+hi)/2, 0)
			case 2:
				x = math.Nextafter((lo+hi)/2, 1e9)
			case 3:
				x = next * (1 + r.Float64()*1000)
				i = len(v)
			}
			limit := n&16 != 0
			want := uint32(i)
			if i < len(v) {
				if d := (x - lo) - (hi - x); d > 0 || d == 0 && i&1 != 0 {
					want++
				}
			}
			if n&32 != 0 {
				x = -x
			}
			check(x, limit, f.f.nearest(x, limit), want)

			// By random bits: up if the fraction between the neighbours, cut off where the source's bits end, and the
			// random one make a whole. The source is as if it had no smallest number.
			from := []*minifloat{&binary32, &binary16, &bfloat16}[n%3]
			if f.f == &binary16 {
				from = &binary32
			}
			bits := from.mantissa - f.mantissa
			x = math.Abs(x)
			fr, e := math.Frexp(x)
			x = math.Ldexp(math.Floor(math.Ldexp(fr, from.mantissa+1)), e-from.mantissa-1)
			random := r.Uint32()
			if i < len(v) {
				if i = slices.IndexFunc(all, func(y float64) bool { return y > x }) - 1; i < 0 {
					i = len(v)
				}
			}
			want = uint32(i)
			if i < len(v) {
				fraction := math.Floor((x - all[i]) / (all[i+1] - all[i]) * math.Ldexp(1, bits))
				if fraction+float64(random>>(32-bits)) >= math.Ldexp(1, bits) {
					want++
				}
			}
			check(x, limit, f.f.stochastic(x, from, random, limit), want)
		}
		for _, limit := range []bool{false, true} {
			check(math.Inf(-1), limit, f.f.nearest(math.Inf(-1), limit), uint32(len(v)))
		}
		nan := f.f.nearest(math.NaN(), true)
		if v := f.f.value(nan); f.nan != (v != v) || !f.nan && v != f.largest {
			t.Errorf("%s: NaN becomes %#x", name, nan)
		}
	}
	// float32 and bfloat16, against Go's and the conversion that is there already.
	for range 10000 {
		x := math.Float64frombits(r.Uint64())
		if got := binary32.nearest(x, false); x == x && got != b32(float32(x)) {
			t.Fatalf("%v becomes %#x, want %#x", x, got, b32(float32(x)))
		}
		y := f32(r.Uint32())
		if got := bfloat16.nearest(float64(y), false); y == y && got != uint32(f32toBF16(y)) {
			t.Fatalf("%v becomes %#x, want %#x", y, got, f32toBF16(y))
		}
	}
	for text, want := range map[string]uint32{"464": 0x7e, "464.0001": 0x7f, "1.0625": 0x38, "1.1875": 0x3a, "0.0009765625": 0, "0.00097656251": 1} {
		x, _ := strconv.ParseFloat(text, 64)
		if got := e4m3.nearest(x, false); got != want {
			t.Errorf("%s becomes %#x, want %#x", text, got, want)
		}
	}
}
