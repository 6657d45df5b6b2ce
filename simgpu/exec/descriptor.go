package exec

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Descriptor is a kernel descriptor (amdhsa_kernel_descriptor_t), the 64 bytes
// the .kd symbol names: what a kernel needs and how its registers start.
type Descriptor struct {
	GroupSegmentSize   uint32 // static LDS, bytes
	PrivateSegmentSize uint32 // scratch per lane, bytes
	KernargSize        uint32
	EntryOffset        int64 // of the first instruction, from the descriptor
	Rsrc1              uint32
	Rsrc2              uint32
	Rsrc3              uint32
	Properties         uint16
	KernargPreload     uint16 // length in dwords (bits 6:0), offset in dwords (bits 15:7)
}

// DescriptorSize is the size of a kernel descriptor in memory.
const DescriptorSize = 64

// ParseDescriptor reads the descriptor from its 64 bytes.
func ParseDescriptor(b *[DescriptorSize]byte) Descriptor {
	le := binary.LittleEndian
	return Descriptor{
		GroupSegmentSize:   le.Uint32(b[0:]),
		PrivateSegmentSize: le.Uint32(b[4:]),
		KernargSize:        le.Uint32(b[8:]),
		EntryOffset:        int64(le.Uint64(b[16:])),
		Rsrc3:              le.Uint32(b[44:]),
		Rsrc1:              le.Uint32(b[48:]),
		Rsrc2:              le.Uint32(b[52:]),
		Properties:         le.Uint16(b[56:]),
		KernargPreload:     le.Uint16(b[58:]),
	}
}

// Bits of Descriptor.Properties.
const (
	propPrivateSegmentBuffer = 1 << 0
	propDispatchPtr          = 1 << 1
	propQueuePtr             = 1 << 2
	propKernargPtr           = 1 << 3
	propDispatchID           = 1 << 4
	propFlatScratchInit      = 1 << 5
	propPrivateSegmentSize   = 1 << 6
	propWave32               = 1 << 10
	propDynamicStack         = 1 << 11
)

// vgprs is the number of vector registers, accumulation registers included.
func (d *Descriptor) vgprs(arch gcn.Arch) int {
	if arch.Has(gcn.RDNA) && arch.WaveSize() == 64 {
		return (int(d.Rsrc1&0x3f) + 1) * 4
	}
	return (int(d.Rsrc1&0x3f) + 1) * 8
}

// accumOffset is the number of the first register that is an accumulation register.
func (d *Descriptor) accumOffset() int { return (int(d.Rsrc3&0x3f) + 1) * 4 }

// mode is the initial MODE register: FP_ROUND 3:0, FP_DENORM 7:4, DX10_CLAMP 8, IEEE 9, FP16_OVFL 23.
func (d *Descriptor) mode() uint32 {
	m := d.Rsrc1 >> 12 & 0xff
	m |= d.Rsrc1 >> 21 & 1 << 8
	m |= d.Rsrc1 >> 23 & 1 << 9
	m |= d.Rsrc1 >> 26 & 1 << 23
	return m
}

func (d *Descriptor) enablePrivateSegment() bool { return d.Rsrc2&1 != 0 }
func (d *Descriptor) userSGPRs() int             { return int(d.Rsrc2 >> 1 & 31) }
func (d *Descriptor) workgroupID(i int) bool     { return d.Rsrc2>>(7+i)&1 != 0 }
func (d *Descriptor) workgroupInfo() bool        { return d.Rsrc2>>10&1 != 0 }
