//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The code of blocks that have a plan for affine registers.

var (
	waveAffine    = int(unsafe.Offsetof(wave{}.affine))
	waveAffineNot = int(unsafe.Offsetof(wave{}.affineNot))
)

// affineAt is a slot.
func affineAt(slot int) x64.Mem { return affineHalf(slot, affineLow) }

// affineHalf is one of its halves.
func affineHalf(slot int, half affinePart) x64.Mem { return x64.At(rW, waveAffine+8*slot+4*int(half)) }

// withTerm emits EAX = EAX op t. RCX is used.
func (g *nativeGen) withTerm(op x64.Op, t affineTerm) {
	g.term(x64.RCX, t)
	g.a.Op(op, false, x64.RAX, x64.RCX)
}

// term makes r a term, zero extended.
func (g *nativeGen) term(r x64.Reg, t affineTerm) {
	if t.affine == nil {
		g.scalarTo(r, t.o)
		return
	}
	g.a.Load(false, r, affineHalf(t.slot, t.part))
}

// wideTo makes RAX 64 bits of the first lane. Where they are made of 32 and the lanes' are not affine any more, because one of them has wrapped around, Go
// executes the rest of the block. RCX is used.
func (g *nativeGen) wideTo(from *affineWide) {
	a, slot := &g.a, affineAt(from.slot)
	if !from.signed && from.high == nil {
		a.Load(true, x64.RAX, slot)
		return
	}
	if from.stride != 0 { // no lane's may have wrapped around
		wraps := x64.B
		if from.signed {
			wraps = x64.O
		}
		a.Load(false, x64.RCX, slot)
		a.OpImm(x64.ADD, false, x64.RCX, int32(from.stride*(g.size()-1)))
		a.JumpIf(wraps, g.restByGo())
	}
	if from.signed {
		a.LoadSigned(x64.RAX, slot)
		return
	}
	a.Load(false, x64.RAX, slot)
	g.term(x64.RCX, *from.high)
	a.ShiftImm(x64.SHL, true, x64.RCX, 32)
	a.Op(x64.OR, true, x64.RAX, x64.RCX)
}

// restByGo has Go execute the rest of the block, from the current instruction on.
func (g *nativeGen) restByGo() x64.Label {
	nb, behind := g.nb, g.a.Label()
	resume := g.resumeAt(behind)
	l := g.exit(nativeExit{kind: exitOps, blk: nb.b, from: g.idx, to: len(nb.b.ops), why: leftByCode}, resume)
	g.later(func() {
		g.a.Bind(behind)
		g.nb, g.ranges, g.held, g.pins.dirty = nb, nil, 0, 0
		g.disown()
		g.end(nb)
	})
	return l
}

// skipsAffine is how often a block's code goes without looking at registers that were not affine.
const skipsAffine = 64

// findRoots goes to the label unless the registers that the plan's affine ones come from are so, and notes their first lanes' contents.
func (g *nativeGen) findRoots(p *affinePlan, other x64.Label) {
	const first, row, bad = 2, 3, 4 // bad: bits in which they differ
	a := &g.a
	find, no, last, pc := a.Label(), a.Label(), a.Label(), int32(g.blk.pc)
	miss := waveAffineNot + 8*(p.number%affineMisses)
	a.OpImm(x64.CMP, false, x64.At(rW, miss), pc)
	a.JumpIf(x64.E, last)
	a.Bind(find)
	g.later(func() {
		a.Bind(no)
		a.StoreImm(false, x64.At(rW, miss), pc)
		a.StoreImm(false, x64.At(rW, miss+4), skipsAffine)
		a.Jump(other)
		a.Bind(last)
		a.OpImm(x64.SUB, false, x64.At(rW, miss+4), 1)
		a.JumpIf(x64.AE, other)
		a.Jump(find)
	})
	a.V(x64.VPXORD, bad, bad, x64.Z(bad), 0)
	for _, r := range p.roots {
		reg := gcn.Operand{Kind: gcn.VGPR, Index: uint16(r.reg)}
		for part := range 1 + btoi(r.wide) {
			for q := range g.quarterCount() {
				at := g.at(&reg, part, q)
				if q == 0 {
					a.V1(x64.VPBCASTD, first, at, 0)
				}
				want := x64.Z(first)
				if part == 0 {
					want = row
					a.V(x64.VPADDD, row, first, g.lanesOf(func(i int) uint32 { return uint32(r.stride * (16*q + i)) }), 0)
				}
				a.VImm(x64.VPTERNLOGD, bad, want, at, 0, 0xf6) // bad | want ^ at
			}
			if z, ok := g.at(&reg, part, 0).(x64.Z); ok {
				a.VToReg(false, x64.RAX, z)
			} else {
				a.Load(false, x64.RAX, vecAt(&reg, part, 0))
			}
			a.Store(false, affineHalf(r.slot, affinePart(part)), x64.RAX)
			if r.wide && part == 0 { // the upper halves are the same only if the lower ones do not wrap around
				a.OpImm(x64.ADD, false, x64.RAX, int32(r.stride*(g.size()-1)))
				a.JumpIf(x64.B, no)
			}
		}
	}
	a.VTest(5, bad, x64.Z(bad), 0)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, no)
}

