package amdsmi

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rocwire/rocwire/smi"
)

// field is a member of a C structure: where it begins, how many bytes one element
// has and how many elements there are. The zero field is one that the ABI has not.
type field struct{ off, width, count uint32 }

// buf is a structure, or part of one, as the library wrote it; nil is one that could
// not be read, and all its fields are not available.
type buf []byte

// raw is element i of a field, and whether it is there at all.
func (b buf) raw(f field, i int) (uint64, bool) {
	if i < 0 || uint(i) >= uint(f.count) {
		return 0, false
	}
	at := uint64(f.off) + uint64(i)*uint64(f.width)
	if at+uint64(f.width) > uint64(len(b)) {
		return 0, false
	}
	e := b[at:]
	switch f.width {
	case 1:
		return uint64(e[0]), true
	case 2:
		return uint64(binary.NativeEndian.Uint16(e)), true
	case 4:
		return uint64(binary.NativeEndian.Uint32(e)), true
	case 8:
		return binary.NativeEndian.Uint64(e), true
	}
	return 0, false
}

// missing says whether v is a way to say "not available" in a counter of that many
// bytes: all ones, also those of a narrower counter it was copied from.
func missing(v uint64, width uint32) bool {
	switch width {
	case 1:
		return v == math.MaxUint8
	case 2:
		return v == math.MaxUint16
	}
	return v == math.MaxUint32 || v == math.MaxUint64
}

// counter is element i of a field that counts something.
func (b buf) counterAt(f field, i int) smi.Opt[uint64] {
	v, ok := b.raw(f, i)
	if !ok || missing(v, f.width) {
		return smi.None[uint64]()
	}
	return smi.Some(v)
}

func (b buf) counter(f field) smi.Opt[uint64] { return b.counterAt(f, 0) }

// numAt is element i of a field that measures or identifies something. The library
// fills wide fields from its older, 16-bit ones, so 65535 is not available too.
func (b buf) numAt(f field, i int) smi.Opt[uint64] {
	v := b.counterAt(f, i)
	if v == smi.Some[uint64](math.MaxUint16) {
		return smi.None[uint64]()
	}
	return v
}

func (b buf) num(f field) smi.Opt[uint64] { return b.numAt(f, 0) }

// length is a field that is a number of things, at most limit; 0 if not available.
func (b buf) length(f field, limit uint32) int {
	v, ok := b.raw(f, 0)
	if !ok || missing(v, f.width) {
		return 0
	}
	return int(min(v, uint64(limit)))
}

// part is element i of a field that is a structure.
func (b buf) part(f field, i int) buf {
	if i < 0 || uint(i) >= uint(f.count) {
		return nil
	}
	at := uint64(f.off) + uint64(i)*uint64(f.width)
	if at+uint64(f.width) > uint64(len(b)) {
		return nil
	}
	return b[at : at+uint64(f.width)]
}

// text is a field of characters; empty if it is not available.
func (b buf) text(f field) string {
	if f.width != 1 || uint64(f.off)+uint64(f.count) > uint64(len(b)) {
		return ""
	}
	return cleanText(b[f.off : f.off+f.count])
}

// cleanText is a C string without what is no text. What the library did not write
// is no UTF-8 and so empty.
func cleanText(b []byte) string {
	for i, c := range b {
		if c == 0 {
			b = b[:i]
			break
		}
	}
	if !utf8.Valid(b) {
		return ""
	}
	s := strings.TrimSpace(string(b))
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return ""
		}
	}
	switch strings.ToUpper(s) {
	case "N/A", "NA", "UNKNOWN", "NOT SUPPORTED":
		return ""
	}
	return s
}

// optMap is f of a value, if there is one; f may find that it makes no sense.
func optMap[T, U any](o smi.Opt[T], f func(T) (U, bool)) smi.Opt[U] {
	v, ok := o.Get()
	if !ok {
		return smi.None[U]()
	}
	u, ok := f(v)
	if !ok {
		return smi.None[U]()
	}
	return smi.Some(u)
}

// asInt is a number of things.
func asInt(o smi.Opt[uint64]) smi.Opt[int] {
	return optMap(o, func(v uint64) (int, bool) { return int(v), v <= math.MaxInt32 })
}

// asUint32 is an identity of 32 bits.
func asUint32(o smi.Opt[uint64]) smi.Opt[uint32] {
	return optMap(o, func(v uint64) (uint32, bool) { return uint32(v), v < math.MaxUint32 })
}

// flag is a field that is 0 or 1; anything else is not available.
func (b buf) flag(f field) smi.Opt[bool] {
	return optMap(b.num(f), func(v uint64) (bool, bool) { return v == 1, v <= 1 })
}

// float32 is a number of that kind at the beginning.
func (b buf) float32() (float64, bool) {
	v, ok := b.raw(oneUint32, 0)
	f := float64(math.Float32frombits(uint32(v)))
	return f, ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// putUint32 writes v at the beginning.
func (b buf) putUint32(v uint32) { binary.NativeEndian.PutUint32(b, v) }
