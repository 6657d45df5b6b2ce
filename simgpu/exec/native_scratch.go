//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Dwords in scratch, whose segments are interleaved by dword: what is at the same
// offset in all lanes is one vector. Offsets that are not multiples of 4, and what
// is outside, are left to Go. R10 is where scratch is.

// scratchOffsets computes the offsets of quarter q into Z2, in scratch, and goes
// to bad if those of an active lane are not in its segment.
func (g *nativeGen) scratchOffsets(in *gcn.Inst, q int, bad x64.Label) {
	a := &g.a
	a.V(x64.VPADDD, 2, 7, g.at(&in.Addr, 0, q), 0)
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(6), g.lanes(q), x64.NLE)
	a.VTest(6, 2, g.con(3), g.lanes(q))
	a.K(x64.KOR, 5, 5, 6)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, bad)
	a.VShift(x64.VPSLLD, 2, x64.Z(2), 0, 6)
	a.V(x64.VPADDD, 2, 2, g.lanesOf(func(i int) uint32 { return uint32(4 * (16*q + i)) }), 0)
}

// scratchAccess does an access of n dwords: at for each dword of a quarter, with
// its place, or any with the offsets in Z2.
func (g *nativeGen) scratchAccess(in *gcn.Inst, n int, at func(reg, q int, m x64.Mem), any func(reg, q int)) bool {
	if in.Base.Kind == gcn.SGPR && !canScalar(&in.Base) || in.LDS {
		return false
	}
	a, done := &g.a, g.a.Label()
	bad := g.punt(done)
	if in.Base.Kind == gcn.SGPR {
		g.scalarTo(x64.RAX, &in.Base)
		a.OpImm(x64.ADD, false, x64.RAX, in.Offset)
	} else {
		a.Imm(x64.RAX, uint64(uint32(in.Offset)))
	}
	a.Load(false, x64.RCX, x64.At(rW, waveScratchLen))
	a.OpImm(x64.SUB, false, x64.RCX, int32(4*n))
	a.JumpIf(x64.B, bad)
	a.Load(true, x64.R10, x64.At(rW, waveScratch))
	if in.Addr.Kind != gcn.VGPR {
		a.Op(x64.CMP, false, x64.RAX, x64.RCX)
		a.JumpIf(x64.A, bad)
		a.Load(false, x64.RCX, x64.RAX)
		a.OpImm(x64.AND, false, x64.RCX, 3)
		a.JumpIf(x64.NE, bad)
		a.ShiftImm(x64.SHL, true, x64.RAX, 6)
		for reg := range n {
			for q := range 4 {
				at(reg, q, x64.AtIndex(x64.R10, x64.RAX, 4*WaveSize*reg+64*q))
			}
		}
	} else {
		a.VFromReg(false, 7, x64.RAX)
		a.VFromReg(false, 6, x64.RCX)
		g.quarters(func(q int) { g.scratchOffsets(in, q, bad) })
		for reg := range n {
			g.quarters(func(q int) {
				g.scratchOffsets(in, q, bad)
				any(reg, q)
			})
		}
	}
	a.Bind(done)
	return true
}

func scratchRead(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !isVec(&in.Dst) || in.Addr.Kind == gcn.VGPR && n > 1 && overlap(&in.Addr, 1, &in.Dst, n) {
			return false
		}
		return g.scratchAccess(in, n, func(reg, q int, m x64.Mem) {
			d, k, done := g.target(&in.Dst, reg, q)
			g.a.V1(x64.VMOVDQU32, d, m, k)
			done()
		}, func(reg, q int) {
			g.copyLanes(5, q)
			g.a.Gather(0, x64.AtVec(x64.R10, 2, 4*WaveSize*reg), 5)
			g.store(&in.Dst, reg, q, 0)
		})
	}
}

func scratchWrite(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !isVec(&in.Data) {
			return false
		}
		return g.scratchAccess(in, n, func(reg, q int, m x64.Mem) {
			g.a.VStore(m, g.inReg(0, g.at(&in.Data, reg, q)), g.lanes(q))
		}, func(reg, q int) {
			g.copyLanes(5, q)
			g.a.Scatter(x64.AtVec(x64.R10, 2, 4*WaveSize*reg), g.inReg(0, g.at(&in.Data, reg, q)), 5)
		})
	}
}

// Where scratch is, as a wave has it for translated code.
var (
	waveScratch    = int(unsafe.Offsetof(wave{}.scratchAt))
	waveScratchLen = int(unsafe.Offsetof(wave{}.scratchLen))
	waveAtomics    = int(unsafe.Offsetof(wave{}.stats) + unsafe.Offsetof(Stats{}.Atomics))
)

var _ = define(func() {
	for suffix, n := range map[string]int{"": 1, "x2": 2, "x3": 3, "x4": 4} {
		nativeMemory["scratch_load_dword"+suffix] = scratchRead(n)
		nativeMemory["scratch_store_dword"+suffix] = scratchWrite(n)
	}
})
