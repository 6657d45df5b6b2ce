//go:build linux && amd64

package exec

import (
	"cmp"
	"maps"
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Reads and writes of dwords in the LDS. An address that is not inside of it is
// left to Go.

// steps are the offsets of lanes' dwords, so many each, that lie one after the other.
func (g *nativeGen) steps(dwords int) x64.Mem {
	return g.lanesOf(func(lane int) uint32 { return uint32(4 * dwords * lane) })
}

// ldsLimit computes the highest address of a dword into all lanes of Z5, or goes
// to bad if there is none.
func (g *nativeGen) ldsLimit(bad x64.Label) {
	a := &g.a
	a.Load(false, x64.RAX, x64.At(rW, waveLen))
	a.OpImm(x64.SUB, false, x64.RAX, 4)
	a.JumpIf(x64.B, bad)
	a.VFromReg(false, 5, x64.RAX)
}

// ldsAddress loads the addresses of quarter q to Z2.
func (g *nativeGen) ldsAddress(o *gcn.Operand, q, imm int) {
	g.to(2, g.at(o, 0, q))
	if imm != 0 {
		g.a.V(x64.VPADDD, 2, 2, g.con(uint32(imm)), 0)
	}
}

// ldsCheck goes to bad if an active lane's address is beyond the limit.
func (g *nativeGen) ldsCheck(o *gcn.Operand, q, imm int, bad x64.Label) {
	a := &g.a
	g.ldsAddress(o, q, imm)
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(5), g.lanes(q), x64.NLE)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, bad)
}

// inOrder makes the lowest lane's address RAX, and goes to no if the active
// lanes' addresses are not consecutive from it on.
func (g *nativeGen) inOrder(q int, no x64.Label) {
	a := &g.a
	a.VToReg(false, x64.RAX, 2)
	a.VFromReg(false, 3, x64.RAX)
	a.SignExtend(x64.RAX) // an inactive lowest lane may be before the LDS
	a.V(x64.VPADDD, 3, 3, g.steps(1), 0)
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(3), g.lanes(q), x64.NEQ)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, no)
}

// fetch loads the dwords at Z2 of the active lanes to z, whose other lanes stay.
func (g *nativeGen) fetch(z x64.Z, q int) {
	a := &g.a
	other, done := a.Label(), a.Label()
	g.inOrder(q, other)
	a.V1(x64.VMOVDQU32, z, x64.AtIndex(rLDS, x64.RAX, 0), g.lanes(q))
	a.Jump(done)
	a.Bind(other)
	g.copyLanes(5, q)
	a.Gather(z, x64.AtVec(rLDS, 2, 0), 5)
	a.Bind(done)
}

// put writes the active lanes of z to Z2.
func (g *nativeGen) put(z x64.Z, q int) {
	a := &g.a
	other, done := a.Label(), a.Label()
	g.inOrder(q, other)
	a.VStore(x64.AtIndex(rLDS, x64.RAX, 0), z, g.lanes(q))
	a.Jump(done)
	a.Bind(other)
	g.copyLanes(5, q)
	a.Scatter(x64.AtVec(rLDS, 2, 0), z, 5)
	a.Bind(done)
}

// quarters calls f for each quarter, skipping those without an active lane.
func (g *nativeGen) quarters(f func(q int)) {
	for q := range g.quarterCount() {
		if g.full {
			f(q)
			continue
		}
		skip := g.a.Label()
		g.a.KTestOr(g.lanes(q), g.lanes(q))
		g.a.JumpIf(x64.E, skip)
		f(q)
		g.a.Bind(skip)
	}
}

// ldsPass is one access of an instruction: dword reg of its operand, at offset imm.
type ldsPass struct {
	imm, reg int
	data     *gcn.Operand // of a write
}

// ldsRange is what is known of the addresses in a vector register as long as nothing writes
// it: whether they are those of a row in each quarter, of one dword a lane or of several, or the same, and how far from the end
// of the LDS the highest is: whether they are inside with every offset that is added. It is found out once, by the first access, and
// is in a slot of the wave. The registers that a region uses most keep their slots, for all that
// is executed with all lanes active; others, and what is known of some lanes, have one until
// the block ends.
type ldsRange struct {
	acc       bool
	reg, slot int
	end       int // offset behind the last byte accessed from the register
}

