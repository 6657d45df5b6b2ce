package simgpu

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// What HIP's device functions read a texture or surface object from: an image
// descriptor with words for the device library, and a sampler.

// samplerOf is a texture's sampler. All dimensions have the first one's
// address mode and the border is transparent black, as AMD's runtime has it.
func samplerOf(tex *hip.DrvTextureDesc, linear bool) [descriptor.SamplerWords]uint32 {
	normalized := tex.Flags&hip.TRSFNormalizedCoordinates != 0
	mode := uint32(descriptor.Wrap)
	switch m := tex.AddressMode[0]; {
	case m == hip.DrvTrAddressModeClamp, !normalized && m != hip.DrvTrAddressModeBorder:
		mode = descriptor.Last
	case linear: // not looked at
	case m == hip.DrvTrAddressModeMirror:
		mode = descriptor.Mirror
	case m == hip.DrvTrAddressModeBorder:
		mode = descriptor.Border
	}
	s := descriptor.Sampler{Modes: [3]uint32{mode, mode, mode}, Unnormalized: !normalized, Linear: tex.FilterMode == hip.DrvTrFilterModeLinear && !linear}
	return s.Words()
}

// object puts words where kernels read them: a texture or surface object is
// their address.
func (d *device) object(words []uint32) (*vmem.Alloc, hip.Error) {
	a, e := d.allocate(uint64(len(words))*4, vmem.Runtime, 0)
	if e != hip.Success {
		return nil, e
	}
	b := vmem.Raw(a.Base, a.Size)
	for i, w := range words {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	return a, hip.Success
}
