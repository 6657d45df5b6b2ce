package rows

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rocwire/rocwire/smi"
)

// Type is what a column holds.
type Type uint8

// Types of columns. The numbers are those of a record.
const (
	String Type = 1
	Float  Type = 2 // 64 bits, finite
	Int    Type = 3 // 64 bits
	Uint   Type = 4 // 64 bits
	Bool   Type = 5
)

// MaxText is how long a string may be, in bytes.
const MaxText = 256

// Value is one cell of a row. The zero Value is null.
type Value struct {
	typ  Type // 0: null
	bits uint64
	text string
}

// Type is the value's type, 0 for null.
func (v Value) Type() Type { return v.typ }

// IsNull reports that the value is not known.
func (v Value) IsNull() bool { return v.typ == 0 }

// Text is a String's value.
func (v Value) Text() string { return v.text }

// Float is a Float's value.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Int is an Int's value.
func (v Value) Int() int64 { return int64(v.bits) }

// Uint is a Uint's value.
func (v Value) Uint() uint64 { return v.bits }

// Bool is a Bool's value.
func (v Value) Bool() bool { return v.bits != 0 }

// textOf is a text that came from anywhere; null for none.
func textOf(s string) Value {
	if s = clean(s); s == "" {
		return Value{}
	}
	return Value{typ: String, text: s}
}

// clean makes of a text what every database takes and a terminal may show.
func clean(s string) string {
	if len(s) > 4*MaxText {
		s = s[:4*MaxText] // what follows cannot be in the result
	}
	s = strings.TrimSpace(smi.Printable(strings.ToValidUTF8(s, "?")))
	for len(s) > MaxText {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return strings.TrimRight(s, " ")
}

func floatOf(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}
	}
	return Value{typ: Float, bits: math.Float64bits(f)}
}

func intOf(n int64) Value { return Value{typ: Int, bits: uint64(n)} }

// signed is a count as an Int: differences of unsigned columns are errors in SQL.
func signed(n uint64) Value { return intOf(int64(min(n, math.MaxInt64))) }

func uintOf(n uint64) Value { return Value{typ: Uint, bits: n} }

func boolOf(b bool) Value {
	v := Value{typ: Bool}
	if b {
		v.bits = 1
	}
	return v
}

// scaled is a figure times a factor, null if it is not available.
func scaled[T ~float64](v smi.Opt[T], factor float64) Value {
	f, ok := v.Get()
	if !ok {
		return Value{}
	}
	return floatOf(float64(f) * factor)
}

// bytesOf is an amount of memory, null if it is not available.
func bytesOf(v smi.Opt[smi.Bytes]) Value {
	n, ok := v.Get()
	if !ok {
		return Value{}
	}
	return signed(uint64(n))
}

// share is part of whole in percent, null unless both are known.
func share(part, whole smi.Opt[smi.Bytes]) Value {
	p, ok := part.Get()
	w, known := whole.Get()
	if !ok || !known || w == 0 {
		return Value{}
	}
	return floatOf(100 * float64(p) / float64(w))
}
