//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scratch, whose segments are interleaved by dword: what is at the same offset in all lanes is one vector. Instructions of its own
// reach it, and on gfx90a those on buffers, by the descriptor that kernels get. Dwords at offsets that are not multiples of 4, shorts over the end of
// a dword, and what is outside, are left to Go. R10 is where scratch is, RAX the offset that is the same for all lanes.

// scratchPart is an access of scratch by a quarter's lanes: some bytes of a dword each, or the whole.
type scratchPart struct {
	q     int
	bytes int     // of the instruction
	row   x64.Mem // of the quarter's dwords, where it is a row
	isRow bool
	shift x64.Z // where in the dwords the bytes are: so many bits from below
}

// scratchTo loads the quarter's dwords to z.
func (g *nativeGen) scratchTo(z x64.Z, p scratchPart) {
	if p.isRow {
		g.to(z, p.row)
		return
	}
	g.copyLanes(5, p.q)
	g.a.Gather(z, p.row, 5)
}

// scratchFrom stores z to them.
func (g *nativeGen) scratchFrom(z x64.Z, p scratchPart) {
	if p.isRow {
		g.a.VStore(p.row, z, g.lanes(p.q))
		return
	}
	g.copyLanes(5, p.q)
	g.a.Scatter(p.row, z, 5)
}

// scratchOffsets computes the offsets of quarter q in the lanes' segments into Z2, Z7 and what is in the register added, and goes to bad if those of an
// active lane are not inside, or not those of something whole.
func (g *nativeGen) scratchOffsets(addr *gcn.Operand, q, bytes int, bad x64.Label) {
	a := &g.a
	a.V(x64.VPADDD, 2, 7, g.at(addr, 0, q), 0)
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(6), g.lanes(q), x64.NLE)
	switch bytes {
	case 1:
	case 2:
		a.V(x64.VPANDD, 0, 2, g.con(3), 0)
		a.VCmp(x64.VPCMPUD, 6, 0, g.con(3), g.lanes(q), x64.EQ)
		a.K(x64.KOR, 5, 5, 6)
	default:
		a.VTest(6, 2, g.con(3), g.lanes(q))
		a.K(x64.KOR, 5, 5, 6)
	}
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, bad)
}

// scratchPlaces makes the offsets in Z2 those of dwords in scratch. For parts of dwords, Z5 is where in them these are.
func (g *nativeGen) scratchPlaces(q, bytes int) {
	a := &g.a
	if bytes < 4 {
		a.V(x64.VPANDD, 5, 2, g.con(3), 0)
		a.VShift(x64.VPSLLD, 5, x64.Z(5), 0, 3)
		a.VShift(x64.VPSRLD, 2, x64.Z(2), 0, 2)
		a.VShift(x64.VPSLLD, 2, x64.Z(2), 0, 8)
	} else {
		a.VShift(x64.VPSLLD, 2, x64.Z(2), 0, 6)
	}
	a.V(x64.VPADDD, 2, 2, g.lanesOf(func(i int) uint32 { return uint32(4 * (16*q + i)) }), 0)
}

// scratchAccess does an access of n bytes from RAX on, and from what addr has in addition if it is a register: f for each dword of a quarter. Where
// some lane's are none that can be translated it goes to bad before.
func (g *nativeGen) scratchAccess(addr *gcn.Operand, n int, bad x64.Label, f func(reg int, p scratchPart)) {
	a, regs := &g.a, max(1, n/4)
	a.Load(false, x64.RCX, x64.At(rW, waveScratchLen))
	a.OpImm(x64.SUB, false, x64.RCX, int32(n))
	a.JumpIf(x64.B, bad)
	a.Load(true, x64.R10, x64.At(rW, waveScratch))
	if addr == nil {
		a.Op(x64.CMP, true, x64.RAX, x64.RCX)
		a.JumpIf(x64.A, bad)
		a.Load(false, x64.RCX, x64.RAX)
		a.OpImm(x64.AND, false, x64.RCX, 3)
		switch n {
		case 1:
		case 2:
			a.OpImm(x64.CMP, false, x64.RCX, 3)
			a.JumpIf(x64.E, bad)
		default:
			a.JumpIf(x64.NE, bad)
		}
		if n < 4 {
			a.ShiftImm(x64.SHL, false, x64.RCX, 3)
			a.VFromReg(false, 7, x64.RCX)
			a.ShiftImm(x64.SHR, true, x64.RAX, 2)
			a.ShiftImm(x64.SHL, true, x64.RAX, 2)
		}
		a.ShiftImm(x64.SHL, true, x64.RAX, 6)
		for reg := range regs {
			for q := range g.quarterCount() {
				f(reg, scratchPart{q: q, bytes: n, row: x64.AtIndex(x64.R10, x64.RAX, 4*WaveSize*reg+64*q), isRow: true, shift: 7})
			}
		}
		return
	}
	a.VFromReg(false, 7, x64.RAX)
	a.VFromReg(false, 6, x64.RCX)
	g.quarters(func(q int) { g.scratchOffsets(addr, q, n, bad) })
	for reg := range regs {
		g.quarters(func(q int) {
			a.V(x64.VPADDD, 2, 7, g.at(addr, 0, q), 0)
			g.scratchPlaces(q, n)
			f(reg, scratchPart{q: q, bytes: n, row: x64.AtVec(x64.R10, 2, 4*WaveSize*reg), shift: 5})
		})
	}
}

