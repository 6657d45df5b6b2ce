package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The three steps that, around a Newton iteration, make an IEEE division:
// v_div_scale keeps the iteration away from overflow and underflow and says in
// a lane mask that the quotient needs scaling back, v_div_fmas does the last
// step and scales, v_div_fixup puts in the special cases.

// divFormat is what the steps need to know of a format.
type divFormat struct {
	format
	scale int // what operands are scaled by, as a power of two
	far   int // exponent difference near overflow
	tiny  int // biased exponent of a small numerator
	under int // exponent difference of a quotient that is 0
	eMask int // exponent field, all ones
}

var (
	div16 = divFormat{format: fmt16, under: -24, eMask: 31}
	div32 = divFormat{fmt32, 64, 96, 23, -150, 255}
	div64 = divFormat{fmt64, 128, 768, 53, -1075, 2047}
)

// exponent is the biased exponent field.
func (f *divFormat) exponent(b uint64) int { return int(b>>(f.prec-1)) & f.eMask }

func (f *divFormat) isNaN(b uint64) bool {
	x := f.value(b)
	return x != x
}

func (f *divFormat) denormal(x float64) bool {
	return x != 0 && math.Abs(x) < math.Ldexp(1, f.emin)
}

// divScale is v_div_scale of one lane: s0 is the one of denominator s1 and
// numerator s2 that is to be scaled.
func (f *divFormat) divScale(s0, s1, s2 uint64) (r uint64, flag bool) {
	den, num := f.value(s1), f.value(s2)
	up := func(n int) uint64 { return f.encode(math.Ldexp(f.value(s0), n)) }
	// Quotients in the format itself, where they may be denormal.
	quotient, inverse := f.value(f.encode(num/den)), f.value(f.encode(1/den))
	r = s0
	switch {
	case num == 0 || den == 0:
		return f.encode(math.NaN()), false
	case f.exponent(s2)-f.exponent(s1) >= f.far: // the quotient may overflow
		flag = true
		if s0 == s1 {
			r = up(f.scale)
		}
	case f.denormal(den):
		r = up(f.scale)
	case f.denormal(inverse) && f.denormal(quotient):
		flag = true
		if s0 == s1 {
			r = up(-f.scale)
		}
	case f.denormal(inverse):
		r = up(-f.scale)
	case f.denormal(quotient):
		flag = true
		if s0 == s2 {
			r = up(f.scale)
		}
	case f.exponent(s2) <= f.tiny:
		r = up(f.scale)
	}
	return r, flag
}

// divFixup is v_div_fixup of one lane: quotient, denominator, numerator.
func (f *divFormat) divFixup(s0, s1, s2 uint64) uint64 {
	sign := (s1 ^ s2) & f.sign()
	den, num := f.value(s1), f.value(s2)
	quiet := uint64(1) << (f.prec - 2)
	inf := f.encode(math.Inf(1))
	switch {
	case num != num:
		return s2 | quiet
	case den != den:
		return s1 | quiet
	case den == 0 && num == 0, math.IsInf(den, 0) && math.IsInf(num, 0):
		return f.sign() | inf | quiet
	case den == 0 || math.IsInf(num, 0):
		return sign | inf
	case math.IsInf(den, 0) || num == 0:
		return sign
	case f.exponent(s2)-f.exponent(s1) < f.under:
		return sign
	case f.isNaN(s0):
		// The iteration itself overflowed, so the quotient does.
		return sign | inf
	}
	return s0&^f.sign() | sign
}

// divFmas32 is a*b+c, times 2^64 or 2^-64 if flagged, rounded once.
func divFmas32(a, b, c float32, flag bool) float32 {
	if !flag {
		return fma32(a, b, c)
	}
	n := -64
	if math.Abs(float64(c)) >= 2 {
		n = 64
	}
	return float32(math.Ldexp(fmaOdd(a, b, c), n))
}

