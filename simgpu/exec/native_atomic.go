//go:build linux && amd64

package exec

import (
	"strings"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Atomics on device memory: lane by lane, after all addresses and pages were looked at, for Go must not do again
// what was done.

// nativeAtomic is an atomic operation on dwords, or qwords if it is wide. An address is an offset from rMem in R10,
// RCX is eachLane's.
type nativeAtomic struct {
	wide bool
	cmp  bool // the registers of the data have the compared value behind it
	// plain does it, with the data in R9, if the result is not wanted; it may be nil.
	plain func(g *nativeGen, m x64.Mem)
	// direct does it, with the data in R9 and the compared value in RAX, and leaves what was there in the register that it returns.
	direct func(g *nativeGen, m x64.Mem) x64.Reg
	// change makes R9, the data, what is to be in place of RAX, which stays. It is for those that are not direct.
	change func(g *nativeGen)
}

// size is the bytes of an operand.
func (o *nativeAtomic) size() int { return 4 << btoi(o.wide) }

// Where a quarter's operands are as its lanes need them, and what was in memory.
const (
	atomicData = iota
	atomicCompared
	atomicOld
)

// stage is where that is: 16 qwords, or dwords.
func atomicStage(which int) int { return waveOut + 128*which }

// stagedAt is what the lane numbered r of a quarter has there.
func (o *nativeAtomic) stagedAt(which int, r x64.Reg) x64.Mem {
	return x64.Scaled(rW, r, byte(2+btoi(o.wide)), atomicStage(which))
}

// stage stores the operands of a quarter.
func (o *nativeAtomic) stage(g *nativeGen, in *gcn.Inst, q int) {
	a := &g.a
	for which := range 1 + btoi(o.cmp) {
		if !o.wide {
			a.VStore(x64.At(rW, atomicStage(which)), g.inReg(0, g.at(&in.Data, which, q)), 0)
			continue
		}
		for half := range 2 {
			g.mingle(0, g.inReg(5, g.at(&in.Data, 2*which, q)), g.at(&in.Data, 2*which+1, q), half)
			a.VStore(x64.At(rW, atomicStage(which)+64*half), 0, 0)
		}
	}
}

// result stores what was in memory to the destination.
func (o *nativeAtomic) result(g *nativeGen, in *gcn.Inst, q int) {
	a := &g.a
	a.V1(x64.VMOVDQU32, 5, x64.At(rW, atomicStage(atomicOld)), 0)
	if !o.wide {
		g.store(&in.Dst, 0, q, 5)
		return
	}
	a.V1(x64.VMOVDQU32, 6, x64.At(rW, atomicStage(atomicOld)+64), 0)
	for i := range 2 {
		g.take(0, 5, 6, i)
		g.store(&in.Dst, i, q, 0)
	}
}

// lane does it for the lane numbered RAX of a quarter.
func (o *nativeAtomic) lane(g *nativeGen, q int, returns bool) {
	a, m := &g.a, x64.AtIndex(rMem, x64.R10, 0)
	a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs+128*q))
	old, number := x64.RAX, x64.R9
	switch {
	case o.plain != nil && !returns:
		a.Load(o.wide, x64.R9, o.stagedAt(atomicData, x64.RAX))
		o.plain(g, m)
	case o.direct != nil:
		a.Load(o.wide, x64.R9, o.stagedAt(atomicData, x64.RAX))
		if o.cmp {
			a.Load(o.wide, x64.RAX, o.stagedAt(atomicCompared, x64.RAX))
		}
		if old = o.direct(g, m); old == x64.R9 {
			number = x64.RAX
		}
	default:
		again := a.Label()
		a.Load(o.wide, x64.RAX, m)
		a.Bind(again)
		a.Tzcnt(false, x64.R9, x64.RCX)
		a.Load(o.wide, x64.R9, o.stagedAt(atomicData, x64.R9))
		o.change(g)
		a.CompareExchange(o.wide, m, x64.R9)
		a.JumpIf(x64.NE, again)
	}
	if returns {
		a.Tzcnt(false, number, x64.RCX)
		a.Store(o.wide, o.stagedAt(atomicOld, number), old)
	}
}

