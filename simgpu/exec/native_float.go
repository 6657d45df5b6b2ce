//go:build linux && amd64

package exec

import (
	"math"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Minimum and maximum, conversions, and functions that are rounded from f64.

// Which of two numbers VRANGE takes.
const (
	smaller = 4
	larger  = 5
)

// choose makes z the smaller or larger of x and y; the other one if one of them
// is NaN. z is neither of them.
func (g *nativeGen) choose(z, x, y x64.Z, which byte) {
	a := &g.a
	a.VImm(x64.VRANGEPS, z, x, y, 0, which)
	a.VCmp(x64.VCMPPS, 5, x, x, 0, x64.FUN) // it would take a signalling one
	a.V1(x64.VMOVDQU32, z, y, 5)
	a.VCmp(x64.VCMPPS, 5, y, y, 0, x64.FUN)
	a.V1(x64.VMOVDQU32, z, x, 5)
}

// middle makes r the f32 in the middle of x, y and z; with a NaN, the smallest. t and u are used, and K5.
func (g *nativeGen) middle(r, x, y, z, t, u x64.Z) {
	g.choose(r, x, y, larger)
	g.choose(t, r, z, smaller)
	g.choose(u, x, y, smaller)
	g.choose(r, u, t, larger)
	g.choose(t, u, z, smaller)
	for _, s := range [][2]x64.Z{{x, y}, {z, z}} {
		g.a.VCmp(x64.VCMPPS, 5, s[0], s[1], 0, x64.FUN)
		g.a.V1(x64.VMOVDQU32, r, t, 5)
	}
}

// choose64 is choose for f64.
func (g *nativeGen) choose64(z, x, y x64.Z, which byte) {
	a := &g.a
	a.VImm(x64.VRANGEPD, z, x, y, 0, which)
	a.VCmp(x64.VCMPPD, 5, x, x, 0, x64.FUN)
	a.V1(x64.VMOVDQU64, z, y, 5)
	a.VCmp(x64.VCMPPD, 5, y, y, 0, x64.FUN)
	a.V1(x64.VMOVDQU64, z, x, 5)
}

// viaF64 defines an operation on f32 that is computed on f64, the halves of a
// quarter, and rounded; if flush, denormals become zero before and after that. f may use all
// that lasts an instruction but Z0, Z5 and Z6.
func viaF64(name string, flush bool, f func(g *nativeGen, z x64.Z)) {
	vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		a := &g.a
		if flush {
			g.flush(5, x)
			x = 5
		}
		a.VUpper(6, x)
		a.V1(x64.VCVTPS2PD, 5, x, 0)
		a.V1(x64.VCVTPS2PD, 6, x64.Z(6), 0)
		for _, z := range []x64.Z{5, 6} {
			f(g, z)
			a.V1(x64.VCVTPD2PS, z, z, 0)
		}
		a.VImm(x64.VINSERTI64X4, 5, 5, x64.Z(6), 0, 1)
		if flush {
			g.flush(5, x64.Z(5))
		}
		a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
}

// toF64 defines a conversion of dwords to f64.
func toF64(name string, o x64.VOp) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		v := vops[name]
		if v == nil || !canOperands(in, 1) || !plainResult(in, v) {
			return false
		}
		if v.slow != nil {
			g.floatKind(v.fl)
			g.floatKind(isF32)
		}
		for _, q := range g.turns() {
			x := g.inReg(2, g.onlyActive(2, g.source(in, 0, q), q))
			g.a.VUpper(6, x)
			g.a.V1(o, 5, x, 0)
			g.a.V1(o, 6, x64.Z(6), 0)
			g.narrow(&in.Dst, q)
		}
		return true
	}
}

// fromF64 defines a conversion of f64 in Z2 to dwords, in the low half of Z2.
func fromF64(name string, f func(g *nativeGen)) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		v := vops[name]
		if v == nil || !canOperands(in, 1) || !plainResult(in, v) || in.Form == gcn.FormSDWA {
			return false
		}
		if v.slow != nil {
			g.floatKind(isF32)
			g.floatKind(isF64)
		}
		for _, q := range g.turns() {
			for half := range 2 {
				g.load64(2, &in.Src[0], q, half, false)
				g.modify64(in, 0, 2)
				f(g)
				g.a.V1(x64.VMOVDQU32, x64.Z(5+half), x64.Z(2), 0)
			}
			g.a.VImm(x64.VINSERTI64X4, 0, 5, x64.Z(6), 0, 1)
			g.store(&in.Dst, 0, q, 0)
		}
		return true
	}
}