func (r *ldsRange) is(o *gcn.Operand) bool {
	return r.acc == (o.Kind == gcn.AccVGPR) && r.reg == int(o.Index)
}

func (r *ldsRange) operand() gcn.Operand {
	if r.acc {
		return gcn.Operand{Kind: gcn.AccVGPR, Index: uint16(r.reg)}
	}
	return gcn.Operand{Kind: gcn.VGPR, Index: uint16(r.reg)}
}

// written reports whether an instruction writes the register.
func (r *ldsRange) written(in *gcn.Inst) bool {
	o := r.operand()
	return overlap(&o, 1, &in.Dst, max(1, int(in.Dst.Width))) || in.Dual != nil && r.written(in.Dual)
}

// What wave.ldsKind says of the addresses of a register.
const (
	ldsUnknown = iota
	ldsRow
	ldsSame
	ldsAny
	ldsRow2 // rows of two dwords a lane
	ldsRow4
	ldsTight = 8 // with one of these: not with every offset that is added inside of the LDS, see wave.ldsRoom
)

// chooseRanges chooses the registers that keep a slot.
func (g *nativeGen) chooseRanges() {
	score := map[ldsRange]int{}
	ends := map[ldsRange]int{}
	for i := range g.blocks {
		nb := &g.blocks[i]
		for j := range nb.b.ops {
			in := &nb.ins[j]
			imms := ldsOffsets[in.Op.String()]
			if imms == nil || !nb.can[j] {
				continue
			}
			key := ldsRange{acc: in.Addr.Kind == gcn.AccVGPR, reg: int(in.Addr.Index)}
			score[key] += 1 << (3 * min(g.depth[i], 4))
			for _, imm := range imms(in) {
				ends[key] = max(ends[key], imm+16)
			}
		}
	}
	regs := slices.SortedFunc(maps.Keys(score), func(a, b ldsRange) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(btoi(a.acc), btoi(b.acc)), cmp.Compare(a.reg, b.reg))
	})
	for i, r := range regs[:min(len(regs), ldsKept)] {
		r.slot, r.end = i, ends[r]
		g.kept = append(g.kept, r)
		g.keptAt = append(g.keptAt, g.a.Label())
	}
	for i := range g.kept {
		r := g.kept[i]
		g.stubs = append(g.stubs, func() {
			g.a.Bind(g.keptAt[r.slot])
			o := r.operand()
			g.full = true
			g.ldsFind(&o, r.slot, r.end)
			g.a.JumpReg(x64.R10)
		})
	}
}

// disown makes the kept slots unknown.
func (g *nativeGen) disown() {
	for i := range g.kept {
		g.a.StoreImm(false, x64.At(rW, waveKind+4*g.kept[i].slot), ldsUnknown)
	}
}

// ldsKeeps is the slot that the register o keeps.
func (g *nativeGen) ldsKeeps(o *gcn.Operand) (slot int, ok bool) {
	for i := range g.kept {
		if g.kept[i].is(o) {
			return i, true
		}
	}
	return 0, false
}

// ldsFacts makes sure that something is known of the addresses in o and returns the slot. Of one
// that is kept that is still to be looked at.
func (g *nativeGen) ldsFacts(o *gcn.Operand, end int) (slot int, kept bool) {
	own, keeps := g.ldsKeeps(o)
	if keeps && g.full {
		return own, true
	}
	for i := range g.ranges {
		if r := &g.ranges[i]; r.is(o) && end <= r.end {
			return r.slot, false
		}
	}
	if g.nb != nil {
		end = max(end, g.ldsEnd(o))
	}
	slot = ldsKept + g.nextRange%ldsShared
	g.nextRange++
	g.ranges = slices.DeleteFunc(g.ranges, func(r ldsRange) bool { return r.slot == slot })
	g.ranges = append(g.ranges, ldsRange{o.Kind == gcn.AccVGPR, int(o.Index), slot, end})
	a, known := &g.a, g.a.Label()
	if keeps { // what is known of all lanes
		find := a.Label()
		a.Load(false, x64.RCX, x64.At(rW, waveKind+4*own))
		a.Load(false, x64.RAX, x64.RCX)
		a.OpImm(x64.SUB, false, x64.RAX, ldsRow)
		a.OpImm(x64.CMP, false, x64.RAX, ldsSame-ldsRow)
		a.JumpIf(x64.A, find)
		a.Store(false, x64.At(rW, waveKind+4*slot), x64.RCX)
		for half := range 2 {
			a.Load(true, x64.RAX, x64.At(rW, waveBase+16*own+8*half))
			a.Store(true, x64.At(rW, waveBase+16*slot+8*half), x64.RAX)
		}
		a.Jump(known)
		a.Bind(find)
	}
	g.ldsFind(o, slot, end)
	a.Bind(known)
	return slot, false
}