// canScratch reports whether an instruction on scratch, or on a buffer that may be that, can be translated. dst is what it loads to.
func canScratch(in *gcn.Inst, dst *gcn.Operand, regs int) bool {
	return !(dst != nil && regs > 1 && in.Addr.Kind == gcn.VGPR && overlap(&in.Addr, 1, dst, regs))
}

// scratchInst translates an instruction on scratch.
func (g *nativeGen) scratchInst(in *gcn.Inst, n int, f func(reg int, p scratchPart)) bool {
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
	var addr *gcn.Operand
	if in.Addr.Kind == gcn.VGPR {
		addr = &in.Addr
	}
	g.scratchAccess(addr, n, bad, f)
	a.Bind(done)
	return true
}

// scratchBuffer translates an instruction on a buffer for a descriptor that is of scratch, see resolveScratch.
func (g *nativeGen) scratchBuffer(in *gcn.Inst, n int, bad x64.Label, f func(reg int, p scratchPart)) {
	a, v := &g.a, int(in.Base.Index)
	a.Load(false, x64.RAX, sreg(v+1))
	a.OpImm(x64.AND, false, x64.RAX, 0x7fff)
	a.ShiftImm(x64.SHL, true, x64.RAX, 32)
	a.Load(false, x64.RCX, sreg(v))
	a.Op(x64.OR, true, x64.RAX, x64.RCX)
	g.scalarTo(x64.RCX, &in.SOffset)
	a.Op(x64.ADD, true, x64.RAX, x64.RCX)
	a.Load(false, x64.RCX, x64.RAX)
	a.OpImm(x64.AND, false, x64.RCX, 4*WaveSize-1)
	a.JumpIf(x64.NE, bad)
	a.ShiftImm(x64.SHR, true, x64.RAX, 6)
	a.OpImm(x64.ADD, true, x64.RAX, in.Offset)
	var addr *gcn.Operand
	if in.OffEn {
		addr = &in.Addr
	}
	g.scratchAccess(addr, n, bad, f)
}

// scratchLoad is what a load of dwords does in scratchAccess.
func (g *nativeGen) scratchLoad(in *gcn.Inst) func(reg int, p scratchPart) {
	return func(reg int, p scratchPart) {
		if !p.isRow {
			g.scratchTo(0, p)
			g.store(&in.Dst, reg, p.q, 0)
			return
		}
		d, k, done := g.target(&in.Dst, reg, p.q)
		g.a.V1(x64.VMOVDQU32, d, p.row, k)
		done()
	}
}

// scratchStore is what a store does.
func (g *nativeGen) scratchStore(in *gcn.Inst) func(reg int, p scratchPart) {
	return func(reg int, p scratchPart) {
		g.scratchFrom(g.inReg(0, g.at(&in.Data, reg, p.q)), p)
	}
}

// scratchLoad is what a load of a part of a dword does.
func (s small) scratchLoad(g *nativeGen, in *gcn.Inst) func(reg int, p scratchPart) {
	return func(_ int, p scratchPart) {
		g.scratchTo(0, p)
		s.shift(g, p.shift)
		s.place(g)
		s.keep(g, &in.Dst, p.q)
		g.store(&in.Dst, 0, p.q, 0)
	}
}

// scratchSmallStore is what a store of a part of a dword does, from the upper half if high.
func (g *nativeGen) scratchSmallStore(in *gcn.Inst, high bool) func(reg int, p scratchPart) {
	return func(_ int, p scratchPart) {
		a := &g.a
		g.to(3, g.at(&in.Data, 0, p.q))
		if high {
			a.VShift(x64.VPSRLD, 3, x64.Z(3), 0, 16)
		}
		g.scratchTo(0, p)
		g.to(4, g.con(1<<(8*p.bytes)-1))
		a.V(x64.VPSLLVD, 3, 3, p.shift, 0)
		a.V(x64.VPSLLVD, 4, 4, p.shift, 0)
		a.VImm(x64.VPTERNLOGD, 4, 3, x64.Z(0), 0, 0xca) // where Z4, Z3, otherwise what was there
		g.scratchFrom(4, p)
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
		nativeMemory["scratch_load_dword"+suffix] = func(g *nativeGen, in *gcn.Inst) bool {
			return isVec(&in.Dst) && canScratch(in, &in.Dst, n) && g.scratchInst(in, 4*n, g.scratchLoad(in))
		}
		nativeMemory["scratch_store_dword"+suffix] = func(g *nativeGen, in *gcn.Inst) bool {
			return isVec(&in.Data) && g.scratchInst(in, 4*n, g.scratchStore(in))
		}
	}
	for suffix, s := range smallLoads {
		nativeMemory["scratch_load_"+suffix] = func(g *nativeGen, in *gcn.Inst) bool {
			return isVec(&in.Dst) && g.scratchInst(in, s.bytes, s.scratchLoad(g, in))
		}
	}
	for suffix, bytes := range smallStores {
		for i, name := range []string{suffix, suffix + "_d16_hi"} {
			nativeMemory["scratch_store_"+name] = func(g *nativeGen, in *gcn.Inst) bool {
				return isVec(&in.Data) && g.scratchInst(in, bytes, g.scratchSmallStore(in, i == 1))
			}
		}
	}
})
