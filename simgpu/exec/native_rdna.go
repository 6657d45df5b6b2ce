//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What RDNA has and CDNA has not.

// permuteRow is v_permlane16, and v_permlanex16, of which the other row is read: see permlane16.
func permuteRow(other int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !isVec(&in.Dst) || !isVec(&in.Src[0]) || !canScalar(&in.Src[1]) || !canScalar(&in.Src[2]) || in.Neg|in.Abs != 0 {
			return false
		}
		a, fetch, zero := &g.a, in.OpSel&1 != 0, in.OpSel&2 != 0
		const from = x64.Z(5)
		g.scalarTo(x64.RAX, &in.Src[1])
		a.VFromReg(false, from, x64.RAX)
		g.scalarTo(x64.RAX, &in.Src[2])
		a.VFromReg(false, 6, x64.RAX)
		a.Imm(x64.RAX, 0xff00)
		a.KFromReg(5, x64.RAX)
		a.V1(x64.VMOVDQU32, from, x64.Z(6), 5)
		a.V(x64.VPSRLVD, from, from, g.lanesOf(func(i int) uint32 { return uint32(4 * (i & 7)) }), 0)
		a.V(x64.VPANDD, from, from, g.con(15), 0)
		for q := range g.quarterCount() {
			if q&1 == 0 { // both rows, before one is written
				g.to(3, g.at(&in.Src[0], 0, q))
				g.to(4, g.at(&in.Src[0], 0, q+1))
			}
			row, k := q^other, g.lanes(q)
			a.V(x64.VPERMD, 0, from, x64.Z(3+row&1), 0)
			if !g.full && !fetch {
				g.readsActive(6, from, row, 0)
				if zero {
					a.V1Zero(x64.VMOVDQU32, 0, x64.Z(0), 6)
				} else {
					g.active(6, q)
					k = 6
				}
			}
			g.storeLanes(&in.Dst, 0, q, 0, k)
		}
		return true
	}
}

var _ = define(func() {
	vec("v_xor3_b32", twice(x64.VPXORD, x64.VPXORD))
	for name, o := range map[string][2]x64.VOp{
		"v_maxmin_u32": {x64.VPMAXUD, x64.VPMINUD}, "v_minmax_u32": {x64.VPMINUD, x64.VPMAXUD},
		"v_maxmin_i32": {x64.VPMAXSD, x64.VPMINSD}, "v_minmax_i32": {x64.VPMINSD, x64.VPMAXSD},
	} {
		vec(name, twice(o[0], o[1]))
	}
	for name, which := range map[string][2]byte{"v_maxmin_f32": {larger, smaller}, "v_minmax_f32": {smaller, larger}} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, z any) {
			g.choose(6, x, g.inReg(7, y), which[0])
			g.choose(5, 6, g.inReg(7, z), which[1])
			g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
		})
	}
	for _, name := range []string{"v_fmac_f16", "v_fmamk_f16", "v_fmaak_f16"} {
		single16(name, 3, x64.VFMA213PH, fma16s)
	}
	vec("v_mov_b16", unary(x64.VMOVDQU32))
	vec("v_not_b16", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) { g.a.V(x64.VPXORD, d, a, g.con(^uint32(0)), k) })
	for name, o := range map[string]x64.VOp{"v_and_b16": x64.VPANDD, "v_or_b16": x64.VPORD, "v_xor_b16": x64.VPXORD} {
		vecOrder(name, true, simple(o))
	}
	vec("v_cvt_u32_u16", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) { g.a.V(x64.VPANDD, d, a, g.con(0xffff), k) })
	vec("v_cvt_i32_i16", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) {
		g.a.VShift(x64.VPSLLD, 5, a, 0, 16)
		g.a.VShift(x64.VPSRAD, d, x64.Z(5), k, 16)
	})
	nativeScalar["s_sendmsg"] = func(_ *nativeGen, in *gcn.Inst) bool { return freesRegisters(in) }
	nativeVector["v_permlane16_b32"] = permuteRow(0)
	nativeVector["v_permlanex16_b32"] = permuteRow(1)
	nativeOp("s_pack_hl_b32_b16", 2, func(g *nativeGen) {
		g.a.ShiftImm(x64.SHR, false, x64.RAX, 16)
		g.a.ShiftImm(x64.SHL, false, x64.RCX, 16)
		g.a.Op(x64.OR, false, x64.RAX, x64.RCX)
	})
})
