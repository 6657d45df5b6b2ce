//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Moves between lanes.

// fromAll makes z the lanes of a register that are numbered in idx, modulo 64. Its quarters
// are in t; Z1 is used.
func (g *nativeGen) fromAll(z, idx x64.Z, t [4]x64.Z) {
	a := &g.a
	a.V1(x64.VMOVDQU32, z, idx, 0)
	a.V(x64.VPERMI2D, z, t[0], t[1], 0)
	a.V1(x64.VMOVDQU32, 1, idx, 0)
	a.V(x64.VPERMI2D, 1, t[2], t[3], 0)
	a.VTest(5, idx, g.con(32), 0)
	a.V1(x64.VMOVDQU32, z, x64.Z(1), 5)
}

// bpermute translates ds_bpermute_b32: lanes read by address. Inactive ones
// read as 0.
func bpermute(g *nativeGen, in *gcn.Inst) bool {
	if in.GDS || !isVec(&in.Addr) || !isVec(&in.Data) || !isVec(&in.Dst) {
		return false
	}
	a := &g.a
	var t [4]x64.Z
	for q := range 4 {
		at := g.at(&in.Data, 0, q)
		z, pinned := at.(x64.Z)
		switch {
		case !g.full:
			a.V1Zero(x64.VMOVDQU32, x64.Z(4+q), at, g.lanes(q))
			z = x64.Z(4 + q)
		case !pinned || in.Data.Index == in.Dst.Index:
			g.to(x64.Z(4+q), at)
			z = x64.Z(4 + q)
		}
		t[q] = z
	}
	for q := range 4 {
		z := g.inReg(2, g.at(&in.Addr, 0, q))
		if imm := uint32(uint16(in.Offset)); imm != 0 {
			a.V(x64.VPADDD, 2, z, g.con(imm), 0)
			z = 2
		}
		a.VShift(x64.VPSRLD, 2, z, 0, 2)
		g.fromAll(0, 2, t)
		g.store(&in.Dst, 0, q, 0)
	}
	return true
}

// readLane translates v_readlane_b32; memory holds the register.
func readLane(g *nativeGen, in *gcn.Inst) bool {
	d, err := sdst(&in.Dst, 1)
	if err != nil || !isVec(&in.Src[0]) || !canScalar(&in.Src[1]) || !isPlain(in) {
		return false
	}
	g.scalarTo(x64.RCX, &in.Src[1])
	g.a.OpImm(x64.AND, false, x64.RCX, 63)
	at := vecAt(&in.Src[0], 0, 0)
	g.a.Load(false, x64.RAX, x64.Scaled(at.Base, x64.RCX, 2, int(at.Disp)))
	g.setScalar(int(d), false, x64.RAX)
	return true
}

// writeLane translates v_writelane_b32; likewise.
func writeLane(g *nativeGen, in *gcn.Inst) bool {
	if !isVec(&in.Dst) || !canScalar(&in.Src[0]) || !canScalar(&in.Src[1]) || !isPlain(in) {
		return false
	}
	g.scalarTo(x64.RCX, &in.Src[1])
	g.a.OpImm(x64.AND, false, x64.RCX, 63)
	g.scalarTo(x64.RAX, &in.Src[0])
	at := vecAt(&in.Dst, 0, 0)
	g.a.Store(false, x64.Scaled(at.Base, x64.RCX, 2, int(at.Disp)), x64.RAX)
	for q := range 4 {
		if z, ok := g.at(&in.Dst, 0, q).(x64.Z); ok {
			g.to(z, vecAt(&in.Dst, 0, q))
		}
	}
	return true
}

var _ = define(func() {
	nativeMemory["ds_bpermute_b32"] = bpermute
	nativeVector["v_readlane_b32"] = readLane
	nativeVector["v_writelane_b32"] = writeLane
})
