//go:build linux

package hsaabi

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/descriptor"
)

// What images there can be: those of AMD's library for GFX9.

const (
	readOnly = HSA_EXT_IMAGE_CAPABILITY_READ_ONLY
	oneWay   = readOnly | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY
	allWays  = oneWay | HSA_EXT_IMAGE_CAPABILITY_READ_WRITE
)

// channelType is what a type of channels is.
type channelType struct {
	number uint32
	bits   uint8
}

var channelTypes = map[uint32]channelType{
	HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8:     {descriptor.Snorm, 8},
	HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16:    {descriptor.Snorm, 16},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8:     {descriptor.Unorm, 8},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16:    {descriptor.Unorm, 16},
	HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8:    {descriptor.Sint, 8},
	HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16:   {descriptor.Sint, 16},
	HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32:   {descriptor.Sint, 32},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8:  {descriptor.Uint, 8},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16: {descriptor.Uint, 16},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32: {descriptor.Uint, 32},
	HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT:     {descriptor.Float, 16},
	HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT:          {descriptor.Float, 32},
}

// packed are the types of three channels in one number, by their data format and size.
var packed = map[uint32]descriptor.Format{
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555:    {Data: descriptor.Packed555, Size: 2},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565:    {Data: descriptor.Packed565, Size: 2},
	HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010: {Data: descriptor.Packed101010, Size: 4},
}

// Registers' components: these numbers, or the element's.
const (
	sel0 = 0
	sel1 = 1
	selX = 4
	selY = 5
	selZ = 6
	selW = 7
)

// goes says whether an order of channels goes with a type, for which kinds of access, and what of an element a register gets.
func goes(order, kind uint32) (n uint8, sel [4]uint32, access uint32) {
	t, ok := channelTypes[kind]
	byteSize := ok && t.bits == 8
	number := ok && (t.number == descriptor.Snorm || t.number == descriptor.Unorm || t.number == descriptor.Float)
	switch order {
	case HSA_EXT_IMAGE_CHANNEL_ORDER_A:
		n, sel = 1, [4]uint32{sel0, sel0, sel0, selX}
	case HSA_EXT_IMAGE_CHANNEL_ORDER_R:
		n, sel = 1, [4]uint32{selX, sel0, sel0, sel1}
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RG:
		n, sel = 2, [4]uint32{selX, selY, sel0, sel1}
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RA:
		n, sel = 2, [4]uint32{selX, sel0, sel0, selY}
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA:
		n, sel = 4, [4]uint32{selX, selY, selZ, selW}
	case HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA:
		n, sel, ok = 4, [4]uint32{selZ, selY, selX, selW}, byteSize
	case HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB:
		n, sel, ok = 4, [4]uint32{selY, selZ, selW, selX}, byteSize
	case HSA_EXT_IMAGE_CHANNEL_ORDER_RGB:
		_, ok = packed[kind]
		n, sel = 3, [4]uint32{selZ, selY, selX, sel1}
	case HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY:
		n, sel, ok = 1, [4]uint32{selX, selX, selX, selX}, number
	case HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE:
		n, sel, ok = 1, [4]uint32{selX, selX, selX, sel1}, number
	case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA:
		if kind == HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 {
			return 4, [4]uint32{selX, selY, selZ, selW}, readOnly
		}
		return 0, sel, 0
	case HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH:
		if kind == HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16 || kind == HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT {
			return 1, [4]uint32{selX, sel0, sel0, sel0}, oneWay
		}
		return 0, sel, 0
	default:
		return 0, sel, 0
	}
	if !ok {
		return 0, sel, 0
	}
	return n, sel, allWays
}

// formatOf is the format of elements of an image of a geometry, and the kinds of access that kernels have, 0 if there is none such.
func formatOf(shape uint32, f extImageFormat) (d descriptor.Format, access uint32) {
	depth := f.channelOrder == HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH
	pack, isPacked := packed[f.channelType]
	if _, ok := geometries[shape]; !ok {
		return d, 0
	}
	switch shape {
	case HSA_EXT_IMAGE_GEOMETRY_2DDEPTH, HSA_EXT_IMAGE_GEOMETRY_2DADEPTH:
		if !depth {
			return d, 0
		}
	case HSA_EXT_IMAGE_GEOMETRY_1DB: // typed buffers have no curve, and none of the short packed ones
		if f.channelOrder == HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA || isPacked && pack.Size == 2 {
			return d, 0
		}
	}
	n, sel, access := goes(f.channelOrder, f.channelType)
	if access == 0 {
		return d, 0
	}
	t := channelTypes[f.channelType]
	d = descriptor.Format{Data: descriptor.Data(n, t.bits), Number: t.number, Size: uint64(n) * uint64(t.bits) / 8}
	if isPacked {
		d = pack
	}
	if f.channelOrder == HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA {
		d.Number = descriptor.SRGB
	}
	d.Select = sel[0] | sel[1]<<3 | sel[2]<<6 | sel[3]<<9
	d.Type, d.Order = f.channelType, f.channelOrder
	return d, access
}

