package exec

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Numbers that every format holds exactly, and whose products and sums it does
// too: multiples of a quarter. exactly turns bits to such a number.
type exactly struct {
	exponent, fraction int
	value              map[uint64]float64
}

func newExactly(exponent, fraction int) *exactly {
	x := &exactly{exponent, fraction, map[uint64]float64{}}
	for k := -32; k < 32; k++ {
		x.value[x.bits(float64(k)/4)] = float64(k) / 4
	}
	return x
}

func (x *exactly) bits(v float64) uint64 { return encodeFloat(v, x.exponent, x.fraction) }

func (x *exactly) random(r *rand.Rand) uint64 { return x.bits(quarter(r)) }

// median of three numbers, by counting.
func middle(v [3]float64) float64 {
	for i, x := range v {
		below, above := 0, 0
		for j, y := range v {
			if j != i && y <= x {
				below++
			}
			if j != i && y >= x {
				above++
			}
		}
		if below > 0 && above > 0 {
			return x
		}
	}
	panic(v)
}

const was = 0x55555555 // of the destination, before

// Halves: floating point.
func TestMoreHalves(t *testing.T) {
	type u = uint64
	h := newExactly(5, 10)
	F := func(x u) float64 {
		v, ok := h.value[x&0xffff]
		if !ok {
			t.Fatalf("%#x", x)
		}
		return v
	}
	B := h.bits
	low := func(x u) u { return x&0xffff | was&0xffff0000 } // the other half stays
	sign := func(x float64, s bool) float64 {
		if s {
			return -math.Abs(x)
		}
		return math.Abs(x)
	}
	fixup := func(a, b, c u) u {
		neg := (b^c)>>15&1 == 1
		switch {
		case F(b) == 0 && F(c) == 0:
			return 0x7e00 // any NaN
		case F(b) == 0:
			return 0x7c00 | u(flag(neg))<<15
		case F(c) == 0:
			return u(flag(neg)) << 15
		}
		return B(sign(F(a), neg))
	}
	power := func(x u) float64 { return math.RoundToEven(F(x)) }
	mad := func(a, b, c u) float64 { return F(a)*F(b) + F(c) }
	ops := []op3{
		op(func(a, b, c u, _ int) u { return B(math.Floor(F(a))) }, "v_floor_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { return B(math.Ceil(F(a))) }, "v_ceil_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { return B(math.Trunc(F(a))) }, "v_trunc_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { return B(F(a) - math.Floor(F(a))) }, "v_fract_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { f, _ := math.Frexp(F(a)); return B(f) }, "v_frexp_mant_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { _, e := math.Frexp(F(a)); return u(uint16(e)) }, "v_frexp_exp_i16_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { return B(math.Min(F(a), F(b))) }, "v_min_f16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return B(math.Max(F(a), F(b))) }, "v_max_f16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return low(B(min(F(a), F(b), F(c)))) }, "v_min3_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return low(B(max(F(a), F(b), F(c)))) }, "v_max3_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return low(B(middle([3]float64{F(a), F(b), F(c)}))) }, "v_med3_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return B(math.Exp2(power(a))) }, "v_rndne_f16 v6, v0; v_exp_f16 v6, v6"),
		op(func(a, b, c u, _ int) u { return B(power(a)) }, "v_rndne_f16 v6, v0; v_exp_f16 v6, v6; v_log_f16 v6, v6"),
		op(func(a, b, c u, _ int) u { return B(math.Exp2(-math.RoundToEven(F(a) / 2))) }, "v_mul_f16 v6, 0.5, v0; v_rndne_f16 v6, v6; v_exp_f16 v6, v6; v_mul_f16 v6, v6, v6; v_rsq_f16 v6, v6"),
		op(func(a, b, c u, _ int) u { return B([]float64{0, 1, 0, -1}[int(F(a)*4)&3]) }, "v_sin_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { return B([]float64{1, 0, -1, 0}[int(F(a)*4)&3]) }, "v_cos_f16 v6, v0"),
		op(func(a, b, c u, _ int) u { return low(B(mad(a, b, c))) }, "v_mad_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return B(mad(a, b, c)) }, "v_mad_legacy_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return B(mad(a, b, c)) }, "v_fma_legacy_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return B(mad(a, b, c)) }, "v_mov_b32 v6, v4; v_mac_f16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return B(mad(a, 0x4400, b)) }, "v_madmk_f16 v6, v0, 0x4400, v2"),
		op(func(a, b, c u, _ int) u { return B(mad(a, b, 0x4400)) }, "v_madak_f16 v6, v0, v2, 0x4400"),
		op(func(a, b, c u, _ int) u { return low(fixup(a, b, c)) }, "v_div_fixup_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return fixup(a, b, c) }, "v_div_fixup_legacy_f16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u {
			return saturate(math.RoundToEven(math.Max(-1, math.Min(1, F(a)))*32767), -32767, 32767) & 0xffff
		}, "v_cvt_norm_i16_f16 v6, v0"),
		op(func(a, b, c u, _ int) u {
			return saturate(math.RoundToEven(math.Max(0, math.Min(1, F(a)))*65535), 0, 65535)
		}, "v_cvt_norm_u16_f16 v6, v0"),
		op(func(a, b, c u, _ int) u {
			n := func(x u) u {
				return saturate(math.RoundToEven(math.Max(-1, math.Min(1, F(x)))*32767), -32767, 32767) & 0xffff
			}
			return n(a) | n(b)<<16
		}, "v_cvt_pknorm_i16_f16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u {
			n := func(x u) u {
				return saturate(math.RoundToEven(math.Max(0, math.Min(1, F(x)))*65535), 0, 65535)
			}
			return n(a) | n(b)<<16
		}, "v_cvt_pknorm_u16_f16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return u(math32(F(a)*F(b) + F(a>>16)*F(b>>16) + 4)) }, "v_dot2_f32_f16 v6, v0, v2, 4.0"),
	}
	pk := func(f func(a, b, c u) u) func(a, b, c u, i int) u {
		return func(a, b, c u, _ int) u { return f(a, b, c)&0xffff | f(a>>16, b>>16, c>>16)<<16 }
	}
	ops = append(ops,
		op(pk(func(a, b, c u) u { return B(math.Min(F(a), F(b))) }), "v_pk_min_f16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return B(math.Max(F(a), F(b))) }), "v_pk_max_f16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return B(mad(a, b, c)) }), "v_mov_b32 v6, v4; v_pk_fmac_f16 v6, v0, v2"))
	wild := func(r *rand.Rand) u { return h.random(r) | h.random(r)<<16 | h.random(r)<<32 | h.random(r)<<48 }
	same := func(got, want u) bool { // 0 of any sign, and any NaN
		half := func(g, w u) bool {
			g, w = g&0xffff, w&0xffff
			return g == w || g&0x7fff == 0 && w&0x7fff == 0 || g&0x7fff > 0x7c00 && w&0x7fff > 0x7c00
		}
		return half(got, want) && half(got>>16, want>>16) && got>>32 == want>>32
	}
	runOps(t, gcn.GFX90A, ops, wild, same)
}

