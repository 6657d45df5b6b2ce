package exec

import (
	"math"
	"math/bits"
	"regexp"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// v_cvt_scalef32_*: conversions between floats of 32 or 16 bits and those of 8, 6 or 4, of one
// number, two or 32 in a lane. The exponent of the last source is a scale, 2 to the power of it: what becomes smaller
// is divided by it first, what becomes larger multiplied by it afterwards; each is rounded once.

var scaledName = regexp.MustCompile(`^v_cvt_scalef32_(sr_)?(pk_|pk32_|2xpk16_)?(\w+?)_(\w+?)$`)

// minifloats are the formats by the names that mnemonics have for them.
var minifloats = map[string]*minifloat{
	"f32": &binary32, "f16": &binary16, "bf16": &bfloat16, "fp8": &e4m3, "bf8": &e5m2, "fp6": &e2m3, "bf6": &e3m2, "fp4": &e2m1,
}

// scaledConversion is an instruction's conversion.
type scaledConversion struct {
	from, to  *minifloat
	n         int   // numbers of a lane
	random    bool  // rounded by random bits, which are the second source
	two       bool  // the numbers are those of two sources, in turn
	part      int   // bit of the source at which they begin
	at, width int   // bits of the destination that are written; the others are kept
	selects   uint8 // the bits of op_sel that mean something
}

// denormalMode is how a kernel ends that converts to a denormal float32 while MODE says that those are
// zero: no document says which of the two it is.
const denormalMode = "a scaled conversion to a denormal number is not executable in a mode without them"

func newScaledConversion(in *gcn.Inst) *scaledConversion {
	f := scaledName.FindStringSubmatch(in.Op.String())
	c := &scaledConversion{to: minifloats[f[3]], from: minifloats[f[4]], random: f[1] != "", n: 1}
	switch f[2] {
	case "pk_":
		c.n, c.two = 2, c.from == &binary32 && !c.random
	case "pk32_":
		c.n = 32
	case "2xpk16_":
		c.n, c.two = 32, true
	}
	c.width = c.n * c.to.bits()
	if c.n < 32 {
		sel := int(in.OpSel)
		switch c.from.bits() { // what is selected of a source
		case 8:
			if c.n == 1 {
				c.part, c.selects = sel&3*8, 3
			} else {
				c.part, c.selects = sel&1*16, 1
			}
		case 4:
			c.part, c.selects = sel&3*8, 3
		}
		switch c.width { // and of a destination
		case 8:
			c.at, c.selects = sel>>2&3*8, c.selects|12
		case 16:
			c.at, c.selects = sel>>3&1*16, c.selects|8
		}
	}
	return c
}

// newScale is 2 to the power of a scale's exponent, of which a byte has the bits; all of
// them set are NaN.
func newScale(exponent uint32) float64 {
	if exponent &= 0xff; exponent != 0xff {
		return math.Ldexp(1, int(exponent)-127)
	}
	return math.NaN()
}

// convert is the code of a number.
func (c *scaledConversion) convert(w *wave, x, random uint32, scale float64) uint32 {
	if c.from == &binary32 && w.fp.flushIn32 {
		x = flush32(x)
	}
	sign := x >> (c.from.bits() - 1) & 1 << (c.to.bits() - 1) // a NaN has one, too
	v := math.Abs(c.from.value(x))
	switch {
	case c.random:
		return sign | c.to.stochastic(v/scale, c.from, random, w.fp.ovfl16)
	case c.to.bits() < c.from.bits():
		return sign | c.to.nearest(v/scale, w.fp.ovfl16)
	}
	r := c.to.nearest(v*scale, false)
	if c.to == &binary32 && w.fp.flushOut32 && r != flush32(r) {
		panic(&Fault{Kind: InstructionFault, Lane: -1, Detail: denormalMode})
	}
	return sign | r
}

// rows binds a source of one register or several.
func (b *binder) rows(in *gcn.Inst, i int) (func(w *wave) []Vec, error) {
	o := &in.Src[i]
	if o.Width == 1 {
		s, err := b.vector(o, i)
		if err != nil {
			return nil, err
		}
		s.prep, err = b.modifiers(in, i)
		return func(w *wave) []Vec { return unsafe.Slice(s.get(w), 1) }, err
	}
	if b.indexed>>i&1 != 0 {
		return nil, errModifier
	}
	d, err := b.dest(o)
	return func(w *wave) []Vec { return unsafe.Slice(d.get(w), int(d.n)) }, err
}

// field32 is n bits of a lane of some registers, from a bit on.
func field32(r []Vec, lane, at, n int) uint32 {
	x := uint64(r[at/32][lane])
	if at%32+n > 32 {
		x |= uint64(r[at/32+1][lane]) << 32
	}
	return uint32(x>>(at%32)) & (^uint32(0) >> (32 - n))
}

func convertScaled(b *binder, in *gcn.Inst) (func(*wave), error) {
	c := newScaledConversion(in)
	inst := *in
	inst.OpSel = 0
	numbers := 1 // sources that have them
	if c.two {
		numbers = 2
	}
	if in.OpSel&^c.selects != 0 || in.Clamp || in.Omod != 0 || b.indexed&indexDst != 0 {
		return nil, errModifier
	}
	var s [3]func(w *wave) []Vec
	n := 0
	for ; n < len(s) && in.Src[n].Kind != gcn.None; n++ {
		single := n < numbers && (c.n == 1 || c.n == 2 && c.two) && c.from.bits() >= 16
		if scale := n == 2 || in.Src[n+1].Kind == gcn.None; !single && !scale && (in.Abs|in.Neg)>>n&1 != 0 {
			return nil, errModifier // of two numbers, or of what is none
		}
		var err error
		if s[n], err = b.rows(&inst, n); err != nil {
			return nil, err
		}
	}
	d, err := b.dest(&in.Dst)
	first, scale, random := s[0], s[n-1], s[n-2]
	from, to := c.from.bits(), c.to.bits()
	return func(w *wave) {
		src := [2][]Vec{first(w)}
		if c.two {
			src[1] = s[1](w)
		}
		scales, randoms, dst := scale(w), random(w), unsafe.Slice(d.get(w), int(d.n))
		for m := w.exec; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m) & 63
			f, r := newScale(scales[0][l]>>23), uint32(0)
			if c.random {
				r = randoms[0][l]
			}
			var out [33]uint32
			for i := range c.n {
				x := uint32(0)
				if c.two {
					x = field32(src[i&1], l, i/2*from, from)
				} else {
					x = field32(src[0], l, c.part+i*from, from)
				}
				at, code := c.at+i*to, uint64(c.convert(w, x, r, f))
				out[at/32] |= uint32(code << (at % 32))
				out[at/32+1] |= uint32(code << (at % 32) >> 32)
				r = random32(r)
			}
			if c.width < 32 {
				keep := ^(uint32(1)<<c.width - 1) << c.at
				keep |= 1<<c.at - 1
				out[0] |= dst[0][l] & keep
			}
			for k := range dst {
				dst[k][l] = out[k]
			}
		}
	}, err
}

