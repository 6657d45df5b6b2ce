package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

func sameF32(got, want uint64) bool {
	return isNaN32(uint32(got)) && isNaN32(uint32(want)) && got>>32 == want>>32
}

func sameF64(got, want uint64) bool {
	x, y := math.Float64frombits(got), math.Float64frombits(want)
	return x != x && y != y
}

// sameF16 compares two halves, each of which may be any NaN instead of another.
func sameF16(got, want uint64) bool {
	half := func(g, w uint16) bool { return g == w || isNaN16(g) && isNaN16(w) }
	return half(uint16(got), uint16(want)) && half(uint16(got>>16), uint16(want>>16)) && got>>32 == want>>32
}

func wildF(r *rand.Rand) uint64 { return uint64(wild32(r)) | uint64(wild32(r))<<32 }

func TestFloat32(t *testing.T) {
	type u = uint64
	F := func(x u) float64 { return float64(f32(uint32(x))) }
	B := func(x float64) u { return u(math32(x)) }
	fma := func(a, b, c u) u { return B(exactFMA(F(a), F(b), F(c), 24)) }
	neg := func(x u) u { return u32(x) ^ 1<<31 }
	abs := func(x u) u { return x & 0x7fffffff }
	one := u(0x3f800000)
	clamp := func(x u) u {
		f := F(x)
		switch {
		case !(f > 0): // NaN too
			return 0
		case f > 1:
			return one
		}
		return u32(x)
	}
	minNum := func(a, b u) u {
		x, y := F(a), F(b)
		switch {
		case x != x:
			return u32(b)
		case y != y:
			return u32(a)
		case x < y || x == y && a>>31&1 == 1:
			return u32(a)
		}
		return u32(b)
	}
	maxNum := func(a, b u) u { return neg(minNum(neg(a), neg(b))) }
	ops := []op3{
		op(func(a, b, c u, i int) u { return B(F(a) + F(b)) }, "v_add_f32_e32 v6, v0, v2", 0x020c0500),
		op(func(a, b, c u, i int) u { return B(F(a) - F(b)) }, "v_sub_f32_e32 v6, v0, v2", 0x040c0500),
		op(func(a, b, c u, i int) u { return B(F(b) - F(a)) }, "v_subrev_f32_e32 v6, v0, v2", 0x060c0500),
		op(func(a, b, c u, i int) u { return B(F(a) * F(b)) }, "v_mul_f32_e32 v6, v0, v2", 0x0a0c0500),
		op(func(a, b, c u, i int) u { return B(F(abs(a)) - F(abs(b))) }, "v_add_f32_e64 v6, |v0|, -|v2|", 0xd1010306, 0x40020500),
		op(func(a, b, c u, i int) u { return clamp(B(F(a) * F(neg(b)))) }, "v_mul_f32_e64 v6, v0, -v2 clamp", 0xd1058006, 0x40020500),
		// Output multipliers are ignored in the usual mode; see TestArithmeticModes for others.
		op(func(a, b, c u, i int) u { return B(F(a) + F(b)) }, "v_add_f32_e64 v6, v0, v2 mul:4", 0xd1010006, 0x10020500),
		op(func(a, b, c u, i int) u { return B(F(a) + F(b)) }, "v_add_f32_e64 v6, v0, v2 div:2", 0xd1010006, 0x18020500),
		op(func(a, b, c u, i int) u { return B(-2 * F(b)) }, "v_mul_f32_e32 v6, -2.0, v2", 0x0a0c04f5),
		op(func(a, b, c u, i int) u { return B(float64(float32(0.15915494)) * F(b)) }, "v_mul_f32_e32 v6, 0.15915494, v2", 0x0a0c04f8),
		op(fma3(fma), "v_fma_f32 v6, v0, v2, v4", 0xd1cb0006, 0x04120500),
		op(func(a, b, c u, i int) u { return fma(neg(a), abs(b), neg(abs(c))) }, "v_fma_f32 v6, -v0, |v2|, -|v4|", 0xd1cb0606, 0xa4120500),
		op(func(a, b, c u, i int) u { return fma(a, b, 0x55555555) }, "v_fmac_f32_e32 v6, v0, v2", 0x760c0500),
		op(func(a, b, c u, i int) u { return minNum(a, b) }, "v_min_f32_e32 v6, v0, v2", 0x140c0500),
		op(func(a, b, c u, i int) u { return maxNum(a, b) }, "v_max_f32_e32 v6, v0, v2", 0x160c0500),
		op(func(a, b, c u, i int) u { return minNum(minNum(a, b), c) }, "v_min3_f32 v6, v0, v2, v4", 0xd1d00006, 0x04120500),
		op(func(a, b, c u, i int) u { return maxNum(maxNum(a, b), c) }, "v_max3_f32 v6, v0, v2, v4", 0xd1d30006, 0x04120500),
		op(func(a, b, c u, i int) u {
			if F(a) != F(a) || F(b) != F(b) || F(c) != F(c) {
				return minNum(minNum(a, b), c)
			}
			return maxNum(minNum(a, b), minNum(maxNum(a, b), c))
		}, "v_med3_f32 v6, v0, v2, v4", 0xd1d60006, 0x04120500),
		op(func(a, b, c u, i int) u {
			if F(a) == 0 || F(b) == 0 {
				return 0
			}
			return B(F(a) * F(b))
		}, "v_mul_legacy_f32 v6, v0, v2", 0xd2a10006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(math.Floor(F(a))) }, "v_floor_f32_e32 v6, v0", 0x7e0c3f00),
		op(func(a, b, c u, i int) u { return B(math.Ceil(F(a))) }, "v_ceil_f32_e32 v6, v0", 0x7e0c3b00),
		op(func(a, b, c u, i int) u { return B(math.Trunc(F(a))) }, "v_trunc_f32_e32 v6, v0", 0x7e0c3900),
		op(func(a, b, c u, i int) u { return B(math.RoundToEven(F(a))) }, "v_rndne_f32_e32 v6, v0", 0x7e0c3d00),
		op(func(a, b, c u, i int) u {
			x := F(a)
			return B(math.Min(F(B(x-math.Floor(x))), 1-0x1p-24))
		}, "v_fract_f32_e32 v6, v0", 0x7e0c3700),
		op(func(a, b, c u, i int) u { return B(math.Ldexp(F(a), int(clampTo(sx(b, 32), -1000, 1000)))) }, "v_ldexp_f32 v6, v0, v2", 0xd2880006, 0x00020500),
		op(func(a, b, c u, i int) u {
			f, _ := math.Frexp(F(a))
			return B(f)
		}, "v_frexp_mant_f32_e32 v6, v0", 0x7e0c6900),
		op(func(a, b, c u, i int) u {
			if !finite(F(a)) {
				return 0
			}
			_, e := math.Frexp(F(a))
			return u(e)
		}, "v_frexp_exp_i32_f32_e32 v6, v0", 0x7e0c6700),
		op(func(a, b, c u, i int) u { return B(1 / F(a)) }, "v_rcp_f32_e32 v6, v0", 0x7e0c4500),
		op(func(a, b, c u, i int) u { return B(math.Sqrt(F(a))) }, "v_sqrt_f32_e32 v6, v0", 0x7e0c4f00),
		op(func(a, b, c u, i int) u { return B(1 / math.Sqrt(F(a))) }, "v_rsq_f32_e32 v6, v0", 0x7e0c4900),
		// Conversions.
		op(func(a, b, c u, i int) u { return B(float64(sx(a, 32))) }, "v_cvt_f32_i32_e32 v6, v0", 0x7e0c0b00),
		op(func(a, b, c u, i int) u { return B(float64(u32(a))) }, "v_cvt_f32_u32_e32 v6, v0", 0x7e0c0d00),
		op(func(a, b, c u, i int) u { return B(float64(a >> 16 & 255)) }, "v_cvt_f32_ubyte2_e32 v6, v0", 0x7e0c2700),
		op(func(a, b, c u, i int) u { return saturate(math.Trunc(F(a)), -1<<31, 1<<31-1) }, "v_cvt_i32_f32_e32 v6, v0", 0x7e0c1100),
		op(func(a, b, c u, i int) u { return saturate(math.Trunc(F(a)), 0, 1<<32-1) }, "v_cvt_u32_f32_e32 v6, v0", 0x7e0c0f00),
		op(func(a, b, c u, i int) u { return saturate(math.Floor(F(a)), -1<<31, 1<<31-1) }, "v_cvt_flr_i32_f32_e32 v6, v0", 0x7e0c1b00),
		op(func(a, b, c u, i int) u { return saturate(math.Floor(F(a)+0.5), -1<<31, 1<<31-1) }, "v_cvt_rpi_i32_f32_e32 v6, v0", 0x7e0c1900),
		op(func(a, b, c u, i int) u { return B(float64(sx(a, 4)) / 16) }, "v_cvt_off_f32_i4_e32 v6, v0", 0x7e0c1d00),
		op(func(a, b, c u, i int) u {
			s := 8 * (b & 3)
			return c&^(255<<s) | saturate(math.RoundToEven(F(a)), 0, 255)<<s
		}, "v_cvt_pk_u8_f32 v6, v0, v2, v4", 0xd1dd0006, 0x04120500),
		op(func(a, b, c u, i int) u {
			n := func(x u) u {
				return saturate(math.RoundToEven(math.Max(-1, math.Min(1, F(x)))*32767), -32767, 32767) & 0xffff
			}
			return n(a) | n(b)<<16
		}, "v_cvt_pknorm_i16_f32 v6, v0, v2", 0xd2940006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(math.Float64frombits(a)) }, "v_cvt_f32_f64_e32 v6, v[0:1]", 0x7e0c1f00),
	}
	runOps(t, gcn.GFX90A, ops, wildF, sameF32)
	runOps(t, gcn.GFX90A, []op3{
		// Two at once; sources crosswise, negated.
		op(func(a, b, c u, i int) u { return B(F(a)*F(b)) | B(F(a>>32)*F(b>>32))<<32 }, "v_pk_mul_f32 v[6:7], v[0:1], v[2:3]", 0xd3b14006, 0x18020500),
		op(func(a, b, c u, i int) u { return B(F(a>>32)-F(b)) | B(F(a)+F(b>>32))<<32 },
			"v_pk_add_f32 v[6:7], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]", 0xd3b24806, 0x50020500),
		op(func(a, b, c u, i int) u { return fma(a, b, c) | fma(a>>32, b>>32, c>>32)<<32 }, "v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5]", 0xd3b04006, 0x1c120500),
		op(func(a, b, c u, i int) u { return clamp(B(F(a)*2)) | clamp(B(F(a>>32)*2))<<32 }, "v_pk_mul_f32 v[6:7], v[0:1], 2.0 op_sel_hi:[1,0] clamp", 0xd3b1c006, 0x0801e900),
	}, wildF, func(got, want u) bool {
		half := func(g, w u) bool { return g == w || sameF32(g, w) }
		return half(u32(got), u32(want)) && half(got>>32, want>>32)
	})
}

