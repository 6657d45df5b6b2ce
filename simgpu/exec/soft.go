package exec

import (
	"math"
	"math/big"
)

// Exact arithmetic with any rounding, for the floating-point modes that the
// fast kernels do not do. A format's values are handled as bits.

type format struct {
	bits int // of the encoding
	prec int // of the significand, with the leading bit
	emin int // exponent of the smallest normal number
	emax int // exponent of the largest number
}

var (
	fmt16 = format{16, 11, -14, 15}
	fmt32 = format{32, 24, -126, 127}
	fmt64 = format{64, 53, -1022, 1023}
)

// value widens to float64, which is exact.
func (f format) value(b uint64) float64 {
	switch f.bits {
	case 16:
		return f16to64(uint16(b))
	case 32:
		return float64(math.Float32frombits(uint32(b)))
	}
	return math.Float64frombits(b)
}

// encode is the inverse of value for values that the format has, and infinity and NaN.
func (f format) encode(x float64) uint64 {
	switch f.bits {
	case 16:
		return uint64(f64to16(x))
	case 32:
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// flush makes denormal numbers zero of the same sign.
func (f format) flush(b uint64) uint64 {
	sign := uint64(1) << (f.bits - 1)
	if b&(sign-1)>>(f.prec-1) == 0 {
		return b & sign
	}
	return b
}

// round rounds z, which is not zero, to the format.
func (f format) round(z *big.Float, mode rounding) uint64 {
	negative := z.Signbit()
	// z = m × 2^exp with 0.5 <= m < 1; the unit in the last place is 2^q.
	exp := z.MantExp(nil)
	q := max(exp-f.prec, f.emin-f.prec+1)
	n, acc := new(big.Float).SetMantExp(new(big.Float).Abs(z), -q).Int(nil)
	if acc != big.Exact {
		rest := new(big.Float).SetMantExp(new(big.Float).Abs(z), -q)
		rest.Sub(rest, new(big.Float).SetPrec(rest.Prec()).SetInt(n))
		up := false
		switch mode {
		case roundEven:
			c := rest.Cmp(big.NewFloat(0.5))
			up = c > 0 || c == 0 && n.Bit(0) != 0
		case roundUp:
			up = !negative
		case roundDown:
			up = negative
		}
		if up {
			n.Add(n, big.NewInt(1))
		}
	}
	r := math.Ldexp(float64(n.Uint64()), q)
	if largest := math.Ldexp(2-math.Ldexp(1, 1-f.prec), f.emax); r > largest {
		r = math.Inf(1)
		if mode == roundZero || mode == roundUp && negative || mode == roundDown && !negative {
			r = largest
		}
	}
	if negative {
		r = -r
	}
	return f.encode(r)
}

const exactBits = 4400 // enough for every sum of products of two float64

// fma is a*b+c, then times 2^scale, rounded once.
func (f format) fma(mode rounding, a, b, c uint64, scale int) uint64 {
	x, y, z := f.value(a), f.value(b), f.value(c)
	if r := math.FMA(x, y, z); math.IsNaN(r) || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) {
		return f.encode(r)
	}
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(v) }
	s := exact(x)
	s.Mul(s, exact(y))
	product := s.Sign() != 0
	s.Add(s, exact(z))
	if s.Sign() == 0 {
		if !product || x*y == 0 && z == 0 {
			// Sum of zeros: the sign of both, or the mode decides.
			if r := x*y + z; mode != roundDown || math.Signbit(x) != math.Signbit(y) == math.Signbit(z) {
				return f.encode(r)
			}
		}
		if mode == roundDown {
			return f.encode(math.Copysign(0, -1))
		}
		return 0
	}
	return f.round(s.SetMantExp(s, scale), mode)
}

// mul is a*b rounded.
func (f format) mul(mode rounding, a, b uint64) uint64 {
	x, y := f.value(a), f.value(b)
	if r := x * y; math.IsNaN(r) || math.IsInf(x, 0) || math.IsInf(y, 0) || x == 0 || y == 0 {
		return f.encode(r)
	}
	s := new(big.Float).SetPrec(exactBits).SetFloat64(x)
	return f.round(s.Mul(s, new(big.Float).SetFloat64(y)), mode)
}

// convert rounds a float64.
func (f format) convert(mode rounding, x float64) uint64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return f.encode(x)
	}
	return f.round(new(big.Float).SetFloat64(x), mode)
}

// env is what MODE says about the format.
func (f format) env(e *fpEnv) (mode rounding, in, out bool) {
	if f.bits == 32 {
		return e.round32, e.flushIn32, e.flushOut32
	}
	return e.round64, e.flushIn64, e.flushOut64
}

// lane is the semantics of one lane of an operation, on the bits of operands.
type lane = func(e *fpEnv, a, b, c uint64) uint64

// soft makes an operation out of its exact one: denormals are flushed as MODE
// says before and after.
func (f format) soft(op func(mode rounding, a, b, c uint64) uint64) lane {
	mask := ^uint64(0) >> (64 - f.bits)
	return func(e *fpEnv, a, b, c uint64) uint64 {
		mode, in, out := f.env(e)
		a, b, c = a&mask, b&mask, c&mask
		if in {
			a, b, c = f.flush(a), f.flush(b), f.flush(c)
		}
		r := op(mode, a, b, c)
		if out {
			r = f.flush(r)
		}
		return r
	}
}

func (f format) sign() uint64 { return 1 << (f.bits - 1) }
func (f format) one() uint64  { return f.encode(1) }

func (f format) softAdd() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.fma(m, a, f.one(), b, 0) })
}

func (f format) softSub() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.fma(m, a, f.one(), b^f.sign(), 0) })
}

func (f format) softSubrev() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.fma(m, b, f.one(), a^f.sign(), 0) })
}

func (f format) softMul() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.mul(m, a, b) })
}

func (f format) softFMA() lane {
	return f.soft(func(m rounding, a, b, c uint64) uint64 { return f.fma(m, a, b, c, 0) })
}

// softNative is for operations whose result does not depend on the rounding
// mode, or that are approximations: g on the values.
func (f format) softNative(g func(a, b, c float64) float64) lane {
	return f.soft(func(m rounding, a, b, c uint64) uint64 {
		return f.convert(m, g(f.value(a), f.value(b), f.value(c)))
	})
}
