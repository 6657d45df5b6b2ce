//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What looks at floats as bits, classes and parts of them, and at bits in the other order.

// classes of v_cmp_class, by their bits: those of positive numbers, and of negative ones.
const (
	signalling, quieted             = 1 << 0, 1 << 1
	normal, denormal, zero, infty   = 1 << 8, 1 << 7, 1 << 6, 1 << 9
	normalN, denormalN, zeroN, infN = 1 << 3, 1 << 4, 1 << 5, 1 << 2
)

// classOf makes z the bits of the classes that the floats in x belong to. t is used, and K5.
func (f *lanesOp) classOf(g *nativeGen, z, x, t x64.Z) {
	a := &g.a
	least := uint64(1) << (f.prec - 1)
	inf := f.inf()
	a.V(f.and, t, x, f.con(g, f.sign()-1), 0)
	pick := func(s x64.Z, to any, pred byte, pos, neg uint64) {
		a.VCmp(f.unsigned, 5, s, to, 0, pred)
		f.set(g, z, pos, 5)
		a.VCmp(f.unsigned, 5, x, f.con(g, f.sign()), 5, x64.NLT)
		f.set(g, z, neg, 5)
	}
	pick(t, t, x64.EQ, normal, normalN)
	pick(t, f.con(g, least), x64.LT, denormal, denormalN)
	pick(t, f.con(g, 0), x64.EQ, zero, zeroN)
	pick(t, f.con(g, inf), x64.EQ, infty, infN)
	pick(t, f.con(g, inf), x64.NLE, signalling, signalling)
	pick(t, f.con(g, inf|least>>1), x64.NLT, quieted, quieted)
}

// compareClass is v_cmp_class_… and v_cmpx_class_….
func compareClass(name string, f *lanesOp) {
	for _, prefix := range []string{"v_cmp_class_", "v_cmpx_class_"} {
		nativeVector[prefix+name] = func(g *nativeGen, in *gcn.Inst) bool {
			d, err := sdst(&in.Dst, g.maskRegs())
			wide := f.bits == 64
			if err != nil || !canVector(&in.Src[0]) || !canVector(&in.Src[1]) || in.Form == gcn.FormDPP || wide && in.Form == gcn.FormSDWA {
				return false
			}
			a := &g.a
			for q := range g.quarterCount() {
				if !wide {
					x := g.source(in, 0, q)
					if f.bits == 16 {
						g.masked(2, x, 0xffff)
						x = x64.Z(2)
					}
					f.classOf(g, 6, g.inReg(2, x), 7)
					a.VTest(5, 6, g.source(in, 1, q), g.lanes(q))
					g.maskOf(q, 5)
					continue
				}
				for half := range 2 {
					g.load64(2, &in.Src[0], q, half, false)
					g.modify64(in, 0, 2)
					g.load64(3, &in.Src[1], q, half, false)
					f.classOf(g, 6, 2, 7)
					a.V(x64.VPANDQ, 6, 6, x64.Z(3), 0)
					a.VCmp(f.unsigned, x64.K(6+half), 6, g.con64(0), 0, x64.NEQ)
				}
				a.K(x64.KUNPCKBW, 5, 7, 6)
				g.active(5, q)
				g.maskOf(q, 5)
			}
			g.setScalar(int(d), g.wide(), x64.R9)
			if prefix == "v_cmpx_class_" {
				g.setScalar(regEXEC, g.wide(), x64.R9)
			}
			return true
		}
	}
}

// lanes16 is for the classes of f16 and the last step of their division, in the low halves of dwords whose others are zero.
var lanes16 = lanesOp{divFormat: div16, and: x64.VPANDD, or: x64.VPORD, xor: x64.VPXORD, add: x64.VPADDD, unsigned: x64.VPCMPUD, right: x64.VPSRLD,
	element: x64.VPBCASTD, all: x64.VMOVDQU32}

// mantissa makes z the mantissas of the floats in x, from a half up to 1; what has none stays. K5 is used.
func (f *lanesOp) mantissa(g *nativeGen, z, x x64.Z, o x64.VOp) {
	f.hasMantissa(g, z, x)
	g.a.V1(f.all, z, x, 0)
	g.a.VImm(o, z, 0, x, 5, 2)
}

// exponent makes z the exponents of the f32 in x for these mantissas, zero for what has none. K5 is used.
func exponent(g *nativeGen, z, x x64.Z) {
	a := &g.a
	lanes32.hasMantissa(g, z, x)
	a.V1(x64.VGETEXPPS, z, x, 0)
	a.V1Zero(x64.VCVTTPS2D, z, z, 5)
	a.V(x64.VPADDD, z, z, g.con(1), 5)
}

// hasMantissa makes K5 the floats in x that are neither zero, infinite nor NaN. z is used.
func (f *lanesOp) hasMantissa(g *nativeGen, z, x x64.Z) {
	a := &g.a
	a.V(f.and, z, x, f.con(g, f.sign()-1), 0)
	a.V(f.sub, z, z, f.con(g, 1), 0)
	a.VCmp(f.unsigned, 5, z, f.con(g, f.inf()-1), 0, x64.LT)
}