// Single precision.
func TestMoreSingles(t *testing.T) {
	type u = uint64
	s := newExactly(8, 23)
	F := func(x u) float64 {
		v, ok := s.value[u32(x)]
		if !ok {
			t.Fatalf("%#x", x)
		}
		return v
	}
	B := s.bits
	mad := func(a, b, c u) u { return B(F(a)*F(b) + F(c)) }
	power := func(x u) float64 { return math.RoundToEven(F(x)) }
	ops := []op3{
		op(func(a, b, c u, _ int) u { return mad(a, b, c) }, "v_mad_f32 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return mad(a, b, c) }, "v_mad_legacy_f32 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return mad(a, b, c) }, "v_mov_b32 v6, v4; v_mac_f32 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return mad(a, B(4), b) }, "v_madmk_f32 v6, v0, 0x40800000, v2"),
		op(func(a, b, c u, _ int) u { return mad(a, b, B(4)) }, "v_madak_f32 v6, v0, v2, 0x40800000"),
		op(func(a, b, c u, _ int) u { return B(math.Exp2(power(a))) }, "v_rndne_f32 v6, v0; v_exp_legacy_f32 v6, v6"),
		op(func(a, b, c u, _ int) u { return B(power(a)) }, "v_rndne_f32 v6, v0; v_exp_f32 v6, v6; v_log_legacy_f32 v6, v6"),
		op(func(a, b, c u, _ int) u {
			n := func(x u) u {
				return saturate(math.RoundToEven(math.Max(0, math.Min(1, F(x)))*65535), 0, 65535)
			}
			return n(a) | n(b)<<16
		}, "v_cvt_pknorm_u16_f32 v6, v0, v2"),
		op(func(a, b, c u, i int) u { // the byte is the lane's number
			at := 8 * u(i%4)
			return u(was)&^(255<<at) | saturate(math.RoundToEven(F(a)), 0, 255)<<at
		}, "v_mbcnt_lo_u32_b32 v7, -1, 0; v_mbcnt_hi_u32_b32 v7, -1, v7; v_cvt_pkaccum_u8_f32 v6, v0, v7; v_mov_b32 v7, 0xaaaaaaaa"),
		op(func(a, b, c u, _ int) u { return h16.bits(F(a)*F(b)+F(c))<<16 | was&0xffff }, "v_fma_mixhi_f16 v6, v0, v2, v4"),
	}
	same := func(got, want u) bool { return got == want || u32(got)<<33 == 0 && u32(want)<<33 == 0 }
	wild := func(r *rand.Rand) u { return s.random(r) | s.random(r)<<32 }
	runOps(t, gcn.GFX90A, ops, wild, same)
	runOps(t, gcn.GFX942, []op3{
		op(func(a, b, c u, _ int) u { return mad(a, B(4), b) }, "v_fmamk_f32 v6, v0, 0x40800000, v2"),
		op(func(a, b, c u, _ int) u { return mad(a, b, B(4)) }, "v_fmaak_f32 v6, v0, v2, 0x40800000"),
	}, wild, same)
}

