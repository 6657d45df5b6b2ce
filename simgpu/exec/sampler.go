package exec

import (
	"math"
	"math/bits"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// sampler is an S#, the 128-bit description of how an image is sampled.
//
// Coordinates become texels with 8 bits of fraction, rounded to nearest, before
// anything else happens to them: the weights of linear filters are multiples of
// 1/256, and a point within 1/512 before the next texel is in the next one (the
// device library rounds down before it samples a point). Address modes apply to
// the numbers of the texels. The sum of weighted texels is rounded once.
type sampler struct {
	clamp  [3]clampMode
	unorm  bool // coordinates count texels
	linear bool // in the plane
	deep   bool // linear between slices of a 3D image, too
	minify bool // linear, too, where texels are smaller than what is drawn
	border [4]uint32
}

// clampMode is what becomes of coordinates outside of the image.
type clampMode uint8

const (
	clampWrap             clampMode = iota
	clampMirror                     // back and forth
	clampLast                       // the texel at the edge
	clampMirrorLast                 // mirrored once
	clampHalfBorder                 // half of the border
	clampMirrorHalfBorder           // …
	clampBorder                     // the border's colour
	clampMirrorBorder               // …
)

// fixedOne is 1 as a coordinate.
const fixedOne = 256

// sampler reads the S# in four registers.
func (w *wave) sampler(r uint8, isInt bool) (s sampler) {
	s0, s2, s3 := w.S[r], w.S[r+2], w.S[r+3]
	s = sampler{
		clamp:  [3]clampMode{clampMode(s0 & 7), clampMode(s0 >> 3 & 7), clampMode(s0 >> 6 & 7)},
		unorm:  s0>>15&1 != 0,
		linear: s2>>20&1 != 0, // 1 linear, 2 and 3 the same with anisotropy, of which there is none at one level
		deep:   s2>>24&3 == 2,
		minify: s2>>22&1 != 0,
	}
	if s2>>24&3 == 0 && w.d.Program.arch.Has(gcn.RDNA) { // none of its own
		s.deep = s.linear
	}
	one := b32(1)
	if isInt {
		s.linear, s.minify, s.deep, one = false, false, false, 1
	}
	switch s3 >> 30 { // 3, a colour from a table, of which the card has none: transparent black as 0
	case 1:
		s.border[3] = one
	case 2:
		s.border = [4]uint32{one, one, one, one}
	}
	return s
}

// fixed is a coordinate in texels as a fixed-point number.
func fixed(c float32, size uint64, unorm bool) int64 {
	x := float64(c)
	if !unorm {
		x *= float64(size)
	}
	x = math.Floor(x*fixedOne + 0.5)
	if x != x {
		return 0
	}
	return int64(min(max(x, -1<<48), 1<<48))
}

// index applies an address mode to the number of a texel; false: the border.
func (m clampMode) index(i int64, n int64, unorm bool) (uint64, bool) {
	switch m {
	case clampWrap:
		if !unorm {
			return uint64(((i % n) + n) % n), true
		}
	case clampMirror:
		if !unorm {
			i = ((i % (2 * n)) + 2*n) % (2 * n)
			if i >= n {
				i = 2*n - 1 - i
			}
			return uint64(i), true
		}
	case clampMirrorLast, clampMirrorHalfBorder, clampMirrorBorder:
		if i < 0 {
			i = -1 - i
		}
	}
	if i < 0 || i >= n {
		if m >= clampHalfBorder {
			return 0, false
		}
		i = min(max(i, 0), n-1)
	}
	return uint64(i), true
}

// tap is a texel that takes part in a filter, with its weight.
type tap struct {
	i      int64
	weight int64 // of fixedOne
}

// taps are the texels along one dimension.
func (m clampMode) taps(u, n int64, linear bool) (t [2]tap, count int) {
	if m == clampHalfBorder || m == clampMirrorHalfBorder {
		low := int64(0)
		if m == clampMirrorHalfBorder {
			low = -n * fixedOne
		}
		u = min(max(u, low), n*fixedOne)
		if !linear { // half of the border is less than a texel
			u = min(u, n*fixedOne-1)
		}
	}
	if !linear {
		return [2]tap{{u >> 8, fixedOne}}, 1
	}
	u -= fixedOne / 2
	f := u & (fixedOne - 1)
	return [2]tap{{u >> 8, fixedOne - f}, {u>>8 + 1, f}}, 2
}

// samplePoint is what is sampled for a lane: n coordinates, how many texels beside them, and a layer.
type samplePoint struct {
	lane, n int
	c       [3]float32
	off     [3]int64
	layer   uint64
}

// taps are the texels along dimension k.
func (s *sampler) taps(m *image, p *samplePoint, k int, linear bool) ([2]tap, int) {
	size := [3]uint64{m.width, m.height, m.depth}[k]
	return s.clamp[k].taps(fixed(p.c[k], size, s.unorm)+p.off[k]*fixedOne, int64(size), linear)
}

// gather is a component of the four texels that a linear filter would take: from the lower left one, where y grows downwards, to the right, up, and back.
func (s *sampler) gather(w *wave, m *image, p *samplePoint, component int) (r [4]uint32) {
	x, _ := s.taps(m, p, 0, true)
	y, _ := s.taps(m, p, 1, true)
	for i, t := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
		r[i] = s.fetch(w, m, p.lane, 2, [3]int64{x[t[0]].i, y[t[1]].i}, p.layer, m.format.one())[component]
	}
	return r
}