func (o *nativeAtomic) emit(g *nativeGen, in *gcn.Inst) bool {
	returns, size := in.Returns(), o.size()
	if !canAddress(in) || !isVec(&in.Data) || returns && !isVec(&in.Dst) || g.p.mem.Base%uint64(size) != 0 {
		return false
	}
	a, done := &g.a, g.a.Label()
	bad := g.begin(in, done)
	g.quarters(func(q int) {
		g.offsets(in, q, size, bad)
		for half := range 2 {
			a.VStore(x64.At(rW, waveOffs+128*q+64*half), offset(half), 0)
			a.V(x64.VPANDQ, 4, offset(half), g.con64(uint64(size-1)), 0)
			a.VCmp(x64.VPCMPUQ, x64.K(5+half), 4, g.con64(0), 0, x64.NEQ)
		}
		g.unlessAny(q, bad)
		g.probe(q)
	})
	g.quarters(func(q int) {
		o.stage(g, in, q)
		g.eachLane(q, func() { o.lane(g, q, returns) })
		if returns {
			o.result(g, in, q)
		}
	})
	g.count(waveAtomics, 1)
	a.Bind(done)
	return true
}

// probe writes what is there at the offsets of a quarter, which are noted, to find out whether the pages are there: once if all are in one.
func (g *nativeGen) probe(q int) {
	a, each, done := &g.a, g.a.Label(), g.a.Label()
	write := func() {
		a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs+128*q))
		a.Imm(x64.R9, 0)
		a.Locked(x64.OR, false, x64.AtIndex(rMem, x64.R10, 0), x64.R9)
	}
	a.Imm(x64.RAX, 0)
	if !g.full { // the first one
		a.KToReg(x64.RCX, g.lanes(q))
		a.Tzcnt(false, x64.RAX, x64.RCX)
	}
	a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs+128*q))
	a.VFromReg(true, 4, x64.R10)
	for half := range 2 {
		a.V(x64.VPXORQ, 5, 4, offset(half), 0)
		a.VCmp(x64.VPCMPUQ, x64.K(5+half), 5, g.con64(4095), 0, x64.NLE)
	}
	g.unlessAny(q, each)
	write()
	g.later(func() {
		a.Bind(each)
		g.eachLane(q, write)
		a.Jump(done)
	})
	a.Bind(done)
}

var _ = define(func() {
	on := func(name string, o *nativeAtomic) {
		for _, kind := range []string{"flat", "global", "buffer"} {
			nativeMemory[kind+"_atomic_"+name] = o.emit
		}
	}
	for _, wide := range []bool{false, true} {
		suffix := strings.Repeat("_x2", btoi(wide))
		locked := func(op x64.Op) func(g *nativeGen, m x64.Mem) {
			return func(g *nativeGen, m x64.Mem) { g.a.Locked(op, wide, m, x64.R9) }
		}
		on("add"+suffix, &nativeAtomic{wide: wide, plain: locked(x64.ADD), direct: func(g *nativeGen, m x64.Mem) x64.Reg {
			g.a.ExchangeAdd(wide, m, x64.R9)
			return x64.R9
		}})
		on("sub"+suffix, &nativeAtomic{wide: wide, plain: locked(x64.SUB), direct: func(g *nativeGen, m x64.Mem) x64.Reg {
			g.a.Not(wide, x64.R9)
			g.a.OpImm(x64.ADD, wide, x64.R9, 1)
			g.a.ExchangeAdd(wide, m, x64.R9)
			return x64.R9
		}})
		on("swap"+suffix, &nativeAtomic{wide: wide, direct: func(g *nativeGen, m x64.Mem) x64.Reg {
			g.a.Exchange(wide, m, x64.R9)
			return x64.R9
		}})
		on("cmpswap"+suffix, &nativeAtomic{wide: wide, cmp: true, direct: func(g *nativeGen, m x64.Mem) x64.Reg {
			g.a.CompareExchange(wide, m, x64.R9)
			return x64.RAX
		}})
		for name, op := range map[string]x64.Op{"and": x64.AND, "or": x64.OR, "xor": x64.XOR} {
			on(name+suffix, &nativeAtomic{wide: wide, plain: locked(op), change: func(g *nativeGen) { g.a.Op(op, wide, x64.R9, x64.RAX) }})
		}
		for name, stays := range map[string]x64.Cond{"smin": x64.L, "smax": x64.G, "umin": x64.B, "umax": x64.A} {
			on(name+suffix, &nativeAtomic{wide: wide, change: func(g *nativeGen) {
				g.a.Op(x64.CMP, wide, x64.RAX, x64.R9)
				g.a.Cmov(stays, wide, x64.R9, x64.RAX)
			}})
		}
		// Sums of floats do not depend on MODE.
		on(map[bool]string{false: "add_f32", true: "add_f64"}[wide], &nativeAtomic{wide: wide, change: func(g *nativeGen) {
			g.a.VFromReg(wide, 5, x64.RAX)
			g.a.VFromReg(wide, 6, x64.R9)
			g.a.V(map[bool]x64.VOp{false: x64.VADDPS, true: x64.VADDPD}[wide], 5, 5, x64.Z(6), 0)
			g.a.VToReg(wide, x64.R9, 5)
		}})
	}
})
