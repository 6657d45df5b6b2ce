package exec

import "math"

// Arithmetic with any rounding, for the floating-point modes that the fast kernels
// do not do. A format's values are handled as bits.

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

// flushVector writes s with denormal numbers flushed to d, which may be s. An f64 goes
// on in the next register.
func (f format) flushVector(d *[2]Vec, s *Vec) *Vec {
	switch f.bits {
	case 16:
		for i, x := range s {
			if x&0x7c00 == 0 {
				x &= 0x8000
			}
			d[0][i] = x
		}
	case 32:
		for i, x := range s {
			if x&0x7f800000 == 0 {
				x &= 1 << 31
			}
			d[0][i] = x
		}
	default:
		high := upper(s)
		for i, x := range high {
			low := s[i]
			if x&0x7ff00000 == 0 {
				x, low = x&(1<<31), 0
			}
			d[0][i], d[1][i] = low, x
		}
	}
	return &d[0]
}

// narrow rounds a float64, which is the exact result or, where that has more bits,
// what rounding to odd has made of it.
func (f format) narrow(mode rounding, x float64) uint64 {
	switch f.bits {
	case 16:
		return uint64(roundF16(x, mode))
	case 64:
		return math.Float64bits(x)
	}
	r := float32(x) // to the nearest; perhaps the other neighbour is wanted
	b, near := math.Float32bits(r), float64(r)
	switch up, down := near < x, near > x; {
	case mode == roundEven:
	case mode == roundUp && up, mode == roundZero && up && x < 0, mode == roundDown && down, mode == roundZero && down && x > 0:
		if up == (b>>31 == 0) {
			b++
		} else {
			b--
		}
	}
	return uint64(b)
}

// sumOdd is x+y in float64, rounded to odd if it is not exact, and finite.
func sumOdd(x, y float64) float64 {
	s := x + y
	if math.IsInf(s, 0) {
		return s
	}
	part := s - x
	rest := (x - (s - part)) + (y - part) // what the sum lost
	if b := math.Float64bits(s); rest != 0 && b&1 == 0 && s == s {
		if rest > 0 == (s > 0) {
			b++
		} else {
			b--
		}
		return math.Float64frombits(b)
	}
	return s
}

// fma is a*b+c rounded once.
func (f format) fma(mode rounding, a, b, c uint64) uint64 {
	if f.bits == 64 {
		return fma64(mode, a, b, c, 0)
	}
	product, z := f.value(a)*f.value(b), f.value(c) // exact
	s := sumOdd(product, z)
	if s == 0 && mode == roundDown && (math.Signbit(product) != math.Signbit(z) || product != 0) {
		s = math.Copysign(0, -1)
	}
	return f.narrow(mode, s)
}

// mul is a*b rounded.
func (f format) mul(mode rounding, a, b uint64) uint64 {
	if f.bits == 64 {
		return fma64(mode, a, b, (a^b)&f.sign(), 0) // plus zero of the product's sign
	}
	return f.narrow(mode, f.value(a)*f.value(b))
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
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.fma(m, a, f.one(), b) })
}

func (f format) softSub() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.fma(m, a, f.one(), b^f.sign()) })
}

func (f format) softSubrev() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.fma(m, b, f.one(), a^f.sign()) })
}

func (f format) softMul() lane {
	return f.soft(func(m rounding, a, b, _ uint64) uint64 { return f.mul(m, a, b) })
}

func (f format) softFMA() lane {
	return f.soft(func(m rounding, a, b, c uint64) uint64 { return f.fma(m, a, b, c) })
}

// softNative is for operations whose result does not depend on the rounding
// mode, or that are approximations: g on the values.
func (f format) softNative(g func(a, b, c float64) float64) lane {
	return f.soft(func(m rounding, a, b, c uint64) uint64 {
		return f.narrow(m, g(f.value(a), f.value(b), f.value(c)))
	})
}
