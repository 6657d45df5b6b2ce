package exec

import (
	"math"
	"unsafe"
)

func f32(x uint32) float32 { return math.Float32frombits(x) }
func b32(x float32) uint32 { return math.Float32bits(x) }

// singles views a register as float32, and touches it, so that a loop over it
// has no nil checks.
func singles(v *Vec) *[WaveSize]float32 {
	p := (*[WaveSize]float32)(unsafe.Pointer(v))
	_ = p[0]
	return p
}

// flush32 makes a denormal zero.
func flush32(x uint32) uint32 {
	if x&0x7f800000 == 0 {
		return x & 0x80000000
	}
	return x
}

// fma32 is a*b+c rounded once.
func fma32(a, b, c float32) float32 {
	// The product is exact in float64. The sum is rounded to 53 bits and then to
	// 24: wrong only if the first rounding ends halfway between two float32
	// values, or if the result is subnormal and not zero (its halfway points are
	// elsewhere).
	s := float64(a)*float64(b) + float64(c)
	if u := math.Float64bits(s); u<<35 == 1<<63 || u<<1-1 < 0x381<<53-1 {
		return fma32Exact(a, b, c)
	}
	return float32(s)
}

func fma32Exact(a, b, c float32) float32 { return float32(fmaOdd(a, b, c)) }

// fmaOdd is a*b+c as a float64 that was rounded to odd, so that rounding it
// again to fewer bits is as good as rounding the exact value.
func fmaOdd(a, b, c float32) float64 { return sumOdd(float64(a)*float64(b), float64(c)) }

func isNaN32(x uint32) bool { return x&0x7fffffff > 0x7f800000 }
func isSNaN32(x uint32) bool {
	return isNaN32(x) && x&0x400000 == 0
}

// med32 is the middle one of three; with a NaN, the smallest.
func med32(a, b, c uint32) uint32 {
	if isNaN32(a) || isNaN32(b) || isNaN32(c) {
		return min32(min32(a, b), c)
	}
	return max32(min32(a, b), min32(max32(a, b), c))
}

// slow2 and slow3 make the mode-dependent form of an operation on bits that
// rounds nothing: denormals are flushed, signalling NaNs quieted as IEEE says.
func slow32(f func(a, b, c uint32) uint32) lane {
	return fmt32.soft(func(_ rounding, a, b, c uint64) uint64 {
		return uint64(f(uint32(a), uint32(b), uint32(c)))
	})
}

