package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Packed operations: two 16-bit operations in a lane, two 32-bit ones in a pair
// of registers, mixed precision, dot products.

// half is how a packed operation takes one half of a source for one result.
type half struct {
	shift uint32 // 16: the upper half
	neg   uint32 // bit to flip
}

func (h half) of(x uint32) uint16 { return uint16(x>>h.shift) ^ uint16(h.neg) }

// halves says how the low and the high result take their sources.
func halves(in *gcn.Inst) (lo, hi [3]half) {
	sel, selHi := in.OpSel, in.OpSelHi
	if in.Enc != gcn.VOP3P { // v_pk_fmac_f16 in VOP2
		sel, selHi = 0, 7
	}
	for i := range lo {
		lo[i].shift = uint32(sel>>i&1) * 16
		hi[i].shift = uint32(selHi>>i&1) * 16
		lo[i].neg = uint32(in.Neg>>i&1) << 15
		hi[i].neg = uint32(in.NegHi>>i&1) << 15
	}
	return
}

// raw binds sources without modifiers.
func (b *binder) raw(in *gcn.Inst, n int) (s [3]vsrc, err error) {
	for i := range s {
		if i >= n {
			s[i] = vsrc{kind: fromConst, con: b.constant(0)}
		} else if s[i], err = b.vector(&in.Src[i], i); err != nil {
			return
		}
	}
	return
}

// pack16 defines a packed operation from one on 16 bits.
func pack16(name string, n int, fl floats, f, saturating func(a, b, c uint16) uint16, slow lane) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.raw(in, n)
		if err != nil {
			return nil, err
		}
		f := f
		v := &vop{dst: 1, fl: fl}
		if in.Clamp && saturating != nil {
			f = saturating
			v.iclamp = func(_ *fpEnv, _, _, _ uint64) uint64 { return 0 }
		}
		post, err := b.result(v, in)
		if err != nil {
			return nil, err
		}
		lo, hi := halves(in)
		s0, s1, s2 := s[0], s[1], s[2]
		return func(w *wave) {
			x, y, z, out := s0.get(w), s1.get(w), s2.get(w), &w.out[0]
			if w.isSlow(fl) && slow != nil {
				for i := range out {
					l := slow(&w.fp, uint64(lo[0].of(x[i])), uint64(lo[1].of(y[i])), uint64(lo[2].of(z[i])))
					h := slow(&w.fp, uint64(hi[0].of(x[i])), uint64(hi[1].of(y[i])), uint64(hi[2].of(z[i])))
					out[i] = uint32(l) | uint32(h)<<16
				}
			} else {
				for i := range out {
					l := f(lo[0].of(x[i]), lo[1].of(y[i]), lo[2].of(z[i]))
					h := f(hi[0].of(x[i]), hi[1].of(y[i]), hi[2].of(z[i]))
					out[i] = uint32(l) | uint32(h)<<16
				}
			}
			mask := w.exec
			if post != nil {
				mask = post(w, d.get(w))
			}
			w.commit(d, 1, mask)
		}, nil
	})
}

// pack32 defines a packed operation on pairs of f32 from the one on single
// ones, which must be defined already.
func pack32(name string, n int, single string) {
	v := vops[single]
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		var lo, hi [3]vsrc
		for i := range lo {
			if i >= n {
				lo[i] = vsrc{kind: fromConst, con: b.constant(0)}
				hi[i] = lo[i]
				continue
			}
			o := in.Src[i]
			if o.IsConst() { // the same for both
				o.Value = o.Value&0xffffffff | o.Value<<32
			}
			bind := func(upperHalf, neg bool) (vsrc, error) {
				s, err := b.vector(&o, i)
				s.prep = pick(upperHalf, neg)
				return s, err
			}
			if lo[i], err = bind(in.OpSel>>i&1 != 0, in.Neg>>i&1 != 0); err != nil {
				return nil, err
			}
			if hi[i], err = bind(in.OpSelHi>>i&1 != 0, in.NegHi>>i&1 != 0); err != nil {
				return nil, err
			}
		}
		post, err := b.result(&vop{dst: 2, fl: isPackF32}, in)
		if err != nil {
			return nil, err
		}
		slow := v.slowKernel(&gcn.Inst{})
		return func(w *wave) {
			if w.fp.slow32 {
				slow(w, &w.out[0], lo[0].get(w), lo[1].get(w), lo[2].get(w))
				slow(w, &w.out[1], hi[0].get(w), hi[1].get(w), hi[2].get(w))
			} else {
				v.k(&w.out[0], lo[0].get(w), lo[1].get(w), lo[2].get(w))
				v.k(&w.out[1], hi[0].get(w), hi[1].get(w), hi[2].get(w))
			}
			mask := w.exec
			if post != nil {
				mask = post(w, d.get(w))
			}
			w.commit(d, 2, mask)
		}, nil
	})
}

// pick takes one register of a pair, negated if asked for.
func pick(up, neg bool) prep {
	if !up && !neg {
		return nil
	}
	return func(_ *wave, d, s *Vec) *Vec {
		if up {
			s = upper(s)
		}
		if !neg {
			return s
		}
		for i := range d {
			d[i] = s[i] ^ 1<<31
		}
		return d
	}
}

func pkMov(b *binder, in *gcn.Inst) (func(*wave), error) {
	d, err := b.dest(&in.Dst)
	if err != nil {
		return nil, err
	}
	s, err := b.raw(in, 2)
	if err != nil {
		return nil, err
	}
	s[0].prep, s[1].prep = pick(in.OpSel&1 != 0, false), pick(in.OpSel>>1&1 != 0, false)
	s0, s1 := s[0], s[1]
	return func(w *wave) {
		w.out[0], w.out[1] = *s0.get(w), *s1.get(w)
		w.commit(d, 2, w.exec)
	}, nil
}

