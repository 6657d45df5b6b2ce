//go:build linux && amd64

package exec

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Accesses of device memory. They are offsets from its base, in RDX.

const rMem = x64.RDX

// access notes which instruction may fault from here on: Go executes it again
// to say what happened. It returns the label to go to to leave it to Go at once.
func (g *nativeGen) access(done x64.Label) (punt x64.Label) {
	punt = g.punt(done)
	g.a.StoreImm(false, x64.At(rW, waveAccess), int32(len(g.r.exits)))
	return punt
}

// count adds the bytes of the active lanes to a counter of the wave.
func (g *nativeGen) count(at, size int) {
	if g.full {
		g.a.OpImm(x64.ADD, true, x64.At(rW, at), int32(size*WaveSize))
		return
	}
	g.countLanes(at, uint64(size))
}

func (g *nativeGen) con64(v uint64) x64.Bcast { return x64.Bcast{Mem: g.a.Const64(v)} }

// canAddress reports whether an instruction's address can be computed.
func canAddress(in *gcn.Inst) bool {
	if in.LDS || in.Addr.Kind != gcn.VGPR {
		return false
	}
	if in.Base.Kind == gcn.SGPR {
		return in.Base.Index <= 126
	}
	return in.Addr.Index < 255
}

// startAddress loads what is the same for all lanes to Z12.
func (g *nativeGen) startAddress(in *gcn.Inst) {
	imm := uint64(int64(in.Offset)) - g.p.mem.Base
	if in.Base.Kind != gcn.SGPR {
		g.a.V1(x64.VPBCASTQ, 12, g.a.Const64(imm), 0)
		return
	}
	g.a.Imm(x64.RAX, imm)
	g.a.Op(x64.ADD, true, x64.RAX, sreg(int(in.Base.Index)))
	g.a.VFromReg(true, 12, x64.RAX)
}

// offset is the register with the offsets of half a quarter's lanes.
func offset(q, half int) x64.Z { return x64.Z(16 + 2*q + half) }

// offsets computes the offsets of a quarter's lanes, and goes to bad if those of an active lane's n bytes are not inside.
func (g *nativeGen) offsets(in *gcn.Inst, q, n int, bad x64.Label) {
	a := &g.a
	for half := range 2 {
		z := offset(q, half)
		lo := vecAt(&in.Addr, 0, q)
		lo.Disp += int32(32 * half)
		a.V1(x64.VPMOVZXDQ, z, lo, 0)
		if in.Base.Kind != gcn.SGPR {
			hi := vecAt(&in.Addr, 1, q)
			hi.Disp += int32(32 * half)
			a.V1(x64.VPMOVZXDQ, 2, hi, 0)
			a.VShift(x64.VPSLLQ, 2, x64.Z(2), 0, 32)
			a.V(x64.VPORQ, z, z, x64.Z(2), 0)
		}
		a.V(x64.VPADDQ, z, z, x64.Z(12), 0)
		a.VCmp(x64.VPCMPUQ, x64.K(5+half), z, g.con64(g.p.mem.Size-uint64(n)), 0, x64.NLE)
	}
	a.K(x64.KUNPCKBW, 5, 6, 5)
	g.active(5, q)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, bad)
}

// row makes the lowest lane's offset RAX, and goes to no if the active lanes'
// offsets are not those of consecutive dwords from it on.
func (g *nativeGen) row(q int, no x64.Label) {
	a := &g.a
	a.V1(x64.VPBCASTQ, 3, offset(q, 0), 0)
	for half := range 2 {
		var b []byte
		for i := range 8 {
			b = binary.LittleEndian.AppendUint64(b, uint64(32*half+4*i))
		}
		a.V(x64.VPADDQ, 4, 3, a.Const(b), 0)
		a.VCmp(x64.VPCMPUQ, x64.K(5+half), offset(q, half), x64.Z(4), 0, x64.NEQ)
	}
	a.K(x64.KUNPCKBW, 5, 6, 5)
	g.active(5, q)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, no)
	a.VToReg(true, x64.RAX, offset(q, 0))
}

// halves makes K5 and K6 the lanes of a quarter's halves.
func (g *nativeGen) halves(q int) {
	g.copyLanes(5, q)
	g.a.KShiftRight(6, 5, 8)
}

// memory does one access of n dwords a lane: row with consecutive dwords at
// RAX, any with any offsets. The first is nil if there is no such.
func (g *nativeGen) memory(in *gcn.Inst, n int, counter int, row, any func(q int)) {
	a := &g.a
	done := a.Label()
	bad := g.access(done)
	g.startAddress(in)
	// All addresses are checked first, so that Go can do the whole instruction.
	g.quarters(func(q int) { g.offsets(in, q, 4*n, bad) })
	a.Imm(rMem, g.p.mem.Base)
	g.quarters(func(q int) {
		other, next := a.Label(), a.Label()
		if row != nil {
			g.row(q, other)
			row(q)
			a.Jump(next)
		}
		a.Bind(other)
		any(q)
		a.Bind(next)
	})
	g.count(counter, 4*n)
	a.Bind(done)
}

