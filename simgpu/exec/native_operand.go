//go:build linux && amd64

package exec

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Operands of vector instructions, 16 lanes (a quarter) at a time. Z2 to Z4 are
// for the sources 0 to 2 where they have to be in a register, Z0 for the result,
// Z1 and Z5 to Z7 for steps in between.

// at is a quarter of register reg of vector operand o: a Z or a Mem.
func (g *nativeGen) at(o *gcn.Operand, reg, q int) any {
	if o.Kind == gcn.AccVGPR {
		return vecAt(o, reg, q)
	}
	if z, ok := g.pins.at(int(o.Index)+reg, q); ok {
		return z
	}
	if z, ok := g.strip.at(int(o.Index)+reg, q); ok {
		return z
	}
	return memoryOf(int(o.Index)+reg, q)
}

// vecAt is where a quarter of vector register o lies in memory. That what is
// there is what a pinned register holds is up to the caller; see settled.
func vecAt(o *gcn.Operand, reg, q int) x64.Mem {
	base := rV
	if o.Kind == gcn.AccVGPR {
		base = rA
	}
	return x64.At(base, (int(o.Index)+reg)*4*WaveSize+q*64-vectorsFrom)
}

func isVec(o *gcn.Operand) bool { return o.Kind == gcn.VGPR || o.Kind == gcn.AccVGPR }

// canVector reports whether o can be the source of a vector instruction.
func canVector(o *gcn.Operand) bool {
	switch o.Kind {
	case gcn.VGPR, gcn.AccVGPR, gcn.Inline, gcn.Literal, gcn.None:
		return true
	case gcn.SGPR:
		return int(o.Index)+int(max(o.Width, 1)) <= 128
	case gcn.Special:
		_, ok := constOf(o)
		return ok || o.Index == regSCC && o.Width != 2
	}
	return false
}

// canOperands reports whether all n sources and the destination are possible.
func canOperands(in *gcn.Inst, n int) bool {
	if !isVec(&in.Dst) {
		return false
	}
	for i := range n {
		if !canVector(&in.Src[i]) {
			return false
		}
	}
	return true
}

// canNull reports whether code knows what the null register is in each of the places where an instruction names it:
// sources, which read 0, and the second destination, which is lost.
func (g *nativeGen) canNull(in *gcn.Inst) bool {
	if !g.p.arch.Has(gcn.RDNA) {
		return !namesNull(in)
	}
	for _, o := range []*gcn.Operand{&in.Dst, &in.SOffset, &in.Data, &in.Base} {
		if o.Kind == gcn.Special && o.Index == gcn.SrcNull {
			return false
		}
	}
	return true
}

// constOf is the value of a constant source.
func constOf(o *gcn.Operand) (uint64, bool) {
	switch o.Kind {
	case gcn.Inline, gcn.Literal:
		return o.Value, true
	case gcn.None:
		return 0, true
	case gcn.Special:
		if o.Index == gcn.SrcNull {
			return 0, true
		}
		return aperture(o.Index)
	}
	return 0, false
}

// plainSource is the operand of an instruction on dwords for source o, without
// modifiers: a Z, a Mem or a Bcast.
func (g *nativeGen) plainSource(o *gcn.Operand, q int) any {
	if from := g.uniform[int(o.Index)]; from != nil && o.Kind == gcn.VGPR {
		o = from
	}
	if isVec(o) {
		return g.at(o, 0, q)
	}
	if v, ok := constOf(o); ok {
		return g.con(uint32(v))
	}
	return x64.Bcast{Mem: sreg(int(o.Index))}
}

