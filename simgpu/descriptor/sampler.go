package descriptor

// Address modes: what becomes of coordinates outside of the image.
const (
	Wrap   = 0
	Mirror = 1
	Last   = 2 // the texel at the edge
	Border = 6 // transparent black
)

// Sampler is how an image is sampled.
type Sampler struct {
	Modes        [3]uint32 // by dimension
	Unnormalized bool      // coordinates count texels
	Linear       bool
}

// SamplerWords is how many words a sampler has.
const SamplerWords = 8

// Words is the sampler as a descriptor (S#).
func (s *Sampler) Words() (w [SamplerWords]uint32) {
	w[0] = s.Modes[0] | s.Modes[1]<<3 | s.Modes[2]<<6
	if s.Unnormalized {
		w[0] |= 1 << 15
	}
	w[1] = 4095 << 12
	if s.Linear {
		w[2] = 1<<20 | 1<<22
	}
	return w
}