// ldsFind finds out about the addresses in o.
func (g *nativeGen) ldsFind(o *gcn.Operand, slot, end int) {
	if g.full {
		g.ldsFindAll(o, slot, end)
		return
	}
	a := &g.a
	known := a.Label()
	kind := x64.At(rW, waveKind+4*slot)
	a.StoreImm(false, kind, ldsAny)
	a.Load(false, x64.RAX, x64.At(rW, waveLen))
	a.OpImm(x64.SUB, false, x64.RAX, int32(end))
	a.JumpIf(x64.B, known)
	a.VFromReg(false, 5, x64.RAX)
	for q := range g.quarterCount() {
		z := g.inReg(2, g.at(o, 0, q))
		a.VToReg(false, x64.RAX, z)
		a.Imm(x64.RCX, 0) // with no lane active it is any address
		a.KTestOr(g.lanes(q), g.lanes(q))
		a.Cmov(x64.E, false, x64.RAX, x64.RCX)
		a.Store(false, x64.At(rW, waveBase+16*slot+4*q), x64.RAX)
		a.V1(x64.VPBCASTD, 3, z, 0)
		a.V(x64.VPADDD, 4, 3, g.steps(1), 0)
		g.anyLane(5, q, z, 5, x64.NLE)
		g.anyLane(6, q, z, 4, x64.NEQ)
		g.anyLane(7, q, z, 3, x64.NEQ)
	}
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, known)
	a.Imm(x64.RCX, ldsRow)
	a.KTestOr(6, 6)
	row := a.Label()
	a.JumpIf(x64.E, row)
	a.KTestOr(7, 7)
	a.JumpIf(x64.NE, known)
	a.Imm(x64.RCX, ldsSame)
	a.Bind(row)
	a.Store(false, kind, x64.RCX)
	a.Bind(known)
}

// anyLane adds the active lanes of a quarter for which a comparison holds to k, which begins with the first quarter's.
func (g *nativeGen) anyLane(k x64.K, q int, z, with x64.Z, pred byte) {
	if q == 0 {
		g.a.VCmp(x64.VPCMPUD, k, z, with, g.lanes(q), pred)
		return
	}
	g.a.VCmp(x64.VPCMPUD, 0, z, with, g.lanes(q), pred)
	g.a.K(x64.KOR, k, k, 0)
}

// ldsEnd is the offset behind the last byte that the rest of the block accesses
// from the addresses in o, before something else is in it.
func (g *nativeGen) ldsEnd(o *gcn.Operand) (end int) {
	for i := g.idx; i < len(g.nb.can) && g.nb.can[i]; i++ {
		in := &g.nb.ins[i]
		if imms := ldsOffsets[in.Op.String()]; imms != nil && in.Addr.Kind == o.Kind && in.Addr.Index == o.Index {
			for _, imm := range imms(in) {
				end = max(end, imm+16)
			}
		}
		if overlap(o, 1, &in.Dst, int(in.Dst.Width)) || in.Dual != nil && overlap(o, 1, &in.Dual.Dst, 1) {
			break
		}
	}
	return end
}

// forget drops what is known of registers that are written.
func (g *nativeGen) forget(in *gcn.Inst) {
	g.ranges = slices.DeleteFunc(g.ranges, func(r ldsRange) bool { return r.written(in) })
	for i := range g.kept {
		if g.kept[i].written(in) {
			g.a.StoreImm(false, x64.At(rW, waveKind+4*i), ldsUnknown)
		}
	}
}

