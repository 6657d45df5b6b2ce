package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// input makes cases: random buffers and arguments.
type input struct{ *rand.Rand }

// element is what a buffer or a value argument may be made of.
type element interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// raw is the memory of values.
func raw[T element](v ...T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err) // elements have a fixed size
	}
	return b
}

// fill is a buffer of n values.
func fill[T element](n int, f func(i int) T) Buffer {
	v := make([]T, n)
	for i := range v {
		v[i] = f(i)
	}
	return Buffer{Data: raw(v...)}
}

// as says how a buffer compares.
func (b Buffer) as(t Type) Buffer { b.Type = t; return b }

// blank is a buffer of n bytes that a kernel writes. What it does not write
// must stay, so it is not zero.
func blank(n int) Buffer {
	return fill(n, func(i int) uint8 { return uint8(0xa0 + i%7) })
}

func (in input) u8s(n int) Buffer  { return fill(n, func(int) uint8 { return uint8(in.Uint32()) }) }
func (in input) u16s(n int) Buffer { return fill(n, func(int) uint16 { return uint16(in.Uint32()) }) }

// u32s are words of all sizes, small ones and edges among them.
func (in input) u32s(n int) Buffer { return fill(n, func(int) uint32 { return uint32(in.u64(32)) }) }

// u64s are 64-bit words of all sizes.
func (in input) u64s(n int) Buffer { return fill(n, func(int) uint64 { return in.u64(64) }) }

// u64 is a number of up to `bits` bits: a random one, a short one, or an edge.
func (in input) u64(bits int) uint64 {
	mask := ^uint64(0) >> (64 - bits)
	switch in.IntN(4) {
	case 0:
		return in.Uint64() >> (64 - 1 - in.IntN(bits)) & mask
	case 1:
		edges := [...]uint64{0, 1, 2, 3, mask, mask - 1, mask >> 1, mask>>1 + 1, 0x80000000, 0x7fffffff, 0xffff, 10}
		return edges[in.IntN(len(edges))] & mask
	}
	return in.Uint64() & mask
}

// below are words under a limit.
func (in input) below(n int, limit uint32) Buffer {
	return fill(n, func(int) uint32 { return in.Uint32N(limit) })
}

// f32s are ordinary floats of both signs and several magnitudes.
func (in input) f32s(n int) Buffer {
	return fill(n, func(int) float32 { return float32(in.NormFloat64() * math.Exp2(float64(in.IntN(20)-10))) }).as(F32)
}

func (in input) f64s(n int) Buffer {
	return fill(n, func(int) float64 { return in.NormFloat64() * math.Exp2(float64(in.IntN(20)-10)) }).as(F64)
}

// wild32 are floats of every kind: any bits, edges and ordinary ones. There is
// no signalling NaN, which x86 and AMD treat differently.
func (in input) wild32(n int) Buffer {
	edges := [...]uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 1, 0x80000001, 0x007fffff,
		0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x40000000, 0x3effffff, 0x4b800000, 0x34000000}
	return fill(n, func(int) float32 {
		switch in.IntN(4) {
		case 0:
			bits := in.Uint32()
			if bits&0x7f800000 == 0x7f800000 && bits&0x7fffff != 0 {
				bits |= 0x400000
			}
			return math.Float32frombits(bits)
		case 1:
			return math.Float32frombits(edges[in.IntN(len(edges))])
		case 2:
			return float32(in.IntN(41)-20) / 2
		}
		return float32(in.NormFloat64() * 100)
	}).as(F32)
}

// wild64 are doubles of every kind, as wild32.
func (in input) wild64(n int) Buffer {
	const exp = 0x7ff << 52
	edges := [...]uint64{0, 1 << 63, exp, exp | 1<<63, exp | 1<<51, exp | 1<<63 | 1<<51 | 0x1234, 1, 1<<63 | 1, 1<<52 - 1, 1 << 52,
		0x3ff << 52, 0xbff << 52, exp - 1, exp - 1 | 1<<63, 0x400 << 52, 0x3fdfffffffffffff, 0x433 << 52, 0x3ca << 52}
	return fill(n, func(int) float64 {
		switch in.IntN(4) {
		case 0:
			bits := in.Uint64()
			if bits&exp == exp && bits&(1<<52-1) != 0 {
				bits |= 1 << 51
			}
			return math.Float64frombits(bits)
		case 1:
			return math.Float64frombits(edges[in.IntN(len(edges))])
		case 2:
			return float64(in.IntN(41)-20) / 2
		}
		return in.NormFloat64() * 100
	}).as(F64)
}

// buf is a pointer argument.
func buf(i int) Arg { return Arg{Buffer: i, Align: 8} }

// val is a value argument.
func val[T element](v T) Arg {
	b := raw(v)
	return Arg{Buffer: -1, Data: b, Align: len(b)}
}

// line is a one-dimensional launch of at least n threads.
func line(c Case, n, block int) Case {
	c.Grid = [3]uint32{uint32((n + block - 1) / block), 1, 1}
	c.Block = [3]uint32{uint32(block), 1, 1}
	return c
}

// named gives a case its kernel and name.
func (c Case) named(object, kernel, format string, args ...any) *Case {
	c.Object, c.Kernel = object, kernel
	c.Name = object + "/" + kernel
	if s := fmt.Sprintf(format, args...); s != "" {
		c.Name += "/" + s
	}
	return &c
}
