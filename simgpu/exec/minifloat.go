package exec

import (
	"math"
	"math/bits"
)

// minifloat is a floating-point format of up to 32 bits as the standards have them: IEEE 754
// and bfloat16, OCP's 8-bit formats and those of its microscaling (MX). Those of gfx942, which
// follow no standard, are [small8].
type minifloat struct {
	exponent, mantissa, bias int
	largest                  uint32 // the code of the largest number; NaN and infinity come after it
	over                     uint32 // what is too large becomes, unless it is limited to the largest number
	nan                      uint32 // the NaN that is made; formats without one have the largest number
}

// The formats. Of 6 and 4 bits no code is infinity or NaN.
var (
	binary32 = minifloat{8, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000}
	binary16 = minifloat{5, 10, 15, 0x7bff, 0x7c00, 0x7e00}
	bfloat16 = minifloat{8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0}
	e4m3     = minifloat{4, 3, 7, 0x7e, 0x7f, 0x7f} // no infinity
	e5m2     = minifloat{5, 2, 15, 0x7b, 0x7c, 0x7e}
	e2m3     = minifloat{2, 3, 1, 0x1f, 0x1f, 0x1f}
	e3m2     = minifloat{3, 2, 3, 0x1f, 0x1f, 0x1f}
	e2m1     = minifloat{2, 1, 1, 7, 7, 7}
)

// bits is the size of a code.
func (f *minifloat) bits() int { return 1 + f.exponent + f.mantissa }

// value is what a code stands for; what is above it is ignored.
func (f *minifloat) value(x uint32) float64 {
	sign := x >> (f.bits() - 1) & 1
	x &= 1<<(f.bits()-1) - 1
	var v float64
	switch e, m := int(x>>f.mantissa), float64(x&(1<<f.mantissa-1)); {
	case x > f.largest && x == f.over && f.over != f.nan:
		v = math.Inf(1)
	case x > f.largest:
		return math.NaN()
	case e == 0:
		v = math.Ldexp(m, 1-f.bias-f.mantissa)
	default:
		v = math.Ldexp(m+float64(uint32(1)<<f.mantissa), e-f.bias-f.mantissa)
	}
	if sign != 0 {
		v = -v
	}
	return v
}

// values are those of a format of up to 8 bits, for matrices.
func (f *minifloat) values() func(x uint32) float32 {
	v := make([]float32, 1<<f.bits())
	for c := range v {
		v[c] = float32(f.value(uint32(c)))
	}
	return func(x uint32) float32 { return v[x&uint32(len(v)-1)] }
}

// nearest is the code of a number, rounded to nearest even. What is too large then becomes
// infinity, or NaN where there is none, or the largest number where there is neither, or limit
// is set.
func (f *minifloat) nearest(x float64, limit bool) uint32 {
	return f.code(x, limit, func(m uint64, shift, drop int) uint64 {
		n := shift + drop
		if n > 62 {
			return 0 // less than half of the smallest number
		}
		return (m + 1<<(n-1) - 1 + m>>n&1) >> n
	})
}

// stochastic adds random bits below the last bit that is kept, and cuts off what is
// below it: as many bits as a source of the format from has more, and of the random
// number the highest ones. A number that becomes denormal loses the bits that it is shifted by first.
// All this is as in AMD's headers, which say it on the CPU.
func (f *minifloat) stochastic(x float64, from *minifloat, random uint32, limit bool) uint32 {
	spare := from.mantissa - f.mantissa
	return f.code(x, limit, func(m uint64, shift, drop int) uint64 {
		return (m>>min(shift, 63) + uint64(random>>(32-spare))<<(drop-spare)) >> drop
	})
}

// code converts a number. round takes a mantissa of 53 bits, which is to be shifted right and loses some more bits.
func (f *minifloat) code(x float64, limit bool, round func(m uint64, shift, drop int) uint64) uint32 {
	u := math.Float64bits(x)
	sign := uint32(u>>63) << (f.bits() - 1)
	e, m := int(u>>52&0x7ff), u&(1<<52-1)
	over := f.over
	if limit {
		over = f.largest
	}
	switch {
	case x != x:
		return sign | f.nan
	case e == 0x7ff:
		return sign | over
	case u<<1 == 0:
		return sign
	case e > 0:
		m |= 1 << 52
	default:
		e = 1
		n := bits.LeadingZeros64(m) - 11
		m, e = m<<n, e-n
	}
	e += f.bias - 1023
	r := round(m, max(1-e, 0), 52-f.mantissa)
	if r >= 1<<f.mantissa { // rounding up may carry into the exponent
		r += uint64(max(e, 1)-1) << f.mantissa
	}
	if r > uint64(f.largest) {
		return sign | over
	}
	return sign | uint32(r)
}