// ldsAccess does the accesses of a read or write one after the other. dst is the
// operand of a read.
func (g *nativeGen) ldsAccess(addr, dst *gcn.Operand, passes []ldsPass) {
	a, end := &g.a, 0
	for _, p := range passes {
		end = max(end, p.imm+4)
	}
	if dst != nil && dst.Kind == gcn.VGPR {
		g.unplace(int(dst.Index), len(passes))
	}
	slot, kept := g.ldsFacts(addr, end)
	if dst != nil && kept && g.forms[slot] != formAny {
		g.readFormed(slot, addr, dst, passes)
		return
	}
	kind := x64.At(rW, waveKind+4*slot)
	same, other, done, top := a.Label(), a.Label(), a.Label(), a.Label()
	inRow, areSame := a.Label(), a.Label()
	a.Bind(top)
	each := func(passes []ldsPass, f func(p ldsPass, q int, at x64.Mem)) {
		for q := range g.quarterCount() {
			a.LoadSigned(x64.RAX, x64.At(rW, waveBase+16*slot+4*q))
			for _, p := range passes {
				f(p, q, x64.AtIndex(rLDS, x64.RAX, p.imm))
			}
		}
	}
	a.OpImm(x64.CMP, false, kind, ldsRow)
	a.JumpIf(x64.NE, same)
	a.Bind(inRow)
	write := func(f func(p ldsPass, q int, at x64.Mem)) { // what all lanes write at one offset, then what they write at the other
		for from := 0; from < len(passes); {
			to := from + 1
			for to < len(passes) && passes[to].data == passes[from].data {
				to++
			}
			each(passes[from:to], f)
			from = to
		}
	}
	if dst == nil {
		write(func(p ldsPass, q int, at x64.Mem) { a.VStore(at, g.inReg(0, g.at(p.data, p.reg, q)), g.lanes(q)) })
	} else {
		each(passes, func(p ldsPass, q int, at x64.Mem) {
			d, k, done := g.target(dst, p.reg, q)
			a.V1(x64.VMOVDQU32, d, at, k)
			done()
		})
	}
	if dst != nil {
		a.Jump(done)
		a.Bind(same)
		a.OpImm(x64.CMP, false, kind, ldsSame)
		a.JumpIf(x64.NE, other)
		a.Bind(areSame)
		each(passes, func(p ldsPass, q int, at x64.Mem) {
			d, k, done := g.target(dst, p.reg, q)
			a.V1(x64.VPBCASTD, d, at, k)
			done()
		})
	}
	g.later(func() {
		if dst == nil {
			a.Bind(same)
			if g.full { // the last lane's stays
				a.OpImm(x64.CMP, false, kind, ldsSame)
				a.JumpIf(x64.NE, other)
				a.Bind(areSame)
				a.Imm(x64.RAX, 1<<15)
				a.KFromReg(5, x64.RAX)
				write(func(p ldsPass, q int, at x64.Mem) {
					at.Disp -= 4 * 15
					a.VStore(at, g.inReg(0, g.at(p.data, p.reg, q)), 5)
				})
				a.Jump(done)
			}
		}
		a.Bind(other)
		if kept {
			known := a.Label()
			a.OpImm(x64.CMP, false, kind, ldsUnknown)
			a.JumpIf(x64.NE, known)
			a.LoadAddress(x64.R10, top)
			a.Jump(g.keptAt[slot])
			a.Bind(known)
		}
		if g.full {
			scattered := a.Label()
			g.ldsOfAll(slot, end, inRow, areSame, scattered)
			for _, r := range ldsRows {
				if !inRows(passes, r.dwords) {
					continue
				}
				others := a.Label()
				a.OpImm(x64.CMP, false, x64.RAX, r.kind)
				a.JumpIf(x64.NE, others)
				g.ldsInRows(slot, r.dwords, dst, passes)
				a.Jump(done)
				a.Bind(others)
			}
			a.Bind(scattered)
		}
		g.ldsScattered(addr, dst, passes, done)
		a.Jump(done)
	})
	a.Bind(done)
}