func divFmas64(a, b, c float64, flag bool) float64 {
	if !flag {
		return math.FMA(a, b, c)
	}
	n := -128
	if math.Abs(c) >= 2 {
		n = 128
	}
	return math.Float64frombits(fma64(roundEven, math.Float64bits(a), math.Float64bits(b), math.Float64bits(c), n))
}

var _ = define(func() {
	onDivScale("v_div_scale_f32", &div32)
	onDivScale("v_div_scale_f64", &div64)
	onDivFmas("v_div_fmas_f32", isF32, func(d, a, b, c *Vec, vcc uint64) {
		for i := range d {
			d[i] = b32(divFmas32(f32(a[i]), f32(b[i]), f32(c[i]), vcc>>i&1 != 0))
		}
	})
	onDivFmas("v_div_fmas_f64", isF64, func(d, a, b, c *Vec, vcc uint64) {
		dh, ah, bh, ch := upper(d), upper(a), upper(b), upper(c)
		for i := range d {
			put64(&d[i], &dh[i], divFmas64(f64(a[i], ah[i]), f64(b[i], bh[i]), f64(c[i], ch[i]), vcc>>i&1 != 0))
		}
	})
	valu("v_div_fixup_f32", 3, func(d, a, b, c *Vec) {
		for i := range d {
			d[i] = uint32(div32.divFixup(uint64(a[i]), uint64(b[i]), uint64(c[i])))
		}
	}).fl = isF32
	valu("v_div_fixup_f64", 3, func(d, a, b, c *Vec) {
		dh, ah, bh, ch := upper(d), upper(a), upper(b), upper(c)
		for i := range d {
			r := div64.divFixup(uint64(a[i])|uint64(ah[i])<<32, uint64(b[i])|uint64(bh[i])<<32, uint64(c[i])|uint64(ch[i])<<32)
			d[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}).wide().fl = isF64
	fix16 := func(d, a, b, c *Vec) {
		for i := range d {
			d[i] = uint32(div16.divFixup(uint64(a[i]&0xffff), uint64(b[i]&0xffff), uint64(c[i]&0xffff)))
		}
	}
	valu("v_div_fixup_legacy_f16", 3, fix16).fl = isF16
	v := valu("v_div_fixup_f16", 3, fix16)
	v.fl, v.keeps = isF16, true
})

func onDivScale(name string, f *divFormat) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.sources(in, 3)
		if err != nil {
			return nil, err
		}
		out, err := mask(&in.SDst)
		if err != nil {
			return nil, err
		}
		s0, s1, s2 := s[0], s[1], s[2]
		wide := f.bits == 64
		n := 1
		if wide {
			n = 2
		}
		return func(w *wave) {
			x, y, z, r := s0.get(w), s1.get(w), s2.get(w), &w.out[0]
			load := func(v *Vec, i int) uint64 {
				if wide {
					return uint64(v[i]) | uint64(upper(v)[i])<<32
				}
				return uint64(v[i])
			}
			var flags uint64
			for i := range r {
				if w.exec>>i&1 == 0 {
					continue
				}
				v, flag := f.divScale(load(x, i), load(y, i), load(z, i))
				r[i] = uint32(v)
				if wide {
					w.out[1][i] = uint32(v >> 32)
				}
				if flag {
					flags |= 1 << i
				}
			}
			w.commit(d, n, w.exec)
			out.set(w, flags)
		}, nil
	})
}

func onDivFmas(name string, fl floats, k func(d, a, b, c *Vec, vcc uint64)) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		v := &vop{srcs: 3, dst: 1, fl: fl}
		if fl == isF64 {
			v.dst = 2
		}
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.sources(in, 3)
		if err != nil {
			return nil, err
		}
		post, err := b.result(v, in)
		if err != nil {
			return nil, err
		}
		s0, s1, s2 := s[0], s[1], s[2]
		return func(w *wave) {
			k(&w.out[0], s0.get(w), s1.get(w), s2.get(w), w.condition())
			mask := w.exec
			if post != nil {
				mask = post(w, d.get(w))
			}
			w.commit(d, v.dst, mask)
		}, nil
	})
}
