//go:build linux

package hsaabi

import "github.com/rocwire/rocwire/simgpu/descriptor"

// addressModes are HSA's modes for coordinates outside of the image.
var addressModes = map[uint32]uint32{
	HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED:       descriptor.Wrap,
	HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE:   descriptor.Last,
	HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER: descriptor.Border,
	HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT:          descriptor.Wrap,
	HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT: descriptor.Mirror,
}

// hsaExtSamplerCreate makes a sampler with one mode for all dimensions.
func hsaExtSamplerCreate(agent uint64, d *extSamplerDescriptor, out *uint64) status {
	return hsaExtSamplerCreateV2(agent, &extSamplerDescriptorV2{d.coordinateMode, d.filterMode, [3]uint32{d.addressMode, d.addressMode, d.addressMode}}, out)
}

// hsaExtSamplerCreateV2 makes a sampler.
func hsaExtSamplerCreateV2(agent uint64, d *extSamplerDescriptorV2, out *uint64) status {
	*out = 0
	l := current.Load()
	c, st := l.card(agent)
	switch {
	case st != HSA_STATUS_SUCCESS:
		return st
	case !c.images:
		return HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED
	case d.coordinateMode > HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED || d.filterMode > HSA_EXT_SAMPLER_FILTER_MODE_LINEAR:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	s := descriptor.Sampler{Unnormalized: d.coordinateMode == HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED, Linear: d.filterMode == HSA_EXT_SAMPLER_FILTER_MODE_LINEAR}
	for i, m := range d.addressModes {
		mode, ok := addressModes[m]
		if !ok {
			return HSA_STATUS_ERROR_INVALID_ARGUMENT
		}
		s.Modes[i] = mode
	}
	words := s.Words()
	return l.keepWords(words[:], out, func(h uint64) {
		if l.samplers == nil {
			l.samplers = map[uint64]bool{}
		}
		l.samplers[h] = true
	})
}

// hsaExtSamplerDestroy ends it.
func hsaExtSamplerDestroy(agent, h uint64) status {
	l := current.Load()
	if _, st := l.card(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	l.imageMu.Lock()
	defer l.imageMu.Unlock()
	if !l.samplers[h] {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	delete(l.samplers, h)
	l.slots = append(l.slots, h)
	return HSA_STATUS_SUCCESS
}
