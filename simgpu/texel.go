package simgpu

import "github.com/rocwire/rocwire/hip"

// texel is the format of an image's elements: what the fields of descriptors
// need to know.
type texel struct {
	kind     numberKind
	bits     uint8 // of a component
	channels uint8 // 1, 2, 4
}

// numberKind is the number format field of a descriptor.
type numberKind uint32

const (
	unorm numberKind = 0
	snorm numberKind = 1
	uints numberKind = 4
	sints numberKind = 5
	float numberKind = 7
	srgb  numberKind = 9
)

// texelOf is HIP's format of an array; false if there is no such format.
func texelOf(f hip.ArrayFormat, channels uint32) (texel, bool) {
	if channels != 1 && channels != 2 && channels != 4 {
		return texel{}, false
	}
	t := texel{channels: uint8(channels)}
	switch f {
	case hip.DrvAdFormatUnsignedInt8:
		t.kind, t.bits = uints, 8
	case hip.DrvAdFormatUnsignedInt16:
		t.kind, t.bits = uints, 16
	case hip.DrvAdFormatUnsignedInt32:
		t.kind, t.bits = uints, 32
	case hip.DrvAdFormatSignedInt8:
		t.kind, t.bits = sints, 8
	case hip.DrvAdFormatSignedInt16:
		t.kind, t.bits = sints, 16
	case hip.DrvAdFormatSignedInt32:
		t.kind, t.bits = sints, 32
	case hip.DrvAdFormatHalf:
		t.kind, t.bits = float, 16
	case hip.DrvAdFormatFloat:
		t.kind, t.bits = float, 32
	default:
		return texel{}, false
	}
	return t, true
}

// normalized is the format that reads integers of up to 16 bits as numbers from
// 0 or -1 to 1; others stay as they are.
func (t texel) normalized() texel {
	switch {
	case t.bits == 32:
	case t.kind == uints:
		t.kind = unorm
	case t.kind == sints:
		t.kind = snorm
	}
	return t
}

// size is the number of bytes of an element.
func (t texel) size() uint64 { return uint64(t.bits) / 8 * uint64(t.channels) }

// data is the data format field: how many components of how many bits.
func (t texel) data() uint32 {
	return map[[2]uint8]uint32{{1, 8}: 1, {1, 16}: 2, {2, 8}: 3, {1, 32}: 4, {2, 16}: 5,
		{4, 8}: 10, {2, 32}: 11, {4, 16}: 12, {4, 32}: 14}[[2]uint8{t.channels, t.bits}]
}

// selection is the field that says where a register's components come from: 4
// to 7 are the element's, 0 and 1 these numbers.
func (t texel) selection() uint32 {
	return map[uint8]uint32{1: 4 | 1<<9, 2: 4 | 5<<3 | 1<<9, 4: 4 | 5<<3 | 6<<6 | 7<<9}[t.channels]
}

// channelType and channelOrder are HSA's numbers, which HIP's device functions
// read from the descriptor.
func (t texel) channelType() uint32 {
	size := map[uint8]uint32{8: 0, 16: 1, 32: 2}[t.bits]
	switch t.kind {
	case snorm:
		return size
	case unorm, srgb:
		return 2 + size
	case sints:
		return 8 + size
	case uints:
		return 11 + size
	}
	return 13 + size // half, float
}

func (t texel) channelOrder() uint32 {
	if t.kind == srgb {
		return 14
	}
	return map[uint8]uint32{1: 1, 2: 3, 4: 8}[t.channels]
}
