//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector instructions with lane masks: comparisons, selection, carries.

// maskOf gathers the masks of the quarters in R9: those lanes of k.
func (g *nativeGen) maskOf(q int, k x64.K) {
	if q == 0 {
		g.a.KToReg(x64.R9, k)
		return
	}
	g.a.KToReg(x64.RAX, k)
	g.a.ShiftImm(x64.SHL, true, x64.RAX, byte(16*q))
	g.a.Op(x64.OR, true, x64.R9, x64.RAX)
}

func nativeCompare(name string, o x64.VOp, pred byte, wide bool, fl floats) {
	nativeVector["v_cmp_"+name] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.Dst, 2)
		if err != nil || !canVector(&in.Src[0]) || !canVector(&in.Src[1]) || wide && !isPlain(in) {
			return false
		}
		g.floatKind(fl)
		for q := range 4 {
			if !wide {
				x := g.source(in, 0, q)
				y := g.source(in, 1, q)
				g.a.VCmp(o, 5, g.inReg(2, x), y, g.lanes(q), pred)
			} else {
				for half := range 2 {
					g.load64(2, &in.Src[0], q, half, false)
					g.load64(4, &in.Src[1], q, half, false)
					g.a.VCmp(o, x64.K(5+half), 2, x64.Z(4), 0, pred)
				}
				g.a.K(x64.KUNPCKBW, 5, 6, 5)
				g.active(5, q)
			}
			g.maskOf(q, 5)
		}
		g.setScalar(int(d), true, x64.R9)
		return true
	}
}

// quarterOf makes k the lanes of a quarter out of all lanes in r.
func (g *nativeGen) quarterOf(k x64.K, r x64.Reg, q int) {
	if q > 0 {
		g.a.Load(true, x64.RAX, r)
		g.a.ShiftImm(x64.SHR, true, x64.RAX, byte(16*q))
		r = x64.RAX
	}
	g.a.KFromReg(k, r)
}

// narrow stores the qwords of Z5 and Z6, the halves of a quarter in the order of
// the lanes, to a register pair.
func (g *nativeGen) narrow(o *gcn.Operand, q int) {
	for half := range 2 {
		g.a.V1(x64.VMOVDQU32, 0, g.lanesOf(func(i int) uint32 { return uint32(2*i + half) }), 0)
		g.a.V(x64.VPERMI2D, 0, 5, x64.Z(6), 0)
		g.store(o, half, q, 0)
	}
}

// selector loads the lanes of quarter q of a scalar register pair.
func (g *nativeGen) selector(k x64.K, o *gcn.Operand, q int) {
	at := g.scalarAt(int(o.Index), true)
	if r, ok := at.(x64.Reg); ok {
		g.quarterOf(k, r, q)
		return
	}
	g.a.KLoad(k, x64.At(rW, waveS+4*int(o.Index)+2*q))
}

func isPair(o *gcn.Operand) bool { return o.Kind == gcn.SGPR && o.Index <= 126 }

