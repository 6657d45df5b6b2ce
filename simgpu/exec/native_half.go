//go:build linux && amd64

package exec

import (
	"strings"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Arithmetic on f16, single and packed, mixed precision, and dot products.

// toHalves makes Z5 the f16 of the f32 in z, in the low halves of dwords.
func (g *nativeGen) toHalves(z x64.Z) {
	g.a.VToHalf(5, z, 0)
	g.a.V1(x64.VPMOVZXWD, 5, x64.Z(5), 0)
}

// The operations on f16 take f32 from Z5 to Z7 and leave one in Z5 that is still to be rounded to f16. Sums and products
// of two f16 may be rounded twice. Z2 to Z4 and K5 may be used.
func simple16(o x64.VOp) func(g *nativeGen) {
	return func(g *nativeGen) { g.a.V(o, 5, 5, x64.Z(6), 0) }
}

func choose16(which byte) func(g *nativeGen) {
	return func(g *nativeGen) {
		g.choose(7, 5, 6, which)
		g.to(5, x64.Z(7))
	}
}

// choose16of3 chooses one of the first two, and that or the third.
func choose16of3(first, then byte) func(g *nativeGen) {
	return func(g *nativeGen) {
		g.choose(4, 5, 6, first)
		g.choose(5, 4, 7, then)
	}
}

// fma16s multiplies and adds f16 in f32, where the product is exact. The sum is rounded to odd: where it is not exact, it is
// the one of its two neighbours whose last bit is set, so that it is never halfway between two f16 by mistake. Of an exact zero
// both are even, and the one that is taken is +0, as it is rounded to nearest.
func fma16s(g *nativeGen) {
	a := &g.a
	g.to(2, x64.Z(5))
	a.VRounded(x64.VFMA213PS, 2, 6, 7, x64.Down)
	a.VRounded(x64.VFMA213PS, 5, 6, 7, x64.Up)
	a.VTest(5, 2, g.con(1), 0)
	a.V1(x64.VMOVDQU32, 5, x64.Z(2), 5)
}

// single16 defines an operation on f16 of n sources. o is the instruction that does it, on processors that have it.
func single16(name string, n int, o x64.VOp, f func(g *nativeGen)) {
	vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
		if useHalves && o != noOp {
			g.to(5, x)
			g.halves16(o, []any{y, z}[:n-1])
			g.a.V(x64.VPANDD, d, 5, g.con(0xffff), k)
			return
		}
		for i, rm := range []any{x, y, z}[:n] {
			widenHalves(g, x64.Z(5+i), rm)
		}
		f(g)
		g.toHalves(5)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
}

// noOp stands for no instruction.
var noOp x64.VOp

// halves16 computes on the f16 in Z5 and the other sources, dword by dword.
func (g *nativeGen) halves16(o x64.VOp, more []any) {
	y := g.inReg(6, more[0])
	if len(more) == 1 {
		g.a.V(o, 5, 5, y, 0)
		return
	}
	g.a.V(o, 5, y, g.inReg(7, more[1]), 0) // Z5 * y + z
}

// packedHalves is packed16 of an instruction.
func (g *nativeGen) packedHalves(in *gcn.Inst, n int, o x64.VOp) {
	for _, q := range g.turns() {
		var s [3]any
		for i := range n {
			s[i] = g.pairOfHalves(in, i, q)
		}
		g.to(5, s[0])
		g.halves16(o, s[1:n])
		g.store(&in.Dst, 0, q, 5)
	}
}

// pairOfHalves is what a packed operation takes of source i: in Z2, Z3 or Z4, if it is not all of it as it is.
func (g *nativeGen) pairOfHalves(in *gcn.Inst, i, q int) any {
	a, z, rm := &g.a, x64.Z(2+i), g.plainSource(&in.Src[i], q)
	if low, high := in.OpSel>>i&1, in.OpSelHi>>i&1; low != 0 || high != 1 {
		at := [2]uint32{0x0100, 0x0302}
		a.V(x64.VPSHUFB, z, g.inReg(z, rm), g.lanesOf(func(lane int) uint32 { return at[low] | at[high]<<16 + uint32(lane%4)*0x04040404 }), 0)
		rm = z
	}
	if negated := uint32(in.Neg>>i&1)<<15 | uint32(in.NegHi>>i&1)<<31; negated != 0 {
		a.V(x64.VPXORD, z, g.inReg(z, rm), g.con(negated), 0)
		rm = z
	}
	return rm
}

// packed16 defines the packed operation.
func packed16(name string, n int, o x64.VOp, f func(g *nativeGen)) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if in.Enc != gcn.VOP3P || in.Clamp || in.Omod != 0 || !canOperands(in, n) {
			return false
		}
		g.floatKind(isPackF16)
		if useHalves && o != noOp {
			g.packedHalves(in, n, o)
			return true
		}
		form := byHalf
		if all := uint8(1<<n - 1); in.OpSel&all == 0 && in.OpSelHi&all == all {
			form = byLanes
		}
		for _, q := range g.turns() {
			for part := range 2 {
				for i := range n {
					form.part(g, in, i, q, part)
				}
				f(g)
				g.a.VToHalf([]x64.Z{1, 5}[part], 5, 0)
			}
			d, k, done := g.target(&in.Dst, 0, q)
			form.join(g, d, k)
			done()
		}
		return true
	}
}

