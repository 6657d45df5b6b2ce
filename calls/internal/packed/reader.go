// Package packed reads the compact encodings of package exporter's parts, from untrusted
// bytes. It imports next to nothing, because it is linked into programs that only wanted
// a HIP library.
package packed

import (
	"encoding/binary"
	"strings"
)

// Reader takes checked pieces off B; after the first failure it is Bad and answers zeros.
type Reader struct {
	B   []byte
	Bad bool
}

// Take takes n bytes, which lie in B.
func (r *Reader) Take(n uint64) []byte {
	if r.Bad || uint64(len(r.B)) < n {
		r.Bad = true
		return nil
	}
	p := r.B[:n]
	r.B = r.B[n:]
	return p
}

// U8 takes one byte.
func (r *Reader) U8() uint8 {
	if p := r.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// U16 takes two bytes, little-endian.
func (r *Reader) U16() uint16 {
	if p := r.Take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

// U32 takes four bytes, little-endian.
func (r *Reader) U32() uint32 {
	if p := r.Take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// Uvarint takes a number in base 128 of at most limit.
func (r *Reader) Uvarint(limit uint64) uint64 {
	if r.Bad {
		return 0
	}
	v, n := binary.Uvarint(r.B)
	if n <= 0 || v > limit {
		r.Bad = true
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Cut bounds a text to n bytes without breaking a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
