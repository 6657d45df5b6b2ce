package wire

import (
	"encoding/binary"
	"math"
)

// Enc appends values in the wire's byte order to B.
type Enc struct{ B []byte }

// U8 appends one byte.
func (e *Enc) U8(v uint8) { e.B = append(e.B, v) }

// U16 appends two bytes.
func (e *Enc) U16(v uint16) { e.B = binary.LittleEndian.AppendUint16(e.B, v) }

// U32 appends four bytes.
func (e *Enc) U32(v uint32) { e.B = binary.LittleEndian.AppendUint32(e.B, v) }

// U64 appends eight bytes.
func (e *Enc) U64(v uint64) { e.B = binary.LittleEndian.AppendUint64(e.B, v) }

// I8 appends one byte.
func (e *Enc) I8(v int8) { e.U8(uint8(v)) }

// I16 appends two bytes.
func (e *Enc) I16(v int16) { e.U16(uint16(v)) }

// I32 appends four bytes.
func (e *Enc) I32(v int32) { e.U32(uint32(v)) }

// I64 appends eight bytes.
func (e *Enc) I64(v int64) { e.U64(uint64(v)) }

// F32 appends an IEEE 754 single.
func (e *Enc) F32(v float32) { e.U32(math.Float32bits(v)) }

// F64 appends an IEEE 754 double.
func (e *Enc) F64(v float64) { e.U64(math.Float64bits(v)) }

// Bool appends one byte, 0 or 1.
func (e *Enc) Bool(v bool) {
	if v {
		e.U8(1)
	} else {
		e.U8(0)
	}
}

// Bytes appends a u32 length and v. It panics if v is 4 GiB or longer, which no frame could carry.
func (e *Enc) Bytes(v []byte) {
	e.length(len(v))
	e.B = append(e.B, v...)
}

// Str appends a u32 length and v.
func (e *Enc) Str(v string) {
	e.length(len(v))
	e.B = append(e.B, v...)
}

// Raw appends v as it is.
func (e *Enc) Raw(v []byte) { e.B = append(e.B, v...) }

func (e *Enc) length(n int) {
	if uint64(n) > math.MaxUint32 {
		panic("wire: field of 4 GiB or more")
	}
	e.U32(uint32(n))
}

// Dec reads what Enc wrote, from untrusted bytes. A read beyond the end gives zero values, and Bad answers true from then on: decode everything, then ask once.
type Dec struct {
	b   []byte
	bad bool
}

// NewDec starts at the beginning of b. What Bytes and Rest return lies in b.
func NewDec(b []byte) Dec { return Dec{b: b} }

// Bad reports whether any read went beyond the end.
func (d *Dec) Bad() bool { return d.bad }

// Done reports whether everything was read and nothing was missing.
func (d *Dec) Done() bool { return !d.bad && len(d.b) == 0 }

// Rest gives the bytes not yet read, nil if Bad.
func (d *Dec) Rest() []byte { return d.b }

// Len is the number of bytes not yet read.
func (d *Dec) Len() int { return len(d.b) }

// take gives the next n bytes, or nil and Bad.
func (d *Dec) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.b, d.bad = nil, true
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

// U8 reads one byte.
func (d *Dec) U8() uint8 {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

// U16 reads two bytes.
func (d *Dec) U16() uint16 {
	if v := d.take(2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

// U32 reads four bytes.
func (d *Dec) U32() uint32 {
	if v := d.take(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

// U64 reads eight bytes.
func (d *Dec) U64() uint64 {
	if v := d.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// I8 reads one byte.
func (d *Dec) I8() int8 { return int8(d.U8()) }

// I16 reads two bytes.
func (d *Dec) I16() int16 { return int16(d.U16()) }

// I32 reads four bytes.
func (d *Dec) I32() int32 { return int32(d.U32()) }

// I64 reads eight bytes.
func (d *Dec) I64() int64 { return int64(d.U64()) }

// F32 reads an IEEE 754 single.
func (d *Dec) F32() float32 { return math.Float32frombits(d.U32()) }

// F64 reads an IEEE 754 double.
func (d *Dec) F64() float64 { return math.Float64frombits(d.U64()) }

// Bool reads one byte; anything but 0 and 1 is Bad.
func (d *Dec) Bool() bool {
	v := d.U8()
	if v > 1 {
		d.b, d.bad = nil, true
	}
	return v == 1
}

// Bytes reads a u32 length and that many bytes. They lie in the decoder's input; their capacity ends with them.
func (d *Dec) Bytes() []byte { return d.take(uint64(d.U32())) }

// Str reads a u32 length and that many bytes.
func (d *Dec) Str() string { return string(d.Bytes()) }

// Raw reads n bytes that lie in the decoder's input. A negative n is Bad.
func (d *Dec) Raw(n int) []byte {
	if n < 0 {
		d.b, d.bad = nil, true
		return nil
	}
	return d.take(uint64(n))
}