// source is the operand for source i with its modifiers; those of bits that the
// portable functions apply: DPP, SDWA selection, op_sel, absolute value, negation.
func (g *nativeGen) source(in *gcn.Inst, i, q int) any {
	o, z := &in.Src[i], x64.Z(2+i)
	var rm any
	a := &g.a
	switch p, ok := g.placed(o, 0); {
	case in.Form == gcn.FormDPP && i == 0:
		rm = g.fromLanes(in, z, o, q)
	case ok:
		rm = g.fromPlace(p, q, [3]x64.Reg{x64.RAX, x64.RCX, x64.R9}[i])
	default:
		rm = g.plainSource(o, q)
	}
	if in.Form == gcn.FormSDWA && i < 2 {
		sel := in.SDWA.Src0Sel
		if i == 1 {
			sel = in.SDWA.Src1Sel
		}
		if shift, width := part(sel); width < 32 {
			rm = g.inReg(z, rm)
			sext := in.SDWA.Sext>>i&1 != 0
			if up := 32 - shift - width; up > 0 {
				a.VShift(x64.VPSLLD, z, rm, 0, byte(up))
				rm = z
			}
			if sext {
				a.VShift(x64.VPSRAD, z, rm, 0, byte(32-width))
			} else {
				a.VShift(x64.VPSRLD, z, rm, 0, byte(32-width))
			}
			rm = z
		}
	}
	if in.Enc != gcn.VOP3P && in.OpSel>>halfBit(in, i)&1 != 0 {
		a.VShift(x64.VPSRLD, z, g.inReg(z, rm), 0, 16)
		rm = z
	}
	bit := uint32(1) << 31
	if o.Type == gcn.F16 {
		bit = 1 << 15
	}
	if in.Abs>>i&1 != 0 {
		a.V(x64.VPANDD, z, g.inReg(z, rm), g.con(^bit), 0)
		rm = z
	}
	if in.Neg>>i&1 != 0 {
		a.V(x64.VPXORD, z, g.inReg(z, rm), g.con(bit), 0)
		rm = z
	}
	return rm
}

// once is rm of quarter q; in z, loaded for the first quarter, if it is the same for all. Nothing else may be in z, and rm is no place.
func (g *nativeGen) once(z x64.Z, q int, rm any) any {
	if _, ok := rm.(x64.Bcast); !ok || g.strip != nil {
		return rm
	}
	if q == 0 {
		g.to(z, rm)
	}
	return z
}

// inReg is rm in a register: itself, or loaded to z.
func (g *nativeGen) inReg(z x64.Z, rm any) x64.Z {
	if r, ok := rm.(x64.Z); ok {
		return r
	}
	g.to(z, rm)
	return z
}

// to loads an operand to a register.
func (g *nativeGen) to(z x64.Z, rm any) { g.toLanes(z, rm, 0) }

// toLanes loads the lanes of k.
func (g *nativeGen) toLanes(z x64.Z, rm any, k x64.K) {
	switch rm := rm.(type) {
	case x64.Bcast:
		g.a.V1(x64.VPBCASTD, z, rm.Mem, k)
	case x64.Z:
		if rm != z {
			g.a.V1(x64.VMOVDQU32, z, rm, k)
		}
	default:
		g.a.V1(x64.VMOVDQU32, z, rm, k)
	}
}

func (g *nativeGen) con(v uint32) x64.Bcast { return x64.Bcast{Mem: g.a.Const32(v)} }

// lanesOf is a vector with a value for each lane of a quarter.
func (g *nativeGen) lanesOf(f func(i int) uint32) x64.Mem {
	var b []byte
	for i := range 16 {
		b = binary.LittleEndian.AppendUint32(b, f(i))
	}
	return g.a.Const(b)
}

// dppQuarters are the quarters whose lanes those of quarter q read, the lower first: one, q itself if they read none, or two neighbours. Not ok: they read others.
func dppQuarters(in *gcn.Inst, q int) (from, also int, ok bool) {
	from, also = q, -1
	for i := range 16 {
		if src, valid := dppSource(&in.DPP, 16*q+i); valid {
			if also < 0 {
				from, also = src>>4, src>>4
			}
			from, also = min(from, src>>4), max(also, src>>4)
		}
	}
	also = max(also, from)
	return from, also, also-from <= 1
}

// dppTurns says whether the quarters of an instruction are executed from the highest down, or from the lowest up, if there is an order in which none is written that
// another one reads from yet.
func dppTurns(in *gcn.Inst) (down, ok bool) {
	up := true
	down = true
	for q := range in.Arch.WaveSize() / 16 {
		from, also, ok := dppQuarters(in, q)
		if !ok {
			return false, false
		}
		down, up = down && also <= q, up && from >= q
	}
	return down, down || up
}

// canDPP reports whether code knows how lanes read others.
func canDPP(in *gcn.Inst) bool {
	_, ok := dppTurns(in)
	return ok
}

// quartersOf is the order in which an instruction executes its quarters: none is written that another one reads from yet.
func (g *nativeGen) quartersOf(in *gcn.Inst) []int {
	if in.Form == gcn.FormDPP {
		if down, _ := dppTurns(in); down {
			return []int{3, 2, 1, 0}[4-g.quarterCount():]
		}
	}
	return g.turns()
}

