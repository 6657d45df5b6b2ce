//go:build linux && amd64

package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// Functions of f16 that are rounded from f64.

// half64 defines an operation on f16 that is computed on f64 and rounded once; f as viaF64 has it.
func half64(name string, f func(g *nativeGen, z x64.Z)) {
	vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		a := &g.a
		widenHalves(g, 5, x)
		a.VUpper(6, 5)
		a.V1(x64.VCVTPS2PD, 5, x64.Z(5), 0)
		a.V1(x64.VCVTPS2PD, 6, x64.Z(6), 0)
		for _, z := range []x64.Z{5, 6} {
			f(g, z)
			g.toOdd(z, 1, 7)
		}
		a.VImm(x64.VINSERTI64X4, 5, 5, x64.Z(6), 0, 1)
		g.toHalves(5)
		a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
}

// toOdd makes z, of f64, f32 toward zero, with the last bit set if that is not exact: so it is never halfway between two f16 by mistake.
// s, t and K5 are used.
func (g *nativeGen) toOdd(z, s, t x64.Z) {
	a := &g.a
	a.VRounded(x64.VCVTPD2PS, s, 0, z, x64.TowardZero)
	a.V1(x64.VCVTPS2PD, t, s, 0)
	a.VCmp(x64.VCMPPD, 5, t, z, 0, x64.FNEQ)
	a.V1(x64.VMOVDQU32, z, s, 0)
	a.V(x64.VPORD, z, z, g.con(1), 5)
}

var _ = define(func() {
	invert := func(g *nativeGen, z x64.Z) {
		g.a.V1(x64.VPBCASTQ, 1, g.a.Const64(math.Float64bits(1)), 0)
		g.a.V(x64.VDIVPD, z, 1, z, 0)
	}
	root := func(g *nativeGen, z x64.Z) { g.a.V1(x64.VSQRTPD, z, z, 0) }
	whole := func(imm byte) func(g *nativeGen, z x64.Z) {
		return func(g *nativeGen, z x64.Z) { g.a.VImm(x64.VRNDSCALEPD, z, 0, z, 0, imm) }
	}
	for name, f := range map[string]func(g *nativeGen, z x64.Z){
		"rcp": invert, "sqrt": root, "rsq": func(g *nativeGen, z x64.Z) { root(g, z); invert(g, z) },
		"exp": exp2, "log": log2, "sin": turnsOf(false), "cos": turnsOf(true),
		"floor": whole(1), "ceil": whole(2), "trunc": whole(3), "rndne": whole(0),
		"fract": func(g *nativeGen, z x64.Z) {
			a := &g.a
			a.VImm(x64.VRNDSCALEPD, 1, 0, z, 0, 1)
			a.V(x64.VSUBPD, z, z, x64.Z(1), 0)
			a.V1(x64.VPBCASTQ, 1, g.a.Const64(math.Float64bits(f16to64(0x3bff))), 0)
			a.V(x64.VMINPD, z, 1, z, 0) // of a NaN that
		},
	} {
		half64("v_"+name+"_f16", f)
	}

	vec("v_ldexp_f16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) { // what f32 rounds is far below what f16 does
		a := &g.a
		widenHalves(g, 5, x)
		a.VShift(x64.VPSLLD, 6, g.inReg(6, y), 0, 16)
		a.VShift(x64.VPSRAD, 6, x64.Z(6), 0, 16)
		scale(g, 5, 0, 5, x64.Z(6), nil)
		g.toHalves(5)
		a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
	vec("v_frexp_mant_f16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		widenHalves(g, 6, x)
		lanes32.mantissa(g, 5, 6, x64.VGETMANTPS)
		g.toHalves(5)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
	vec("v_frexp_exp_i16_f16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		widenHalves(g, 6, x)
		exponent(g, 5, 6)
		g.a.V(x64.VPANDD, d, 5, g.con(0xffff), k)
	})
})