var h16 = newExactly(5, 10)

// Double precision.
func TestMoreDoubles(t *testing.T) {
	type u = uint64
	d := newExactly(11, 52)
	F := func(x u) float64 { return d.value[x] }
	same := func(got, want u) bool { return got == want || got<<1 == 0 && want<<1 == 0 }
	runOps(t, gcn.GFX90A, []op3{
		op(func(a, b, c u, _ int) u { return d.bits(math.Min(F(a), F(b))) }, "v_min_f64 v[6:7], v[0:1], v[2:3]"),
		op(func(a, b, c u, _ int) u { return d.bits(math.Max(F(a), F(b))) }, "v_max_f64 v[6:7], v[0:1], v[2:3]"),
		op(func(a, b, c u, i int) u { // scaled where VCC is set: in the upper lanes
			scale := 1.0
			switch {
			case i < 32:
			case math.Abs(F(c)) >= 2:
				scale = 0x1p128
			default:
				scale = 0x1p-128
			}
			return d.bits((F(a)*F(b) + F(c)) * scale)
		}, "s_mov_b32 vcc_lo, 0; s_mov_b32 vcc_hi, -1; v_div_fmas_f64 v[6:7], v[0:1], v[2:3], v[4:5]"),
	}, d.random, same)
}

// Integers: halves, packed ones, dot products, sums of differences.
func TestMoreIntegers(t *testing.T) {
	type u = uint64
	low := func(x u) u { return x&0xffff | was&0xffff0000 }
	half := func(x u, n int) int64 { return sx(x>>(16*n), 16) }
	uhalf := func(x u, n int) u { return x >> (16 * n) & 0xffff }
	pk := func(f func(a, b, c u) u) func(a, b, c u, i int) u {
		return func(a, b, c u, _ int) u {
			return f(a&0xffff, b&0xffff, c&0xffff)&0xffff | f(uhalf(a, 1), uhalf(b, 1), uhalf(c, 1))&0xffff<<16
		}
	}
	s := func(x u) int64 { return sx(x, 16) }
	dot := func(a, b u, width int, signed bool) (sum int64) {
		for k := 0; k < 32; k += width {
			x, y := int64(a>>k&(1<<width-1)), int64(b>>k&(1<<width-1))
			if signed {
				x, y = sx(u(x), uint(width)), sx(u(y), uint(width))
			}
			sum += x * y
		}
		return
	}
	ops := []op3{
		op(func(a, b, c u, _ int) u { return (uhalf(a, 0)*uhalf(b, 0) + uhalf(c, 0)) & 0xffff }, "v_mad_legacy_u16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return u(s(a)*s(b)+s(c)) & 0xffff }, "v_mad_legacy_i16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return uhalf(a, 0)*uhalf(b, 0) + c }, "v_mad_u32_u16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return u(max(s(a), s(b))) & 0xffff }, "v_max_i16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return min(uhalf(a, 0), uhalf(b, 0)) }, "v_min_u16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return (b - a) & 0xffff }, "v_subrev_u16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return low(a - b) }, "v_sub_i16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return low(clampTo(s(a)-s(b), -32768, 32767)) }, "v_sub_i16 v6, v0, v2 clamp"),
		op(func(a, b, c u, _ int) u { return low(u(min(s(a), s(b), s(c)))) }, "v_min3_i16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return low(u(max(s(a), s(b), s(c)))) }, "v_max3_i16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return low(min(uhalf(a, 0), uhalf(b, 0), uhalf(c, 0))) }, "v_min3_u16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return low(max(uhalf(a, 0), uhalf(b, 0), uhalf(c, 0))) }, "v_max3_u16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u {
			return low(u(sort3(int64(uhalf(a, 0)), int64(uhalf(b, 0)), int64(uhalf(c, 0)))[1]))
		}, "v_med3_u16 v6, v0, v2, v4"),
		op(pk(func(a, b, c u) u { return u(s(a) + s(b)) }), "v_pk_add_i16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return a - b }), "v_pk_sub_u16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return u(max(0, int64(a)-int64(b))) }), "v_pk_sub_u16 v6, v0, v2 clamp"),
		op(pk(func(a, b, c u) u { return a * b }), "v_pk_mul_lo_u16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return u(s(a)*s(b) + s(c)) }), "v_pk_mad_i16 v6, v0, v2, v4"),
		op(pk(func(a, b, c u) u { return b >> (a % 16) }), "v_pk_lshrrev_b16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return u(s(b) >> (a % 16)) }), "v_pk_ashrrev_i16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return u(max(s(a), s(b))) }), "v_pk_max_i16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return u(min(s(a), s(b))) }), "v_pk_min_i16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return max(a, b) }), "v_pk_max_u16 v6, v0, v2"),
		op(pk(func(a, b, c u) u { return min(a, b) }), "v_pk_min_u16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return u(dot(a, b, 16, false)) + c }, "v_dot2_u32_u16 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return u(dot(a, b, 8, false)) + c }, "v_dot4_u32_u8 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return u(dot(a, b, 4, true)) + c }, "v_dot8_i32_i4 v6, v0, v2, v4"),
		op(func(a, b, c u, _ int) u { return u(half(a, 0)*half(b, 0)+half(a, 1)*half(b, 1)) + was }, "v_dot2c_i32_i16 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return u(dot(a, b, 8, true)) + was }, "v_dot4c_i32_i8 v6, v0, v2"),
		op(func(a, b, c u, _ int) u { return u(dot(a, b, 4, true)) + was }, "v_dot8c_i32_i4 v6, v0, v2"),
		op(func(a, b, c u, _ int) u {
			var r u
			for k := range 4 {
				r |= min(sadBytes(a>>(8*k), b, true)+c>>(16*k)&0xffff, 0xffff) << (16 * k)
			}
			return r
		}, "v_mqsad_pk_u16_u8 v[6:7], v[0:1], v2, v[4:5]"),
	}
	for k, suffix := range []string{0: "0", 1: "1", 3: "3"} {
		if suffix != "" {
			ops = append(ops, op(func(a, b, c u, _ int) u { return u(math32(float64(a >> (8 * k) & 255))) }, fmt.Sprintf("v_cvt_f32_ubyte%s v6, v0", suffix)))
		}
	}
	ops = append(ops, op(func(a, b, c u, _ int) u { // rounded to the 11 bits of a half
		x := a & 0xffff
		if n := bits.Len64(x); n > 11 {
			half := u(1) << (n - 12)
			rest := x & (2*half - 1)
			x -= rest
			if rest > half || rest == half && x>>(n-11)&1 == 1 {
				x += 2 * half
			}
		}
		if x == 65536 {
			return 0x7c00
		}
		return encodeFloat(float64(x), 5, 10)
	}, "v_cvt_f16_u16 v6, v0"))
	runOps(t, gcn.GFX90A, ops, wild64, nil)

	// Four sums at once.
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(21, 22))
	for i := range 64 {
		m.set64(0, i, wild64(r))
		m.V[2][i] = uint32(wild64(r))
		for k := range 4 {
			m.V[24+k][i] = wild32(r)
		}
	}
	m.run("v_mqsad_u32_u8 v[20:23], v[0:1], v2, v[24:27]; v_nop")
	for i := range 64 {
		for k := range 4 {
			want := min(sadBytes(m.get64(0, i)>>(8*k), u(m.V[2][i]), true)+u(m.V[24+k][i]), 1<<32-1)
			if got := u(m.V[20+k][i]); got != want {
				t.Fatalf("v_mqsad_u32_u8 lane %d, sum %d: %#x, want %#x", i, k, got, want)
			}
		}
	}
}