// packedForm is how a packed operation works on a quarter's 32 f16 in two parts of 16.
type packedForm struct {
	part func(g *nativeGen, in *gcn.Inst, i, q, part int) // makes Z5, Z6 or Z7 the f32 of a part of source 0, 1 or 2
	join func(g *nativeGen, d x64.Z, k x64.K)             // makes d the quarter of the results in the low halves of Z1 and Z5
}

// byHalf is for any: a part is the low or the high result of each lane.
var byHalf = &packedForm{
	func(g *nativeGen, in *gcn.Inst, i, q, part int) {
		sel, neg, z := in.OpSel, in.Neg, x64.Z(5+i)
		if part == 1 {
			sel, neg = in.OpSelHi, in.NegHi
		}
		g.widenHalf(z, 2, g.plainSource(&in.Src[i], q), sel>>i&1 != 0)
		if neg>>i&1 != 0 {
			g.a.V(x64.VPXORD, z, z, g.con(1<<31), 0)
		}
	},
	func(g *nativeGen, d x64.Z, k x64.K) {
		a := &g.a
		a.V1(x64.VPMOVZXWD, 1, x64.Z(1), 0)
		a.V1(x64.VPMOVZXWD, 5, x64.Z(5), 0)
		a.VShift(x64.VPSLLD, 5, x64.Z(5), 0, 16)
		a.V(x64.VPORD, d, 5, x64.Z(1), k)
	},
}

// byLanes is for those whose results have their sources in their own places, as most have: a part is both results of eight lanes.
var byLanes = &packedForm{
	func(g *nativeGen, in *gcn.Inst, i, q, part int) {
		a, z := &g.a, x64.Z(5+i)
		rm := g.plainSource(&in.Src[i], q)
		negated := uint32(in.Neg>>i&1)<<15 | uint32(in.NegHi>>i&1)<<31
		m, inMemory := rm.(x64.Mem)
		switch _, same := rm.(x64.Bcast); {
		case inMemory && negated == 0:
			m.Disp += int32(32 * part)
			a.V1(x64.VCVTPH2PS, z, m, 0)
			return
		case same:
			g.to(z, rm)
		case part == 1:
			a.VUpper(z, g.inReg(z, rm))
		case negated == 0:
			a.V1(x64.VCVTPH2PS, z, rm, 0)
			return
		default:
			g.to(z, rm)
		}
		if negated != 0 {
			a.V(x64.VPXORD, z, z, g.con(negated), 0)
		}
		a.V1(x64.VCVTPH2PS, z, z, 0)
	},
	func(g *nativeGen, d x64.Z, k x64.K) {
		if k != 0 { // of qwords
			g.a.VImm(x64.VINSERTI64X4, 5, 1, x64.Z(5), 0, 1)
			g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
			return
		}
		g.a.VImm(x64.VINSERTI64X4, d, 1, x64.Z(5), 0, 1)
	},
}

// widenHalf makes z the f32 of the f16 in one half of the dwords of rm, by way of by.
func (g *nativeGen) widenHalf(z, by x64.Z, rm any, high bool) {
	r := g.inReg(by, rm)
	if high {
		g.a.VShift(x64.VPSRLD, z, r, 0, 16)
		r = z
	}
	widenHalves(g, z, r)
}

