package exec

import (
	"math"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// texelFormat is how an element of a typed buffer or an image lies in memory:
// the data format says how many bits each component has, the number format what
// they mean.
type texelFormat struct{ data, num uint8 }

// Number formats. The buffer's field has three bits, so it has no sRGB.
const (
	numUnorm   = 0
	numSnorm   = 1
	numUscaled = 2
	numSscaled = 3
	numUint    = 4
	numSint    = 5
	numFloat   = 7
	numSRGB    = 9
)

// texelBits are the widths of the components of each data format, from the
// lowest bits on.
var texelBits = [64][]uint8{
	1: {8}, 2: {16}, 3: {8, 8}, 4: {32}, 5: {16, 16}, 6: {11, 11, 10}, 7: {10, 11, 11}, 8: {2, 10, 10, 10}, 9: {10, 10, 10, 2},
	10: {8, 8, 8, 8}, 11: {32, 32}, 12: {16, 16, 16, 16}, 13: {32, 32, 32}, 14: {32, 32, 32, 32},
	16: {5, 6, 5}, 17: {5, 5, 5, 1}, 18: {1, 5, 5, 5}, 19: {4, 4, 4, 4},
}

// unifiedFormat is what a format of RDNA is, which has one number for both.
func unifiedFormat(f uint8) texelFormat {
	data, num := gcn.Format(f)
	return texelFormat{data, num}
}

// valid reports whether this format can be read and written.
func (f texelFormat) valid() bool {
	c := texelBits[f.data&63]
	if c == nil {
		return false
	}
	switch f.num {
	case numUnorm, numSnorm, numUscaled, numSscaled, numUint, numSint:
		return true
	case numFloat:
		return c[0] >= 10 && c[0] != 2
	case numSRGB:
		return f.data == 1 || f.data == 3 || f.data == 10
	}
	return false
}

// size is the number of bytes of an element.
func (f texelFormat) size() uint64 {
	n := uint64(0)
	for _, b := range texelBits[f.data&63] {
		n += uint64(b)
	}
	return n / 8
}

// isInt reports whether components are integers in registers; otherwise they
// are float32.
func (f texelFormat) isInt() bool { return f.num == numUint || f.num == numSint }

// one is the component that stands for 1.
func (f texelFormat) one() uint32 {
	if f.isInt() {
		return 1
	}
	return math.Float32bits(1)
}

// load reads an element. Components that the format has not are 0, the last 1.
func (f texelFormat) load(p unsafe.Pointer) (c [4]uint32) {
	c[3] = f.one()
	var word uint64
	size := f.size()
	for i := range min(size, 8) {
		word |= uint64(*(*uint8)(unsafe.Add(p, i))) << (8 * i)
	}
	at := uint8(0)
	for i, n := range texelBits[f.data&63] {
		if at == 64 { // the other half of 16 bytes
			word = 0
			for j := range size - 8 {
				word |= uint64(*(*uint8)(unsafe.Add(p, 8+j))) << (8 * j)
			}
			at = 0
		}
		c[i] = f.decode(uint32(word>>at&(1<<n-1)), n, i)
		at += n
	}
	return c
}

// decode is what n bits of component i mean.
func (f texelFormat) decode(v uint32, n uint8, i int) uint32 {
	top := float64(uint64(1)<<n - 1)
	signed := int32(v<<(32-n)) >> (32 - n)
	switch f.num {
	case numUnorm:
		return b32(float32(float64(v) / top))
	case numSnorm:
		return b32(float32(max(-1, float64(signed)/float64(uint64(1)<<(n-1)-1))))
	case numUscaled:
		return b32(float32(v))
	case numSscaled:
		return b32(float32(signed))
	case numSint:
		return uint32(signed)
	case numFloat:
		switch n {
		case 16:
			return b32(f16to32(uint16(v)))
		case 11: // without sign, the exponent of a half
			return b32(f16to32(uint16(v << 4)))
		case 10:
			return b32(f16to32(uint16(v << 5)))
		}
	case numSRGB:
		if i == 3 {
			return b32(float32(float64(v) / top))
		}
		return b32(linear()[v&0xff])
	}
	return v
}

// linear is sRGB's curve for the 256 values of 8 bits.
var linear = sync.OnceValue(func() *[256]float32 {
	t := new([256]float32)
	for i := range t {
		if x := float64(i) / 255; x <= 0.04045 {
			t[i] = float32(x / 12.92)
		} else {
			t[i] = float32(math.Pow((x+0.055)/1.055, 2.4))
		}
	}
	return t
})

// store writes an element.
func (f texelFormat) store(p unsafe.Pointer, c *[4]uint32) {
	var word [2]uint64
	at := uint8(0)
	for i, n := range texelBits[f.data&63] {
		word[at/64] |= uint64(f.encode(c[i], n, i)) << (at % 64)
		at += n
	}
	for i := range uint64(at / 8) {
		*(*uint8)(unsafe.Add(p, i)) = uint8(word[i/8] >> (8 * (i % 8)))
	}
}

// encode is the reverse of decode. What does not fit becomes the nearest that
// does.
func (f texelFormat) encode(r uint32, n uint8, i int) uint32 {
	mask := uint32(uint64(1)<<n - 1)
	top, half := float64(mask), float64(mask>>1)
	scaled := func(x, low, high float64) uint32 {
		if x != x {
			x = 0
		}
		return uint32(int64(math.RoundToEven(min(max(x, low), high)))) & mask
	}
	x := float64(f32(r))
	switch f.num {
	case numUnorm:
		return scaled(x*top, 0, top)
	case numSnorm:
		return scaled(x*half, -half, half)
	case numUscaled:
		return scaled(math.Trunc(x), 0, top)
	case numSscaled:
		return scaled(math.Trunc(x), -half-1, half)
	case numUint:
		return min(r, mask)
	case numSint:
		return scaled(float64(int32(r)), -half-1, half)
	case numFloat:
		switch n {
		case 16:
			return uint32(f32to16(f32(r)))
		case 11:
			return uint32(f32to16(max(f32(r), 0))) >> 4
		case 10:
			return uint32(f32to16(max(f32(r), 0))) >> 5
		}
	case numSRGB:
		if i == 3 {
			return scaled(x*top, 0, top)
		}
		if x <= 0.0031308 {
			return scaled(x*12.92*top, 0, top)
		}
		return scaled((1.055*math.Pow(x, 1/2.4)-0.055)*top, 0, top)
	}
	return r & mask
}

// selection says which component each of a register's four comes from: 0 and 1
// are these numbers, 4 to 7 the components in memory.
type selection [4]uint8

func (s selection) load(c [4]uint32, one uint32) (r [4]uint32) {
	for i, k := range s {
		switch {
		case k >= 4:
			r[i] = c[k-4]
		case k == 1:
			r[i] = one
		}
	}
	return r
}

// store is the reverse. A component that no register's comes from takes that of
// its own number.
func (s selection) store(r [4]uint32) (c [4]uint32) {
	c = r
	for i, k := range s {
		if k >= 4 {
			c[k-4] = r[i]
		}
	}
	return c
}

// ReadTexel is an element as a kernel would read it: numbers as float32, integers as they are.
func ReadTexel(f descriptor.Format, p []byte) [4]uint32 {
	t := formatOf(f)
	_ = p[f.Size-1]
	return selectionOf(f.Select).load(t.load(unsafe.Pointer(unsafe.SliceData(p))), t.one())
}

// WriteTexel writes one as a kernel would.
func WriteTexel(f descriptor.Format, p []byte, c [4]uint32) {
	_ = p[f.Size-1]
	c = selectionOf(f.Select).store(c)
	formatOf(f).store(unsafe.Pointer(unsafe.SliceData(p)), &c)
}

func formatOf(f descriptor.Format) texelFormat { return texelFormat{uint8(f.Data), uint8(f.Number)} }

// selectionOf takes the field of a descriptor apart.
func selectionOf(field uint32) selection {
	return selection{uint8(field & 7), uint8(field >> 3 & 7), uint8(field >> 6 & 7), uint8(field >> 9 & 7)}
}
