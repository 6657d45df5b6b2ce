//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Accesses of device memory of which each lane's is somewhere else, a quarter at a time.

// scattered does f for each quarter of an access of n bytes a lane, each lane somewhere. Those that it leads aside are not counted.
func (g *nativeGen) scattered(in *gcn.Inst, n, counter int, f func(q int)) {
	a := &g.a
	if in.Enc != gcn.MUBUF && in.Enc != gcn.FLAT {
		g.quarters(f)
		return
	}
	a.StoreImm(true, x64.At(rW, waveAside), 0)
	g.quarters(f)
	a.Load(true, x64.RCX, x64.At(rW, waveAside))
	a.Imm(x64.RAX, uint64(n))
	a.Mul(true, x64.RAX, x64.RCX)
	a.OpTo(x64.SUB, true, x64.At(rW, counter), x64.RAX)
}

// startAddress loads what is the same for all lanes to Z7.
func (g *nativeGen) startAddress(in *gcn.Inst) {
	imm := uint64(int64(in.Offset)) - g.p.mem.Base
	if in.Base.Kind != gcn.SGPR {
		g.a.V1(x64.VPBCASTQ, 7, g.a.Const64(imm), 0)
		return
	}
	g.a.Imm(x64.RAX, imm)
	g.a.Op(x64.ADD, true, x64.RAX, g.scalarAt(int(in.Base.Index), true))
	g.a.VFromReg(true, 7, x64.RAX)
}

// offset is the register with the offsets of half a quarter's lanes.
func offset(half int) x64.Z { return x64.Z(2 + half) }

// offsets computes the offsets of a quarter's lanes, and goes to bad if those of
// an active lane's n bytes are not inside. What is beyond a buffer goes to what is at aside in the wave instead, unless that is negative. So does what a flat
// address says is in the LDS go there.
func (g *nativeGen) offsets(in *gcn.Inst, q, n, aside int, bad x64.Label) {
	a := &g.a
	if in.Enc == gcn.MUBUF {
		g.bufferOffsets(in, q, n, aside, bad)
		return
	}
	g.startAddress(in)
	for half := range 2 {
		z := offset(half)
		lo := vecAt(&in.Addr, 0, q)
		lo.Disp += int32(32 * half)
		a.V1(x64.VPMOVZXDQ, z, lo, 0)
		if in.Base.Kind != gcn.SGPR {
			hi := vecAt(&in.Addr, 1, q)
			hi.Disp += int32(32 * half)
			a.V1(x64.VPMOVZXDQ, 4, hi, 0)
			a.VShift(x64.VPSLLQ, 4, x64.Z(4), 0, 32)
			a.V(x64.VPORQ, z, z, x64.Z(4), 0)
		}
		a.V(x64.VPADDQ, z, z, x64.Z(7), 0)
	}
	elsewhere, known := bad, a.Label()
	if in.Enc == gcn.FLAT && aside >= 0 {
		elsewhere = a.Label()
		g.later(func() {
			a.Bind(elsewhere)
			g.flatLDS(n, bad)
			a.Jump(known)
		})
	}
	g.outside(n, 5)
	g.unlessAny(q, elsewhere)
	a.Bind(known)
}

// outside makes two masks, from k on, those of the lanes whose n bytes are not in device memory.
func (g *nativeGen) outside(n int, k x64.K) {
	for half := range 2 {
		g.a.VCmp(x64.VPCMPUQ, k+x64.K(half), offset(half), g.con64(g.p.mem.Size-uint64(n)), 0, x64.NLE)
	}
}

