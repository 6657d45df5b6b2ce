package exec

import (
	"encoding/binary"
	"math"
	"math/big"
	"sync"
)

func f64(lo, hi uint32) float64 { return math.Float64frombits(uint64(lo) | uint64(hi)<<32) }

func put64(lo, hi *uint32, x float64) {
	u := math.Float64bits(x)
	*lo, *hi = uint32(u), uint32(u>>32)
}

// unary64 and binary64 make kernels of functions of one lane.
func unary64(f func(x float64) float64) kernel {
	return func(d, a, _, _ *Vec) {
		dh, ah := upper(d), upper(a)
		for i := range d {
			put64(&d[i], &dh[i], f(f64(a[i], ah[i])))
		}
	}
}

func quiet64(x float64) float64 { return math.Float64frombits(math.Float64bits(x) | 1<<51) }

// max64 and min64 are IEEE maxNum and minNum with -0 < +0.
func max64(a, b float64) float64 {
	switch {
	case a != a:
		if b != b {
			return quiet64(a)
		}
		return b
	case b != b:
		return a
	}
	return max(a, b)
}

func min64(a, b float64) float64 {
	switch {
	case a != a:
		if b != b {
			return quiet64(a)
		}
		return b
	case b != b:
		return a
	}
	return min(a, b)
}

var _ = define(func() {
	valu("v_add_f64", 2, func(d, a, b, _ *Vec) {
		dh, ah, bh := upper(d), upper(a), upper(b)
		for i := range d {
			put64(&d[i], &dh[i], f64(a[i], ah[i])+f64(b[i], bh[i]))
		}
	}).f64(fmt64.softAdd()).nearest()
	valu("v_mul_f64", 2, func(d, a, b, _ *Vec) {
		dh, ah, bh := upper(d), upper(a), upper(b)
		for i := range d {
			put64(&d[i], &dh[i], f64(a[i], ah[i])*f64(b[i], bh[i]))
		}
	}).f64(fmt64.softMul()).nearest()
	fma := func(d, a, b, c *Vec) {
		dh, ah, bh, ch := upper(d), upper(a), upper(b), upper(c)
		for i := range d {
			put64(&d[i], &dh[i], math.FMA(f64(a[i], ah[i]), f64(b[i], bh[i]), f64(c[i], ch[i])))
		}
	}
	valu("v_fma_f64", 3, fma).f64(fmt64.softFMA()).nearest()
	valu("v_fmac_f64", 3, fma).f64(fmt64.softFMA()).nearest()
	valu("v_max_f64", 2, func(d, a, b, _ *Vec) {
		dh, ah, bh := upper(d), upper(a), upper(b)
		for i := range d {
			put64(&d[i], &dh[i], max64(f64(a[i], ah[i]), f64(b[i], bh[i])))
		}
	}).f64(fmt64.softNative(func(a, b, _ float64) float64 { return max64(a, b) }))
	valu("v_min_f64", 2, func(d, a, b, _ *Vec) {
		dh, ah, bh := upper(d), upper(a), upper(b)
		for i := range d {
			put64(&d[i], &dh[i], min64(f64(a[i], ah[i]), f64(b[i], bh[i])))
		}
	}).f64(fmt64.softNative(func(a, b, _ float64) float64 { return min64(a, b) }))

	unary := func(name string, f func(x float64) float64) {
		valu(name, 1, unary64(f)).f64(fmt64.softNative(func(a, _, _ float64) float64 { return f(a) }))
	}
	unary("v_floor_f64", math.Floor)
	unary("v_ceil_f64", math.Ceil)
	unary("v_trunc_f64", math.Trunc)
	unary("v_rndne_f64", math.RoundToEven)
	unary("v_fract_f64", func(x float64) float64 { return min(x-math.Floor(x), math.Float64frombits(0x3fefffffffffffff)) })
	unary("v_frexp_mant_f64", func(x float64) float64 {
		m, _ := math.Frexp(x)
		return m
	})
	unary("v_rcp_f64", func(x float64) float64 { return 1 / x })
	unary("v_rsq_f64", func(x float64) float64 { return 1 / math.Sqrt(x) })
	unary("v_sqrt_f64", math.Sqrt)
	valu("v_frexp_exp_i32_f64", 1, func(d, a, _, _ *Vec) {
		ah := upper(a)
		for i := range d {
			d[i] = frexpExp(f64(a[i], ah[i]))
		}
	})
	valu("v_ldexp_f64", 2, func(d, a, b, _ *Vec) {
		dh, ah := upper(d), upper(a)
		for i := range d {
			put64(&d[i], &dh[i], math.Ldexp(f64(a[i], ah[i]), int(int32(b[i]))))
		}
	}).f64(func(e *fpEnv, a, b, _ uint64) uint64 {
		return fmt64.soft(func(m rounding, a, _, _ uint64) uint64 {
			return ldexpRounded(m, a, int(int32(b)))
		})(e, a, 0, 0)
	})
	valu("v_trig_preop_f64", 2, func(d, a, b, _ *Vec) {
		dh, ah := upper(d), upper(a)
		for i := range d {
			put64(&d[i], &dh[i], trigPreop(ah[i]>>20&0x7ff, b[i]))
		}
	}).wide()
})

// twoOverPi is floor(2/π × 2^1201): the bits that v_trig_preop_f64 selects from.
var twoOverPi = sync.OnceValue(func() *big.Int {
	// π by Machin's formula, in fixed point.
	const prec = 1400
	one := new(big.Int).Lsh(big.NewInt(1), prec)
	atanInv := func(n int64) *big.Int {
		term := new(big.Int).Div(one, big.NewInt(n))
		sum, sq := new(big.Int).Set(term), big.NewInt(n*n)
		for k := int64(1); term.Sign() != 0; k++ {
			term.Div(term, sq)
			t := new(big.Int).Div(term, big.NewInt(2*k+1))
			if k&1 == 1 {
				sum.Sub(sum, t)
			} else {
				sum.Add(sum, t)
			}
		}
		return sum
	}
	pi := new(big.Int).Mul(atanInv(5), big.NewInt(4))
	pi.Sub(pi, atanInv(239)).Lsh(pi, 2)
	two := new(big.Int).Lsh(big.NewInt(2), prec+twoOverPiBits)
	return two.Div(two, pi)
})

const twoOverPiBits = 1201

// twoOverPiWords are its bits from the highest on, 64 in each, and zeros behind the last that anything may be selected from.
var twoOverPiWords = sync.OnceValue(func() *[43]uint64 {
	var w [43]uint64
	const words = (twoOverPiBits + 63) / 64
	v := new(big.Int).Lsh(twoOverPi(), 64*words-twoOverPiBits)
	b := v.FillBytes(make([]byte, 8*words))
	for i := range words {
		w[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return &w
})

// trigPreop is 53 bits of 2/π, selected for a range reduction of a number with
// the given biased exponent, segment seg, as a double.
func trigPreop(exponent, seg uint32) float64 {
	shift := int(seg&31) * 53
	if exponent > 1077 {
		shift += int(exponent) - 1077
	}
	// The 53 bits after the first shift bits of the fraction's 1201.
	w, i, up := twoOverPiWords(), shift/64, shift%64
	v := (w[i]<<up | w[i+1]>>(64-up)) >> 11
	scale := -53 - shift
	if exponent >= 1968 {
		scale += 128
	}
	return math.Ldexp(float64(v), scale)
}