// fromLanes permutes a source as DPP says, to z. Lanes whose source does not
// exist or is not active are zero. K6 becomes the lanes that may be written.
func (g *nativeGen) fromLanes(in *gcn.Inst, z x64.Z, o *gcn.Operand, q int) x64.Z {
	a, p := &g.a, &in.DPP
	from, also, _ := dppQuarters(in, q)
	var valid, write uint64
	for i := range 16 {
		if _, ok := dppSource(p, 16*q+i); ok {
			valid |= 1 << i
		}
		if p.RowMask>>q&1 != 0 && p.BankMask>>(i>>2)&1 != 0 {
			write |= 1 << i
		}
	}
	a.V1(x64.VMOVDQU32, 1, g.lanesOf(func(i int) uint32 {
		src, _ := dppSource(p, 16*q+i)
		return uint32(src-16*from) & 31
	}), 0)
	a.Imm(x64.RAX, valid)
	a.KFromReg(7, x64.RAX)
	if !g.full && !p.FetchInactive { // those of them whose source is active
		if also == from {
			g.readsActive(7, 1, from, 7)
		} else {
			g.readsActiveOf(7, z, from, 7)
		}
	}
	if also == from {
		a.V(x64.VPERMD, z, 1, g.inReg(z, g.plainSource(o, from)), 0)
	} else {
		a.V(x64.VPERMI2D, 1, g.inReg(7, g.plainSource(o, from)), g.plainSource(o, also), 0)
		a.V1(x64.VMOVDQU32, z, x64.Z(1), 0)
	}
	a.V1Zero(x64.VMOVDQU32, z, z, 7)
	a.Imm(x64.RAX, write)
	a.KFromReg(6, x64.RAX)
	g.active(6, q)
	if !p.BoundCtrl && !p.Eight {
		a.K(x64.KAND, 6, 6, 7)
	}
	return z
}

// readsActiveOf is readsActive for lanes of two quarters, from and the next, that Z1 says. Z0, Z7 and z are used.
func (g *nativeGen) readsActiveOf(k x64.K, z x64.Z, from int, under x64.K) {
	g.a.V1Zero(x64.VPBCASTD, 7, g.con(^uint32(0)).Mem, g.lanes(from))
	g.a.V1Zero(x64.VPBCASTD, 0, g.con(^uint32(0)).Mem, g.lanes(from+1))
	g.a.V1(x64.VMOVDQU32, z, x64.Z(1), 0)
	g.a.V(x64.VPERMI2D, z, 7, x64.Z(0), 0)
	g.a.VCmp(x64.VPCMPD, k, z, g.con(0), under, x64.LT)
}

// readsActive makes k those of the lanes in under, 0: of all, that read an active lane: the one that idx says, of quarter from. Z7 is used.
func (g *nativeGen) readsActive(k x64.K, idx x64.Z, from int, under x64.K) {
	g.a.V1Zero(x64.VPBCASTD, 7, g.con(^uint32(0)).Mem, g.lanes(from))
	g.a.V(x64.VPERMD, 7, idx, x64.Z(7), 0)
	g.a.VCmp(x64.VPCMPD, k, 7, g.con(0), under, x64.LT)
}

// load64 loads 8 lanes of source o as qwords: half a quarter in the order of the
// lanes, or, if it is mixed, two lanes out of each four, as rejoin wants them. A
// source of one dword is zero extended. Z1 and Z7 are used. Numbers are loaded as zeros where lanes are not active.
func (g *nativeGen) load64(z x64.Z, o *gcn.Operand, q, half int, mixed bool) {
	a := &g.a
	if !isVec(o) {
		if v, ok := constOf(o); ok {
			if o.Width != 2 {
				v = uint64(uint32(v))
			}
			a.V1(x64.VPBCASTQ, z, a.Const64(v), 0)
			return
		}
		if o.Width == 2 {
			a.V1(x64.VPBCASTQ, z, sreg(int(o.Index)), 0)
			return
		}
		a.Load(false, x64.RAX, sreg(int(o.Index)))
		a.VFromReg(true, z, x64.RAX)
		return
	}
	lo := g.at(o, 0, q)
	if o.Width != 2 {
		r := g.inReg(z, lo)
		a.V(x64.VPXORD, 7, 7, x64.Z(7), 0)
		g.interleave(z, r, x64.Z(7), half, mixed)
		return
	}
	hi := g.at(o, 1, q)
	if !mixed {
		if o.Type == gcn.F64 {
			lo, hi = g.onlyActive(7, lo, q), g.onlyActive(1, hi, q)
		}
		lo = g.inReg(7, lo)
		g.interleave(z, lo.(x64.Z), hi, half, mixed)
		return
	}
	if o.Type == gcn.F64 {
		lo, hi = g.onlyActive(z, lo, q), g.onlyActive(7, hi, q)
	}
	g.interleave(z, g.inReg(z, lo), hi, half, mixed)
}