var _ = define(func() {
	sources := map[string][]string{"": {"f32", "f16", "bf16"}, "sr_": {"f32", "f16", "bf16"}}
	for sr, wide := range sources {
		for _, f := range wide {
			for _, small := range []string{"fp8", "bf8"} {
				if sr != "" {
					on("v_cvt_scalef32_sr_"+small+"_"+f, convertScaled)
					continue
				}
				on("v_cvt_scalef32_pk_"+small+"_"+f, convertScaled)
				on("v_cvt_scalef32_pk_"+f+"_"+small, convertScaled)
				if f != "bf16" {
					on("v_cvt_scalef32_"+f+"_"+small, convertScaled)
				}
			}
			on("v_cvt_scalef32_"+sr+"pk_fp4_"+f, convertScaled)
			for _, small := range []string{"fp6", "bf6"} {
				switch {
				case sr != "":
					on("v_cvt_scalef32_sr_pk32_"+small+"_"+f, convertScaled)
				case f == "f32":
					on("v_cvt_scalef32_2xpk16_"+small+"_f32", convertScaled)
				default:
					on("v_cvt_scalef32_pk32_"+small+"_"+f, convertScaled)
				}
				if sr == "" {
					on("v_cvt_scalef32_pk32_"+f+"_"+small, convertScaled)
				}
			}
			if sr == "" {
				on("v_cvt_scalef32_pk_"+f+"_fp4", convertScaled)
			}
		}
	}
})