var _ = define(func() {
	type pred struct {
		name        string
		ints, float byte
	}
	for _, p := range []pred{{"lt", x64.LT, x64.FLT}, {"le", x64.LEQ, x64.FLE}, {"gt", x64.NLE, x64.FGT}, {"ge", x64.NLT, x64.FGE},
		{"eq", x64.EQ, x64.FEQ}, {"ne", x64.NEQ, 0}} {
		nativeCompare(p.name+"_u32", x64.VPCMPUD, p.ints, false, notFloat)
		nativeCompare(p.name+"_i32", x64.VPCMPD, p.ints, false, notFloat)
		nativeCompare(p.name+"_u64", x64.VPCMPUQ, p.ints, true, notFloat)
		nativeCompare(p.name+"_i64", x64.VPCMPQ, p.ints, true, notFloat)
		if p.name == "ne" {
			continue
		}
		nativeCompare(p.name+"_f32", x64.VCMPPS, p.float, false, isF32)
		nativeCompare(p.name+"_f64", x64.VCMPPD, p.float, true, isF64)
	}
	nativeCompare("neq_f32", x64.VCMPPS, x64.FNEQ, false, isF32)
	nativeCompare("neq_f64", x64.VCMPPD, x64.FNEQ, true, isF64)
	nativeCompare("u_f32", x64.VCMPPS, x64.FUN, false, isF32)
	nativeCompare("u_f64", x64.VCMPPD, x64.FUN, true, isF64)

	nativeVector["v_cndmask_b32"] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canOperands(in, 2) || !isPair(&in.Src[2]) || in.Form == gcn.FormDPP || in.Form == gcn.FormSDWA || in.Omod != 0 || in.Clamp {
			return false
		}
		for q := range 4 {
			x, y := g.source(in, 0, q), g.source(in, 1, q)
			g.selector(5, &in.Src[2], q)
			g.a.V(x64.VPBLENDMD, 0, g.inReg(2, x), y, 5)
			g.store(&in.Dst, 0, q, 0)
		}
		return true
	}

	// sum and difference: the result in Z0, the carry of each lane in K5. first
	// and second are the sources; of a difference, first - second.
	carry := func(name string, sub, rev, in bool) {
		nativeVector[name] = func(g *nativeGen, i *gcn.Inst) bool {
			d, err := sdst(&i.SDst, 2)
			if err != nil || !isPlain(i) || !canOperands(i, 2) || in != isPair(&i.Src[2]) {
				return false
			}
			x, y := &i.Src[0], &i.Src[1]
			if rev {
				x, y = y, x
			}
			a := &g.a
			for q := range 4 {
				g.to(2, g.plainSource(x, q))
				g.to(3, g.plainSource(y, q))
				if sub {
					a.V(x64.VPSUBD, 0, 2, x64.Z(3), 0)
					a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(3), g.lanes(q), x64.LT)
				} else {
					a.V(x64.VPADDD, 0, 2, x64.Z(3), 0)
					a.VCmp(x64.VPCMPUD, 5, 0, x64.Z(2), g.lanes(q), x64.LT)
				}
				if in {
					g.selector(6, &i.Src[2], q)
					g.active(6, q)
					edge, op := ^uint32(0), x64.VPADDD
					if sub {
						edge, op = 0, x64.VPSUBD
					}
					a.VCmp(x64.VPCMPUD, 7, 0, g.con(edge), 6, x64.EQ) // carries out what came in
					a.K(x64.KOR, 5, 5, 7)
					a.V(op, 0, 0, g.con(1), 6)
				}
				g.maskOf(q, 5)
				g.store(&i.Dst, 0, q, 0)
			}
			g.setScalar(int(d), true, x64.R9)
			return true
		}
	}
	carry("v_add_co_u32", false, false, false)
	carry("v_addc_co_u32", false, false, true)
	carry("v_sub_co_u32", true, false, false)
	carry("v_subb_co_u32", true, false, true)
	carry("v_subrev_co_u32", true, true, false)
	carry("v_subbrev_co_u32", true, true, true)

	nativeVector["v_mad_u64_u32"] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.SDst, 2)
		if err != nil || !isPlain(in) || !canOperands(in, 3) {
			return false
		}
		a := &g.a
		for q := range 4 {
			for half := range 2 {
				for i := range 3 {
					g.load64(x64.Z(2+i), &in.Src[i], q, half, false)
				}
				a.V(x64.VPMULUDQ, 2, 2, x64.Z(3), 0)
				a.V(x64.VPADDQ, x64.Z(5+half), 2, x64.Z(4), 0)
				a.VCmp(x64.VPCMPUQ, x64.K(5+half), x64.Z(5+half), x64.Z(2), 0, x64.LT)
			}
			a.K(x64.KUNPCKBW, 5, 6, 5)
			g.active(5, q)
			g.maskOf(q, 5)
			g.narrow(&in.Dst, q)
		}
		g.setScalar(int(d), true, x64.R9)
		return true
	}

	nativeVector["v_readfirstlane_b32"] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.Dst, 1)
		if err != nil || !isVec(&in.Src[0]) || !isPlain(in) {
			return false
		}
		// With no lane active it is lane 0: TZCNT of 0 is 64, modulo 64.
		g.a.Tzcnt(true, x64.RAX, g.scalarAt(regEXEC, true))
		g.a.OpImm(x64.AND, false, x64.RAX, 63)
		g.a.ShiftImm(x64.SHL, false, x64.RAX, 2)
		at := vecAt(&in.Src[0], 0, 0)
		g.a.Load(false, x64.RAX, x64.AtIndex(at.Base, x64.RAX, int(at.Disp)))
		g.setScalar(int(d), false, x64.RAX)
		return true
	}
})
