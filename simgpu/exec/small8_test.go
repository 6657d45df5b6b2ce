package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// small8Values are the numbers of a format by their definition, in the order of their
// codes; NaN for 0x80.
func small8Values(mantissa, bias int) (v [256]float64) {
	for c := range 256 {
		e, m := c&0x7f>>mantissa, float64(c&(1<<mantissa-1))/float64(int(1)<<mantissa)
		if e == 0 {
			v[c] = math.Ldexp(m, 1-bias)
		} else {
			v[c] = math.Ldexp(1+m, e-bias)
		}
		if c&0x80 != 0 {
			v[c] = -v[c]
		}
	}
	v[0x80] = math.NaN()
	return v
}

var small8Formats = []struct {
	name           string
	f              small8
	mantissa, bias int
	largest        float64
}{{"fp8", fp8, 3, 8, 240}, {"bf8", bf8, 2, 16, 57344}}

func TestSmall8Values(t *testing.T) {
	for _, f := range small8Formats {
		v := small8Values(f.mantissa, f.bias)
		if v[0x7f] != f.largest {
			t.Fatalf("%s: the largest number is %g", f.name, v[0x7f])
		}
		for c := range uint32(256) {
			if got := float64(f.f.value(c | 0x500)); got != v[c] && c != 0x80 || c == 0x80 && got == got {
				t.Errorf("%s: %#x is %g, want %g", f.name, c, got, v[c])
			}
			x := b32(float32(v[c]))
			if got := f.f.nearest(x, false); got != c {
				t.Errorf("%s: %#x is %g, which becomes %#x", f.name, c, v[c], got)
			}
			if got := f.f.stochastic(x, ^uint32(0), false); got != c {
				t.Errorf("%s: %#x is %g, which becomes %#x", f.name, c, v[c], got)
			}
		}
	}
}

// small8Neighbours are the codes of the numbers around x, the one nearer to zero first.
func small8Neighbours(v *[256]float64, x float64) (below, above uint32) {
	for c := range uint32(0x7f) {
		if v[c] <= x && x <= v[c+1] {
			return c, c + 1
		}
	}
	panic("out of range")
}

// Every exponent and many mantissas, against the distance to the neighbours.
func TestSmall8Rounding(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, f := range small8Formats {
		v := small8Values(f.mantissa, f.bias)
		for n := range 1 << 17 {
			x := uint32(n&0xff)<<23 | r.Uint32()&0x7fffff
			switch n >> 8 & 3 {
			case 0: // ties and what is beside them
				x = x&0xff87ffff | uint32(n>>10&31)<<18
				x += uint32(n>>15&3) - 1
			case 1:
				x = x &^ 0x7fff
			}
			a := float64(f32(x & 0x7fffffff))
			x |= uint32(n) >> 16 & 1 << 31
			sign := x >> 24 & 0x80
			if !(a <= f.largest) {
				if got := f.f.nearest(x, false); got != 0x80 {
					t.Fatalf("%s: %g becomes %#x", f.name, f32(x), got)
				}
				want := sign | 0x7f
				if a != a {
					want = 0x80
				}
				if got, sr := f.f.nearest(x, true), f.f.stochastic(x, r.Uint32(), true); got != want || sr != want {
					t.Fatalf("%s: %g becomes %#x and %#x with FP16_OVFL, want %#x", f.name, f32(x), got, sr, want)
				}
				continue
			}
			lo, hi := small8Neighbours(&v, a)
			want := lo
			if d := (a - v[lo]) - (v[hi] - a); d > 0 || d == 0 && lo&1 != 0 {
				want = hi
			}
			signed := func(c uint32) uint32 {
				if c != 0 {
					c |= sign
				}
				return c
			}
			if got := f.f.nearest(x, false); got != signed(want) {
				t.Fatalf("%s: %g becomes %#x, want %#x", f.name, f32(x), got, signed(want))
			}
			// Stochastic: up if the random fraction and that of x make one. What is far
			// below the smallest number loses bits first: down.
			drop := 23 - f.mantissa
			fraction := math.Floor((a - v[lo]) / (v[hi] - v[lo]) * math.Ldexp(1, drop))
			random := r.Uint32()
			want = lo
			if fraction+float64(random&(1<<drop-1)) >= math.Ldexp(1, drop) {
				want = hi
			}
			if got := f.f.stochastic(x, random, false); got != signed(want) {
				t.Fatalf("%s: %g with %#x becomes %#x, want %#x", f.name, f32(x), random, got, signed(want))
			}
		}
	}
}

func TestSmall8Instructions(t *testing.T) {
	m := newMachine(t, gcn.GFX942)
	m.V[0], m.V[2], m.V[6] = Vec{math32(1)}, Vec{math32(-2)}, Vec{0x12345678}
	m.inst("v_cvt_pk_fp8_f32 v6, v0, v2 op_sel:[0,0,1]", 0xd2a24006, 0x00020500)
	if m.V[6][0] != 0xc8405678 {
		t.Errorf("v_cvt_pk_fp8_f32: %#x", m.V[6][0])
	}
	m.inst("v_cvt_pk_f32_fp8_sdwa v[8:9], v6 src0_sel:WORD_1", 0x7e10acf9, 0x00050606)
	m.inst("v_cvt_f32_fp8_sdwa v10, v6 src0_sel:BYTE_3", 0x7e14a8f9, 0x00030606)
	if m.V[8][0] != math32(1) || m.V[9][0] != math32(-2) || m.V[10][0] != math32(-2) {
		t.Errorf("from fp8: %#x %#x %#x", m.V[8][0], m.V[9][0], m.V[10][0])
	}
	// Stochastic: 1 + 1/16 lies between two numbers, at half the way.
	m.V[0], m.V[6], m.V[7] = Vec{math32(1 + 1./16), math32(1 + 1./16)}, Vec{0x12345678, 0x12345678, 5}, Vec{0x12345678}
	m.V[2] = Vec{0x7ffff, 0x80000}
	m.setMask(3)
	m.inst("v_cvt_sr_fp8_f32 v6, v0, v2 op_sel:[0,0,1,0]", 0xd2a42006, 0x00020500)
	if got := [3]uint32(m.V[6][:3]); got != [3]uint32{0x12344078, 0x12344178, 5} {
		t.Errorf("v_cvt_sr_fp8_f32: %#x", got)
	}
	m.inst("v_cvt_sr_bf8_f32 v7, -v0, v2 op_sel:[0,0,1,1]", 0xd2a56007, 0x20020500)
	if got := m.V[7][0]; got != 0xc0345678 {
		t.Errorf("v_cvt_sr_bf8_f32: %#x", got)
	}
}

