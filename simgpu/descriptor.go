package simgpu

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// What HIP's device functions read a texture or surface object from: an image
// descriptor with three words for the device library, and a sampler.
const (
	imageWords   = 12
	samplerWords = 8
)

// words is the image as a descriptor (T#).
func (m *image) words(f texel) (w [imageWords]uint32) {
	w[0] = uint32(m.base >> 8)
	w[1] = uint32(m.base>>40)&0xff | f.data()<<20 | uint32(f.kind)<<26
	w[2] = uint32(m.width-1) | uint32(m.height-1)<<14
	w[3] = f.selection() | uint32(m.kind)<<28
	w[4] = uint32(m.depth-1) | uint32(m.pitch/f.size()-1)<<13
	w[8], w[9], w[10] = f.channelType(), f.channelOrder(), uint32(m.width)
	return w
}

// bufferWords is n elements of linear memory as a typed buffer (V#), which is
// what textures of it are.
func bufferWords(base, n uint64, f texel) (w [imageWords]uint32) {
	w[0] = uint32(base)
	w[1] = uint32(base>>32) | uint32(f.size())<<16
	w[2] = uint32(n) // what is read with an index counts elements
	w[3] = f.selection() | uint32(f.kind)<<12 | f.data()<<15
	w[8], w[9], w[10] = f.channelType(), f.channelOrder(), uint32(n)
	return w
}

// samplerOf is a texture's sampler (S#). All dimensions have the first one's
// address mode and the border is transparent black, as AMD's runtime has it.
func samplerOf(tex *hip.DrvTextureDesc, linear bool) (w [samplerWords]uint32) {
	const wrap, mirror, last, border = 0, 1, 2, 6
	normalized := tex.Flags&hip.TRSFNormalizedCoordinates != 0
	mode := uint32(wrap)
	switch m := tex.AddressMode[0]; {
	case m == hip.DrvTrAddressModeClamp, !normalized && m != hip.DrvTrAddressModeBorder:
		mode = last
	case linear: // not looked at
	case m == hip.DrvTrAddressModeMirror:
		mode = mirror
	case m == hip.DrvTrAddressModeBorder:
		mode = border
	}
	w[0] = mode | mode<<3 | mode<<6
	if !normalized {
		w[0] |= 1 << 15
	}
	w[1] = 4095 << 12
	if tex.FilterMode == hip.DrvTrFilterModeLinear && !linear {
		w[2] = 1<<20 | 1<<22
	}
	return w
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