// scale is v_ldexp_f32, by way of f64.
func scale(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) {
	a, e := &g.a, g.inReg(6, y)
	a.VUpper(7, x)
	a.VUpper(1, e)
	a.V1(x64.VCVTPS2PD, 5, x, 0)
	a.V1(x64.VCVTPS2PD, 7, x64.Z(7), 0)
	a.V1(x64.VCVTDQ2PD, 6, e, 0)
	a.V1(x64.VCVTDQ2PD, 1, x64.Z(1), 0)
	a.V(x64.VSCALEFPD, 5, 5, x64.Z(6), 0)
	a.V(x64.VSCALEFPD, 7, 7, x64.Z(1), 0)
	a.V1(x64.VCVTPD2PS, 5, x64.Z(5), 0)
	a.V1(x64.VCVTPD2PS, 7, x64.Z(7), 0)
	a.VImm(x64.VINSERTI64X4, 5, 5, x64.Z(7), 0, 1)
	a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
}

// flush makes z the f32 in rm, of denormals zeros. Z1 and K5 are used.
func (g *nativeGen) flush(z x64.Z, rm any) {
	a := &g.a
	g.to(z, rm)
	a.V(x64.VPANDD, 1, z, g.con(1<<31-1), 0)
	a.VCmp(x64.VPCMPUD, 5, 1, g.con(0x00800000), 0, x64.LT)
	a.V(x64.VPANDD, z, z, g.con(1<<31), 5)
}

// mad is d = a*b + c, the product rounded, too, without denormals.
func mad(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
	s := &g.a
	g.flush(5, a)
	g.flush(6, b)
	s.V(x64.VMULPS, 5, 5, x64.Z(6), 0)
	g.flush(5, x64.Z(5))
	g.flush(6, c)
	s.V(x64.VADDPS, 5, 5, x64.Z(6), 0)
	g.flush(5, x64.Z(5))
	s.V1(x64.VMOVDQU32, d, x64.Z(5), k)
}