// TestSmall8Every: what is read of each of the 256 numbers, and that it is written
// again as it was.
func TestSmall8Every(t *testing.T) {
	m := newMachine(t, gcn.GFX942)
	for _, f := range small8Formats {
		v := small8Values(f.mantissa, f.bias)
		for first := uint32(0); first < 256; first += 64 {
			for i := range m.V[0] {
				c := first + uint32(i)
				m.V[0][i], m.V[2][i] = c|(c^0x41)<<8|0x5a5a0000, 0x12345678
			}
			m.run("v_cvt_f32_" + f.name + " v4, v0")
			m.run("v_cvt_pk_f32_" + f.name + " v[6:7], v0")
			m.run("v_cvt_pk_" + f.name + "_f32 v2, v6, v7")
			for i := range m.V[0] {
				c := first + uint32(i)
				want, other := v[c], v[c^0x41]
				if one, low, high := f32(m.V[4][i]), f32(m.V[6][i]), f32(m.V[7][i]); !same64(float64(one), want) || !same64(float64(low), want) || !same64(float64(high), other) {
					t.Errorf("%s: %#x is %g, and %g and %g; want %g and %g", f.name, c, one, low, high, want, other)
				}
				if got, want := m.V[2][i], c|(c^0x41)<<8|0x12340000; got != want {
					t.Errorf("%s: %g and %g become %#x, want %#x", f.name, f32(m.V[6][i]), f32(m.V[7][i]), got, want)
				}
			}
		}
	}
}

// On gfx950 the same instructions are about OCP's formats.
func TestFloat8OCP(t *testing.T) {
	m := newMachine(t, gcn.GFX950)
	for _, f := range []struct {
		name              string
		mantissa          int
		smallest, largest float64
	}{{"fp8", 3, 0x1p-9, 448}, {"bf8", 2, 0x1p-16, 57344}} {
		v := miniValues(f.mantissa, f.smallest, f.largest)
		for first := uint32(0); first < 256; first += 64 {
			for i := range m.V[0] {
				c := first + uint32(i)
				m.V[0][i], m.V[2][i], m.V[3][i] = c|(c^0x41)<<8|0x5a5a0000, 0x12345678, 0x12345678
			}
			m.run("v_cvt_f32_" + f.name + " v4, v0")
			m.run("v_cvt_pk_f32_" + f.name + " v[6:7], v0")
			m.run("v_cvt_pk_" + f.name + "_f32 v2, v6, v7")
			m.run("v_cvt_sr_" + f.name + "_f32 v3, v6, v0")
			for i := range m.V[0] {
				c := first + uint32(i)
				value := func(c uint32) float64 {
					x, k := 0.0, int(c&0x7f)
					switch {
					case k < len(v):
						x = v[k]
					case k == len(v) && f.name == "bf8":
						x = math.Inf(1)
					default:
						return math.NaN()
					}
					return math.Copysign(x, 0.5-float64(c>>7))
				}
				want, other := value(c), value(c^0x41)
				if one, low, high := f32(m.V[4][i]), f32(m.V[6][i]), f32(m.V[7][i]); !same64(float64(one), want) || !same64(float64(low), want) || !same64(float64(high), other) {
					t.Errorf("%s: %#x is %g, and %g and %g; want %g and %g", f.name, c, one, low, high, want, other)
				}
				if want != want || other != other {
					continue // NaN is not written as it was
				}
				if got, want := m.V[2][i], c|(c^0x41)<<8|0x12340000; got != want {
					t.Errorf("%s: %g and %g become %#x, want %#x", f.name, f32(m.V[6][i]), f32(m.V[7][i]), got, want)
				}
				if got, want := m.V[3][i], c|0x12345600; got != want {
					t.Errorf("%s: %g becomes %#x, want %#x", f.name, f32(m.V[6][i]), got, want)
				}
			}
		}
	}
	// The highest bits of the random number count, and too large becomes NaN or infinity, or the largest number.
	m.V[0] = Vec{math32(1 + 1./16), math32(1 + 1./16), math32(460), math32(1e30)}
	m.V[2] = Vec{0x7ffff000, 0x80000000, 0, 0}
	for mode, want := range map[uint32][4]uint32{0xf0: {0x38, 0x39, 0x7e, 0x7f}, 0xf0 | 1<<23: {0x38, 0x39, 0x7e, 0x7e}} {
		m.setMode(mode)
		m.V[6] = Vec{}
		m.inst("v_cvt_sr_fp8_f32 v6, v0, v2", 0xd2a40006, 0x00020500)
		if got := [4]uint32(m.V[6][:4]); got != want {
			t.Errorf("v_cvt_sr_fp8_f32: %#x, want %#x", got, want)
		}
	}
}