// mixOperand is source i of v_fma_mix…: as f32, if it is that.
func mixOperand(in *gcn.Inst, i int) gcn.Operand {
	o := in.Src[i]
	if o.Kind == gcn.Inline && in.OpSelHi>>i&1 == 0 {
		// The decoder gives constants in half precision.
		if v := uint16(o.Value); o.Value == uint64(v) && v >= 0x3000 {
			o.Value = uint64(b32(f16to32(v)))
			if v == 0x3118 { // 1/2π
				o.Value = 0x3e22f983
			}
		}
	}
	return o
}

// mixSource binds a source of v_fma_mix…: f32, or one half as f16, widened.
func (b *binder) mixSource(in *gcn.Inst, i int) (vsrc, error) {
	o := mixOperand(in, i)
	isHalf := in.OpSelHi>>i&1 != 0
	s, err := b.vector(&o, i)
	shift := uint32(in.OpSel>>i&1) * 16
	abs, neg := in.Abs>>i&1 != 0, in.Neg>>i&1 != 0
	if !isHalf {
		if abs || neg {
			s.prep = signs(abs, neg, false, false)
		}
		return s, err
	}
	sign := signs(abs, neg, false, false)
	s.prep = func(w *wave, d, s *Vec) *Vec {
		for j := range d {
			d[j] = b32(f16to32(uint16(s[j] >> shift)))
		}
		if abs || neg {
			sign(w, d, d)
		}
		return d
	}
	return s, err
}

// mix defines v_fma_mix_f32 and, with results of 16 bits, mixlo and mixhi.
func mix(name string, to16, high bool) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		var s [3]vsrc
		for i := range s {
			if s[i], err = b.mixSource(in, i); err != nil {
				return nil, err
			}
		}
		v := &vop{dst: 1, fl: isF32}
		post, err := b.result(v, in)
		if err != nil {
			return nil, err
		}
		fma := vops["v_fma_f32"]
		slow := fma.slowKernel(&gcn.Inst{})
		keep := keepHalf(high)
		return func(w *wave) {
			out := &w.out[0]
			if w.fp.slow32 {
				slow(w, out, s[0].get(w), s[1].get(w), s[2].get(w))
			} else {
				fma.k(out, s[0].get(w), s[1].get(w), s[2].get(w))
			}
			if post != nil {
				post(w, d.get(w))
			}
			if to16 {
				for i := range out {
					out[i] = uint32(roundF16(float64(f32(out[i])), w.fp.round64))
				}
				keep(w, d.get(w))
			}
			w.commit(d, 1, w.exec)
		}, nil
	})
}

// dot defines a dot product of n elements of the given width, plus an
// accumulator of 32 bits.
func dot(name string, bits uint32, signed bool) {
	elem := func(x uint32, i uint32) int64 {
		if signed {
			return int64(int32(x<<(32-bits*(i+1))) >> (32 - bits))
		}
		return int64(x << (32 - bits*(i+1)) >> (32 - bits))
	}
	sum := func(a, b, c uint64) int64 {
		s := int64(int32(c))
		if !signed {
			s = int64(uint32(c))
		}
		for i := range 32 / bits {
			s += elem(uint32(a), i) * elem(uint32(b), i)
		}
		return s
	}
	valu(name, 3, each3(func(a, b, c uint32) uint32 {
		return uint32(sum(uint64(a), uint64(b), uint64(c)))
	})).saturating(func(_ *fpEnv, a, b, c uint64) uint64 {
		s := sum(a, b, c)
		if signed {
			return sat32(s)
		}
		return uint64(min(s, math.MaxUint32))
	})
}

func dot2f32(a, b, c uint32) uint32 {
	s := f32(c)
	for sh := 0; sh < 32; sh += 16 {
		s = fma32(f16to32(uint16(a>>sh)), f16to32(uint16(b>>sh)), s)
	}
	return b32(s)
}

var _ = define(func() {
	for _, o := range float16ops {
		pack16("v_pk_"+o.name+"_f16", o.n, isPackF16, o.f, nil, o.slow)
	}
	pack16("v_pk_fmac_f16", 3, isPackF16, fma16, nil, fmt16.softFMA())
	for _, o := range int16ops {
		if o.packed != "" {
			pack16("v_pk_"+o.packed, o.n, notFloat, o.f, o.clamp, nil)
		}
	}
	on("v_pk_mov_b32", pkMov)
	mix("v_fma_mix_f32", false, false)
	mix("v_fma_mixlo_f16", true, false)
	mix("v_fma_mixhi_f16", true, true)
	for _, n := range []string{"v_dot2_f32_f16", "v_dot2c_f32_f16"} {
		valu(n, 3, each3(dot2f32)).fl = isF32
	}
	for name, e := range map[string]struct {
		bits   uint32
		signed bool
	}{
		"v_dot2_i32_i16": {16, true}, "v_dot2_u32_u16": {16, false}, "v_dot4_i32_i8": {8, true}, "v_dot4_u32_u8": {8, false},
		"v_dot8_i32_i4": {4, true}, "v_dot8_u32_u4": {4, false},
		"v_dot2c_i32_i16": {16, true}, "v_dot4c_i32_i8": {8, true}, "v_dot8c_i32_i4": {4, true},
	} {
		dot(name, e.bits, e.signed)
	}
	pack32("v_pk_fma_f32", 3, "v_fma_f32")
	pack32("v_pk_mul_f32", 2, "v_mul_f32")
	pack32("v_pk_add_f32", 2, "v_add_f32")
})
