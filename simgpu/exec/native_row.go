//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Accesses of device memory where the lanes lie one after the other, all through the wave:
// that is found out by comparing the registers with a row, and then only the ends
// have to be looked at.

// inRow does f for all quarters and goes to end if the active lanes' accesses, of n bytes
// each, lie in a row in device memory: RAX is the offset of lane 0. some: f minds
// which lanes are active.
func (g *nativeGen) inRow(in *gcn.Inst, n int, some bool, end x64.Label, f func(q int)) {
	if !g.full && !some || in.Enc == gcn.MUBUF && !in.OffEn || g.p.mem.Size < uint64(n*WaveSize) {
		return
	}
	no := g.a.Label()
	g.unlessRow(in, n, no)
	g.rowAt(in, n, no)
	for q := range 4 {
		f(q)
	}
	g.a.Jump(end)
	g.a.Bind(no)
}

// unlessRow goes to no unless the active lanes' addresses are n bytes apart: their low
// halves, if the high ones are the same.
func (g *nativeGen) unlessRow(in *gcn.Inst, n int, no x64.Label) {
	a, first := &g.a, true
	same := func(reg, q int, z x64.Z) {
		switch at := vecAt(&in.Addr, reg, q); {
		case g.full: // K5: all of them so far
			a.VCmp(x64.VPCMPUD, 5, z, at, x64.K(5*(1-btoi(first))), x64.EQ)
		case first: // K5: some is not
			a.VCmp(x64.VPCMPUD, 5, z, at, g.lanes(q), x64.NEQ)
		default:
			a.VCmp(x64.VPCMPUD, 6, z, at, g.lanes(q), x64.NEQ)
			a.K(x64.KOR, 5, 5, 6)
		}
		first = false
	}
	a.V1(x64.VPBCASTD, 2, vecAt(&in.Addr, 0, 0), 0)
	for q := range 4 {
		a.V(x64.VPADDD, 3, 2, g.lanesOf(func(i int) uint32 { return uint32(n * (16*q + i)) }), 0)
		same(0, q, 3)
	}
	if g.hasHigh(in) {
		a.V1(x64.VPBCASTD, 2, vecAt(&in.Addr, 1, 0), 0)
		for q := range 4 {
			same(1, q, 2)
		}
	}
	a.KTestOr(5, 5)
	if g.full {
		a.JumpIf(x64.AE, no)
	} else {
		a.JumpIf(x64.NE, no)
	}
}

// hasHigh reports whether the addresses of an access are register pairs.
func (g *nativeGen) hasHigh(in *gcn.Inst) bool {
	return in.Enc != gcn.MUBUF && in.Base.Kind != gcn.SGPR
}

// rowAt makes RAX the offset of lane 0 of a row, or goes to no if the row is not all inside.
func (g *nativeGen) rowAt(in *gcn.Inst, n int, no x64.Label) {
	a, rest := &g.a, int32(n*(WaveSize-1))
	// The low halves may not go around.
	a.Load(false, x64.R9, vecAt(&in.Addr, 0, 0))
	a.Load(false, x64.RCX, x64.R9)
	a.OpImm(x64.ADD, false, x64.RCX, rest)
	a.JumpIf(x64.B, no)
	switch {
	case in.Enc == gcn.MUBUF:
		g.bufferLimit(in, n, no)
		a.OpImm(x64.SUB, true, x64.RCX, rest)
		a.JumpIf(x64.B, no)
		a.Op(x64.CMP, true, x64.R9, x64.RCX)
		a.JumpIf(x64.A, no)
		g.bufferStart(in)
	case in.Base.Kind == gcn.SGPR:
		a.Imm(x64.RCX, uint64(int64(in.Offset))-g.p.mem.Base)
		a.Op(x64.ADD, true, x64.RCX, g.scalarAt(int(in.Base.Index), true))
	default:
		a.Load(false, x64.RAX, vecAt(&in.Addr, 1, 0))
		a.ShiftImm(x64.SHL, true, x64.RAX, 32)
		a.Imm(x64.RCX, uint64(int64(in.Offset))-g.p.mem.Base)
		a.Op(x64.ADD, true, x64.RCX, x64.RAX)
	}
	a.Op(x64.ADD, true, x64.RCX, x64.R9)
	a.Imm(x64.RAX, g.p.mem.Size-uint64(n*WaveSize))
	a.Op(x64.CMP, true, x64.RCX, x64.RAX)
	a.JumpIf(x64.A, no)
	a.Load(true, x64.RAX, x64.RCX)
}
