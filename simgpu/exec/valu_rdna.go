package exec

import (
	"math"
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector operations that RDNA has and CDNA has not, but for those across lanes and on matrices. AMD's manual of
// the RDNA3 instruction set says what they do.

var _ = define(func() {
	valu("v_xor3_b32", 3, func(d, a, b, c *Vec) {
		x, y, z, u := pairs(d), pairs(a), pairs(b), pairs(c)
		for i := range x {
			x[i] = y[i] ^ z[i] ^ u[i]
		}
	})
	// The first name is of the operation on the first two sources.
	onBoth := func(suffix string, low, high func(a, b uint32) uint32, of func(v *vop, f func(a, b, c uint32) uint32)) {
		maxmin := func(a, b, c uint32) uint32 { return low(high(a, b), c) }
		minmax := func(a, b, c uint32) uint32 { return high(low(a, b), c) }
		of(valu("v_maxmin_"+suffix, 3, each3(maxmin)), maxmin)
		of(valu("v_minmax_"+suffix, 3, each3(minmax)), minmax)
	}
	onBoth("u32", func(a, b uint32) uint32 { return min(a, b) }, func(a, b uint32) uint32 { return max(a, b) }, func(*vop, func(a, b, c uint32) uint32) {})
	onBoth("i32", func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }, func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
		func(*vop, func(a, b, c uint32) uint32) {})
	onBoth("f32", min32, max32, func(v *vop, f func(a, b, c uint32) uint32) { v.f32(slow32(f)) })
	narrow := func(f func(a, b uint16) uint16) func(a, b uint32) uint32 {
		return func(a, b uint32) uint32 { return uint32(f(uint16(a), uint16(b))) }
	}
	onBoth("f16", narrow(min16), narrow(max16), func(v *vop, f func(a, b, c uint32) uint32) {
		v.f16(slow16(func(a, b, c uint16) uint16 { return uint16(f(uint32(a), uint32(b), uint32(c))) }))
	})

	// Of zero times anything the product is zero.
	valu("v_fma_dx9_zero_f32", 3, each3(fmaZero)).f32(slow32(fmaZero))
	valu("v_mullit_f32", 3, each3(mullit)).f32(slow32(mullit))
	valu("v_fmac_dx9_zero_f32", 3, each3(fmaZero)).f32(slow32(fmaZero))

	for _, name := range []string{"v_fmac_f16", "v_fmamk_f16", "v_fmaak_f16"} {
		valu(name, 3, half3(fma16)).f16(fmt16.softFMA())
	}

	valu("v_cvt_i32_i16", 1, each3(func(a, _, _ uint32) uint32 { return uint32(int32(int16(a))) }))
	valu("v_cvt_u32_u16", 1, each3(func(a, _, _ uint32) uint32 { return a & 0xffff }))
	valu("v_cvt_pk_i16_f32", 2, each3(func(a, b, _ uint32) uint32 { return pack16Of(a, b, -1<<15, 1<<15-1) }))
	valu("v_cvt_pk_u16_f32", 2, each3(func(a, b, _ uint32) uint32 { return pack16Of(a, b, 0, 1<<16-1) }))

	for name, f := range map[string]func(a, b, c uint16) uint16{
		"mov": func(a, _, _ uint16) uint16 { return a }, "not": func(a, _, _ uint16) uint16 { return ^a },
	} {
		valu("v_"+name+"_b16", 1, half3(f))
	}
	for name, f := range map[string]func(a, b, c uint16) uint16{
		"and": func(a, b, _ uint16) uint16 { return a & b }, "or": func(a, b, _ uint16) uint16 { return a | b }, "xor": func(a, b, _ uint16) uint16 { return a ^ b },
	} {
		valu("v_"+name+"_b16", 2, half3(f))
	}
	on("v_cndmask_b16", cndmask)

	valu("v_dot2_f16_f16", 3, each3(func(a, b, c uint32) uint32 {
		s := f16to64(uint16(a))*f16to64(uint16(b)) + f16to64(uint16(a>>16))*f16to64(uint16(b>>16))
		return uint32(f64to16(s + f16to64(uint16(c))))
	})).fl = isF16
	valu("v_dot2_bf16_bf16", 3, each3(func(a, b, c uint32) uint32 {
		s := fma32(f32(a<<16), f32(b<<16), f32(c<<16))
		return uint32(f32toBF16(fma32(f32(a&^0xffff), f32(b&^0xffff), s)))
	}))
	on("v_dot4_i32_iu8", dotMixed(8))
	on("v_dot8_i32_iu4", dotMixed(4))

	on("v_swap_b16", swapHalves)
	relativeVectors()
})

