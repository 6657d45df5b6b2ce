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

// gathered makes R9 a scalar register pair, when it has the masks of all quarters.
func (g *nativeGen) gathered(pair int) {
	if turns := g.turns(); turns[len(turns)-1] == g.quarterCount()-1 {
		g.setScalar(pair, g.wide(), x64.R9)
	}
}

// result takes the lanes of k, of quarter q, as part of a mask.
func (g *nativeGen) result(pair, q int, k x64.K, stored, held bool) {
	if stored {
		g.maskOf(q, k)
	}
	if held {
		g.hold(pair, q, k)
	}
}

// comparison is how a type is compared. It has 16 bits if widen makes dwords of
// those in rm, which can be compared as such, in z.
type comparison struct {
	o     x64.VOp
	wide  bool
	fl    floats
	widen func(g *nativeGen, z x64.Z, rm any)
}

// comparing are the comparisons of numbers whose result is a mask alone.
var comparing = map[string]bool{}

func nativeCompare(name string, c comparison, pred byte) {
	comparing["v_cmp_"+name] = true
	for _, prefix := range []string{"v_cmp_", "v_cmpx_"} {
		nativeVector[prefix+name] = func(g *nativeGen, in *gcn.Inst) bool {
			d, err := sdst(&in.Dst, g.maskRegs())
			if err != nil || !canVector(&in.Src[0]) || !canVector(&in.Src[1]) || c.wide && (in.Form == gcn.FormDPP || in.Form == gcn.FormSDWA) {
				return false
			}
			g.floatKind(c.fl)
			stored, held := true, false
			if prefix == "v_cmp_" {
				stored, held = g.fate(int(d))
			}
			together := !c.wide && in.Form != gcn.FormDPP && !held && g.strip == nil && !g.first // their masks do not get into the way of anything
			for _, q := range g.turns() {
				k := x64.K(5)
				switch {
				case held && !stored:
					k = x64.K(1 + q)
				case together:
					k = [4]x64.K{0, 5, 6, 7}[q]
				}
				switch {
				case c.wide:
					for half := range 2 {
						g.load64(2, &in.Src[0], q, half, false)
						g.modify64(in, 0, 2)
						g.load64(4, &in.Src[1], q, half, false)
						g.modify64(in, 1, 4)
						g.a.VCmp(c.o, x64.K(5+half), 2, x64.Z(4), 0, pred)
					}
					g.a.K(x64.KUNPCKBW, k, 6, 5)
					g.active(k, q)
				case c.widen != nil:
					c.widen(g, 5, g.source(in, 0, q))
					c.widen(g, 6, g.source(in, 1, q))
					g.a.VCmp(c.o, k, 5, x64.Z(6), g.lanes(q), pred)
				default:
					x := g.once(2, q, g.source(in, 0, q))
					y := g.source(in, 1, q)
					g.a.VCmp(c.o, k, g.inReg(2, x), y, g.lanes(q), pred)
				}
				if !together {
					g.result(int(d), q, k, stored, held)
				}
			}
			if together {
				g.a.K(x64.KUNPCKWD, 5, 5, 0)
				if g.wide() {
					g.a.K(x64.KUNPCKWD, 6, 7, 6)
					g.a.K(x64.KUNPCKDQ, 5, 6, 5)
				}
				g.a.KToReg64(x64.R9, 5)
			}
			if stored {
				g.gathered(int(d))
			}
			if prefix == "v_cmpx_" {
				g.setScalar(regEXEC, g.wide(), x64.R9)
			}
			return true
		}
	}
}

// upperHalves makes z the low halves of dwords as high ones.
func upperHalves(g *nativeGen, z x64.Z, rm any) { g.a.VShift(x64.VPSLLD, z, g.inReg(z, rm), 0, 16) }