// sample is the image's colour at a place.
func (s *sampler) sample(w *wave, m *image, p *samplePoint) [4]uint32 {
	n, lane, layer := p.n, p.lane, p.layer
	var taps [3][2]tap
	count := [3]int{1, 1, 1}
	for k := range n {
		linear := s.linear
		if k == 2 {
			linear = s.deep
		}
		taps[k], count[k] = s.taps(m, p, k, linear)
	}
	one := m.format.one()
	if !s.linear && !s.deep {
		return s.fetch(w, m, lane, n, [3]int64{taps[0][0].i, taps[1][0].i, taps[2][0].i}, layer, one)
	}
	var sum [4]float64
	total := [4]float64{1: 1 << 8, 2: 1 << 16, 3: 1 << 24}[n]
	for z := range count[2] {
		for y := range count[1] {
			for x := range count[0] {
				px, py, pz := taps[0][x], taps[1][y], taps[2][z]
				weight, at := px.weight, [3]int64{px.i, py.i, pz.i}
				if n > 1 {
					weight *= py.weight
				}
				if n > 2 {
					weight *= pz.weight
				}
				if weight == 0 {
					continue // an infinity or NaN that has no part
				}
				t := s.fetch(w, m, lane, n, at, layer, one)
				for i, v := range t {
					sum[i] += float64(weight) * float64(f32(v))
				}
			}
		}
	}
	var r [4]uint32
	for i, v := range sum {
		r[i] = b32(float32(v / total))
	}
	return r
}

// fetch is the texel of these numbers, or the border.
func (s *sampler) fetch(w *wave, m *image, lane, n int, at [3]int64, layer uint64, one uint32) [4]uint32 {
	size := [3]int64{int64(m.width), int64(m.height), int64(m.depth)}
	p := [3]uint64{2: layer}
	for k := range n {
		i, ok := s.clamp[k].index(at[k], size[k], s.unorm)
		if !ok {
			return s.border
		}
		p[k] = i
	}
	return m.sel.load(m.format.load(m.at(w, lane, p[0], p[1], p[2])), one)
}

// sampling is what the name of an instruction that samples says. Images have one level, so that nothing depends on a level of detail, its bias, a bound for it,
// or gradients, but for a sampler that filters differently where texels are smaller than what is drawn.
type sampling struct {
	zero   bool // the level of detail is 0
	offset bool // the first address has numbers of texels
	gather bool
}

// samplingOf reads a name; false for those that compare with a depth, and others that only graphics has.
func samplingOf(name string) (s sampling, ok bool) {
	parts, ok := strings.CutPrefix(name, "image_sample")
	if !ok {
		if parts, s.gather = strings.CutPrefix(name, "image_gather4"); !s.gather {
			return s, false
		}
	}
	for p := range strings.SplitSeq(parts, "_") {
		switch p {
		case "":
		case "lz":
			s.zero = true
		case "o":
			s.offset = true
		case "l", "b", "cl", "d", "g16":
		default:
			return s, false
		}
	}
	return s, true
}

// offsets are 6 bits with a sign for each dimension.
func offsets(v uint32) (off [3]int64) {
	for k := range off {
		off[k] = int64(int32(v>>(8*k)<<26) >> 26)
	}
	return off
}

// execute samples an image with floating-point coordinates. Layers are
// rounded and clamped to those there are.
func (kind sampling) execute(b *binder, in *gcn.Inst) (func(*wave), error) {
	a, err := b.imageAddress(in)
	if err != nil {
		return nil, err
	}
	sreg, err := sdst(&in.SOffset, 4)
	if err != nil {
		return nil, err
	}
	mask, component := in.DMask, 0
	if kind.gather {
		mask, component = 15, bits.TrailingZeros8(in.DMask|8)
	}
	d, err := b.imageData(in.Dst, in, mask, in.Image&gcn.D16 != 0)
	unorm := in.Image&gcn.Unorm != 0
	return func(w *wave) {
		m := w.image(a.t)
		n, layered := a.shape(&m)
		switch {
		case m.kind == imageCube || a.kind == imageCube:
			w.badImage("cubes cannot be sampled here")
		case kind.gather && n != 2:
			w.badImage("four texels of an image of %d dimensions", n)
		}
		isInt := m.format.isInt()
		s := w.sampler(sreg, isInt)
		s.unorm = s.unorm || unorm
		if a.kind != 0 && !kind.zero && !kind.gather && s.minify != s.linear {
			w.badImage("a sampler that filters differently what is made smaller")
		}
		a.registers(w, a.coordinates(&m))
		get := func(lane, i int) float32 {
			v := a.coordinate(w, lane, i)
			if a.half {
				return f16to32(uint16(v))
			}
			return f32(v)
		}
		w.each(func(i int) {
			p := samplePoint{lane: i, n: n}
			for k := range n {
				p.c[k] = get(i, k)
			}
			if kind.offset {
				p.off = offsets(w.V[a.extra[0]][i])
			}
			if layered {
				if l := math.RoundToEven(float64(get(i, n))); l > 0 {
					p.layer = uint64(min(l, float64(m.depth-1)))
				}
			}
			var c [4]uint32
			if kind.gather {
				c = s.gather(w, &m, &p, component)
			} else {
				c = s.sample(w, &m, &p)
			}
			d.put(w, i, &c, isInt)
		})
		w.stats.ReadBytes += m.size * uint64(bits.OnesCount64(w.exec))
		w.commit(d.v, d.regs, w.exec)
	}, err
}