// ldsScattered does the accesses at any addresses. All are checked before the
// first access, so that Go can execute the whole instruction instead. What is read to
// registers the addresses are in is put aside first.
func (g *nativeGen) ldsScattered(addr, dst *gcn.Operand, passes []ldsPass, done x64.Label) {
	bad := g.punt(done)
	g.ldsLimit(bad)
	g.quarters(func(q int) {
		for _, p := range passes {
			g.ldsCheck(addr, q, p.imm, bad)
		}
	})
	aside := dst != nil && overlap(addr, 1, dst, len(passes))
	keep := func(p ldsPass, q int, z x64.Z) {
		if aside {
			g.a.VStore(sideAt(p.reg, q), z, 0)
		} else {
			g.store(dst, p.reg, q, z)
		}
	}
	step := 1 + btoi(inRows(passes, 2))
	for i := 0; i < len(passes); i += step {
		p := passes[i]
		g.quarters(func(q int) {
			g.ldsAddress(addr, q, p.imm)
			switch {
			case step == 2:
				g.ldsPairs(dst, passes[i:i+2], q, keep)
			case dst == nil:
				g.put(g.inReg(0, g.at(p.data, p.reg, q)), q)
			case aside:
				g.fetch(0, q)
				keep(p, q, 0)
			default:
				d, _, done := g.target(dst, p.reg, q)
				g.fetch(d, q)
				done()
			}
		})
	}
	if !aside {
		return
	}
	g.quarters(func(q int) {
		for _, p := range passes {
			g.to(0, sideAt(p.reg, q))
			g.store(dst, p.reg, q, 0)
		}
	})
}

// ldsOffsets are the offsets of what can be translated.
var ldsOffsets = map[string]func(in *gcn.Inst) []int{}

// ldsRead defines a read of n dwords at each of the offsets, all of them to
// consecutive registers.
func ldsRead(name string, n int, imms func(in *gcn.Inst) []int) {
	ldsOffsets[name] = imms
	nativeMemory[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if in.GDS || !isVec(&in.Addr) || !isVec(&in.Dst) {
			return false
		}
		var passes []ldsPass
		for i, imm := range imms(in) {
			for j := range n {
				passes = append(passes, ldsPass{imm: imm + 4*j, reg: i*n + j})
			}
		}
		g.ldsAccess(&in.Addr, &in.Dst, passes)
		return true
	}
}

// ldsWrite defines a write of n dwords at each of the offsets, the second from
// Data1.
func ldsWrite(name string, n int, imms func(in *gcn.Inst) []int) {
	ldsOffsets[name] = imms
	nativeMemory[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if in.GDS || !isVec(&in.Addr) {
			return false
		}
		data := []*gcn.Operand{&in.Data, &in.Data1}
		var passes []ldsPass
		for i, imm := range imms(in) {
			if !isVec(data[i]) {
				return false
			}
			for j := range n {
				passes = append(passes, ldsPass{imm + 4*j, j, data[i]})
			}
		}
		g.ldsAccess(&in.Addr, nil, passes)
		return true
	}
}

// Where what is known of LDS addresses lies in a wave.
var (
	waveKind = int(unsafe.Offsetof(wave{}.ldsKind))
	waveBase = int(unsafe.Offsetof(wave{}.ldsBases))
)

var _ = define(func() {
	one := func(in *gcn.Inst) []int { return []int{int(uint16(in.Offset))} }
	for suffix, n := range map[string]int{"b32": 1, "b64": 2, "b96": 3, "b128": 4} {
		ldsRead("ds_read_"+suffix, n, one)
		ldsWrite("ds_write_"+suffix, n, one)
	}
	for suffix, n := range map[string]int{"b32": 1, "b64": 2} {
		for st, scale := range map[string]int{"": 4 * n, "st64": 256 * n} {
			two := func(in *gcn.Inst) []int { return []int{int(in.Offset0) * scale, int(in.Offset1) * scale} }
			ldsRead("ds_read2"+st+"_"+suffix, n, two)
			ldsWrite("ds_write2"+st+"_"+suffix, n, two)
		}
	}
})