var _ = define(func() {
	vec("v_ldexp_f32", scale)
	for _, name := range []string{"v_mad_f32", "v_mac_f32", "v_madmk_f32", "v_madak_f32"} {
		vec(name, mad)
	}
	for name, which := range map[string]byte{"min": smaller, "max": larger} {
		vec("v_"+name+"_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) {
			g.choose(6, x, g.inReg(7, y), which)
			g.a.V1(x64.VMOVDQU32, d, x64.Z(6), k)
		})
		vec("v_"+name+"3_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
			g.choose(6, x, g.inReg(7, y), which)
			g.choose(5, 6, g.inReg(7, z), which)
			g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
		})
		vec64("v_"+name+"_f64", false, func(g *nativeGen) {
			g.choose64(4, 2, 3, which)
			g.a.V1(x64.VMOVDQU32, 2, x64.Z(4), 0)
		})
	}
	vec("v_med3_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
		g.middle(7, x, g.inReg(3, y), g.inReg(4, z), 5, 6)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(7), k)
	})
	for name, imm := range map[string]byte{"v_floor_f64": 1, "v_ceil_f64": 2, "v_trunc_f64": 3, "v_rndne_f64": 0} {
		vec64(name, false, func(g *nativeGen) { g.a.VImm(x64.VRNDSCALEPD, 2, 0, x64.Z(2), 0, imm) })
	}
	invert := func(g *nativeGen, z x64.Z) {
		g.a.V1(x64.VPBCASTQ, 1, g.a.Const64(math.Float64bits(1)), 0)
		g.a.V(x64.VDIVPD, z, 1, z, 0)
	}
	root := func(g *nativeGen, z x64.Z) { g.a.V1(x64.VSQRTPD, z, z, 0) }
	viaF64("v_rcp_f32", false, invert)
	viaF64("v_rcp_iflag_f32", false, invert)
	viaF64("v_sqrt_f32", false, root)
	viaF64("v_rsq_f32", false, func(g *nativeGen, z x64.Z) { root(g, z); invert(g, z) })
	vec64("v_rcp_f64", false, func(g *nativeGen) { invert(g, 2) })
	vec64("v_sqrt_f64", false, func(g *nativeGen) { root(g, 2) })
	vec64("v_rsq_f64", false, func(g *nativeGen) { root(g, 2); invert(g, 2) })

	toF64("v_cvt_f64_f32", x64.VCVTPS2PD)
	toF64("v_cvt_f64_i32", x64.VCVTDQ2PD)
	toF64("v_cvt_f64_u32", x64.VCVTUD2PD)
	fromF64("v_cvt_f32_f64", func(g *nativeGen) { g.a.V1(x64.VCVTPD2PS, 2, x64.Z(2), 0) })

	// Integers saturate; NaN becomes 0.
	vec("v_cvt_i32_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		a := &g.a
		a.V1(x64.VCVTTPS2D, 5, x, 0)
		a.VCmp(x64.VCMPPS, 5, x, g.con(0x4f000000), 0, x64.FGE)
		a.V1(x64.VPBCASTD, 5, g.con(math.MaxInt32).Mem, 5)
		a.VCmp(x64.VCMPPS, 5, x, x, 0, x64.FORD)
		a.V1Zero(x64.VMOVDQU32, 5, x64.Z(5), 5)
		a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
	vec("v_cvt_u32_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		a := &g.a
		a.VCmp(x64.VCMPPS, 5, x, g.con(0), 0, x64.FGT)
		a.V1Zero(x64.VCVTTPS2U, 5, x, 5)
		a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})

	vec("v_cvt_f32_f16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		g.a.VNarrowWords(5, x)
		g.a.V1(x64.VCVTPH2PS, d, x64.Z(5), k)
	})
	vec("v_cvt_f16_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		g.a.VToHalf(5, x, 0)
		g.a.V1(x64.VPMOVZXWD, d, x64.Z(5), k)
	})
	vec("v_pack_b32_f16", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) {
		g.masked(5, x, 0xffff)
		g.a.VShift(x64.VPSLLD, 6, g.inReg(6, y), 0, 16)
		g.a.V(x64.VPORD, d, 5, x64.Z(6), k)
	})
	vec("v_cvt_pkrtz_f16_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) {
		a := &g.a
		a.VToHalf(5, x, 3)
		a.VToHalf(6, g.inReg(6, y), 3)
		a.V1(x64.VPMOVZXWD, 5, x64.Z(5), 0)
		a.V1(x64.VPMOVZXWD, 6, x64.Z(6), 0)
		a.VShift(x64.VPSLLD, 6, x64.Z(6), 0, 16)
		a.V(x64.VPORD, d, 5, x64.Z(6), k)
	})
	vec("v_ffbl_b32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) { // 31 - leading zeros of the lowest bit; of none, -1
		a := &g.a
		a.V(x64.VPXORD, 6, 6, x64.Z(6), 0)
		a.V(x64.VPSUBD, 6, 6, x, 0)
		a.V(x64.VPANDD, 6, 6, x, 0)
		a.V1(x64.VPLZCNTD, 6, x64.Z(6), 0)
		g.to(5, g.con(31))
		a.V(x64.VPSUBD, d, 5, x64.Z(6), k)
	})
	mbcnt := func(name string, first int) {
		if !hasPopcnt {
			return
		}
		nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
			if !canOperands(in, 2) || !isPlain(in) {
				return false
			}
			for _, q := range g.turns() {
				x, y := g.inReg(2, g.source(in, 0, q)), g.source(in, 1, q)
				below := g.lanesOf(func(i int) uint32 { return uint32(uint64(1)<<max(0, min(32, 16*q+i-first)) - 1) })
				g.a.V(x64.VPANDD, 5, x, below, 0)
				g.a.V1(x64.VPOPCNTD, 5, x64.Z(5), 0)
				d, k, done := g.target(&in.Dst, 0, q)
				g.a.V(x64.VPADDD, d, 5, y, k)
				done()
			}
			return true
		}
	}
	mbcnt("v_mbcnt_lo_u32_b32", 0)
	mbcnt("v_mbcnt_hi_u32_b32", 32)
	if hasPopcnt {
		vec("v_bcnt_u32_b32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, _ any) {
			g.a.V1(x64.VPOPCNTD, 5, x, 0)
			g.a.V(x64.VPADDD, d, 5, y, k)
		})
	}
})
