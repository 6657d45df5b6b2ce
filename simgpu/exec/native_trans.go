//go:build linux && amd64

package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// Logarithms, sines and cosines of f64, by the steps of package math, so that the same bits come
// out: nothing is fused.

// polynomial makes z the polynomial of these coefficients, the highest first, at x.
func polynomial(g *nativeGen, z, x x64.Z, c ...float64) {
	g.a.V1(x64.VPBCASTQ, z, g.a.Const64(math.Float64bits(c[0])), 0)
	for _, c := range c[1:] {
		g.a.V(x64.VMULPD, z, z, x, 0)
		g.a.V(x64.VADDPD, z, z, g.con64(math.Float64bits(c)), 0)
	}
}

// log2 makes z the binary logarithm of z, by the steps of math.Log2, which are those of math.Log of the mantissa from a half up to 1.
// The numbers are no denormals. Z1 to Z4 and Z7 are used, and K5.
func log2(g *nativeGen, z x64.Z) {
	a := &g.a
	con := func(v float64) x64.Bcast { return g.con64(math.Float64bits(v)) }
	set := func(z x64.Z, v float64) { a.V1(x64.VPBCASTQ, z, con(v).Mem, 0) }
	const exp, f, s, s4, t = x64.Z(1), x64.Z(2), x64.Z(3), x64.Z(4), x64.Z(7)

	a.V1(x64.VGETEXPPD, exp, z, 0)
	a.V(x64.VADDPD, exp, exp, con(1), 0)
	a.VImm(x64.VGETMANTPD, f, 0, z, 0, 2)
	a.V1(x64.VMOVDQU64, t, z, 0) // the number itself, for what is special
	// k in z is 0, and -1 where the mantissa is twice as large as it was.
	a.VCmp(x64.VCMPPD, 5, f, con(math.Sqrt2/2), 0, x64.FLE)
	a.V1Zero(x64.VPBCASTQ, z, con(-1).Mem, 5)
	a.V(x64.VADDPD, f, f, f, 5)
	a.V(x64.VSUBPD, f, f, con(1), 0)
	a.VStore(sideAt(0, 0), t, 0)
	a.VStore(sideAt(0, 1), exp, 0)

	set(s, 2)
	a.V(x64.VADDPD, s, s, f, 0)
	a.V(x64.VDIVPD, s, f, s, 0)
	a.V(x64.VMULPD, exp, s, s, 0) // s2
	a.V(x64.VMULPD, s4, exp, exp, 0)
	polynomial(g, t, s4, 1.479819860510658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01)
	a.V(x64.VMULPD, exp, exp, t, 0) // t1
	polynomial(g, t, s4, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
	a.V(x64.VMULPD, t, s4, t, 0)  // t2
	a.V(x64.VADDPD, t, exp, t, 0) // R
	a.V(x64.VMULPD, s4, f, con(0.5), 0)
	a.V(x64.VMULPD, s4, s4, f, 0) // hfsq
	a.V(x64.VADDPD, t, t, s4, 0)
	a.V(x64.VMULPD, s, s, t, 0)
	a.V(x64.VMULPD, t, z, con(1.90821492927058770002e-10), 0)
	a.V(x64.VADDPD, s, s, t, 0)
	a.V(x64.VSUBPD, s, s4, s, 0)
	a.V(x64.VSUBPD, s, s, f, 0)
	a.V(x64.VMULPD, z, z, con(6.93147180369123816490e-01), 0)
	a.V(x64.VSUBPD, z, z, s, 0)
	g.to(exp, sideAt(0, 1))
	g.to(t, sideAt(0, 0))
	a.V(x64.VMULPD, z, z, con(1/math.Ln2), 0)
	a.V(x64.VADDPD, z, z, exp, 0)

	// Powers of two have none but an exponent.
	a.VImm(x64.VGETMANTPD, f, 0, t, 0, 2)
	a.VCmp(x64.VCMPPD, 5, f, con(0.5), 0, x64.FEQ)
	a.V(x64.VSUBPD, z, exp, con(1), 5)
	// Infinity and NaN stay, of zero it is -infinity, of what is negative NaN.
	a.VCmp(x64.VCMPPD, 5, t, con(math.Inf(1)), 0, x64.FNLT)
	a.V1(x64.VMOVDQU64, z, t, 5)
	a.VCmp(x64.VCMPPD, 5, t, con(0), 0, x64.FLT)
	a.V1(x64.VPBCASTQ, z, con(math.NaN()).Mem, 5)
	a.VCmp(x64.VCMPPD, 5, t, con(0), 0, x64.FEQ)
	a.V1(x64.VPBCASTQ, z, con(math.Inf(-1)).Mem, 5)
}

// turnsOf makes the sine or cosine of full turns, by the steps of sinTurns and cosTurns, and of math.Sin up to a quarter of one.
// Z1 to Z4 and Z7 are used, and K5.
func turnsOf(cosine bool) func(g *nativeGen, z x64.Z) {
	return func(g *nativeGen, z x64.Z) {
		a := &g.a
		con := func(v float64) x64.Bcast { return g.con64(math.Float64bits(v)) }
		set := func(z x64.Z, v float64, k x64.K) { a.V1(x64.VPBCASTQ, z, con(v).Mem, k) }
		abs := func(d, s x64.Z) { a.V(x64.VPANDQ, d, s, g.con64(1<<63-1), 0) }
		const t, x, y, zz, u = x64.Z(1), x64.Z(2), x64.Z(3), x64.Z(4), x64.Z(7)
		a.VImm(x64.VRNDSCALEPD, t, 0, z, 0, 0)
		a.V(x64.VSUBPD, t, z, t, 0)
		if cosine {
			abs(t, t)
			set(u, 0.25, 0)
			a.V(x64.VSUBPD, t, u, t, 0)
		} else {
			for _, c := range []struct {
				limit, half float64
				pred        byte
			}{{0.25, 0.5, x64.FGT}, {-0.25, -0.5, x64.FLT}} {
				set(u, c.half, 0)
				a.VCmp(x64.VCMPPD, 5, t, con(c.limit), 0, c.pred)
				a.V(x64.VSUBPD, t, u, t, 5)
			}
		}
		a.V(x64.VMULPD, t, t, con(2*math.Pi), 0)
		abs(x, t) // the sign of t is that of the result

		// Octants 1 and 2 are nearest to a quarter of a turn.
		a.V(x64.VMULPD, y, x, con(4/math.Pi), 0)
		a.VCmp(x64.VCMPPD, 5, y, con(1), 0, x64.FGE)
		a.V1Zero(x64.VPBCASTQ, y, con(2).Mem, 5)
		for _, part := range []uint64{0x3fe921fb40000000, 0x3e64442d00000000, 0x3ce8469898cc5170} {
			a.V(x64.VMULPD, u, y, g.con64(part), 0)
			a.V(x64.VSUBPD, x, x, u, 0)
		}
		a.V(x64.VMULPD, zz, x, x, 0)
		polynomial(g, u, zz, 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
			8.33333333332211858878e-3, -1.66666666666666307295e-1)
		a.V(x64.VMULPD, y, x, zz, 0)
		a.V(x64.VMULPD, y, y, u, 0)
		a.V(x64.VADDPD, y, x, y, 0)
		polynomial(g, u, zz, -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
			-1.38888888888730564116e-3, 4.16666666666665929218e-2)
		a.V(x64.VMULPD, x, zz, zz, 0)
		a.V(x64.VMULPD, u, x, u, 0)
		a.V(x64.VMULPD, zz, zz, con(0.5), 0)
		set(x, 1, 0)
		a.V(x64.VSUBPD, x, x, zz, 0)
		a.V(x64.VADDPD, y, x, u, 5)
		a.V(x64.VPANDQ, t, t, g.con64(1<<63), 0)
		a.V(x64.VPXORQ, y, y, t, 0)

		// Beyond 256 turns it is that of 0; of infinity and NaN, NaN.
		abs(u, z)
		a.VCmp(x64.VCMPPD, 5, u, con(256), 0, x64.FGT)
		set(y, map[bool]float64{false: 0, true: 1}[cosine], 5)
		a.VCmp(x64.VCMPPD, 5, u, con(math.Inf(1)), 0, x64.FNLT)
		set(y, math.NaN(), 5)
		a.V1(x64.VMOVDQU64, z, y, 0)
	}
}

var _ = define(func() {
	for name, f := range map[string]func(g *nativeGen, z x64.Z){"v_log_f32": log2, "v_log_legacy_f32": log2, "v_sin_f32": turnsOf(false), "v_cos_f32": turnsOf(true)} {
		viaF64(name, true, f)
	}
})
