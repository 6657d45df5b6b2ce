package hostcall

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// Bounds of printf's text.
const (
	maxText  = 1 << 20 // of one call
	maxField = 1 << 16 // width and precision
)

// Format is the text of a printf whose message is the format, with a zero byte
// and padded to 8 bytes, and the arguments: 8 bytes each, strings in place,
// padded likewise. It is what the C library of the program would print; where
// C leaves it undefined (arguments that are missing, a conversion that does not
// exist), the text ends.
func Format(msg []byte) []byte {
	format, args := cstring(msg)
	f := &formatter{args: args}
	for len(f.out) < maxText {
		i := bytes.IndexByte(format, '%')
		if i < 0 {
			f.out = append(f.out, format...)
			break
		}
		f.out = append(f.out, format[:i]...)
		format = format[i+1:]
		if len(format) > 0 && format[0] == '%' {
			f.out = append(f.out, '%')
			format = format[1:]
			continue
		}
		var ok bool
		if format, ok = f.conversion(format); !ok {
			break
		}
	}
	return f.out[:min(len(f.out), maxText)]
}

// cstring takes a zero-terminated string and its padding off b.
func cstring(b []byte) (s, rest []byte) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return b, nil
	}
	return b[:i], b[min(len(b), (i+8)&^7):]
}

type formatter struct {
	out, args []byte
}

func (f *formatter) next() (uint64, bool) {
	if len(f.args) < 8 {
		return 0, false
	}
	v := binary.LittleEndian.Uint64(f.args)
	f.args = f.args[8:]
	return v, true
}

// spec is a conversion specification.
type spec struct {
	minus, plus, space, alt, zero bool

	width, prec int // prec -1: none
	size        int // of an integer in bytes
	verb        byte
}

// conversion writes what comes after a %, and returns the rest of the format.
func (f *formatter) conversion(s []byte) (rest []byte, ok bool) {
	v := spec{prec: -1, size: 4}
	i := 0
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '-':
			v.minus = true
		case '+':
			v.plus = true
		case ' ':
			v.space = true
		case '#':
			v.alt = true
		case '0':
			v.zero = true
		case '\'': // the C locale groups nothing
		default:
			break flags
		}
	}
	number := func() (n int, ok bool) {
		if i < len(s) && s[i] == '*' {
			i++
			a, ok := f.next()
			return int(max(-maxField, min(maxField, int64(int32(a))))), ok
		}
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n = min(n*10+int(s[i]-'0'), maxField)
		}
		return n, true
	}
	if v.width, ok = number(); !ok {
		return nil, false
	}
	if v.width < 0 {
		v.minus, v.width = true, -v.width
	}
	if i < len(s) && s[i] == '.' {
		i++
		if v.prec, ok = number(); !ok {
			return nil, false
		}
		v.prec = max(v.prec, -1)
	}
length:
	for ; i < len(s); i++ {
		switch s[i] {
		case 'h':
			v.size = max(v.size/2, 1)
		case 'l', 'j', 'z', 't', 'q', 'L':
			v.size = 8
		default:
			break length
		}
	}
	if i == len(s) {
		return nil, false
	}
	v.verb = s[i]
	return s[i+1:], f.argument(&v)
}

// argument writes the next argument.
func (f *formatter) argument(v *spec) bool {
	if v.verb == 's' {
		if len(f.args) == 0 {
			return false
		}
		var s []byte
		s, f.args = cstring(f.args)
		if v.prec >= 0 {
			s = s[:min(len(s), v.prec)]
		}
		f.field(v, "", string(s), false)
		return true
	}
	a, ok := f.next()
	if !ok {
		return false
	}
	switch v.verb {
	case 'd', 'i':
		n := int64(a) << (64 - 8*v.size) >> (64 - 8*v.size)
		digits := strconv.FormatUint(uint64(max(n, -n)), 10)
		if n == math.MinInt64 {
			digits = "9223372036854775808"
		}
		f.integer(v, v.sign(n < 0), digits, n == 0)
	case 'u', 'o', 'x', 'X':
		n := a << (64 - 8*v.size) >> (64 - 8*v.size)
		f.unsigned(v, n)
	case 'c':
		f.field(v, "", string([]byte{byte(a)}), false)
	case 'p':
		if a == 0 {
			f.field(v, "", "(nil)", false)
			break
		}
		v.alt, v.verb = true, 'x'
		f.unsigned(v, a)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		f.float(v, math.Float64frombits(a))
	case 'n': // writes nothing, and nowhere
	default:
		return false
	}
	return true
}

func (v *spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case v.plus:
		return "+"
	case v.space:
		return " "
	}
	return ""
}

func (f *formatter) unsigned(v *spec, n uint64) {
	base, prefix := 10, ""
	switch v.verb {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
		if v.alt && n != 0 {
			prefix = "0" + string(v.verb)
		}
	}
	digits := strconv.FormatUint(n, base)
	if v.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if v.verb == 'o' && v.alt && n != 0 && v.prec <= len(digits) {
		digits = "0" + digits
	}
	f.integer(v, prefix, digits, n == 0 && !(v.verb == 'o' && v.alt))
}

// integer writes digits with at least the precision's number of them. No
// digits: zero with a precision of 0.
func (f *formatter) integer(v *spec, prefix, digits string, zero bool) {
	if zero && v.prec == 0 {
		digits = ""
	}
	if n := v.prec - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	f.field(v, prefix, digits, v.zero && v.prec < 0)
}

// field writes a prefix and text in the width: zeros go between the two.
func (f *formatter) field(v *spec, prefix, text string, zeros bool) {
	pad := max(v.width-len(prefix)-len(text), 0)
	switch {
	case v.minus:
		f.out = append(append(append(f.out, prefix...), text...), bytes.Repeat([]byte{' '}, pad)...)
	case zeros:
		f.out = append(append(append(f.out, prefix...), bytes.Repeat([]byte{'0'}, pad)...), text...)
	default:
		f.out = append(append(append(f.out, bytes.Repeat([]byte{' '}, pad)...), prefix...), text...)
	}
}
