//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Reads and writes of several dwords a lane, where those of one lane follow those of the one before it: registers are loaded and stored
// whole, as for device memory.

// ldsRows are such rows: how many dwords a lane has, and what wave.ldsKind says then.
var ldsRows = []struct {
	dwords int
	kind   int32
}{{2, ldsRow2}, {4, ldsRow4}}

// inRows reports whether an instruction accesses n dwords of each lane that lie one behind the other, once or more often.
func inRows(passes []ldsPass, n int) bool {
	for i := range passes {
		if i%n != 0 && passes[i].imm != passes[i-1].imm+4 {
			return false
		}
	}
	return len(passes)%n == 0
}

// ldsFindAll is ldsFind where all lanes are active.
func (g *nativeGen) ldsFindAll(o *gcn.Operand, slot, end int) {
	a := &g.a
	kind, known, inside := x64.At(rW, waveKind+4*slot), a.Label(), a.Label()
	is := func(k x64.K, what int32, dwords int) { // RAX becomes the highest dword's address
		no := a.Label()
		a.KTestOr(k, k)
		a.JumpIf(x64.NE, no)
		a.Imm(x64.RCX, uint64(what))
		a.OpImm(x64.ADD, true, x64.RAX, int32(15*4*dwords))
		a.Jump(inside)
		a.Bind(no)
	}
	for q := range g.quarterCount() {
		z := g.inReg(2, g.at(o, 0, q))
		a.VToReg(false, x64.RCX, z)
		a.Store(false, x64.At(rW, waveBase+16*slot+4*q), x64.RCX)
		if q == 0 {
			a.Load(false, x64.RAX, x64.RCX)
		} else { // the highest
			a.Op(x64.CMP, false, x64.RCX, x64.RAX)
			a.Cmov(x64.A, false, x64.RAX, x64.RCX)
		}
		a.V1(x64.VPBCASTD, 3, z, 0)
		a.V(x64.VPADDD, 4, 3, g.steps(1), 0)
		g.anyLane(6, q, z, 4, x64.NEQ)
		g.anyLane(7, q, z, 3, x64.NEQ)
	}
	is(6, ldsRow, 1)
	is(7, ldsSame, 0)
	for q := range g.quarterCount() {
		z := g.inReg(2, g.at(o, 0, q))
		a.V1(x64.VPBCASTD, 3, z, 0)
		for i, r := range ldsRows {
			a.V(x64.VPADDD, 4, 3, g.steps(r.dwords), 0)
			g.anyLane(x64.K(6+i), q, z, 4, x64.NEQ)
		}
	}
	for i, r := range ldsRows {
		is(x64.K(6+i), r.kind, r.dwords)
	}
	outside := a.Label()
	a.Bind(outside)
	a.StoreImm(false, kind, ldsAny)
	a.Jump(known)
	a.Bind(inside)
	a.Store(false, kind, x64.RCX)
	a.Load(false, x64.RCX, x64.At(rW, waveLen))
	a.Op(x64.SUB, true, x64.RCX, x64.RAX)
	a.JumpIf(x64.B, outside)
	a.Store(false, x64.At(rW, waveRoom+4*slot), x64.RCX)
	a.OpImm(x64.CMP, false, x64.RCX, int32(end))
	a.JumpIf(x64.AE, known)
	a.OpImm(x64.OR, false, kind, ldsTight)
	a.Bind(known)
}

// ldsOfAll makes RAX what is known of the addresses in a slot, and goes to no if an access that ends at an offset is not inside of the LDS. Those in
// a row, and those that are the same, have had their turn before, but not if something else would not be inside: it goes to them.
func (g *nativeGen) ldsOfAll(slot, end int, row, same, no x64.Label) {
	a, loose := &g.a, g.a.Label()
	a.Load(false, x64.RAX, x64.At(rW, waveKind+4*slot))
	a.OpImm(x64.CMP, false, x64.RAX, ldsTight)
	a.JumpIf(x64.B, loose)
	a.OpImm(x64.CMP, false, x64.At(rW, waveRoom+4*slot), int32(end))
	a.JumpIf(x64.B, no)
	a.OpImm(x64.SUB, false, x64.RAX, ldsTight)
	a.OpImm(x64.CMP, false, x64.RAX, ldsRow)
	a.JumpIf(x64.E, row)
	a.OpImm(x64.CMP, false, x64.RAX, ldsSame)
	a.JumpIf(x64.E, same)
	a.Bind(loose)
}

// waveRoom is where wave.ldsRoom lies.
var waveRoom = int(unsafe.Offsetof(wave{}.ldsRoom))

// ldsInRows does accesses that are inRows, with n dwords. All lanes are active.
func (g *nativeGen) ldsInRows(slot, n int, dst *gcn.Operand, passes []ldsPass) {
	for ; len(passes) > 0; passes = passes[n:] { // what all lanes write at one place, then what they write at the next
		for q := range g.quarterCount() {
			g.a.LoadSigned(x64.RAX, x64.At(rW, waveBase+16*slot+4*q))
			at := func(i int) x64.Mem { return x64.AtIndex(rLDS, x64.RAX, passes[0].imm+64*i) }
			if dst == nil {
				g.mingled(n, func(i int) any { return g.at(passes[i].data, passes[i].reg, q) }, at)
			} else {
				g.parted(n, at, func(i int, z x64.Z) { g.store(dst, passes[i].reg, q, z) })
			}
		}
	}
}

// ldsPairs does two accesses of a quarter that are inRows, at the addresses in Z2, of two dwords at a time. keep takes what is read.
func (g *nativeGen) ldsPairs(dst *gcn.Operand, passes []ldsPass, q int, keep func(p ldsPass, q int, z x64.Z)) {
	a := &g.a
	a.VUpper(3, 2)
	for half := range 2 {
		a.V1(x64.VPMOVZXDQ, offset(half), offset(half), 0)
	}
	g.halves(q)
	for half := range 2 {
		k, at := x64.K(5+half), x64.AtVec(rLDS, offset(half), 0)
		if dst == nil {
			g.mingle(0, g.inReg(5, g.at(passes[0].data, passes[0].reg, q)), g.at(passes[1].data, passes[1].reg, q), half)
			a.ScatterPair(at, 0, k)
		} else {
			a.GatherPair(x64.Z(5+half), at, k)
		}
	}
	for i := range passes {
		if dst != nil {
			g.take(0, 5, 6, i)
			keep(passes[i], q, 0)
		}
	}
}
