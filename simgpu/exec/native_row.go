//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Accesses of device memory where the lanes lie one after the other, all through the wave
// or all through each quarter: that is found out by comparing the registers with rows,
// and then only the ends have to be looked at.

// accesses does row for all quarters if the active lanes' accesses, of n bytes each, lie in rows in
// device memory: a quarter's begins at the offset RAX + disp. Otherwise it does any. some: row minds
// which lanes are active. It may be nil.
func (g *nativeGen) accesses(in *gcn.Inst, n int, some bool, row func(q, disp int), any func()) {
	if row == nil || !g.full && !some || in.Enc == gcn.MUBUF && !in.OffEn || g.p.mem.Size < uint64(n*g.size()) {
		any()
		return
	}
	if s := g.affineStep(); s != nil && s.address != nil {
		g.affineAccess(in, n, s.address, row, func() { g.accesses(in, n, some, row, any) })
		return
	}
	a := &g.a
	quarters, no, end := a.Label(), a.Label(), a.Label()
	g.unlessRows(in, n, g.size(), quarters)
	g.rowAt(in, 0, n, g.size(), no)
	g.wholeRow(n, row)
	g.later(func() {
		a.Bind(quarters)
		g.unlessRows(in, n, 16, no)
		g.quarters(func(q int) {
			g.rowAt(in, q, n, 16, no)
			row(q, 0)
		})
		a.Jump(end)
		a.Bind(no)
		any()
		a.Jump(end)
	})
	a.Bind(end)
}

// affineAccess does row for all quarters at an affine address, or other, if that is not all in device memory.
func (g *nativeGen) affineAccess(in *gcn.Inst, n int, v *affine, row func(q, disp int), other func()) {
	a := &g.a
	no, end := a.Label(), a.Label()
	g.r.affine++
	g.affineAddress(in, v, n, no)
	g.wholeRow(n, row)
	var address []affineStale
	for _, s := range g.stale {
		if s.reg >= int(in.Addr.Index) && s.reg < int(in.Addr.Index)+max(1, int(in.Addr.Width)) {
			address = append(address, s)
		}
	}
	g.later(func() {
		a.Bind(no)
		g.writeAffine(address)
		other()
		a.Jump(end)
	})
	a.Bind(end)
}

// wholeRow does row for all quarters, from RAX on.
func (g *nativeGen) wholeRow(n int, row func(q, disp int)) {
	a := &g.a
	for line := range (n*g.size() + 63) / 64 { // what a later wave will access, perhaps
		a.Prefetch(x64.AtIndex(rMem, x64.RAX, ahead*g.size()*n+64*line))
	}
	for q := range g.quarterCount() {
		row(q, 16*n*q)
	}
}

// ahead is how many waves' accesses later what is asked for is wanted: about as long as
// memory takes.
const ahead = 8

// unlessRows goes to no unless the active lanes' addresses are n bytes apart in each row
// of 16 lanes, or of all: their low halves, if the high ones are the same.
func (g *nativeGen) unlessRows(in *gcn.Inst, n, lanes int, no x64.Label) {
	const first, row, bad = 2, 3, 4 // bad: bits in which they differ
	a := &g.a
	a.V(x64.VPXORD, bad, bad, x64.Z(bad), 0)
	differ := func(reg, q int, z x64.Z) {
		a.VImm(x64.VPTERNLOGD, bad, z, vecAt(&in.Addr, reg, q), g.lanes(q), 0xf6) // bad | z ^ address
	}
	for reg := range 1 + btoi(g.hasHigh(in)) {
		for q := range g.quarterCount() {
			if 16*q%lanes == 0 {
				a.V1(x64.VPBCASTD, first, vecAt(&in.Addr, reg, q), 0)
			}
			if reg == 1 {
				differ(1, q, first)
				continue
			}
			a.V(x64.VPADDD, row, first, g.lanesOf(func(i int) uint32 { return uint32(n * (16*q%lanes + i)) }), 0)
			differ(0, q, row)
		}
	}
	a.VTest(5, bad, x64.Z(bad), 0)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, no)
}

// hasHigh reports whether the addresses of an access are register pairs.
func (g *nativeGen) hasHigh(in *gcn.Inst) bool {
	return in.Enc != gcn.MUBUF && in.Base.Kind != gcn.SGPR
}

// rowAt makes RAX the offset of the first lane of a row of so many, from quarter q on, or
// goes to no if the row is not all inside.
func (g *nativeGen) rowAt(in *gcn.Inst, q, n, lanes int, no x64.Label) {
	a, rest := &g.a, int32(n*(lanes-1))
	// The low halves may not go around.
	a.Load(false, x64.R9, vecAt(&in.Addr, 0, q))
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
		a.Load(false, x64.RAX, vecAt(&in.Addr, 1, q))
		a.ShiftImm(x64.SHL, true, x64.RAX, 32)
		a.Imm(x64.RCX, uint64(int64(in.Offset))-g.p.mem.Base)
		a.Op(x64.ADD, true, x64.RCX, x64.RAX)
	}
	a.Load(true, x64.RAX, x64.RCX)
	a.Op(x64.ADD, true, x64.RAX, x64.R9)
	g.compareWith(x64.RAX, g.p.mem.Size-uint64(n*lanes))
	a.JumpIf(x64.A, no)
}