// mixed defines v_fma_mix_f32 and, with results of 16 bits, mixlo and mixhi.
func mixed(name string, to16, high bool) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canOperands(in, 3) {
			return false
		}
		g.floatKind(isF32)
		if to16 {
			g.floatKind(isF16)
		}
		a := &g.a
		for _, q := range g.turns() {
			for i := range 3 {
				g.mixedSource(in, i, q)
			}
			a.V(x64.VFMA213PS, 2, 3, x64.Z(4), g.lanes(q))
			if in.Clamp {
				g.clamp(2, isF32)
			}
			if !to16 {
				g.store(&in.Dst, 0, q, 2)
				continue
			}
			g.toHalves(2)
			keep := uint32(0xffff0000)
			if high {
				a.VShift(x64.VPSLLD, 5, x64.Z(5), 0, 16)
				keep = 0xffff
			}
			g.to(6, g.at(&in.Dst, 0, q))
			a.V(x64.VPANDD, 6, 6, g.con(keep), 0)
			a.V(x64.VPORD, 5, 5, x64.Z(6), 0)
			g.store(&in.Dst, 0, q, 5)
		}
		return true
	}
}

// mixedSource makes Z2 and so on the f32 of source i.
func (g *nativeGen) mixedSource(in *gcn.Inst, i, q int) {
	o, z := mixOperand(in, i), x64.Z(2+i)
	rm := g.plainSource(&o, q)
	if in.OpSelHi>>i&1 != 0 {
		g.widenHalf(z, z, rm, in.OpSel>>i&1 != 0)
	} else {
		g.to(z, rm)
	}
	if in.Abs>>i&1 != 0 {
		g.a.V(x64.VPANDD, z, z, g.con(1<<31-1), 0)
	}
	if in.Neg>>i&1 != 0 {
		g.a.V(x64.VPXORD, z, z, g.con(1<<31), 0)
	}
}

// movePair is v_pk_mov_b32.
func movePair(g *nativeGen, in *gcn.Inst) bool {
	if !isVec(&in.Dst) || !isWhole(&in.Src[0]) || !isWhole(&in.Src[1]) {
		return false
	}
	for _, q := range g.turns() {
		for i := range 2 {
			g.to(x64.Z(5+i), g.dword(&in.Src[i], q, int(in.OpSel>>i&1)))
		}
		g.storePair(&in.Dst, q)
	}
	return true
}

// wordsOfBytes makes z words of the even or the odd bytes of x, with their signs or without.
func (g *nativeGen) wordsOfBytes(z, x x64.Z, odd, signed bool) {
	if !odd && !signed {
		g.masked(z, x, 0x00ff00ff)
		return
	}
	if !odd {
		g.a.VShift(x64.VPSLLW, z, x, 0, 8)
		x = z
	}
	right := x64.VPSRLW
	if signed {
		right = x64.VPSRAW
	}
	g.a.VShift(right, z, x, 0, 8)
}

// dotBytes is c and the products of the bytes of a and b, with their signs or without.
func dotBytes(signed bool) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		s, y := &g.a, g.inReg(3, b)
		g.wordsOfBytes(5, a, false, signed)
		g.wordsOfBytes(6, y, false, signed)
		s.V(x64.VPMADDWD, 5, 5, x64.Z(6), 0)
		g.wordsOfBytes(6, a, true, signed)
		g.wordsOfBytes(7, y, true, signed)
		s.V(x64.VPMADDWD, 6, 6, x64.Z(7), 0)
		s.V(x64.VPADDD, 5, 5, x64.Z(6), 0)
		s.V(x64.VPADDD, d, 5, c, k)
	}
}

// dotMixedBytes is c and the products of bytes, of which the negations of the first two sources say whether they have signs.
func dotMixedBytes(g *nativeGen, in *gcn.Inst) bool {
	if !canOperands(in, 3) || in.Clamp {
		return false
	}
	a := &g.a
	for _, q := range g.turns() {
		var s [2]x64.Z
		for i := range s {
			s[i] = g.inReg(x64.Z(2+i), g.plainSource(&in.Src[i], q))
		}
		for odd := range 2 {
			for i, z := range s {
				g.wordsOfBytes(x64.Z(6+i), z, odd == 1, in.Neg>>i&1 != 0)
			}
			a.V(x64.VPMADDWD, 6, 6, x64.Z(7), 0)
			if odd == 0 {
				g.to(5, x64.Z(6))
			}
		}
		a.V(x64.VPADDD, 5, 5, x64.Z(6), 0)
		d, k, done := g.target(&in.Dst, 0, q)
		a.V(x64.VPADDD, d, 5, g.plainSource(&in.Src[2], q), k)
		done()
	}
	return true
}