// flatLDS leads the lanes that are in K5, of the whole quarter, to the LDS, where that is where their flat addresses are.
func (g *nativeGen) flatLDS(n int, bad x64.Label) {
	a := &g.a
	a.Load(false, x64.RCX, x64.At(rW, waveLen))
	a.OpImm(x64.SUB, false, x64.RCX, int32(n))
	a.JumpIf(x64.B, bad)
	a.VFromReg(true, 5, x64.RCX)
	a.Imm(x64.RAX, g.p.mem.Base-sharedBase)
	a.VFromReg(true, 4, x64.RAX)
	a.KShiftRight(6, 5, 8)
	for half := range 2 {
		a.V(x64.VPADDQ, 7, offset(half), x64.Z(4), 0)
		a.VCmp(x64.VPCMPUQ, 7, 7, x64.Z(5), x64.K(5+half), x64.NLE)
		a.KTestOr(7, 7)
		a.JumpIf(x64.NE, bad)
	}
	a.Op(x64.ADD, true, x64.RAX, x64.At(rW, waveLDS))
	a.Op(x64.SUB, true, x64.RAX, rMem)
	a.VFromReg(true, 4, x64.RAX)
	for half := range 2 {
		a.V(x64.VPADDQ, offset(half), offset(half), x64.Z(4), x64.K(5+half))
	}
	g.countAside()
}

// countAside counts the lanes of K5 as such that accesses lead aside.
func (g *nativeGen) countAside() {
	g.a.KToReg(x64.RAX, 5)
	g.a.Popcnt(false, x64.RAX, x64.RAX)
	g.a.OpTo(x64.ADD, true, x64.At(rW, waveAside), x64.RAX)
}

// unlessAny goes to the label if one of the active lanes is in K5 and K6, the halves of a
// quarter.
func (g *nativeGen) unlessAny(q int, to x64.Label) {
	g.a.K(x64.KUNPCKBW, 5, 6, 5)
	g.active(5, q)
	g.a.KTestOr(5, 5)
	g.a.JumpIf(x64.NE, to)
}

// halves makes K5 and K6 the lanes of a quarter's halves.
func (g *nativeGen) halves(q int) {
	g.copyLanes(5, q)
	g.a.KShiftRight(6, 5, 8)
}

// gather loads the dwords at the offsets plus disp of the active lanes to Z0.
func (g *nativeGen) gather(q, disp int) {
	g.halves(q)
	g.a.GatherQ(0, x64.AtVec(rMem, offset(0), disp), 5)
	g.a.GatherQ(4, x64.AtVec(rMem, offset(1), disp), 6)
	g.a.VImm(x64.VINSERTI64X4, 0, 0, x64.Z(4), 0, 1)
}

// gatherPair loads the qwords at the offsets plus disp of the active lanes to Z5 and Z6. A qword is loaded at
// once: programs count on its halves having been stored together.
func (g *nativeGen) gatherPair(q, disp int) {
	g.halves(q)
	g.a.GatherPair(5, x64.AtVec(rMem, offset(0), disp), 5)
	g.a.GatherPair(6, x64.AtVec(rMem, offset(1), disp), 6)
}

// quadAt is where four lanes of a quarter have their four dwords for eachQuad.
func quadAt(i int) x64.Mem { return x64.At(rW, waveOffs+128+64*i) }

// eachQuad executes f for each active lane of a quarter with the offset R10, and with the place of its four dwords in quadAt. All
// four are loaded or stored at once, as two are (gatherPair).
func (g *nativeGen) eachQuad(q int, f func(place, m x64.Mem)) {
	a := &g.a
	for half := range 2 {
		a.VStore(x64.At(rW, waveOffs+64*half), offset(half), 0)
	}
	g.eachLane(q, func() { // RAX its number
		a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs))
		a.ShiftImm(x64.SHL, false, x64.RAX, 4)
		f(x64.Scaled(rW, x64.RAX, 0, waveOffs+128), x64.AtIndex(rMem, x64.R10, 0))
	})
}

// eachLane executes f for each active lane of a quarter, its number there in
// RAX. RCX and R9 are used.
func (g *nativeGen) eachLane(q int, f func()) {
	a := &g.a
	if g.full {
		a.Imm(x64.RCX, 0xffff)
	} else {
		a.KToReg(x64.RCX, g.lanes(q))
	}
	top := a.Label()
	a.Bind(top)
	a.Tzcnt(false, x64.RAX, x64.RCX)
	f()
	a.Load(false, x64.R9, x64.RCX)
	a.OpImm(x64.SUB, false, x64.R9, 1)
	a.Op(x64.AND, false, x64.RCX, x64.R9)
	a.JumpIf(x64.NE, top)
}