// writeAffine writes registers that were not written. Z0, Z5 and Z6 and K5 are used.
func (g *nativeGen) writeAffine(all []affineStale) {
	if len(all) == 0 {
		return
	}
	a := &g.a
	g.between()
	for _, s := range all {
		g.pins.dirty &^= g.pins.of(s.reg, 1)
		if s.part == affineHigh {
			a.V1(x64.VPBCASTD, 6, affineHalf(s.slot, affineHigh), 0)
		}
		a.V1(x64.VPBCASTD, 5, affineHalf(s.slot, affineLow), 0)
		for q := range g.quarterCount() {
			z := x64.Z(0)
			if pin, ok := g.pins.at(s.reg, q); ok {
				z = pin
			}
			add := g.lanesOf(func(i int) uint32 { return uint32(s.stride * (16*q + i)) })
			switch {
			case s.part == affineHigh && s.stride == 0:
				g.to(z, x64.Z(6))
			case s.part == affineHigh:
				a.V(x64.VPADDD, 0, 5, add, 0)
				a.VCmp(x64.VPCMPUD, 5, 0, x64.Z(5), 0, x64.LT)
				g.to(z, x64.Z(6))
				a.V(x64.VPADDD, z, z, g.con(1), 5)
			case s.stride == 0:
				g.to(z, x64.Z(5))
			default:
				a.V(x64.VPADDD, z, 5, add, 0)
			}
			if s.part == affineSign {
				a.VShift(x64.VPSRAD, z, z, 0, 31)
			}
			a.VStore(memoryOf(s.reg, q), z, 0) // both, so that nobody has to know
		}
	}
}

// turnTo ends a block that turns to a loop: where it does with all lanes, the loop's roots are known, and not written.
func (g *nativeGen) turnTo(nb *nativeBlock, p *affinePlan) {
	a, last, to := &g.a, p.turn.last, g.plans[p.turn.to]
	g.r.affineTurns++
	if last != nb {
		full := g.full
		g.full = false // EXEC is new
		g.tally(last.b)
		g.full = full
	}
	c := nativeBranches[endName(last.b, last.ins)]
	wide := c.reg != regSCC && g.wide()
	over, partly := a.Label(), a.Label()
	a.OpImm(x64.CMP, wide, g.scalarAt(c.reg, wide), 0)
	a.JumpIf(c.taken^1, over)
	if last != nb {
		a.OpImm(x64.CMP, g.wide(), rExec, -1)
		a.JumpIf(x64.NE, partly)
	}
	a.CmpShort(x64.At(rW, waveTally), maxTally)
	a.JumpIf(x64.AE, partly)
	known := map[int]bool{}
	for _, r := range to.roots {
		for i := range 1 + btoi(r.wide) {
			known[r.reg+i] = r.stale
		}
	}
	dirty := g.pins.dirty
	g.writeAffine(g.staleAt(p.turn.to, p.write, known))
	regs := []x64.Reg{x64.RAX, x64.RCX, x64.R9, x64.R10}
	for i, r := range to.roots {
		a.Load(r.wide, regs[i], affineAt(p.turn.again[r].slot))
	}
	for i, r := range to.roots {
		a.Store(r.wide, affineAt(r.slot), regs[i])
	}
	a.Jump(to.start)
	g.pins.dirty = dirty
	leave := func(l x64.Label, to *block, f func()) {
		g.later(func() {
			a.Bind(l)
			g.writeAffine(g.staleAt(to, p.write, nil))
			f()
		})
	}
	leave(over, last.next, func() { g.next(last) })
	leave(partly, p.turn.to, func() { a.Jump(g.starts[p.turn.to]) })
}