// dotHalves is c and the products of the f16 of a and b, fused one after the other.
func dotHalves(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
	s, y := &g.a, g.inReg(3, b)
	g.to(7, c)
	for _, high := range []bool{false, true} {
		g.widenHalf(5, a, a, high)
		g.widenHalf(6, y, y, high)
		s.V(x64.VFMA231PS, 7, 5, x64.Z(6), 0)
	}
	s.V1(x64.VMOVDQU32, d, x64.Z(7), k)
}

var _ = define(func() {
	single16("v_fma_f16", 3, x64.VFMA213PH, fma16s)
	packed16("v_pk_fma_f16", 3, x64.VFMA213PH, fma16s)
	for name, o := range map[string]struct{ by16, by32 x64.VOp }{"add_f16": {x64.VADDPH, x64.VADDPS}, "mul_f16": {x64.VMULPH, x64.VMULPS}} {
		single16("v_"+name, 2, o.by16, simple16(o.by32))
		packed16("v_pk_"+name, 2, o.by16, simple16(o.by32))
	}
	single16("v_sub_f16", 2, x64.VSUBPH, simple16(x64.VSUBPS))
	for name, which := range map[string]byte{"min_f16": smaller, "max_f16": larger} {
		single16("v_"+name, 2, noOp, choose16(which))
		single16("v_"+strings.Replace(name, "_", "3_", 1), 3, noOp, choose16of3(which, which))
		packed16("v_pk_"+name, 2, noOp, choose16(which))
	}
	single16("v_minmax_f16", 3, noOp, choose16of3(smaller, larger))
	single16("v_maxmin_f16", 3, noOp, choose16of3(larger, smaller))
	single16("v_med3_f16", 3, noOp, func(g *nativeGen) { g.middle(4, 5, 6, 7, 2, 3); g.to(5, x64.Z(4)) })
	single16("v_subrev_f16", 2, noOp, func(g *nativeGen) { g.a.V(x64.VSUBPS, 5, 6, x64.Z(5), 0) })
	for name, right := range map[string]x64.VShift{"v_cvt_f16_u16": x64.VPSRLD, "v_cvt_f16_i16": x64.VPSRAD} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
			g.a.VShift(x64.VPSLLD, 5, x, 0, 16)
			g.a.VShift(right, 5, x64.Z(5), 0, 16)
			g.a.V1(x64.VCVTDQ2PS, 5, x64.Z(5), 0)
			g.toHalves(5)
			g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
		})
	}
	for name, limits := range map[string][2]float32{"v_cvt_u16_f16": {0, 65535}, "v_cvt_i16_f16": {-32768, 32767}} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
			widenHalves(g, 5, x)
			g.a.VCmp(x64.VCMPPS, 5, 5, x64.Z(5), 0, x64.FORD)
			g.a.V(x64.VMAXPS, 5, 5, g.con(b32(limits[0])), 0)
			g.a.V(x64.VMINPS, 5, 5, g.con(b32(limits[1])), 0)
			g.a.V1Zero(x64.VCVTTPS2D, 5, x64.Z(5), 5) // of a NaN zero
			g.a.V(x64.VPANDD, d, 5, g.con(0xffff), k)
		})
	}
	mixed("v_fma_mix_f32", false, false)
	mixed("v_fma_mixlo_f16", true, false)
	mixed("v_fma_mixhi_f16", true, true)
	nativeVector["v_pk_mov_b32"] = movePair
	nativeVector["v_dot4_i32_iu8"] = dotMixedBytes
	vec("v_dot4_i32_i8", dotBytes(true))
	vec("v_dot4c_i32_i8", dotBytes(true))
	vec("v_dot4_u32_u8", dotBytes(false))
	vec("v_dot2_f32_f16", dotHalves)
	vec("v_dot2c_f32_f16", dotHalves)
})
