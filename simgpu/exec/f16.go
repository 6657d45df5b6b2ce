package exec

import "math"

// Half precision in terms of the larger types, which hold all its values.

// f16to32 widens exactly. Signalling NaNs become quiet.
func f16to32(h uint16) float32 {
	x := uint32(h&0x7fff) << 13
	if x >= 0x7c00<<13 { // infinity, NaN
		x |= 0x7f800000
		if x != 0x7f800000 {
			x |= 0x400000
		}
		return math.Float32frombits(x | uint32(h&0x8000)<<16)
	}
	// The exponent is 112 too small for a float32; subnormals come right with it.
	f := math.Float32frombits(x) * 0x1p112
	return math.Float32frombits(math.Float32bits(f) | uint32(h&0x8000)<<16)
}

func f16to64(h uint16) float64 { return float64(f16to32(h)) }

// f64to16 rounds to nearest even.
func f64to16(x float64) uint16 { return roundF16(x, roundEven) }

// f32to16 rounds to nearest even.
func f32to16(x float32) uint16 { return roundF16(float64(x), roundEven) }

// roundF16 rounds in the given mode.
func roundF16(x float64, mode rounding) uint16 {
	b := math.Float64bits(x)
	sign := uint16(b >> 48 & 0x8000)
	b &= 1<<63 - 1
	exp := int(b>>52) - 1023
	switch {
	case exp == 1024:
		if b<<12 == 0 {
			return sign | 0x7c00
		}
		return sign | 0x7e00 | uint16(b>>42&0x3ff)
	case exp > 15:
		return sign | overflow16(sign != 0, mode)
	case b == 0:
		return sign
	}
	// The significand with its leading bit, and how many bits of it are cut off.
	m, cut := b&(1<<52-1)|1<<52, 42
	if exp < -14 {
		cut += -14 - exp
		exp = -15
	}
	if cut > 54 {
		m, cut = 1, 54 // too small for anything but rounding up
	}
	q := m >> cut
	switch rest, half := m&(1<<cut-1), uint64(1)<<(cut-1); mode {
	case roundEven:
		if rest > half || rest == half && q&1 != 0 {
			q++
		}
	case roundUp:
		if rest != 0 && sign == 0 {
			q++
		}
	case roundDown:
		if rest != 0 && sign != 0 {
			q++
		}
	}
	if exp >= -14 {
		q += uint64(exp+14) << 10 // the leading bit adds the last 1 of the exponent; a carry goes on to it
	}
	if q >= 0x7c00 {
		return sign | overflow16(sign != 0, mode)
	}
	return sign | uint16(q)
}

// overflow16 is what too large a value becomes: infinity or the largest number.
func overflow16(negative bool, mode rounding) uint16 {
	switch {
	case mode == roundZero, mode == roundUp && negative, mode == roundDown && !negative:
		return 0x7bff
	}
	return 0x7c00
}
