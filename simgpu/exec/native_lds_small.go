//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Bytes and shorts in the LDS.

// ldsBound computes the highest address of n bytes into all lanes of Z7, or goes
// to bad if there is none.
func (g *nativeGen) ldsBound(n int, bad x64.Label) {
	g.a.Load(false, x64.RAX, x64.At(rW, waveLen))
	g.a.OpImm(x64.SUB, false, x64.RAX, int32(n))
	g.a.JumpIf(x64.B, bad)
	g.a.VFromReg(false, 7, x64.RAX)
}

// ldsInside loads the addresses of a quarter to Z2 and goes to bad if that of an
// active lane is beyond Z7, or not a multiple of align.
func (g *nativeGen) ldsInside(in *gcn.Inst, q, align int, bad x64.Label) {
	a := &g.a
	g.ldsAddress(&in.Addr, q, int(uint16(in.Offset)))
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(7), g.lanes(q), x64.NLE)
	if align > 1 {
		a.VTest(6, 2, g.con(uint32(align-1)), g.lanes(q))
		a.K(x64.KOR, 5, 5, 6)
	}
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, bad)
}

func (s small) ldsLoad(g *nativeGen, in *gcn.Inst) bool {
	if in.GDS || !isVec(&in.Addr) || !isVec(&in.Dst) {
		return false
	}
	a, done := &g.a, g.a.Label()
	bad := g.punt(done)
	g.ldsBound(s.bytes, bad)
	// All addresses first, so that Go can do the whole instruction.
	g.quarters(func(q int) { g.ldsInside(in, q, 1, bad) })
	g.quarters(func(q int) {
		g.ldsAddress(&in.Addr, q, int(uint16(in.Offset)))
		g.to(5, x64.Z(2))
		s.dwordOf(g, 2, false)
		s.bits(g, 5, 2)
		g.copyLanes(5, q)
		a.V(x64.VPXORD, 0, 0, x64.Z(0), 0)
		a.Gather(0, x64.AtVec(rLDS, 2, 0), 5)
		s.extract(g)
		s.keep(g, &in.Dst, q)
		g.store(&in.Dst, 0, q, 0)
	})
	a.Bind(done)
	return true
}

// ldsAddresses notes the addresses of all lanes, and goes to bad if the n bytes at that of an active one are not inside of the LDS, or it is not a
// multiple of align.
func (g *nativeGen) ldsAddresses(in *gcn.Inst, n, align int, bad x64.Label) {
	g.ldsBound(n, bad)
	g.quarters(func(q int) {
		g.ldsInside(in, q, align, bad)
		g.a.VStore(x64.At(rW, waveOffs+64*q), 2, 0)
	})
}

// laneOf is the lane numbered RAX of a vector register in memory.
func laneOf(o *gcn.Operand) x64.Mem {
	at := vecAt(o, 0, 0)
	return x64.Scaled(at.Base, x64.RAX, 2, int(at.Disp))
}

func ldsSmallStore(bytes int, high bool) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if in.GDS || !isVec(&in.Addr) || !isVec(&in.Data) {
			return false
		}
		a, done := &g.a, g.a.Label()
		g.ldsAddresses(in, bytes, 1, g.punt(done))
		g.quarters(func(q int) {
			g.eachLane(q, func() {
				a.OpImm(x64.ADD, false, x64.RAX, int32(16*q))
				a.Load(false, x64.R10, x64.Scaled(rW, x64.RAX, 2, waveOffs))
				a.Load(false, x64.R9, laneOf(&in.Data))
				if high {
					a.ShiftImm(x64.SHR, false, x64.R9, 16)
				}
				a.StoreSmall(bytes, x64.AtIndex(rLDS, x64.R10, 0), x64.R9)
			})
		})
		a.Bind(done)
		return true
	}
}

var _ = define(func() {
	for suffix, s := range map[string]small{
		"u8": {bytes: 1}, "i8": {bytes: 1, signed: true}, "u16": {bytes: 2}, "i16": {bytes: 2, signed: true},
		"u8_d16": {bytes: 1, d16: true}, "u8_d16_hi": {bytes: 1, high: true, d16: true}, "i8_d16": {bytes: 1, signed: true, low: true, d16: true},
		"i8_d16_hi": {bytes: 1, signed: true, high: true, d16: true}, "u16_d16": {bytes: 2, d16: true}, "u16_d16_hi": {bytes: 2, high: true, d16: true},
	} {
		nativeMemory["ds_read_"+suffix] = s.ldsLoad
	}
	for suffix, bytes := range map[string]int{"b8": 1, "b16": 2} {
		nativeMemory["ds_write_"+suffix] = ldsSmallStore(bytes, false)
		nativeMemory["ds_write_"+suffix+"_d16_hi"] = ldsSmallStore(bytes, true)
	}
})