// interleave makes qwords of low and high halves. Unless they are mixed, lo is
// not z.
func (g *nativeGen) interleave(z, lo x64.Z, hi any, half int, mixed bool) {
	if mixed {
		o := x64.VPUNPCKLDQ
		if half == 1 {
			o = x64.VPUNPCKHDQ
		}
		g.a.V(o, z, lo, hi, 0)
		return
	}
	if lo == z {
		g.a.V1(x64.VMOVDQU32, 1, lo, 0)
		lo = 1
	}
	g.a.V1(x64.VMOVDQU32, z, g.lanesOf(func(i int) uint32 { return uint32(8*half + i/2 + i%2*16) }), 0)
	g.a.V(x64.VPERMI2D, z, lo, hi, 0)
}

// modify64 applies the absolute value and negation of source i to qwords.
func (g *nativeGen) modify64(in *gcn.Inst, i int, z x64.Z) {
	bit := uint64(1) << 63
	if in.Abs>>i&1 != 0 {
		g.a.V(x64.VPANDQ, z, z, g.con64(^bit), 0)
	}
	if in.Neg>>i&1 != 0 {
		g.a.V(x64.VPXORQ, z, z, g.con64(bit), 0)
	}
}

// rejoin stores the low halves of mixed qwords in lo and hi to register reg of
// o, or their high halves.
func (g *nativeGen) rejoin(o *gcn.Operand, reg, q int, lo, hi x64.Z, high bool) {
	imm := byte(0x88)
	if high {
		imm = 0xdd
	}
	g.a.VImm(x64.VSHUFPS, 0, lo, hi, 0, imm)
	g.store(o, reg, q, 0)
}

// store writes the active lanes of z to a quarter of register reg of o. In
// memory it stores all lanes, for a load behind a store of some would have to
// wait. Z1 is used.
func (g *nativeGen) store(o *gcn.Operand, reg, q int, z x64.Z) {
	g.storeLanes(o, reg, q, z, g.lanes(q))
}

func (g *nativeGen) storeLanes(o *gcn.Operand, reg, q int, z x64.Z, k x64.K) {
	switch at := g.at(o, reg, q).(type) {
	case x64.Z:
		g.a.V1(x64.VMOVDQU32, at, z, k)
	case x64.Mem:
		if k != 0 {
			g.a.V1(x64.VMOVDQU32, 1, at, 0)
			g.a.V(x64.VPBLENDMD, z, 1, z, k)
		}
		g.a.VStore(at, z, 0)
	}
}

// target says where an instruction leaves its result for a quarter of register
// reg of o, and under which mask; done finishes it. Only its last step may write
// there.
func (g *nativeGen) target(o *gcn.Operand, reg, q int) (d x64.Z, k x64.K, done func()) {
	switch at := g.at(o, reg, q).(type) {
	case x64.Z:
		return at, g.lanes(q), func() {}
	default:
		m := at.(x64.Mem)
		g.keep(0, m)
		return 0, g.lanes(q), func() { g.a.VStore(m, 0, 0) }
	}
}

// keep loads to z what the lanes that are not active have to keep.
func (g *nativeGen) keep(z x64.Z, at any) {
	if !g.full {
		g.to(z, at)
	}
}

// floatKind notes that MODE matters.
func (g *nativeGen) floatKind(fl floats) {
	g.r.f32 = g.r.f32 || fl == isF32 || fl == isPackF32
	g.r.f64 = g.r.f64 || fl == isF64 || fl == isF16 || fl == isPackF16
}

