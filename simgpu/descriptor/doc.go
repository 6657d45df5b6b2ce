// Package descriptor makes the words that image instructions read images, typed buffers and samplers from (T#, V#, S#), as simgpu/exec takes
// them apart. Behind an image's words stand those that AMD's device library reads. They are made for HIP's textures and surfaces and for
// HSA's images alike.
package descriptor

import "github.com/rocwire/rocwire/simgpu/gcn"

// Format is how an element lies in memory, and what a register gets of it.
type Format struct {
	Data   uint32 // data format: how many components of how many bits
	Number uint32 // number format: what the bits mean
	Size   uint64 // bytes
	Select uint32 // 3 bits for each of a register's four components: 0 and 1 are these numbers, 4 to 7 the element's

	Type, Order uint32 // HSA's numbers of the channels' type and order, which the device library reads
}

// unified is the one number that RDNA has for a data format with a number format.
func (f *Format) unified() uint32 { return uint32(gcn.FormatOf(uint8(f.Data), uint8(f.Number))) }

// Number formats.
const (
	Unorm = 0
	Snorm = 1
	Uint  = 4
	Sint  = 5
	Float = 7
	SRGB  = 9
)

// Data is the data format of elements of 1, 2 or 4 equal components; 0 for none.
func Data(components, bits uint8) uint32 {
	return map[[2]uint8]uint32{{1, 8}: 1, {1, 16}: 2, {2, 8}: 3, {1, 32}: 4, {2, 16}: 5,
		{4, 8}: 10, {2, 32}: 11, {4, 16}: 12, {4, 32}: 14}[[2]uint8{components, bits}]
}

// Data formats of three components in one number, the last in its lowest bits.
const (
	Packed101010 = 9
	Packed565    = 16
	Packed555    = 17
)
