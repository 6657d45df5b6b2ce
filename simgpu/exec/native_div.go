//go:build linux && amd64

package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The steps of a division; see valu_div.go for what they do. Its choices are made here from
// the last to the first, each over what those behind it made.

// lanesOp is how a division's format is computed with: the instructions for its elements.
type lanesOp struct {
	divFormat
	and, or, xor, add, sub, mul, div x64.VOp
	unsigned, compare                x64.VOp
	right                            x64.VShift
	element, all                     x64.VOp // one element to all, and all
}

var (
	lanes32 = lanesOp{div32, x64.VPANDD, x64.VPORD, x64.VPXORD, x64.VPADDD, x64.VPSUBD, x64.VMULPS, x64.VDIVPS, x64.VPCMPUD, x64.VCMPPS,
		x64.VPSRLD, x64.VPBCASTD, x64.VMOVDQU32}
	lanes64 = lanesOp{div64, x64.VPANDQ, x64.VPORQ, x64.VPXORQ, x64.VPADDQ, x64.VPSUBQ, x64.VMULPD, x64.VDIVPD, x64.VPCMPUQ, x64.VCMPPD,
		x64.VPSRLQ, x64.VPBCASTQ, x64.VMOVDQU64}
)

// con is a constant in every element.
func (f *lanesOp) con(g *nativeGen, v uint64) x64.Bcast {
	if f.bits == 64 {
		return g.con64(v)
	}
	return g.con(uint32(v))
}

// set makes the elements of z that k has v.
func (f *lanesOp) set(g *nativeGen, z x64.Z, v uint64, k x64.K) {
	g.a.V1(f.element, z, f.con(g, v).Mem, k)
}

// power is two to the power of n.
func (f *lanesOp) power(n int) uint64 { return f.encode(math.Ldexp(1, n)) }

func (f *lanesOp) inf() uint64 { return f.encode(math.Inf(1)) }

// exponents makes z the biased exponents of x, plus n.
func (f *lanesOp) exponents(g *nativeGen, z, x x64.Z, n int) {
	g.a.VShift(f.right, z, x, 0, byte(f.prec-1))
	g.a.V(f.and, z, z, f.con(g, uint64(f.eMask)), 0)
	if n != 0 {
		g.a.V(f.add, z, z, f.con(g, uint64(n)), 0)
	}
}

// isDenormal makes k the elements of x that are denormal. t is used.
func (f *lanesOp) isDenormal(g *nativeGen, k x64.K, x, t x64.Z) {
	g.a.V(f.and, t, x, f.con(g, f.sign()-1), 0)
	g.a.V(f.sub, t, t, f.con(g, 1), 0)
	g.a.VCmp(f.unsigned, k, t, f.con(g, 1<<(f.prec-1)-1), 0, x64.LT)
}

// scaled makes r what v_div_scale makes of s0, denominator s1 and numerator s2, and K5 the elements
// that are flagged. t and m are used, and K6 and K7. All are different registers.
func (f *lanesOp) scaled(g *nativeGen, r, s0, s1, s2, t, m x64.Z) {
	a := &g.a
	one, up, down := f.power(0), f.power(f.scale), f.power(-f.scale)
	f.set(g, m, one, 0)
	f.exponents(g, t, s2, 0)
	a.VCmp(f.unsigned, 5, t, f.con(g, uint64(f.tiny)), 0, x64.LEQ)
	f.set(g, m, up, 5)
	// K5: the quotient is denormal.
	a.V(f.div, t, s2, s1, 0)
	f.isDenormal(g, 5, t, t)
	f.set(g, m, one, 5)
	a.VCmp(f.unsigned, 6, s0, s2, 5, x64.EQ)
	f.set(g, m, up, 6)
	// K6: the inverse is.
	f.set(g, t, one, 0)
	a.V(f.div, t, t, s1, 0)
	f.isDenormal(g, 6, t, t)
	f.set(g, m, down, 6)
	a.K(x64.KAND, 6, 6, 5)
	a.VCmp(f.unsigned, 7, s0, s1, 6, x64.NEQ)
	f.set(g, m, one, 7)
	// K7: the denominator is.
	f.isDenormal(g, 7, s1, t)
	f.set(g, m, up, 7)
	a.K(x64.KANDN, 5, 7, 5)
	// K6: the exponents are far apart.
	f.exponents(g, t, s1, f.far)
	f.exponents(g, r, s2, 0)
	a.VCmp(f.unsigned, 6, r, t, 0, x64.NLT)
	f.set(g, m, one, 6)
	a.VCmp(f.unsigned, 7, s0, s1, 6, x64.EQ)
	f.set(g, m, up, 7)
	a.K(x64.KOR, 5, 5, 6)
	// K6: one of them is zero.
	a.VCmp(f.compare, 6, s1, f.con(g, 0), 0, x64.FEQ)
	a.VCmp(f.compare, 7, s2, f.con(g, 0), 0, x64.FEQ)
	a.K(x64.KOR, 6, 6, 7)
	a.K(x64.KANDN, 5, 6, 5)
	a.VCmp(f.unsigned, 7, m, f.con(g, one), 0, x64.NEQ)
	a.V1(f.all, r, s0, 0)
	a.V(f.mul, r, s0, m, 7)
	f.set(g, r, f.encode(math.NaN()), 6)
}