var _ = define(func() {
	valu("v_add_f32", 2, func(d, a, b, _ *Vec) {
		x, y, z := singles(d), singles(a), singles(b)
		for i := range x {
			x[i] = y[i] + z[i]
		}
	}).f32(fmt32.softAdd()).nearest()
	valu("v_sub_f32", 2, func(d, a, b, _ *Vec) {
		x, y, z := singles(d), singles(a), singles(b)
		for i := range x {
			x[i] = y[i] - z[i]
		}
	}).f32(fmt32.softSub()).nearest()
	valu("v_subrev_f32", 2, func(d, a, b, _ *Vec) {
		x, y, z := singles(d), singles(a), singles(b)
		for i := range x {
			x[i] = z[i] - y[i]
		}
	}).f32(fmt32.softSubrev()).nearest()
	valu("v_mul_f32", 2, func(d, a, b, _ *Vec) {
		x, y, z := singles(d), singles(a), singles(b)
		for i := range x {
			x[i] = y[i] * z[i]
		}
	}).f32(fmt32.softMul()).nearest()
	valu("v_mul_legacy_f32", 2, func(d, a, b, _ *Vec) {
		for i := range d {
			d[i] = mulLegacy(a[i], b[i])
		}
	}).f32(slow32(func(a, b, _ uint32) uint32 { return mulLegacy(a, b) }))

	fma := func(d, a, b, c *Vec) {
		r, x, y, z := singles(d), singles(a), singles(b), singles(c)
		for i := range r {
			s := float64(x[i])*float64(y[i]) + float64(z[i])
			if u := math.Float64bits(s); u<<35 == 1<<63 || u<<1-1 < 0x381<<53-1 {
				r[i] = fma32Exact(x[i], y[i], z[i])
				continue
			}
			r[i] = float32(s)
		}
	}
	for _, n := range []string{"v_fma_f32", "v_fmac_f32", "v_fmamk_f32", "v_fmaak_f32"} {
		valu(n, 3, fma).f32(fmt32.softFMA()).nearest()
	}
	// mad and mac round the product too and know no denormals.
	mad := func(d, a, b, c *Vec) {
		for i := range d {
			d[i] = mad32(a[i], b[i], c[i])
		}
	}
	for _, n := range []string{"v_mad_f32", "v_mac_f32", "v_madmk_f32", "v_madak_f32"} {
		valu(n, 3, mad).f32(slow32(mad32))
	}
	valu("v_mad_legacy_f32", 3, func(d, a, b, c *Vec) {
		for i := range d {
			d[i] = madLegacy(a[i], b[i], c[i])
		}
	}).f32(slow32(madLegacy))

	onBits := func(name string, n int, f func(a, b, c uint32) uint32) {
		valu(name, n, func(d, a, b, c *Vec) {
			for i := range d {
				d[i] = f(a[i], b[i], c[i])
			}
		}).f32(slow32(f))
	}
	valu("v_max_f32", 2, func(d, a, b, _ *Vec) {
		for i := range d {
			d[i] = max32(a[i], b[i])
		}
	}).f32(minmax(func(a, b uint32) uint32 { return max32(a, b) }))
	valu("v_min_f32", 2, func(d, a, b, _ *Vec) {
		for i := range d {
			d[i] = min32(a[i], b[i])
		}
	}).f32(minmax(func(a, b uint32) uint32 { return min32(a, b) }))
	onBits("v_max3_f32", 3, func(a, b, c uint32) uint32 { return max32(max32(a, b), c) })
	onBits("v_min3_f32", 3, func(a, b, c uint32) uint32 { return min32(min32(a, b), c) })
	onBits("v_med3_f32", 3, med32)

	unary := func(name string, f func(x float32) float32) {
		valu(name, 1, func(d, a, _, _ *Vec) {
			for i := range d {
				d[i] = b32(f(f32(a[i])))
			}
		}).f32(slow32(func(a, _, _ uint32) uint32 { return b32(f(f32(a))) }))
	}
	via := func(f func(x float64) float64) func(x float32) float32 {
		return func(x float32) float32 { return float32(f(float64(x))) }
	}
	unary("v_floor_f32", via(math.Floor))
	unary("v_ceil_f32", via(math.Ceil))
	unary("v_trunc_f32", via(math.Trunc))
	unary("v_rndne_f32", via(math.RoundToEven))
	unary("v_fract_f32", func(x float32) float32 {
		return min(x-float32(math.Floor(float64(x))), math.Float32frombits(0x3f7fffff))
	})
	unary("v_frexp_mant_f32", func(x float32) float32 {
		m, _ := math.Frexp(float64(x))
		return float32(m)
	})
	valu("v_frexp_exp_i32_f32", 1, func(d, a, _, _ *Vec) {
		for i := range d {
			d[i] = frexpExp(float64(f32(a[i])))
		}
	})
	valu("v_ldexp_f32", 2, func(d, a, b, _ *Vec) {
		for i := range d {
			d[i] = b32(ldexp32(f32(a[i]), int32(b[i])))
		}
	}).f32(func(e *fpEnv, a, b, _ uint64) uint64 {
		return fmt32.soft(func(m rounding, a, _, _ uint64) uint64 {
			return fmt32.narrow(m, math.Ldexp(fmt32.value(a), int(clampExp(int32(b)))))
		})(e, a, 0, 0)
	})
})

func minmax(f func(a, b uint32) uint32) lane {
	return slow32(func(a, b, _ uint32) uint32 { return f(a, b) })
}

func mulLegacy(a, b uint32) uint32 {
	if a<<1 == 0 || b<<1 == 0 {
		return 0
	}
	return b32(f32(a) * f32(b))
}

func mad32(a, b, c uint32) uint32 {
	p := flush32(b32(float32(f32(flush32(a)) * f32(flush32(b)))))
	return flush32(b32(f32(p) + f32(flush32(c))))
}

func madLegacy(a, b, c uint32) uint32 {
	if a<<1 == 0 || b<<1 == 0 {
		return flush32(c)
	}
	return mad32(a, b, c)
}

// frexpExp is the exponent of x = m × 2^exp with 0.5 <= |m| < 1; 0 for zero,
// infinity and NaN.
func frexpExp(x float64) uint32 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	_, e := math.Frexp(x)
	return uint32(int32(e))
}

// clampExp limits an exponent to what makes a difference to a float32 or f16.
func clampExp(e int32) int32 { return max(-600, min(600, e)) }

func ldexp32(x float32, e int32) float32 {
	return float32(math.Ldexp(float64(x), int(clampExp(e)))) // exact before the conversion
}