// staleAt are those of some registers that matter where a block begins and that it does not know to be stale.
func (g *nativeGen) staleAt(b *block, all []affineStale, known map[int]bool) (write []affineStale) {
	live, ok := g.live[b]
	for _, s := range all {
		if (!ok || live.has(s.reg)) && !known[s.reg] {
			write = append(write, s)
		}
	}
	return write
}

// affineAddress makes RAX the offset of the first lane of an access of n bytes a lane, or goes to no if one is not in device memory.
func (g *nativeGen) affineAddress(in *gcn.Inst, v *affine, n int, no x64.Label) {
	a := &g.a
	imm := uint64(int64(in.Offset)) - g.p.mem.Base
	if in.Base.Kind == gcn.SGPR {
		a.Load(false, x64.RAX, affineAt(v.slot))
		a.Load(false, x64.RCX, x64.RAX)
		a.OpImm(x64.ADD, false, x64.RCX, int32(n*(g.size()-1)))
		a.JumpIf(x64.B, no)
		a.Op(x64.ADD, true, x64.RAX, g.scalarAt(int(in.Base.Index), true))
	} else {
		a.Load(true, x64.RAX, affineAt(v.slot))
	}
	a.Imm(x64.RCX, imm)
	a.Op(x64.ADD, true, x64.RAX, x64.RCX)
	g.compareWith(x64.RAX, g.p.mem.Size-uint64(n*g.size()))
	a.JumpIf(x64.A, no)
}

// affineStep is the current instruction's, nil where there is no plan.
func (g *nativeGen) affineStep() *affineStep {
	if g.affine == nil {
		return nil
	}
	return &g.affine.steps[g.idx]
}

// make writes what was not written, for Go.
func (s *affineStale) make(w *wave) {
	v := &w.V[s.reg]
	var carries uint64
	for lane := range w.d.waveSize() {
		switch x := w.affine[s.slot] + uint64(s.stride*lane); s.part {
		case affineLow:
			v[lane] = uint32(x)
		case affineHigh:
			v[lane] = uint32(x >> 32)
		case affineSign:
			v[lane] = uint32(int32(x) >> 31)
		case affineSum:
			sum := uint64(uint32(x)) + uint64(s.term.in(w))
			v[lane] = uint32(sum)
			carries |= sum >> 32 << lane
		}
	}
	if s.part == affineSum {
		s.mask.set(w, carries)
	}
}

// in is a term that is in a slot or a constant.
func (t *affineTerm) in(w *wave) uint32 {
	if t.affine == nil {
		v, _ := constOf(t.o)
		return uint32(v)
	}
	if t.part == affineHigh {
		return uint32(w.affine[t.slot] >> 32)
	}
	return uint32(w.affine[t.slot])
}

// made writes all of them.
func (x *nativeExit) made(w *wave) {
	for i := range x.affine {
		x.affine[i].make(w)
	}
}

var _ = define(func() {
	for _, kind := range []string{"flat", "global"} {
		for _, what := range []string{"_load_", "_store_"} {
			for suffix, n := range map[string]int{"dword": 4, "dwordx2": 8, "dwordx4": 16} {
				rowAccesses[kind+what+suffix] = n
			}
		}
		for suffix, s := range smallLoads {
			rowAccesses[kind+"_load_"+suffix] = s.bytes
		}
		for suffix, bytes := range smallStores {
			rowAccesses[kind+"_store_"+suffix], rowAccesses[kind+"_store_"+suffix+"_d16_hi"] = bytes, bytes
		}
	}
})