// geometry is what kind of image one is.
type geometry struct {
	kind   descriptor.Kind
	most   [3]uint64 // width, height, depth
	layers uint64    // the most
	dims   int       // of an element's place, layers among them
}

var geometries = map[uint32]geometry{
	HSA_EXT_IMAGE_GEOMETRY_1D:       {descriptor.Image1D, [3]uint64{descriptor.MaxImage, 1, 1}, 1, 1},
	HSA_EXT_IMAGE_GEOMETRY_2D:       {descriptor.Image2D, [3]uint64{descriptor.MaxImage, descriptor.MaxImage, 1}, 1, 2},
	HSA_EXT_IMAGE_GEOMETRY_3D:       {descriptor.Image3D, [3]uint64{descriptor.MaxImage, descriptor.MaxImage, descriptor.MaxSlices}, 1, 3},
	HSA_EXT_IMAGE_GEOMETRY_1DA:      {descriptor.Image1DArray, [3]uint64{descriptor.MaxImage, 1, 1}, descriptor.MaxSlices, 2},
	HSA_EXT_IMAGE_GEOMETRY_2DA:      {descriptor.Image2DArray, [3]uint64{descriptor.MaxImage, descriptor.MaxImage, 1}, descriptor.MaxSlices, 3},
	HSA_EXT_IMAGE_GEOMETRY_1DB:      {descriptor.NoImage, [3]uint64{1<<32 - 1, 1, 1}, 1, 1},
	HSA_EXT_IMAGE_GEOMETRY_2DDEPTH:  {descriptor.Image2D, [3]uint64{descriptor.MaxImage, descriptor.MaxImage, 1}, 1, 2},
	HSA_EXT_IMAGE_GEOMETRY_2DADEPTH: {descriptor.Image2DArray, [3]uint64{descriptor.MaxImage, descriptor.MaxImage, 1}, descriptor.MaxSlices, 3},
}

const (
	imagesRead   = 128 // of a kernel
	imagesBoth   = 64
	samplersMost = 16
)

// imageInfo answers what agents are asked of images; there are none unless has.
func imageInfo(has bool, attribute uint32, value unsafe.Pointer) (status, bool) {
	of := map[uint32]uint32{
		HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS:       HSA_EXT_IMAGE_GEOMETRY_1D,
		HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS:      HSA_EXT_IMAGE_GEOMETRY_1DA,
		HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:      HSA_EXT_IMAGE_GEOMETRY_1DB,
		HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS:       HSA_EXT_IMAGE_GEOMETRY_2D,
		HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS:      HSA_EXT_IMAGE_GEOMETRY_2DA,
		HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS:  HSA_EXT_IMAGE_GEOMETRY_2DDEPTH,
		HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS: HSA_EXT_IMAGE_GEOMETRY_2DADEPTH,
		HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS:       HSA_EXT_IMAGE_GEOMETRY_3D,
	}
	one := func(n uint32) (status, bool) {
		if !has {
			n = 0
		}
		return put(value, n), true
	}
	switch attribute {
	case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
		return one(descriptor.MaxSlices)
	case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
		return one(imagesRead)
	case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
		return one(imagesBoth)
	case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
		return one(samplersMost)
	}
	shape, ok := of[attribute]
	if !ok {
		return 0, false
	}
	var most [3]uint32
	g := geometries[shape]
	for i, n := range g.most {
		if has {
			most[i] = uint32(n)
		}
	}
	switch {
	case g.kind == descriptor.Image3D:
		return put(value, most), true
	case g.most[1] > 1:
		return put(value, [2]uint32(most[:2])), true
	}
	return put(value, most[0]), true
}
