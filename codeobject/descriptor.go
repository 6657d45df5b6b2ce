package codeobject

// DescriptorSize is the size of a kernel descriptor in memory, in bytes.
const DescriptorSize = 64

// Descriptor is a kernel descriptor: what the hardware is told about a kernel.
type Descriptor struct {
	GroupSegmentFixedSize   uint32 // LDS of a workgroup, in bytes
	PrivateSegmentFixedSize uint32 // scratch of a lane, in bytes
	KernargSize             uint32
	EntryOffset             int64 // of the code, relative to the descriptor
	Rsrc1, Rsrc2, Rsrc3     uint32
	Properties              uint16 // Property bits
	KernargPreload          uint16
}

// Property is a bit of Descriptor.Properties: which values the kernel finds in
// its first scalar registers, and how it runs.
type Property uint16

const (
	EnablePrivateSegmentBuffer Property = 1 << 0 // 4 registers
	EnableDispatchPtr          Property = 1 << 1 // 2
	EnableQueuePtr             Property = 1 << 2 // 2
	EnableKernargSegmentPtr    Property = 1 << 3 // 2
	EnableDispatchID           Property = 1 << 4 // 2
	EnableFlatScratchInit      Property = 1 << 5 // 2
	EnablePrivateSegmentSize   Property = 1 << 6 // 1
	EnableWavefrontSize32      Property = 1 << 10
	UsesDynamicStack           Property = 1 << 11
)

func bits(v uint32, lo, n uint) uint32 { return v >> lo & (1<<n - 1) }

// Has tells whether a property is set.
func (d *Descriptor) Has(p Property) bool { return d.Properties&uint16(p) != 0 }

// VGPRs is the number of vector registers of a lane, AGPRs included, in the
// granule of 8 of gfx90a and gfx942.
func (d *Descriptor) VGPRs() int { return int(bits(d.Rsrc1, 0, 6)+1) * 8 }

// SGPRGranules is the field of rsrc1 that asks for scalar registers. gfx9
// allocates (n/2+1)*16; gfx90a and later give every wave all of them.
func (d *Descriptor) SGPRGranules() int { return int(bits(d.Rsrc1, 6, 4)) }

// FloatRound32 and FloatRound64 are rounding modes (0 nearest even, 1 up, 2
// down, 3 to zero) of f32, and of f16 and f64.
func (d *Descriptor) FloatRound32() uint32 { return bits(d.Rsrc1, 12, 2) }

// FloatRound64 is the rounding mode of f16 and f64.
func (d *Descriptor) FloatRound64() uint32 { return bits(d.Rsrc1, 14, 2) }

// FloatDenorm32 is the denormal mode of f32: 0 flush in and out, 1 flush
// results, 2 flush sources, 3 keep.
func (d *Descriptor) FloatDenorm32() uint32 { return bits(d.Rsrc1, 16, 2) }

// FloatDenorm64 is the denormal mode of f16 and f64.
func (d *Descriptor) FloatDenorm64() uint32 { return bits(d.Rsrc1, 18, 2) }

// FloatMode is bits 7:0 of the MODE register that the wave starts with.
func (d *Descriptor) FloatMode() uint32 { return bits(d.Rsrc1, 12, 8) }

// DX10Clamp tells that clamping turns NaN into 0.
func (d *Descriptor) DX10Clamp() bool { return bits(d.Rsrc1, 21, 1) == 1 }

// IEEE tells that signalling NaNs are quieted.
func (d *Descriptor) IEEE() bool { return bits(d.Rsrc1, 23, 1) == 1 }

// FP16Overflow tells that f16 overflow saturates.
func (d *Descriptor) FP16Overflow() bool { return bits(d.Rsrc1, 26, 1) == 1 }

// EnablePrivateSegment tells that the kernel uses scratch; the wave's scratch
// offset follows the workgroup registers on targets without architected flat
// scratch.
func (d *Descriptor) EnablePrivateSegment() bool { return bits(d.Rsrc2, 0, 1) == 1 }

// UserSGPRs is the number of scalar registers set before the workgroup's.
func (d *Descriptor) UserSGPRs() int { return int(bits(d.Rsrc2, 1, 5)) }

// WorkgroupID tells whether a scalar register holds the workgroup's coordinate
// on axis 0, 1 or 2.
func (d *Descriptor) WorkgroupID(axis int) bool { return bits(d.Rsrc2, 7+uint(axis), 1) == 1 }

// WorkgroupInfo tells whether a scalar register holds the workgroup info.
func (d *Descriptor) WorkgroupInfo() bool { return bits(d.Rsrc2, 10, 1) == 1 }

// WorkitemID says which coordinates of the work-item are set: 0 x, 1 x and y,
// 2 all three.
func (d *Descriptor) WorkitemID() int { return int(bits(d.Rsrc2, 11, 2)) }

// AccumOffset is the number of the first AGPR among the lane's vector
// registers (gfx90a, gfx942).
func (d *Descriptor) AccumOffset() int { return int(bits(d.Rsrc3, 0, 6)+1) * 4 }

// TgSplit tells that the waves of a workgroup may run on different compute
// units (gfx90a, gfx942).
func (d *Descriptor) TgSplit() bool { return bits(d.Rsrc3, 16, 1) == 1 }

// PreloadLength is the number of dwords of kernel arguments that the hardware
// places in scalar registers; if it is not 0, execution begins 256 bytes
// after the entry.
func (d *Descriptor) PreloadLength() int { return int(d.KernargPreload & 0x7f) }

// PreloadOffset is where in the kernel argument segment the preloaded part
// begins, in dwords.
func (d *Descriptor) PreloadOffset() int { return int(d.KernargPreload >> 7) }

// ParseDescriptor decodes the 64 bytes of a kernel descriptor.
func ParseDescriptor(b []byte) (Descriptor, error) {
	if len(b) < DescriptorSize {
		return Descriptor{}, invalid(0, "kernel descriptor is cut off after %d bytes", len(b))
	}
	return Descriptor{
		GroupSegmentFixedSize:   le.Uint32(b),
		PrivateSegmentFixedSize: le.Uint32(b[4:]),
		KernargSize:             le.Uint32(b[8:]),
		EntryOffset:             int64(le.Uint64(b[16:])),
		Rsrc3:                   le.Uint32(b[44:]),
		Rsrc1:                   le.Uint32(b[48:]),
		Rsrc2:                   le.Uint32(b[52:]),
		Properties:              le.Uint16(b[56:]),
		KernargPreload:          le.Uint16(b[58:]),
	}, nil
}
