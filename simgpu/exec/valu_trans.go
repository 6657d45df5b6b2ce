package exec

import "math"

// Approximations of the hardware: computed in float64 and rounded once, which
// is within the hardware's error. exp and log know no denormals.

var _ = define(func() {
	unary := func(name string, f func(x float64) float64) {
		valu(name, 1, func(d, a, _, _ *Vec) {
			for i := range d {
				d[i] = b32(float32(f(float64(f32(a[i])))))
			}
		}).f32(slow32(func(a, _, _ uint32) uint32 { return b32(float32(f(float64(f32(a))))) }))
	}
	flushed := func(name string, f func(x float64) float64) {
		g := func(a uint32) uint32 { return flush32(b32(float32(f(float64(f32(flush32(a))))))) }
		valu(name, 1, func(d, a, _, _ *Vec) {
			for i := range d {
				d[i] = g(a[i])
			}
		}).f32(slow32(func(a, _, _ uint32) uint32 { return g(a) }))
	}
	flushed("v_exp_f32", math.Exp2)
	flushed("v_exp_legacy_f32", math.Exp2)
	flushed("v_log_f32", math.Log2)
	flushed("v_log_legacy_f32", math.Log2)
	rcp := func(x float64) float64 { return 1 / x }
	rsq := func(x float64) float64 { return 1 / math.Sqrt(x) }
	unary("v_rcp_f32", rcp)
	unary("v_rcp_iflag_f32", rcp)
	unary("v_rsq_f32", rsq)
	unary("v_sqrt_f32", math.Sqrt)
	flushed("v_sin_f32", sinTurns)
	flushed("v_cos_f32", cosTurns)

	half := func(name string, f func(x float64) float64) {
		valu(name, 1, func(d, a, _, _ *Vec) {
			for i := range d {
				d[i] = uint32(f64to16(f(f16to64(uint16(a[i])))))
			}
		}).f16(fmt16.softNative(func(a, _, _ float64) float64 { return f(a) }))
	}
	half("v_rcp_f16", rcp)
	half("v_rsq_f16", rsq)
	half("v_sqrt_f16", math.Sqrt)
	half("v_exp_f16", math.Exp2)
	half("v_log_f16", math.Log2)
	half("v_sin_f16", sinTurns)
	half("v_cos_f16", cosTurns)
	half("v_floor_f16", math.Floor)
	half("v_ceil_f16", math.Ceil)
	half("v_trunc_f16", math.Trunc)
	half("v_rndne_f16", math.RoundToEven)
	half("v_fract_f16", func(x float64) float64 { return min(x-math.Floor(x), f16to64(0x3bff)) })
	half("v_frexp_mant_f16", func(x float64) float64 {
		m, _ := math.Frexp(x)
		return m
	})
	valu("v_frexp_exp_i16_f16", 1, func(d, a, _, _ *Vec) {
		for i := range d {
			d[i] = frexpExp(f16to64(uint16(a[i]))) & 0xffff
		}
	})
})

// sinTurns is the sine of x full turns; beyond 256 turns the hardware gives 0.
func sinTurns(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return math.NaN()
	case math.Abs(x) > 256:
		return 0
	}
	t := x - math.RoundToEven(x)
	switch {
	case t > 0.25:
		t = 0.5 - t
	case t < -0.25:
		t = -0.5 - t
	}
	return math.Sin(2 * math.Pi * t)
}

// cosTurns is the cosine of x full turns.
func cosTurns(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return math.NaN()
	case math.Abs(x) > 256:
		return 1
	}
	t := math.Abs(x - math.RoundToEven(x))
	return math.Sin(2 * math.Pi * (0.25 - t))
}
