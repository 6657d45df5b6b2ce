package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
)

// texel is the format of an image's elements: what the fields of descriptors
// need to know.
type texel struct {
	kind     uint32 // number format
	bits     uint8  // of a component
	channels uint8  // 1, 2, 4
}

// texelOf is HIP's format of an array; false if there is no such format.
func texelOf(f hip.ArrayFormat, channels uint32) (texel, bool) {
	if channels != 1 && channels != 2 && channels != 4 {
		return texel{}, false
	}
	t := texel{channels: uint8(channels)}
	switch f {
	case hip.DrvAdFormatUnsignedInt8:
		t.kind, t.bits = descriptor.Uint, 8
	case hip.DrvAdFormatUnsignedInt16:
		t.kind, t.bits = descriptor.Uint, 16
	case hip.DrvAdFormatUnsignedInt32:
		t.kind, t.bits = descriptor.Uint, 32
	case hip.DrvAdFormatSignedInt8:
		t.kind, t.bits = descriptor.Sint, 8
	case hip.DrvAdFormatSignedInt16:
		t.kind, t.bits = descriptor.Sint, 16
	case hip.DrvAdFormatSignedInt32:
		t.kind, t.bits = descriptor.Sint, 32
	case hip.DrvAdFormatHalf:
		t.kind, t.bits = descriptor.Float, 16
	case hip.DrvAdFormatFloat:
		t.kind, t.bits = descriptor.Float, 32
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
	case t.kind == descriptor.Uint:
		t.kind = descriptor.Unorm
	case t.kind == descriptor.Sint:
		t.kind = descriptor.Snorm
	}
	return t
}

// size is the number of bytes of an element.
func (t texel) size() uint64 { return uint64(t.bits) / 8 * uint64(t.channels) }

// format is what descriptors say of it.
func (t texel) format() descriptor.Format {
	return descriptor.Format{Data: descriptor.Data(t.channels, t.bits), Number: t.kind, Size: t.size(), Select: t.selection(), Type: t.channelType(), Order: t.channelOrder()}
}

// selection is where a register's components come from.
func (t texel) selection() uint32 {
	return map[uint8]uint32{1: 4 | 1<<9, 2: 4 | 5<<3 | 1<<9, 4: 4 | 5<<3 | 6<<6 | 7<<9}[t.channels]
}

// channelType and channelOrder are HSA's numbers, which HIP's device functions
// read from the descriptor.
func (t texel) channelType() uint32 {
	size := map[uint8]uint32{8: 0, 16: 1, 32: 2}[t.bits]
	switch t.kind {
	case descriptor.Snorm:
		return size
	case descriptor.Unorm, descriptor.SRGB:
		return 2 + size
	case descriptor.Sint:
		return 8 + size
	case descriptor.Uint:
		return 11 + size
	}
	return 13 + size // half, float
}

func (t texel) channelOrder() uint32 {
	if t.kind == descriptor.SRGB {
		return 14
	}
	return map[uint8]uint32{1: 1, 2: 3, 4: 8}[t.channels]
}