func fma3(f func(a, b, c uint64) uint64) func(a, b, c uint64, i int) uint64 {
	return func(a, b, c uint64, _ int) uint64 { return f(a, b, c) }
}

func saturate(x, lo, hi float64) uint64 {
	if x != x {
		return 0
	}
	return uint64(int64(math.Max(lo, math.Min(hi, x))))
}

func TestFloat64(t *testing.T) {
	type u = uint64
	F := math.Float64frombits
	B := math.Float64bits
	runOps(t, gcn.GFX90A, []op3{
		op(func(a, b, c u, i int) u { return B(F(a) + F(b)) }, "v_add_f64 v[6:7], v[0:1], v[2:3]", 0xd2800006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(math.Abs(F(a)) - F(b)) }, "v_add_f64 v[6:7], |v[0:1]|, -v[2:3]", 0xd2800106, 0x40020500),
		op(func(a, b, c u, i int) u { return B(F(a) * F(b)) }, "v_mul_f64 v[6:7], v[0:1], v[2:3]", 0xd2810006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(math.Max(0, math.Min(1, nanZero(F(a)*F(b))))) }, "v_mul_f64 v[6:7], v[0:1], v[2:3] clamp", 0xd2818006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(exactFMA(F(a), F(b), F(c), 53)) }, "v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]", 0xd1cc0006, 0x04120500),
		op(func(a, b, c u, i int) u { return B(exactFMA(F(a), F(b), F(0xaaaaaaaa55555555), 53)) }, "v_fmac_f64_e32 v[6:7], v[0:1], v[2:3]", 0x080c0500),
		op(func(a, b, c u, i int) u { return B(0.5 * F(b)) }, "v_mul_f64 v[6:7], 0.5, v[2:3]", 0xd2810006, 0x000204f0),
		op(func(a, b, c u, i int) u {
			switch {
			case F(a) != F(a):
				return b
			case F(b) != F(b):
				return a
			}
			return B(math.Max(F(a), F(b)))
		}, "v_max_f64 v[6:7], v[0:1], v[2:3]", 0xd2830006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(math.Floor(F(a))) }, "v_floor_f64_e32 v[6:7], v[0:1]", 0x7e0c3500),
		op(func(a, b, c u, i int) u { return B(math.Trunc(F(a))) }, "v_trunc_f64_e32 v[6:7], v[0:1]", 0x7e0c2f00),
		op(func(a, b, c u, i int) u { return B(math.RoundToEven(F(a))) }, "v_rndne_f64_e32 v[6:7], v[0:1]", 0x7e0c3300),
		op(func(a, b, c u, i int) u { return B(math.Min(F(a)-math.Floor(F(a)), 1-0x1p-53)) }, "v_fract_f64_e32 v[6:7], v[0:1]", 0x7e0c6500),
		op(func(a, b, c u, i int) u { return B(math.Ldexp(F(a), int(sx(b, 32)))) }, "v_ldexp_f64 v[6:7], v[0:1], v2", 0xd2840006, 0x00020500),
		op(func(a, b, c u, i int) u { return B(math.Sqrt(F(a))) }, "v_sqrt_f64_e32 v[6:7], v[0:1]", 0x7e0c5100),
		op(func(a, b, c u, i int) u { return B(1 / F(a)) }, "v_rcp_f64_e32 v[6:7], v[0:1]", 0x7e0c4b00),
		op(func(a, b, c u, i int) u { return B(1 / math.Sqrt(F(a))) }, "v_rsq_f64_e32 v[6:7], v[0:1]", 0x7e0c4d00),
		op(func(a, b, c u, i int) u {
			f, _ := math.Frexp(F(a))
			return B(f)
		}, "v_frexp_mant_f64_e32 v[6:7], v[0:1]", 0x7e0c6300),
		op(func(a, b, c u, i int) u { return B(float64(f32(uint32(a)))) }, "v_cvt_f64_f32_e32 v[6:7], v0", 0x7e0c2100),
		op(func(a, b, c u, i int) u { return B(float64(sx(a, 32))) }, "v_cvt_f64_i32_e32 v[6:7], v0", 0x7e0c0900),
		op(func(a, b, c u, i int) u { return B(float64(u32(a))) }, "v_cvt_f64_u32_e32 v[6:7], v0", 0x7e0c2d00),
		op(func(a, b, c u, i int) u { return saturate(math.Trunc(F(a)), -1<<31, 1<<31-1) }, "v_cvt_i32_f64_e32 v6, v[0:1]", 0x7e0c0700),
		op(func(a, b, c u, i int) u { return saturate(math.Trunc(F(a)), 0, 1<<32-1) }, "v_cvt_u32_f64_e32 v6, v[0:1]", 0x7e0c2b00),
		op(func(a, b, c u, i int) u {
			if !finite(F(a)) {
				return 0
			}
			_, e := math.Frexp(F(a))
			return u(e)
		}, "v_frexp_exp_i32_f64_e32 v6, v[0:1]", 0x7e0c6100),
	}, wild64, sameF64)
}