func fmaZero(a, b, c uint32) uint32 {
	if a<<1 == 0 || b<<1 == 0 {
		return c
	}
	return b32(fma32(f32(a), f32(b), f32(c)))
}

// mullit is a product for lighting: the least number where the second source is that or none, or the third is not positive.
func mullit(a, b, c uint32) uint32 {
	if y := f32(b); !(y > -math.MaxFloat32) || !(f32(c) > 0) {
		return b32(-math.MaxFloat32)
	}
	return mulLegacy(a, b)
}

// pack16Of truncates two numbers to integers of 16 bits, limited to a range.
func pack16Of(a, b uint32, least, most int64) uint32 {
	to := func(x uint32) uint32 {
		f := float64(f32(x))
		if f != f {
			return 0
		}
		return uint32(int64(max(float64(least), min(float64(most), f)))) & 0xffff
	}
	return to(a) | to(b)<<16
}

// dotMixed is a dot product of elements of so many bits plus an integer; the negations of the first two sources
// say whether their elements have signs.
func dotMixed(width uint32) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		signed := [2]bool{in.Neg&1 != 0, in.Neg&2 != 0}
		sum := func(x, y, c uint64) int64 {
			s := int64(int32(c))
			for i := range 32 / width {
				s += dotElement(uint32(x), i, width, signed[0]) * dotElement(uint32(y), i, width, signed[1])
			}
			return s
		}
		v := &vop{srcs: 3, dst: 1, k: each3(func(x, y, z uint32) uint32 { return uint32(sum(uint64(x), uint64(y), uint64(z))) })}
		v.saturating(func(_ *fpEnv, x, y, z uint64) uint64 { return sat32(sum(x, y, z)) })
		plain := *in
		plain.Neg = 0
		return b.valu(v, &plain)
	}
}

// dotElement is element i of so many bits.
func dotElement(x, i, width uint32, signed bool) int64 {
	x <<= 32 - width*(i+1)
	if signed {
		return int64(int32(x) >> (32 - width))
	}
	return int64(x >> (32 - width))
}

// swapHalves exchanges halves of two registers.
func swapHalves(b *binder, in *gcn.Inst) (func(*wave), error) {
	x, err := b.dest(&in.Dst)
	if err != nil {
		return nil, err
	}
	y, err := b.dest(&in.Src[0])
	sx, sy := uint32(in.OpSel>>3&1)*16, uint32(in.OpSel&1)*16
	return func(w *wave) {
		p, q := x.get(w), y.get(w)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			a, c := p[i]>>sx&0xffff, q[i]>>sy&0xffff
			p[i] = p[i]&^(0xffff<<sx) | c<<sx
			q[i] = q[i]&^(0xffff<<sy) | a<<sy
		}
	}, err
}

// relativeVectors defines moves whose source or destination is relative to M0, or both: v_movrelsd_2 and v_swaprel take
// the source's distance from its low half and the destination's from its high half, the others the same for both.
func relativeVectors() {
	move := func(name string, src, dst func(m0 uint32) uint32) {
		on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			d, err := b.dest(&in.Dst)
			if err != nil {
				return nil, err
			}
			if src == nil {
				s, err := b.sources(in, 1)
				if err != nil {
					return nil, err
				}
				return func(w *wave) { w.merge(w.far(d.reg, dst(w.S[regM0])), s[0].get(w), w.exec) }, nil
			}
			s, err := b.dest(&in.Src[0])
			return func(w *wave) {
				from, to := w.far(s.reg, src(w.S[regM0])), d.get(w)
				if dst != nil {
					to = w.far(d.reg, dst(w.S[regM0]))
				}
				w.merge(to, from, w.exec)
			}, err
		})
	}
	all := func(m0 uint32) uint32 { return m0 }
	low := func(m0 uint32) uint32 { return m0 & 0x3ff }
	high := func(m0 uint32) uint32 { return m0 >> 16 & 0x3ff }
	move("v_movreld_b32", nil, all)
	move("v_movrels_b32", all, nil)
	move("v_movrelsd_b32", all, all)
	move("v_movrelsd_2_b32", low, high)
	on("v_swaprel_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Src[0])
		return func(w *wave) {
			x, y := w.far(d.reg, high(w.S[regM0])), w.far(s.reg, low(w.S[regM0]))
			w.out[0], w.out[1] = *y, *x
			w.merge(x, &w.out[0], w.exec)
			w.merge(y, &w.out[1], w.exec)
		}, err
	})
}

// far is the vector register so far behind another one.
func (w *wave) far(base uint16, distance uint32) *Vec {
	i := uint64(base) + uint64(distance)
	if i >= uint64(len(w.V)) {
		panic(&Fault{Kind: RegisterFault, Lane: -1, Detail: "vector register relative to M0"})
	}
	return &w.V[i]
}
