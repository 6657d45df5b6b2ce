package hostcall

import (
	"math"
	"strconv"
	"strings"
)

// float writes a floating-point number as C does: like strconv, but for the
// exponents of hexadecimal ones and what %g drops.
func (f *formatter) float(v *spec, x float64) {
	upper := v.verb < 'a'
	verb := v.verb | 0x20
	sign := v.sign(math.Signbit(x))
	x = math.Abs(x)
	var text, prefix string
	zeros := v.zero
	switch {
	case math.IsInf(x, 0):
		text, zeros = "inf", false
	case math.IsNaN(x):
		text, zeros = "nan", false
	case verb == 'a':
		prefix, text = "0x", hexadecimal(x, v.prec, v.alt)
	case verb == 'g':
		text = general(x, v.prec, v.alt)
	default:
		prec := v.prec
		if prec < 0 {
			prec = 6
		}
		text = strconv.FormatFloat(x, verb, prec, 64)
		if v.alt && prec == 0 {
			text = point(text)
		}
	}
	if upper {
		prefix, text = strings.ToUpper(prefix), strings.ToUpper(text)
	}
	f.field(v, sign+prefix, text, zeros)
}

// point puts a decimal point behind the digits before the exponent.
func point(s string) string {
	if i := strings.IndexAny(s, "ep"); i >= 0 {
		return s[:i] + "." + s[i:]
	}
	return s + "."
}

// general is %g: prec significant digits, with an exponent if that is less
// than -4 or not less than prec, without trailing zeros unless alt says to keep
// them.
func general(x float64, prec int, alt bool) string {
	switch {
	case prec < 0:
		prec = 6
	case prec == 0:
		prec = 1
	}
	e := strconv.FormatFloat(x, 'e', prec-1, 64)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if exp < -4 || exp >= prec {
		i := strings.IndexByte(e, 'e')
		return trim(e[:i], alt) + e[i:]
	}
	return trim(strconv.FormatFloat(x, 'f', prec-1-exp, 64), alt)
}

func trim(s string, keep bool) string {
	has := strings.IndexByte(s, '.') >= 0
	switch {
	case keep && !has:
		return s + "."
	case keep || !has:
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// hexadecimal is %a without 0x: the exponent has no leading zeros in C, and a
// denormal number keeps its exponent in glibc.
func hexadecimal(x float64, prec int, alt bool) string {
	bits := math.Float64bits(x)
	mant, exp := bits&(1<<52-1), int(bits>>52&0x7ff)
	lead := uint64(1)
	switch {
	case x == 0:
		lead, exp = 0, 0
	case exp == 0:
		lead, exp = 0, -1022
	default:
		exp -= 1023
	}
	digits := strconv.FormatUint(1<<52|mant, 16)[1:]
	if prec < 0 {
		digits = strings.TrimRight(digits, "0")
	} else if prec < 13 { // round to nearest, ties to even
		all := lead<<52 | mant
		drop := uint(4 * (13 - prec))
		rest, half := all&(1<<drop-1), uint64(1)<<(drop-1)
		all >>= drop
		if rest > half || rest == half && all&1 == 1 {
			all++
		}
		lead = all >> (4 * uint(prec))
		digits = ""
		if prec > 0 {
			digits = strconv.FormatUint(1<<(4*uint(prec))|all&(1<<(4*uint(prec))-1), 16)[1:]
		}
	} else {
		digits += strings.Repeat("0", prec-13)
	}
	s := strconv.FormatUint(lead, 16)
	if digits != "" || alt {
		s += "." + digits
	}
	s += "p"
	if exp >= 0 {
		s += "+"
	}
	return s + strconv.Itoa(exp)
}