// isZero makes k the elements of x that are zero, isNaN those that are NaN. Of f16, Z1 is used.
func (f *lanesOp) isZero(g *nativeGen, k x64.K, x x64.Z) {
	if f.bits == 16 {
		g.masked(1, x, uint32(f.sign()-1))
		g.a.VCmp(f.unsigned, k, 1, f.con(g, 0), 0, x64.EQ)
		return
	}
	g.a.VCmp(f.compare, k, x, f.con(g, 0), 0, x64.FEQ)
}

func (f *lanesOp) isNaN(g *nativeGen, k x64.K, x x64.Z) {
	if f.bits == 16 {
		g.masked(1, x, uint32(f.sign()-1))
		g.a.VCmp(f.unsigned, k, 1, f.con(g, f.inf()), 0, x64.NLE)
		return
	}
	g.a.VCmp(f.compare, k, x, x, 0, x64.FUN)
}

// fixed makes r what v_div_fixup makes of quotient s0, denominator s1 and numerator s2. t and u are
// used, and K0 and K5 to K7. All are different registers.
func (f *lanesOp) fixed(g *nativeGen, r, s0, s1, s2, t, u x64.Z) {
	a := &g.a
	sign, inf, quiet := f.sign(), f.inf(), uint64(1)<<(f.prec-2)
	// K5: the quotient is 0; K6: the iteration overflowed.
	f.exponents(g, t, s2, -f.under)
	f.exponents(g, u, s1, 0)
	a.VCmp(f.unsigned, 5, t, u, 0, x64.LT)
	f.isNaN(g, 6, s0)
	a.V(f.xor, t, s1, s2, 0)
	a.V(f.and, t, t, f.con(g, sign), 0)
	a.V(f.or, u, t, f.con(g, inf), 0)
	a.V(f.and, r, s0, f.con(g, sign-1), 0)
	a.V(f.or, r, r, t, 0)
	a.V1(f.all, r, u, 6)
	a.V1(f.all, r, t, 5)
	// K5: infinite denominators and zero numerators; K6: the other way round.
	f.isZero(g, 5, s2)
	f.isZero(g, 6, s1)
	f.isInfinite(g, s1, 5)
	f.isInfinite(g, s2, 6)
	a.V1(f.all, r, t, 5)
	a.V1(f.all, r, u, 6)
	a.K(x64.KAND, 5, 5, 6)
	f.set(g, r, sign|inf|quiet, 5)
	for _, s := range []x64.Z{s1, s2} {
		f.isNaN(g, 5, s)
		a.V(f.or, r, s, f.con(g, quiet), 5)
	}
}

// isInfinite adds to k the elements of x that are infinite. K0 and K7 are used.
func (f *lanesOp) isInfinite(g *nativeGen, x x64.Z, k x64.K) {
	g.a.VCmp(f.unsigned, 0, x, f.con(g, f.inf()), 0, x64.EQ)
	g.a.VCmp(f.unsigned, 7, x, f.con(g, f.sign()|f.inf()), 0, x64.EQ)
	g.a.K(x64.KOR, 7, 7, 0)
	g.a.K(x64.KOR, k, k, 7)
}

func canDivide(in *gcn.Inst) bool {
	return canOperands(in, 3) && in.Omod == 0 && !in.Clamp && in.Form != gcn.FormDPP
}

func divScale32(g *nativeGen, in *gcn.Inst) bool {
	out, err := sdst(&in.SDst, g.maskRegs())
	if err != nil || !canDivide(in) {
		return false
	}
	for q := range g.quarterCount() {
		var s [3]x64.Z
		for i := range s {
			s[i] = g.inReg(x64.Z(2+i), g.onlyActive(x64.Z(2+i), g.source(in, i, q), q))
		}
		lanes32.scaled(g, 0, s[0], s[1], s[2], 5, 6)
		g.active(5, q)
		g.maskOf(q, 5)
		g.store(&in.Dst, 0, q, 0)
	}
	g.setScalar(int(out), g.wide(), x64.R9)
	return true
}