func nanZero(x float64) float64 {
	if x != x {
		return 0
	}
	return x
}

func TestFloat16(t *testing.T) {
	type u = uint64
	F := func(x u) float64 { return f16to64(uint16(x)) }
	B := func(x float64) u { return u(f64to16(x)) }
	fma := func(a, b, c u) u { return fmt16.fma(roundEven, a&0xffff, b&0xffff, c&0xffff) }
	lane := func(x u) u { return x&0xffff | 0x55550000 } // the upper half is kept
	runOps(t, gcn.GFX90A, []op3{
		op(func(a, b, c u, i int) u { return B(F(a) + F(b)) }, "v_add_f16_e32 v6, v0, v2", 0x3e0c0500),
		op(func(a, b, c u, i int) u { return B(-F(a) - math.Abs(F(b))) }, "v_sub_f16_e64 v6, -v0, |v2|", 0xd1200206, 0x20020500),
		op(func(a, b, c u, i int) u { return B(F(b) - F(a)) }, "v_subrev_f16_e32 v6, v0, v2", 0x420c0500),
		op(func(a, b, c u, i int) u { return B(F(a) * F(b)) }, "v_mul_f16_e32 v6, v0, v2", 0x440c0500),
		op(func(a, b, c u, i int) u { return B(4 * F(b)) }, "v_mul_f16_e32 v6, 4.0, v2", 0x440c04f6),
		op(func(a, b, c u, i int) u { return lane(fma(a, b, c)) }, "v_fma_f16 v6, v0, v2, v4", 0xd2060006, 0x04120500),
		op(func(a, b, c u, i int) u { return fma(a>>16, b, c>>16)<<16 | 0x5555 }, "v_fma_f16 v6, v0, v2, v4 op_sel:[1,0,1,1]", 0xd2066806, 0x04120500),
		op(func(a, b, c u, i int) u { return B(math.Sqrt(F(a))) }, "v_sqrt_f16_e32 v6, v0", 0x7e0c7d00),
		op(func(a, b, c u, i int) u { return B(1 / F(a)) }, "v_rcp_f16_e32 v6, v0", 0x7e0c7b00),
		op(func(a, b, c u, i int) u { return B(math.RoundToEven(F(a))) }, "v_rndne_f16_e32 v6, v0", 0x7e0c8f00),
		op(func(a, b, c u, i int) u { return B(math.Ldexp(F(a), int(clampTo(sx(b, 16), -900, 900)))) }, "v_ldexp_f16_e32 v6, v0, v2", 0x660c0500),
		op(func(a, b, c u, i int) u { return B(float64(f32(uint32(a)))) }, "v_cvt_f16_f32_e32 v6, v0", 0x7e0c1500),
		op(func(a, b, c u, i int) u { return B(float64(sx(a, 16))) }, "v_cvt_f16_i16_e32 v6, v0", 0x7e0c7500),
		op(func(a, b, c u, i int) u { return saturate(math.Trunc(F(a)), 0, 65535) }, "v_cvt_u16_f16_e32 v6, v0", 0x7e0c7700),
		op(func(a, b, c u, i int) u { return saturate(math.Trunc(F(a)), -32768, 32767) & 0xffff }, "v_cvt_i16_f16_e32 v6, v0", 0x7e0c7900),
		op(func(a, b, c u, i int) u {
			return lane(u(f64to16(F(B(float64(float32(exactFMA(float64(f32(uint32(a))), F(b>>16), F(c), 24))))))))
		}, "v_fma_mixlo_f16 v6, v0, v2, v4 op_sel:[0,1,0] op_sel_hi:[0,1,1]", 0xd3a15006, 0x14120500),
	}, wildF, sameF16)
	f32s := []op3{
		op(func(a, b, c u, i int) u { return u(math32(F(a))) }, "v_cvt_f32_f16_e32 v6, v0", 0x7e0c1700),
		op(func(a, b, c u, i int) u { return u(math32(F(a >> 16))) }, "v_cvt_f32_f16_sdwa v6, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 0x7e0c16f9, 0x00050600),
		op(func(a, b, c u, i int) u { return u(math32(exactFMA(float64(f32(uint32(a))), F(b), F(c>>16), 24))) },
			"v_fma_mix_f32 v6, v0, v2, v4 op_sel:[0,0,1] op_sel_hi:[0,1,1]", 0xd3a06006, 0x14120500),
		op(func(a, b, c u, i int) u { return u(math32(exactFMA(-math.Abs(F(a)), 2, float64(f32(uint32(c))), 24))) },
			"v_fma_mix_f32 v6, -|v0|, 2.0, v4 op_sel_hi:[1,0,0]", 0xd3a00106, 0x2c11e900),
	}
	runOps(t, gcn.GFX90A, f32s, wildF, sameF32)
	pk := func(f func(a, b, c u) u) func(a, b, c u, i int) u {
		return func(a, b, c u, _ int) u { return f(a, b, c)&0xffff | f(a>>16, b>>16, c>>16)<<16 }
	}
	runOps(t, gcn.GFX90A, []op3{
		op(pk(func(a, b, c u) u { return B(F(a) + F(b)) }), "v_pk_add_f16 v6, v0, v2", 0xd38f4006, 0x18020500),
		op(pk(func(a, b, c u) u { return B(F(a) * -F(b)) }), "v_pk_mul_f16 v6, v0, v2 neg_lo:[0,1] neg_hi:[0,1]", 0xd3904206, 0x58020500),
		op(pk(fma), "v_pk_fma_f16 v6, v0, v2, v4", 0xd38e4006, 0x1c120500),
		op(func(a, b, c u, i int) u { return B(F(a)+F(b))&0xffff | B(F(a)+F(b>>16))<<16 }, "v_pk_add_f16 v6, v0, v2 op_sel_hi:[0,1]", 0xd38f4006, 0x10020500),
		op(pk(func(a, b, c u) u { return B(math.Max(0, math.Min(1, nanZero(F(B(F(a)+F(b))))))) }), "v_pk_add_f16 v6, v0, v2 clamp", 0xd38fc006, 0x18020500),
		op(pk(func(a, b, c u) u { return u(roundF16(float64(f32(uint32(0))), roundZero)) }), "v_pk_mul_f16 v6, 0, 0", 0xd3904006, 0x18010080),
	}, wildF, sameF16)
	runOps(t, gcn.GFX90A, []op3{
		op(func(a, b, c u, i int) u {
			cut := func(x u) u {
				h := roundF16(float64(f32(uint32(x))), roundZero)
				// Truncation: never farther from zero than the value.
				if v := float64(f32(uint32(x))); v == v && math.Abs(f16to64(h)) > math.Abs(v) {
					t.Fatalf("%g is not cut: %#x", v, h)
				}
				return u(h)
			}
			return cut(a) | cut(b)<<16
		}, "v_cvt_pkrtz_f16_f32 v6, v0, v2", 0xd2960006, 0x00020500),
	}, wildF, nil)
}

// Approximations: within one unit in the last place, and exact where it counts.
func TestTranscendental(t *testing.T) {
	m := newMachine(t, gcn.GFX942)
	r := rand.New(rand.NewPCG(11, 12))
	for _, o := range []struct {
		f     func(x float64) float64
		x     func() float64
		exact map[float64]float64
		asm   string
		words []uint32
	}{
		{math.Exp2, func() float64 { return r.Float64()*250 - 125 }, map[float64]float64{0: 1, 3: 8, -2: 0.25, 1000: math.Inf(1), -1000: 0}, "v_exp_f32_e32 v6, v0", []uint32{0x7e0c4100}},
		{math.Log2, func() float64 { return math.Exp2(r.Float64()*200 - 100) }, map[float64]float64{1: 0, 8: 3, 0: math.Inf(-1), 0x1p-140: math.Inf(-1), -1: math.NaN()}, "v_log_f32_e32 v6, v0", []uint32{0x7e0c4300}},
		{func(x float64) float64 { return math.Sin(2 * math.Pi * x) }, func() float64 { return r.Float64()*2 - 1 }, map[float64]float64{0.5: 0, 0.25: 1, 100.75: -1, 1e9: 0}, "v_sin_f32_e32 v6, v0", []uint32{0x7e0c5300}},
		{func(x float64) float64 { return math.Cos(2 * math.Pi * x) }, func() float64 { return r.Float64()*2 - 1 }, map[float64]float64{0.5: -1, 0.25: 0, 100.75: 0, 0: 1}, "v_cos_f32_e32 v6, v0", []uint32{0x7e0c5500}},
	} {
		run := func(xs []float64, check func(i int, got float64)) {
			t.Helper()
			for i, x := range xs {
				m.V[0][i] = math32(x)
			}
			m.inst(o.asm, o.words...)
			for i := range xs {
				check(i, float64(f32(m.V[6][i])))
			}
		}
		xs := make([]float64, 64)
		for range 100 {
			for i := range xs {
				xs[i] = float64(float32(o.x()))
			}
			run(xs, func(i int, got float64) {
				if want := o.f(xs[i]); math.Abs(got-want) > math.Abs(want)*0x1p-23+0x1p-26 {
					t.Fatalf("%s of %g is %g, want %g", o.asm, xs[i], got, want)
				}
			})
		}
		for x, want := range o.exact {
			run([]float64{x}, func(_ int, got float64) {
				if !same64(got, want) && !(got == 0 && want == 0) {
					t.Errorf("%s of %g is %g, want %g", o.asm, x, got, want)
				}
			})
		}
	}
}

// MODE: every rounding and denormal mode through the instructions.
func TestModes(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	const tiny, third = 0x00400000, 0x3eaaaaab
	set := func(asm string, words ...uint32) { t.Helper(); m.inst(asm, words...) }
	m.V[0] = Vec{0x3f800000, tiny, 0xbf800000, 0x00800000}
	m.V[2] = Vec{0x33000000, tiny, 0xb3000000, 0x3f000000}
	add := func() { t.Helper(); set("v_add_f32_e32 v6, v0, v2", 0x020c0500) }
	mul := func() { t.Helper(); set("v_mul_f32_e32 v7, v0, v2", 0x0a0e0500) }
	want := func(what string, got, want uint32) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %#x, want %#x", what, got, want)
		}
	}
	add()
	mul()
	want("nearest", m.V[6][0], 0x3f800000)
	want("denormals", m.V[6][1], 2*tiny)
	want("denormal product", m.V[7][3], 0x00400000)

	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1", 0xba000801, 0x00000001)
	add()
	want("up", m.V[6][0], 0x3f800001)
	want("up, negative", m.V[6][2], 0xbf800000)
	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2", 0xba000801, 0x00000002)
	add()
	want("down", m.V[6][0], 0x3f800000)
	want("down, negative", m.V[6][2], 0xbf800001)
	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0", 0xba000801, 0x00000000)

	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", 0xba000901, 0x00000000)
	add()
	mul()
	want("flushed sources", m.V[6][1], 0)
	want("flushed product", m.V[7][3], 0)
	set("v_max_f32_e32 v8, v0, v0", 0x16100100)
	want("flushed by max", m.V[8][1], 0)
	set("v_cmp_eq_f32_e64 s[20:21], v0, 0", 0xd0420014, 0x00010100)
	want("flushed by comparison", m.S[20], ^uint32(0)&^(1|4|8))
	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1", 0xba000901, 0x00000001)
	add()
	mul()
	want("sources kept", m.V[6][1], 2*tiny)
	want("result flushed", m.V[7][3], 0)
	set("s_getreg_b32 s4, hwreg(HW_REG_MODE)", 0xb884f801)
	want("mode", m.S[4], 0x3d0)

	// f64 and f16 have their own.
	m.set64(0, 0, 0x3ff0000000000000)
	m.set64(2, 0, 0x3c90000000000000)
	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1", 0xba000881, 0x00000001)
	set("v_add_f64 v[6:7], v[0:1], v[2:3]", 0xd2800006, 0x00020500)
	if got := m.get64(6, 0); got != 0x3ff0000000000001 {
		t.Errorf("f64 rounded up: %#x", got)
	}
	m.V[0][0], m.V[2][0] = 0x3c00, 0x0001
	set("v_add_f16_e32 v6, v0, v2", 0x3e0c0500)
	want("f16 rounded up", m.V[6][0], 0x3c01)
	m.V[0][0] = third
	set("v_cvt_f16_f32_e32 v6, v0", 0x7e0c1500)
	want("f16 conversion rounded up", m.V[6][0], 0x3556)
	m.V[0] = Vec{0x3f800000}
	m.V[2] = Vec{0x33000000}
	add()
	want("f32 not touched", m.V[6][0], 0x3f800000)

	// DX10_CLAMP off: NaN stays NaN.
	m.V[0] = Vec{0x7fc00000}
	set("v_max_f32_e64 v6, v0, v0 clamp", 0xd10b8006, 0x00020100)
	want("clamped NaN", m.V[6][0], 0)
	set("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 8, 1), 0", 0xba000201, 0x00000000)
	set("v_max_f32_e64 v6, v0, v0 clamp", 0xd10b8006, 0x00020100)
	want("NaN without DX10_CLAMP", m.V[6][0], 0x7fc00000)
}
