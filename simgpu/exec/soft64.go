package exec

import (
	"math"
	"math/bits"
)

// f64 has no larger type to be computed in: its sums of products are whole numbers
// of 128 bits here, times a power of two.

// wide is hi:lo × 2^exp, its highest bit the last but one. What does not fit is
// noted in the lowest bit, which is far below what rounding looks at.
type wide struct {
	hi, lo   uint64
	exp      int
	negative bool
}

// split is |x| as a whole number times a power of two.
func split(x float64) (m uint64, exp int) {
	b := math.Float64bits(x)
	m, exp = b&(1<<52-1), int(b>>52&0x7ff)
	if exp == 0 {
		return m, -1074
	}
	return m | 1<<52, exp - 1075
}

// normal shifts the highest bit to its place. w is not zero.
func (w wide) normal() wide {
	n := bits.LeadingZeros64(w.hi) - 1
	if w.hi == 0 {
		n = 63 + bits.LeadingZeros64(w.lo)
	}
	switch {
	case n < 0:
		w.lo = w.hi<<63 | w.lo>>1 | w.lo&1
		w.hi >>= 1
	case n >= 64:
		w.hi, w.lo = w.lo<<(n-64), 0
	case n > 0:
		w.hi, w.lo = w.hi<<n|w.lo>>(64-n), w.lo<<n
	}
	w.exp -= n
	return w
}

// right shifts by n bits.
func (w wide) right(n int) wide {
	w.exp += n
	switch {
	case n == 0:
	case n < 64:
		lost := w.lo << (64 - n)
		w.hi, w.lo = w.hi>>n, w.hi<<(64-n)|w.lo>>n|sticky(lost)
	case n < 128:
		lost := w.lo | w.hi<<1<<(127-n)
		w.hi, w.lo = 0, w.hi>>(n-64)|sticky(lost)
	default:
		w.hi, w.lo = 0, 1
	}
	return w
}

func sticky(x uint64) uint64 {
	if x != 0 {
		return 1
	}
	return 0
}

// fma64 is (a*b+c) × 2^scale, rounded once.
func fma64(mode rounding, a, b, c uint64, scale int) uint64 {
	x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
	near := math.FMA(x, y, z)
	if mode == roundEven && scale == 0 || math.IsNaN(near) || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) {
		return math.Float64bits(near)
	}
	mx, ex := split(x)
	my, ey := split(y)
	mz, ez := split(z)
	p := wide{exp: ex + ey, negative: math.Signbit(x) != math.Signbit(y)}
	p.hi, p.lo = bits.Mul64(mx, my)
	q := wide{lo: mz, exp: ez, negative: math.Signbit(z)}
	switch zero := p.hi|p.lo == 0; {
	case zero && mz == 0:
		if p.negative != q.negative {
			return zero64(mode == roundDown)
		}
		return zero64(p.negative)
	case zero:
		return q.normal().round(mode, scale)
	case mz == 0:
		return p.normal().round(mode, scale)
	}
	p, q = p.normal(), q.normal()
	if p.exp < q.exp {
		p, q = q, p
	}
	q = q.right(p.exp - q.exp)
	var carry uint64
	if p.negative == q.negative {
		p.lo, carry = bits.Add64(p.lo, q.lo, 0)
		p.hi, _ = bits.Add64(p.hi, q.hi, carry)
		return p.normal().round(mode, scale)
	}
	p.lo, carry = bits.Sub64(p.lo, q.lo, 0)
	p.hi, carry = bits.Sub64(p.hi, q.hi, carry)
	if carry != 0 {
		p.lo, carry = bits.Sub64(0, p.lo, 0)
		p.hi, _ = bits.Sub64(0, p.hi, carry)
		p.negative = q.negative
	}
	if p.hi|p.lo == 0 {
		return zero64(mode == roundDown)
	}
	return p.normal().round(mode, scale)
}

func zero64(negative bool) uint64 {
	if negative {
		return 1 << 63
	}
	return 0
}

// round rounds w × 2^scale, which is normal and not zero.
func (w wide) round(mode rounding, scale int) uint64 {
	m, exp := w.hi|sticky(w.lo), w.exp+64+scale // m has 63 bits
	unit := max(exp+10, -1074)                  // 2^unit is one in the last place
	cut := unit - exp
	if cut > 63 {
		m, cut = 1, 63 // too small for anything but rounding up
	}
	n, rest, half := m>>cut, m&(1<<cut-1), uint64(1)<<(cut-1)
	switch mode {
	case roundEven:
		if rest > half || rest == half && n&1 != 0 {
			n++
		}
	case roundUp:
		if rest != 0 && !w.negative {
			n++
		}
	case roundDown:
		if rest != 0 && w.negative {
			n++
		}
	}
	// The leading bit adds the last 1 of the exponent; a carry goes on to it.
	const infinity = 0x7ff << 52
	if unit > 1023 {
		n = infinity
	} else {
		n += uint64(unit+1074) << 52
	}
	if n >= infinity {
		n = infinity
		if mode == roundZero || mode == roundUp && w.negative || mode == roundDown && !w.negative {
			n--
		}
	}
	return n | zero64(w.negative)
}

// ldexpRounded is x × 2^n rounded.
func ldexpRounded(mode rounding, a uint64, n int) uint64 {
	x := math.Float64frombits(a)
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return a
	}
	m, exp := split(x)
	return wide{lo: m, exp: exp, negative: math.Signbit(x)}.normal().round(mode, max(-5000, min(5000, n)))
}
