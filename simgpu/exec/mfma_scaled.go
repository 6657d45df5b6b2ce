package exec

import (
	"slices"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// matrixScale is the scale of A (or B) in a scaled matrix instruction: a byte for 32 elements of a
// row (a column), which lies in the lane that has the number of the row, and that of all rows for each 32 elements before.
type matrixScale struct {
	at       vdst
	shift    int // of the byte
	constant bool
	value    float64 // of a constant
}

// matrixScales binds the scales; nil if the instruction has none.
func (b *binder) matrixScales(in *gcn.Inst) (*[2]matrixScale, error) {
	if in.Scale[0].Kind == gcn.None {
		return nil, nil
	}
	s := new([2]matrixScale)
	for i := range s {
		o := &in.Scale[i]
		s[i].shift = int(in.OpSel>>i&1|in.OpSelHi>>i&1<<1) * 8
		switch exponent := uint32(o.Value) >> 23; {
		case o.Kind == gcn.VGPR:
			var err error
			if s[i].at, err = b.dest(o); err != nil {
				return nil, err
			}
		// Of a number it is the exponent; of an integer no document says whether it is that or a byte.
		case o.Kind == gcn.Inline && (o.Value == 0 || exponent > 0 && exponent != 0x1ff):
			s[i].constant, s[i].value = true, newScale(exponent)
		default:
			return nil, &badOperand{*o}
		}
	}
	return s, nil
}

// load reads the scales into v, in the order row, group of 32.
func (s *matrixScale) load(v []float64, w *wave, dim int) []float64 {
	v = slices.Grow(v[:0], WaveSize)[:WaveSize]
	for i := range dim {
		for g := range WaveSize / dim {
			x := s.value
			if !s.constant {
				x = newScale(s.at.get(w)[g*dim+i] >> s.shift)
			}
			v[i*WaveSize/dim+g] = x
		}
	}
	return v
}