// v_cmpx_class writes EXEC too; the classes by examples of each.
func TestClassesToEXEC(t *testing.T) {
	examples := map[string][10]uint64{ // signalling and quiet NaN, -inf, -normal, -denormal, -0, and back up
		"f16": {0x7d00, 0x7e00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 1, 0x3c00, 0x7c00},
		"f32": {0x7fa00000, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001, 0x80000000, 0, 1, 0x3f800000, 0x7f800000},
		"f64": {0x7ff4 << 48, 0x7ff8 << 48, 0xfff0 << 48, 0xbff0 << 48, 1<<63 | 1, 1 << 63, 0, 1, 0x3ff0 << 48, 0x7ff0 << 48},
	}
	for _, arch := range arches {
		for format, e := range examples {
			m := newMachine(t, arch)
			src := "v0"
			if format == "f64" {
				src = "v[0:1]"
			}
			for mask := range 1 << 10 {
				if bits.OnesCount(uint(mask)) > 2 && mask != 1<<10-1 {
					continue
				}
				for i := range 64 {
					m.set64(0, i, e[i%10])
					m.V[2][i] = uint32(mask)
				}
				m.setMask(0xfffff)
				m.run(fmt.Sprintf("v_cmpx_class_%s vcc, %s, v2", format, src))
				want := uint64(0)
				for i := range 20 {
					want |= uint64(mask>>(i%10)&1) << i
				}
				if m.s64(regVCC) != want || m.s64(regEXEC) != want {
					t.Fatalf("%v %s, classes %#x: VCC %#x, EXEC %#x, want %#x", arch, format, mask, m.s64(regVCC), m.s64(regEXEC), want)
				}
			}
		}
	}
}