// plainResult reports whether the result goes to the destination as it is.
func plainResult(in *gcn.Inst, v *vop) bool {
	return in.Omod == 0 && !in.Clamp && in.Form != gcn.FormDPP && !keepsOther(in, v) &&
		(in.Form != gcn.FormSDWA || in.SDWA.DstSel == gcn.Dword)
}

// finish does to a result in Z0 what the modifiers say, and stores it: output
// multiplier, clamp, SDWA destination, op_sel, DPP's masks.
func (g *nativeGen) finish(in *gcn.Inst, v *vop, q int) {
	a := &g.a
	if in.Omod != 0 { // ignored where denormals are kept, see outputMultiplier
		g.floatKind(v.fl)
	}
	if in.Clamp && v.iclamp == nil {
		g.clamp(0, v.fl)
	}
	if in.Form == gcn.FormSDWA {
		g.partOf(in, q)
	}
	if keepsOther(in, v) {
		g.to(1, g.at(&in.Dst, 0, q))
		if in.OpSel>>3&1 != 0 {
			a.VShift(x64.VPSLLD, 0, x64.Z(0), 0, 16)
			a.V(x64.VPANDD, 1, 1, g.con(0xffff), 0)
		} else {
			a.V(x64.VPANDD, 0, 0, g.con(0xffff), 0)
			a.V(x64.VPANDD, 1, 1, g.con(0xffff0000), 0)
		}
		a.V(x64.VPORD, 0, 0, x64.Z(1), 0)
	}
	k := g.lanes(q)
	if in.Form == gcn.FormDPP {
		k = 6
	}
	g.storeLanes(&in.Dst, 0, q, 0, k)
}

// clamp limits z to [0, 1]; of a NaN it makes 0.
func (g *nativeGen) clamp(z x64.Z, fl floats) {
	g.r.dx10 = true
	a := &g.a
	if fl == isF64 {
		a.V(x64.VMAXPD, z, z, g.con64(0), 0)
		a.V(x64.VMINPD, z, z, g.con64(0x3ff0000000000000), 0)
		return
	}
	a.V(x64.VMAXPS, z, z, g.con(0), 0)
	a.V(x64.VMINPS, z, z, g.con(0x3f800000), 0)
}

// partOf puts Z0 into the part of the destination that SDWA names.
func (g *nativeGen) partOf(in *gcn.Inst, q int) {
	shift, width := part(in.SDWA.DstSel)
	if width == 32 {
		return
	}
	a, field := &g.a, uint32(1)<<width-1
	up := func(z x64.Z) {
		if shift != 0 {
			a.VShift(x64.VPSLLD, z, z, 0, byte(shift))
		}
	}
	switch in.SDWA.DstUnused {
	case gcn.UnusedSext:
		a.VShift(x64.VPSLLD, 0, x64.Z(0), 0, byte(32-width))
		a.VShift(x64.VPSRAD, 0, x64.Z(0), 0, byte(32-width))
		up(0)
	default:
		a.V(x64.VPANDD, 0, 0, g.con(field), 0)
		up(0)
		if in.SDWA.DstUnused == gcn.UnusedPreserve {
			g.to(1, g.at(&in.Dst, 0, q))
			a.V(x64.VPANDD, 1, 1, g.con(^(field << shift)), 0)
			a.V(x64.VPORD, 0, 0, x64.Z(1), 0)
		}
	}
}

// isPlain reports whether a vector instruction has no modifiers.
func isPlain(in *gcn.Inst) bool {
	return in.Form != gcn.FormSDWA && in.Form != gcn.FormDPP && in.Neg|in.Abs|in.NegHi|in.OpSel|in.Omod == 0 && !in.Clamp
}

// usesMasks are the operations whose steps need K6 and K7, which have the lanes of DPP.
var usesMasks = map[string]bool{"v_perm_b32": true, "v_div_fixup_f32": true, "v_div_fixup_f16": true, "v_div_fixup_legacy_f16": true}

// canFinish reports whether finish knows the modifiers of an operation's result.
func canFinish(in *gcn.Inst, v *vop) bool {
	if in.Form == gcn.FormDPP && (!canDPP(in) || usesMasks[in.Op.String()]) {
		return false
	}
	if in.Clamp && (v.iclamp != nil && saturating[in.Op.String()] == nil || v.iclamp == nil && v.fl != isF32 && v.fl != isF64) {
		return false
	}
	return in.Omod == 0 || v.fl == isF32 || v.fl == isF64 || v.fl == notFloat
}