func divScale64(g *nativeGen, in *gcn.Inst) bool {
	out, err := sdst(&in.SDst, g.maskRegs())
	if err != nil || !canDivide(in) {
		return false
	}
	a := &g.a
	for q := range g.quarterCount() {
		for half := range 2 {
			for i := range 3 {
				g.load64(x64.Z(2+i), &in.Src[i], q, half, false)
				g.modify64(in, i, x64.Z(2+i))
			}
			lanes64.scaled(g, 7, 2, 3, 4, 0, 1)
			a.V1(x64.VMOVDQU64, x64.Z(5+half), x64.Z(7), 0)
			if half == 0 {
				a.K(x64.KOR, 0, 5, 5) // nobody else has K0
			}
		}
		a.K(x64.KUNPCKBW, 5, 5, 0)
		g.active(5, q)
		g.maskOf(q, 5)
		g.narrow(&in.Dst, q)
	}
	g.setScalar(int(out), g.wide(), x64.R9)
	return true
}

// divFmas is v_div_fmas where no active lane is flagged; few ever are, so Go does it then.
func divFmas(f func(g *nativeGen, in *gcn.Inst)) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !canDivide(in) {
			return false
		}
		a, done := &g.a, g.a.Label()
		flagged := g.punt(done)
		a.Load(g.wide(), x64.RAX, g.scalarAt(regVCC, g.wide()))
		if g.full {
			a.Op(x64.OR, true, x64.RAX, x64.RAX)
		} else {
			a.Op(x64.AND, true, x64.RAX, rExec)
		}
		a.JumpIf(x64.NE, flagged)
		f(g, in)
		a.Bind(done)
		return true
	}
}

// mayLeave are the vector instructions that Go may execute after all.
var mayLeave = map[string]bool{"v_div_fmas_f32": true, "v_div_fmas_f64": true}

var _ = define(func() {
	nativeVector["v_div_scale_f32"] = divScale32
	nativeVector["v_div_scale_f64"] = divScale64
	nativeVector["v_div_fmas_f32"] = divFmas(func(g *nativeGen, in *gcn.Inst) {
		for q := range g.quarterCount() {
			var s [3]any
			for i := range s {
				s[i] = g.source(in, i, q)
			}
			d, k, done := g.target(&in.Dst, 0, q)
			fma(g, d, k, g.inReg(2, s[0]), g.inReg(3, s[1]), s[2])
			done()
		}
	})
	nativeVector["v_div_fmas_f64"] = divFmas(func(g *nativeGen, in *gcn.Inst) {
		for q := range g.quarterCount() {
			for half := range 2 {
				for i := range 3 {
					g.load64(x64.Z(2+i), &in.Src[i], q, half, true)
					g.modify64(in, i, x64.Z(2+i))
				}
				g.a.V(x64.VFMA213PD, 2, 3, x64.Z(4), 0)
				g.a.V1(x64.VMOVDQU32, x64.Z(5+half), x64.Z(2), 0)
			}
			g.rejoin(&in.Dst, 0, q, 5, 6, false)
			g.rejoin(&in.Dst, 1, q, 5, 6, true)
		}
	})
	for _, name := range []string{"v_div_scale_f32", "v_div_scale_f64", "v_div_fmas_f32", "v_div_fmas_f64"} {
		writeWhole[name] = true
	}
	vec("v_div_fixup_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
		y3, z4 := g.inReg(3, y), g.inReg(4, z)
		lanes32.fixed(g, 7, x, y3, z4, 5, 6)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(7), k)
	})
	for _, name := range []string{"v_div_fixup_f16", "v_div_fixup_legacy_f16"} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
			for i, rm := range []any{x, y, z} {
				g.masked(x64.Z(2+i), rm, 0xffff)
			}
			lanes16.fixed(g, 7, 2, 3, 4, 5, 6)
			g.a.V1(x64.VMOVDQU32, d, x64.Z(7), k)
		})
	}
	vec64("v_div_fixup_f64", false, func(g *nativeGen) {
		lanes64.fixed(g, 7, 2, 3, 4, 0, 1)
		g.a.V1(x64.VMOVDQU64, 2, x64.Z(7), 0)
	})
})