// reverseBits makes d the bits of x in the other order: those of each byte by tables of four bits, and then the bytes.
func reverseBits(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
	a := &g.a
	table := func(up int) x64.Mem {
		return g.lanesOf(func(i int) (v uint32) {
			for j := range 4 {
				n := uint32(i%4*4 + j)
				v |= (n&1<<3 | n&2<<1 | n&4>>1 | n&8>>3) << up << (8 * j)
			}
			return v
		})
	}
	a.V(x64.VPANDD, 5, x, g.con(0x0f0f0f0f), 0)
	g.to(6, table(4))
	a.V(x64.VPSHUFB, 5, 6, x64.Z(5), 0)
	a.VShift(x64.VPSRLD, 6, x, 0, 4)
	a.V(x64.VPANDD, 6, 6, g.con(0x0f0f0f0f), 0)
	g.to(7, table(0))
	a.V(x64.VPSHUFB, 6, 7, x64.Z(6), 0)
	a.V(x64.VPORD, 5, 5, x64.Z(6), 0)
	a.V(x64.VPSHUFB, 5, 5, g.lanesOf(func(i int) uint32 { return 0x00010203 + uint32(i%4*4)*0x01010101 }), 0)
	a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
}

var _ = define(func() {
	compareClass("f16", &lanes16)
	compareClass("f32", &lanes32)
	compareClass("f64", &lanes64)

	vec("v_bfrev_b32", reverseBits)
	for _, w := range []bool{false, true} {
		nativeOp(map[bool]string{false: "s_brev_b32", true: "s_brev_b64"}[w], 1, func(g *nativeGen) {
			a := &g.a
			for _, s := range []struct {
				n    byte
				mask uint64
			}{{1, 0x5555555555555555}, {2, 0x3333333333333333}, {4, 0x0f0f0f0f0f0f0f0f}} {
				a.Load(w, x64.RCX, x64.RAX)
				a.Imm(x64.R10, s.mask)
				a.Op(x64.AND, w, x64.RAX, x64.R10)
				a.ShiftImm(x64.SHL, w, x64.RAX, s.n)
				a.ShiftImm(x64.SHR, w, x64.RCX, s.n)
				a.Op(x64.AND, w, x64.RCX, x64.R10)
				a.Op(x64.OR, w, x64.RAX, x64.RCX)
			}
			a.SwapBytes(w, x64.RAX)
		})
	}
	nativeOp("s_abs_i32", 1, func(g *nativeGen) {
		a := &g.a
		a.Load(false, x64.RCX, x64.RAX)
		a.ShiftImm(x64.SAR, false, x64.RCX, 31)
		a.Op(x64.XOR, false, x64.RAX, x64.RCX)
		a.Op(x64.SUB, false, x64.RAX, x64.RCX)
		g.nonzero(false, x64.RAX)
	})

	vec("v_frexp_mant_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		lanes32.mantissa(g, 5, x, x64.VGETMANTPS)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
	vec64("v_frexp_mant_f64", false, func(g *nativeGen) {
		lanes64.mantissa(g, 1, 2, x64.VGETMANTPD)
		g.a.V1(x64.VMOVDQU64, 2, x64.Z(1), 0)
	})
	vec("v_frexp_exp_i32_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		exponent(g, 5, x)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
	fromF64("v_frexp_exp_i32_f64", func(g *nativeGen) {
		a := &g.a
		lanes64.hasMantissa(g, 1, 2)
		a.V1(x64.VGETEXPPD, 2, x64.Z(2), 0)
		a.V1Zero(x64.VCVTTPD2D, 2, x64.Z(2), 5)
		a.V(x64.VPADDD, 2, 2, g.con(1), 5)
	})
	vec("v_fract_f32", func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, _, _ any) {
		a := &g.a
		a.VImm(x64.VRNDSCALEPS, 5, 0, x, 0, 1)
		a.V(x64.VSUBPS, 5, x, x64.Z(5), 0)
		g.to(6, g.con(0x3f7fffff))
		a.V(x64.VMINPS, 5, 6, x64.Z(5), 0) // a NaN stays
		a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
	})
	vec64("v_fract_f64", false, func(g *nativeGen) {
		a := &g.a
		a.VImm(x64.VRNDSCALEPD, 1, 0, x64.Z(2), 0, 1)
		a.V(x64.VSUBPD, 2, 2, x64.Z(1), 0)
		a.V1(x64.VPBCASTQ, 1, a.Const64(0x3fefffffffffffff), 0)
		a.V(x64.VMINPD, 2, 1, x64.Z(2), 0)
	})
	vec64("v_ldexp_f64", false, func(g *nativeGen) {
		a := &g.a
		a.VShift(x64.VPSLLQ, 3, x64.Z(3), 0, 32)
		a.VShift(x64.VPSRAQ, 3, x64.Z(3), 0, 32)
		a.V1(x64.VCVTQQ2PD, 3, x64.Z(3), 0)
		a.V(x64.VSCALEFPD, 2, 2, x64.Z(3), 0)
	})

	// Integers saturate; NaN becomes 0.
	saturate := func(o x64.VOp, low, high uint64) func(g *nativeGen) {
		return func(g *nativeGen) {
			a := &g.a
			a.VCmp(x64.VCMPPD, 5, 2, x64.Z(2), 0, x64.FORD)
			a.V(x64.VMAXPD, 2, 2, g.con64(low), 0)
			a.V(x64.VMINPD, 2, 2, g.con64(high), 0)
			a.V1Zero(o, 2, x64.Z(2), 5)
		}
	}
	fromF64("v_cvt_i32_f64", saturate(x64.VCVTTPD2D, 0xc1e0000000000000, 0x41dfffffffc00000))
	fromF64("v_cvt_u32_f64", saturate(x64.VCVTTPD2U, 0, 0x41efffffffe00000))
})
