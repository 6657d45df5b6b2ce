//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Integer arithmetic on 16 bits, single and packed, by the processor's instructions on words, and saturating arithmetic.

// wordwise is an operation on the words of Z5 to Z7, which are its sources, that leaves those of Z5. Z1 may be used. saturating is what it is
// with a clamp; nil: that is not known.
type wordwise struct {
	n                 int
	plain, saturating func(a *x64.Asm)
}

func wordOp(o x64.VOp) func(a *x64.Asm) {
	return func(a *x64.Asm) { a.V(o, 5, 5, x64.Z(6), 0) }
}

func wordOpReversed(o x64.VOp) func(a *x64.Asm) {
	return func(a *x64.Asm) { a.V(o, 5, 6, x64.Z(5), 0) }
}

// single defines the operation on the low halves of dwords.
func (o *wordwise) single(name string) {
	do := func(f func(a *x64.Asm)) step {
		return func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
			for i, rm := range []any{x, y, z}[:o.n] {
				g.to(x64.Z(5+i), rm)
			}
			f(&g.a)
			g.a.V(x64.VPANDD, d, 5, g.con(0xffff), k)
		}
	}
	if o.saturating != nil {
		saturating[name] = do(o.saturating)
	}
	vec(name, do(o.plain))
}

// packed defines it on both halves.
func (o *wordwise) packed(name string) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		f := o.plain
		if in.Clamp {
			f = o.saturating
		}
		if f == nil || in.Enc != gcn.VOP3P || in.Omod != 0 || !canOperands(in, o.n) {
			return false
		}
		a := &g.a
		for _, q := range g.turns() {
			for i := range o.n {
				z, lo, hi := x64.Z(5+i), uint32(in.OpSel>>i&1), uint32(in.OpSelHi>>i&1)
				g.to(z, g.plainSource(&in.Src[i], q))
				if lo != 0 || hi == 0 {
					a.V(x64.VPSHUFB, z, z, g.lanesOf(func(i int) uint32 {
						return (lo*0x0202 | 0x0100) + (hi*0x0202|0x0100)<<16 + uint32(i%4*4)*0x01010101
					}), 0)
				}
				if neg := uint32(in.Neg>>i&1)<<15 | uint32(in.NegHi>>i&1)<<31; neg != 0 {
					a.V(x64.VPXORD, z, z, g.con(neg), 0)
				}
			}
			f(a)
			g.store(&in.Dst, 0, q, 5)
		}
		return true
	}
}

// saturating are the operations of vec with a clamp that makes integers saturate.
var saturating = map[string]step{}

var _ = define(func() {
	for name, o := range map[string]wordwise{
		"add_u16":    {2, wordOp(x64.VPADDW), wordOp(x64.VPADDUSW)},
		"sub_u16":    {2, wordOp(x64.VPSUBW), wordOp(x64.VPSUBUSW)},
		"subrev_u16": {2, wordOpReversed(x64.VPSUBW), wordOpReversed(x64.VPSUBUSW)},
		"add_i16":    {2, wordOp(x64.VPADDW), wordOp(x64.VPADDSW)},
		"sub_i16":    {2, wordOp(x64.VPSUBW), wordOp(x64.VPSUBSW)},
		"mul_lo_u16": {2, wordOp(x64.VPMULLW), nil},
		"max_u16":    {2, wordOp(x64.VPMAXUW), nil},
		"min_u16":    {2, wordOp(x64.VPMINUW), nil},
		"max_i16":    {2, wordOp(x64.VPMAXSW), nil},
		"min_i16":    {2, wordOp(x64.VPMINSW), nil},
	} {
		o.single("v_" + name)
		if name != "subrev_u16" {
			o.packed("v_pk_" + name)
		}
	}
	for name, o := range map[string]x64.VOp{"lshlrev_b16": x64.VPSLLVW, "lshrrev_b16": x64.VPSRLVW, "ashrrev_i16": x64.VPSRAVW} {
		s := wordwise{2, func(a *x64.Asm) { // by the low four bits
			a.VShift(x64.VPSLLW, 5, x64.Z(5), 0, 12)
			a.VShift(x64.VPSRLW, 5, x64.Z(5), 0, 12)
			a.V(o, 5, 6, x64.Z(5), 0)
		}, nil}
		s.single("v_" + name)
		s.packed("v_pk_" + name)
	}
	mad := wordwise{3, func(a *x64.Asm) {
		a.V(x64.VPMULLW, 5, 5, x64.Z(6), 0)
		a.V(x64.VPADDW, 5, 5, x64.Z(7), 0)
	}, nil}
	for _, kind := range []string{"u16", "i16"} {
		mad.single("v_mad_" + kind)
		mad.single("v_mad_legacy_" + kind)
		mad.packed("v_pk_mad_" + kind)
	}
	for kind, o := range map[string][2]x64.VOp{"u16": {x64.VPMINUW, x64.VPMAXUW}, "i16": {x64.VPMINSW, x64.VPMAXSW}} {
		for i, name := range []string{"v_min3_", "v_max3_"} {
			three := wordwise{3, func(a *x64.Asm) {
				a.V(o[i], 5, 5, x64.Z(6), 0)
				a.V(o[i], 5, 5, x64.Z(7), 0)
			}, nil}
			three.single(name + kind)
		}
		median := wordwise{3, func(a *x64.Asm) { // max(min(a, b), min(max(a, b), c))
			a.V(o[1], 1, 5, x64.Z(6), 0)
			a.V(o[0], 5, 5, x64.Z(6), 0)
			a.V(o[0], 1, 1, x64.Z(7), 0)
			a.V(o[1], 5, 5, x64.Z(1), 0)
		}, nil}
		median.single("v_med3_" + kind)
	}
	vec("v_mad_u32_u16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
		g.masked(5, x, 0xffff)
		g.masked(6, y, 0xffff)
		g.a.V(x64.VPMULLD, 5, 5, x64.Z(6), 0)
		g.a.V(x64.VPADDD, d, 5, z, k)
	})
	vec("v_mad_i32_i16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
		for i, rm := range []any{x, y} {
			w := x64.Z(5 + i)
			g.a.VShift(x64.VPSLLD, w, g.inReg(w, rm), 0, 16)
			g.a.VShift(x64.VPSRAD, w, w, 0, 16)
		}
		g.a.V(x64.VPMULLD, 5, 5, x64.Z(6), 0)
		g.a.V(x64.VPADDD, d, 5, z, k)
	})

	saturating["v_add_u32"] = func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) { // x + min(^x, y)
		g.a.V(x64.VPXORD, 5, x, g.con(^uint32(0)), 0)
		g.a.V(x64.VPMINUD, 5, 5, y, 0)
		g.a.V(x64.VPADDD, d, 5, x, k)
	}
	saturating["v_sub_u32"] = func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) { // max(x, y) - y
		g.a.V(x64.VPMAXUD, 5, x, y, 0)
		g.a.V(x64.VPSUBD, d, 5, y, k)
	}
	saturating["v_subrev_u32"] = func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) {
		g.a.V(x64.VPMAXUD, 5, x, y, 0)
		g.a.V(x64.VPSUBD, d, 5, x, k)
	}
})
