package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Type is how a tensor's elements are stored.
type Type uint32

// The types that Write knows.
const (
	F32 Type = 0 // float
	F16 Type = 1 // IEEE half precision
	Q40 Type = 2 // "Q4_0": blocks of 32 in a row, a half as scale and 4 bits each, which are 8 more than the number
	Q80 Type = 8 // "Q8_0": blocks of 32 in a row, a half as scale and a signed byte each
)

func (t Type) String() string {
	switch t {
	case F32:
		return "F32"
	case F16:
		return "F16"
	case Q40:
		return "Q4_0"
	case Q80:
		return "Q8_0"
	}
	return fmt.Sprintf("type %d", uint32(t))
}

const block = 32 // elements of Q40 and Q80 that have one scale

// encode is the tensor's data.
func (t *Tensor) encode() ([]byte, error) {
	n := uint64(1)
	for _, d := range t.Shape {
		n *= d
	}
	if len(t.Shape) == 0 || len(t.Shape) > 4 || n != uint64(len(t.Values)) {
		return nil, fmt.Errorf("gguf: tensor %s of shape %v has %d values", t.Name, t.Shape, len(t.Values))
	}
	switch t.Type {
	case F32:
		b := make([]byte, 0, 4*n)
		for _, v := range t.Values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b, nil
	case F16:
		b := make([]byte, 0, 2*n)
		for _, v := range t.Values {
			b = binary.LittleEndian.AppendUint16(b, half(v))
		}
		return b, nil
	case Q40:
		return t.blocks(appendQ40)
	case Q80:
		return t.blocks(appendQ80)
	}
	return nil, fmt.Errorf("gguf: tensor %s is of %v", t.Name, t.Type)
}

// blocks is the data of a tensor of blocks.
func (t *Tensor) blocks(add func(b []byte, v []float32) []byte) (b []byte, err error) {
	if t.Shape[0]%block != 0 {
		return nil, fmt.Errorf("gguf: rows of tensor %s have %d elements, blocks %d", t.Name, t.Shape[0], block)
	}
	for at := 0; at < len(t.Values); at += block {
		b = add(b, t.Values[at:at+block])
	}
	return b, nil
}

// appendQ40 adds a block of Q40: the value that is largest without its sign becomes -8. A byte has a number of the first half of the block below one of the second.
func appendQ40(b []byte, v []float32) []byte {
	var largest float64
	for _, f := range v {
		if math.Abs(float64(f)) > math.Abs(largest) {
			largest = float64(f)
		}
	}
	scale := largest / -8
	b = binary.LittleEndian.AppendUint16(b, half(float32(scale)))
	q := func(f float32) byte {
		if scale == 0 {
			return 8
		}
		return byte(min(math.RoundToEven(float64(f)/scale)+8, 15))
	}
	for i := range block / 2 {
		b = append(b, q(v[i])|q(v[i+block/2])<<4)
	}
	return b
}

// appendQ80 adds a block of Q80: the largest value becomes 127 or -127.
func appendQ80(b []byte, v []float32) []byte {
	var largest float64
	for _, f := range v {
		largest = max(largest, math.Abs(float64(f)))
	}
	scale := largest / 127
	b = binary.LittleEndian.AppendUint16(b, half(float32(scale)))
	for _, f := range v {
		var q int8
		if scale > 0 {
			q = int8(math.RoundToEven(float64(f) / scale))
		}
		b = append(b, byte(q))
	}
	return b
}

// half is the nearest half precision number, of two the even one.
func half(f float32) uint16 {
	sign := uint16(math.Float32bits(f) >> 16 & 0x8000)
	v := math.Abs(float64(f))
	switch {
	case math.IsNaN(v):
		return sign | 0x7e00
	case v >= 65520: // halfway from the largest to what would be next
		return sign | 0x7c00
	case v < 1.0/(1<<14): // subnormal: multiples of 2^-24; one too many is the smallest normal number
		return sign | uint16(math.RoundToEven(v*(1<<24)))
	}
	fraction, exponent := math.Frexp(v) // v = fraction * 2^exponent, fraction from 1/2 up
	m := uint16(math.RoundToEven(fraction * (1 << 11)))
	return sign | (uint16(exponent+13)<<10 + m) // m's highest bit is the 1 that is not stored and adds one to the exponent
}