// widenHalves makes z the f32 of the f16 in the low halves of dwords.
func widenHalves(g *nativeGen, z x64.Z, rm any) {
	g.a.VNarrowWords(z, g.inReg(z, rm))
	g.a.V1(x64.VCVTPH2PS, z, z, 0)
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

// selector is the lanes of quarter q of a scalar register pair, in k where it is not held.
func (g *nativeGen) selector(k x64.K, o *gcn.Operand, q int) x64.K {
	if g.held == int(o.Index)+1 {
		return x64.K(1 + q)
	}
	at := g.scalarAt(int(o.Index), g.wide())
	if r, ok := at.(x64.Reg); ok {
		g.quarterOf(k, r, q)
		return k
	}
	g.a.KLoad(k, x64.At(rW, waveS+4*int(o.Index)+2*q))
	return k
}

func isPair(o *gcn.Operand) bool { return o.Kind == gcn.SGPR && o.Index <= 126 }

var _ = define(func() {
	for name, p := range map[string]byte{"lt": x64.LT, "le": x64.LEQ, "gt": x64.NLE, "ge": x64.NLT, "eq": x64.EQ, "ne": x64.NEQ} {
		nativeCompare(name+"_u32", comparison{o: x64.VPCMPUD}, p)
		nativeCompare(name+"_i32", comparison{o: x64.VPCMPD}, p)
		nativeCompare(name+"_u64", comparison{o: x64.VPCMPUQ, wide: true}, p)
		nativeCompare(name+"_i64", comparison{o: x64.VPCMPQ, wide: true}, p)
		nativeCompare(name+"_u16", comparison{o: x64.VPCMPUD, widen: upperHalves}, p)
		nativeCompare(name+"_i16", comparison{o: x64.VPCMPD, widen: upperHalves}, p)
	}
	for name, p := range map[string]byte{"lt": x64.FLT, "le": x64.FLE, "gt": x64.FGT, "ge": x64.FGE, "eq": x64.FEQ, "lg": x64.FLG, "o": x64.FORD,
		"nlt": x64.FNLT, "nle": x64.FNLE, "ngt": x64.FNGT, "nge": x64.FNGE, "neq": x64.FNEQ, "nlg": x64.FEQU, "u": x64.FUN} {
		nativeCompare(name+"_f32", comparison{o: x64.VCMPPS, fl: isF32}, p)
		nativeCompare(name+"_f64", comparison{o: x64.VCMPPD, wide: true, fl: isF64}, p)
		nativeCompare(name+"_f16", comparison{o: x64.VCMPPS, fl: isF16, widen: widenHalves}, p)
	}

	choose := func(g *nativeGen, in *gcn.Inst) bool {
		if !canOperands(in, 2) || !isPair(&in.Src[2]) || in.Form == gcn.FormDPP || in.Omod != 0 || in.Clamp {
			return false
		}
		for _, q := range g.turns() {
			x, y := g.source(in, 0, q), g.source(in, 1, q)
			k := g.selector(5, &in.Src[2], q)
			g.a.V(x64.VPBLENDMD, 0, g.inReg(2, x), y, k)
			g.finish(in, &vop{}, q)
		}
		return true
	}
	nativeVector["v_cndmask_b32"], nativeVector["v_cndmask_b16"] = choose, choose

	// sum and difference: the result in Z0, the carry of each lane in K5. first
	// and second are the sources; of a difference, first - second.
	carry := func(name string, sub, rev, in bool) {
		nativeVector[name] = func(g *nativeGen, i *gcn.Inst) bool {
			d, err := sdst(&i.SDst, g.maskRegs())
			selects := i.Form == gcn.FormSDWA && i.SDWA.DstSel == gcn.Dword && i.Neg|i.Abs|i.Omod == 0 && !i.Clamp
			if err != nil || !isPlain(i) && !selects || !canOperands(i, 2) || in != isPair(&i.Src[2]) {
				return false
			}
			x, y := 0, 1
			if rev {
				x, y = y, x
			}
			a := &g.a
			stored, held := g.fate(int(d))
			for _, q := range g.turns() {
				x, y := x, y
				first, second := g.source(i, x, q), g.source(i, y, q)
				if _, ok := first.(x64.Z); !ok && !sub {
					x, first, second = y, second, first
				}
				if !selects {
					first = g.once(x64.Z(2+x), q, first)
				}
				from := g.inReg(x64.Z(2+x), first)
				k := x64.K(5)
				if held && !stored && !in {
					k = x64.K(1 + q)
				}
				if sub {
					a.V(x64.VPSUBD, 0, from, second, 0)
				} else {
					a.V(x64.VPADDD, 0, from, second, 0)
				}
				switch {
				case !stored && !held:
				case sub:
					a.VCmp(x64.VPCMPUD, k, from, second, g.lanes(q), x64.LT)
				default:
					a.VCmp(x64.VPCMPUD, k, 0, from, g.lanes(q), x64.LT)
				}
				if in {
					from := g.selector(6, &i.Src[2], q)
					g.active(from, q)
					edge, op := ^uint32(0), x64.VPADDD
					if sub {
						edge, op = 0, x64.VPSUBD
					}
					if stored || held {
						a.VCmp(x64.VPCMPUD, 7, 0, g.con(edge), from, x64.EQ) // carries out what came in
						a.K(x64.KOR, 5, 5, 7)
					}
					a.V(op, 0, 0, g.con(1), from)
				}
				g.result(int(d), q, k, stored, held)
				g.store(&i.Dst, 0, q, 0)
			}
			if stored {
				g.gathered(int(d))
			}
			return true
		}
	}
	carry("v_add_co_u32", false, false, false)
	carry("v_addc_co_u32", false, false, true)
	carry("v_sub_co_u32", true, false, false)
	carry("v_subb_co_u32", true, false, true)
	carry("v_subrev_co_u32", true, true, false)
	carry("v_subbrev_co_u32", true, true, true)

	for _, signed := range []bool{false, true} {
		name := map[bool]string{false: "v_mad_u64_u32", true: "v_mad_i64_i32"}[signed]
		nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
			d, err := sdst(&in.SDst, g.maskRegs())
			if err != nil || !isPlain(in) || !canOperands(in, 3) {
				return false
			}
			if stored, held := g.fate(int(d)); (!stored || d == regLost) && !held && isWhole(&in.Src[2]) {
				g.madPairs(in, signed)
				return true
			}
			a := &g.a
			for _, q := range g.turns() {
				for half := range 2 {
					for i := range 3 {
						g.load64(x64.Z(2+i), &in.Src[i], q, half, false)
					}
					sum, over := x64.Z(5+half), x64.K(5+half)
					if !signed {
						a.V(x64.VPMULUDQ, 2, 2, x64.Z(3), 0)
						a.V(x64.VPADDQ, sum, 2, x64.Z(4), 0)
						a.VCmp(x64.VPCMPUQ, over, sum, x64.Z(2), 0, x64.LT)
						continue
					}
					a.V(x64.VPMULDQ, 2, 2, x64.Z(3), 0)
					a.V(x64.VPADDQ, sum, 2, x64.Z(4), 0)
					a.V(x64.VPXORQ, 2, 2, sum, 0) // the signs of both differ from the sum's
					a.V(x64.VPXORQ, 4, 4, sum, 0)
					a.V(x64.VPANDQ, 2, 2, x64.Z(4), 0)
					a.VCmp(x64.VPCMPQ, over, 2, g.con64(0), 0, x64.LT)
				}
				a.K(x64.KUNPCKBW, 5, 6, 5)
				g.active(5, q)
				g.maskOf(q, 5)
				g.narrow(&in.Dst, q)
			}
			g.setScalar(int(d), g.wide(), x64.R9)
			return true
		}
	}

	nativeVector["v_readfirstlane_b32"] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.Dst, 1)
		if err != nil || !isVec(&in.Src[0]) || !isPlain(in) {
			return false
		}
		// With no lane active it is lane 0: TZCNT of 0 is 64 or 32, modulo that.
		g.a.Tzcnt(g.wide(), x64.RAX, g.scalarAt(regEXEC, g.wide()))
		g.a.OpImm(x64.AND, false, x64.RAX, int32(g.size()-1))
		g.a.ShiftImm(x64.SHL, false, x64.RAX, 2)
		at := vecAt(&in.Src[0], 0, 0)
		g.a.Load(false, x64.RAX, x64.AtIndex(at.Base, x64.RAX, int(at.Disp)))
		g.setScalar(int(d), false, x64.RAX)
		return true
	}
})