// overlap reports whether n registers from a on and m from b on have one in common.
func overlap(a *gcn.Operand, n int, b *gcn.Operand, m int) bool {
	return a.Kind == b.Kind && int(a.Index) < int(b.Index)+m && int(b.Index) < int(a.Index)+n
}

func vectorLoad(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		// The address has to be there still if the access faults.
		if !canAddress(in) || !isVec(&in.Dst) || overlap(&in.Addr, 2, &in.Dst, n) {
			return false
		}
		a := &g.a
		var row func(q int)
		if n == 1 {
			row = func(q int) {
				at := vecAt(&in.Dst, 0, q)
				g.keep(0, at)
				a.V1(x64.VMOVDQU32, 0, x64.AtIndex(rMem, x64.RAX, 0), g.lanes(q))
				a.VStore(at, 0, 0)
			}
		}
		g.memory(in, n, waveRead, row, func(q int) {
			for j := range n {
				g.halves(q)
				a.GatherQ(3, x64.AtVec(rMem, offset(q, 0), 4*j), 5)
				a.GatherQ(4, x64.AtVec(rMem, offset(q, 1), 4*j), 6)
				a.VImm(x64.VINSERTI64X4, 0, 3, x64.Z(4), 0, 1)
				g.store(&in.Dst, j, q, 0)
			}
		})
		return true
	}
}

func vectorStore(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !canAddress(in) || !isVec(&in.Data) {
			return false
		}
		a := &g.a
		var row func(q int)
		if n == 1 {
			row = func(q int) {
				a.V1(x64.VMOVDQU32, 0, vecAt(&in.Data, 0, q), 0)
				a.VStore(x64.AtIndex(rMem, x64.RAX, 0), 0, g.lanes(q))
			}
		}
		g.memory(in, n, waveWrite, row, func(q int) {
			for j := range n {
				g.halves(q)
				a.V1(x64.VMOVDQU32, 0, vecAt(&in.Data, j, q), 0)
				a.VUpper(3, 0)
				a.ScatterQ(x64.AtVec(rMem, offset(q, 0), 4*j), 0, 5)
				a.ScatterQ(x64.AtVec(rMem, offset(q, 1), 4*j), 3, 6)
			}
		})
		return true
	}
}

func scalarLoad(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if _, err := sdst(&in.Dst, n); err != nil || !isPair(&in.Base) {
			return false
		}
		has := in.SOffset.Kind != gcn.None && in.SOffset.Kind != gcn.Off
		if has && !canScalar(&in.SOffset) {
			return false
		}
		a := &g.a
		done := a.Label()
		bad := g.access(done)
		a.Imm(x64.RCX, uint64(int64(in.Offset)))
		if has {
			g.scalarTo(x64.RAX, &in.SOffset)
			a.Op(x64.ADD, true, x64.RCX, x64.RAX)
		}
		a.OpImm(x64.AND, true, x64.RCX, ^3)
		a.Load(true, x64.RAX, sreg(int(in.Base.Index)))
		a.OpImm(x64.AND, true, x64.RAX, ^3)
		a.Op(x64.ADD, true, x64.RAX, x64.RCX)
		a.Imm(rMem, g.p.mem.Base)
		a.Op(x64.SUB, true, x64.RAX, rMem)
		a.Imm(x64.RCX, g.p.mem.Size-4*uint64(n))
		a.Op(x64.CMP, true, x64.RAX, x64.RCX)
		a.JumpIf(x64.A, bad)
		if n == 1 {
			a.Load(false, x64.RCX, x64.AtIndex(rMem, x64.RAX, 0))
			a.Store(false, sreg(int(in.Dst.Index)), x64.RCX)
		} else {
			// The last first: if its page is not there, nothing has been written.
			a.Load(true, x64.RCX, x64.AtIndex(rMem, x64.RAX, 4*n-8))
			for j := 0; j < n; j += 2 {
				a.Load(true, x64.RCX, x64.AtIndex(rMem, x64.RAX, 4*j))
				a.Store(true, sreg(int(in.Dst.Index)+j), x64.RCX)
			}
		}
		a.OpImm(x64.ADD, true, x64.At(rW, waveRead), int32(4*n))
		a.Bind(done)
		return true
	}
}

var _ = define(func() {
	for suffix, n := range map[string]int{"": 1, "x2": 2, "x3": 3, "x4": 4} {
		for _, kind := range []string{"flat", "global"} {
			nativeMemory[kind+"_load_dword"+suffix] = vectorLoad(n)
			nativeMemory[kind+"_store_dword"+suffix] = vectorStore(n)
		}
	}
	for suffix, n := range map[string]int{"": 1, "x2": 2, "x4": 4, "x8": 8, "x16": 16} {
		nativeMemory["s_load_dword"+suffix] = scalarLoad(n)
	}
})
