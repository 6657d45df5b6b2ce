//go:build linux && amd64

package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// exp2 makes z two to the power of z, by the steps of math.Exp2, so that the same
// bits come out: z = k + t with k an integer, and e to the power of t·ln 2 by a
// rational approximation. Z1 to Z4 and Z7 are used.
func exp2(g *nativeGen, z x64.Z) {
	a := &g.a
	con := func(v float64) x64.Bcast { return g.con64(math.Float64bits(v)) }
	set := func(z x64.Z, v float64) { a.V1(x64.VPBCASTQ, z, con(v).Mem, 0) }
	// What is beyond these is 0 and infinity. A NaN stays.
	set(1, -1100)
	a.V(x64.VMAXPD, z, 1, z, 0)
	set(1, 1100)
	a.V(x64.VMINPD, z, 1, z, 0)

	const k, hi, lo, r, t, c = x64.Z(1), x64.Z(2), x64.Z(3), x64.Z(4), x64.Z(7), x64.Z(7)
	a.V(x64.VPANDQ, k, z, con(math.Copysign(0, -1)), 0)
	a.V(x64.VPORQ, k, k, con(0.5), 0)
	a.V(x64.VADDPD, k, k, z, 0)
	a.VImm(x64.VRNDSCALEPD, k, 0, k, 0, 3)
	a.V(x64.VSUBPD, z, z, k, 0)
	a.V(x64.VMULPD, hi, z, con(6.93147180369123816490e-01), 0)
	a.V(x64.VMULPD, lo, z, con(-1.90821492927058770002e-10), 0)

	// z is free from here on: t² in z.
	a.V(x64.VSUBPD, r, hi, lo, 0)
	a.V(x64.VMULPD, z, r, r, 0)
	set(t, 4.13813679705723846039e-08)
	for _, p := range []float64{-1.65339022054652515390e-06, 6.61375632143793436117e-05, -2.77777777770155933842e-03, 1.66666666666666657415e-01} {
		a.V(x64.VMULPD, t, t, z, 0)
		a.V(x64.VADDPD, t, t, con(p), 0)
	}
	a.V(x64.VMULPD, t, t, z, 0)
	a.V(x64.VSUBPD, c, r, t, 0)
	a.V(x64.VMULPD, r, r, c, 0)
	set(z, 2)
	a.V(x64.VSUBPD, z, z, c, 0)
	a.V(x64.VDIVPD, r, r, z, 0)
	a.V(x64.VSUBPD, r, lo, r, 0)
	a.V(x64.VSUBPD, r, r, hi, 0)
	set(z, 1)
	a.V(x64.VSUBPD, z, z, r, 0)
	a.V(x64.VSCALEFPD, z, z, k, 0)
}

var _ = define(func() {
	viaF64("v_exp_f32", true, exp2)
	viaF64("v_exp_legacy_f32", true, exp2)
})
