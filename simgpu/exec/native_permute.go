//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Moves between lanes.

// fromAll makes z the lanes of a register that are numbered in idx, modulo how many there are. Its quarters
// are in t; Z1 is used.
func (g *nativeGen) fromAll(z, idx x64.Z, t [4]x64.Z) {
	a := &g.a
	a.V1(x64.VMOVDQU32, z, idx, 0)
	a.V(x64.VPERMI2D, z, t[0], t[1], 0)
	if !g.wide() {
		return
	}
	a.V1(x64.VMOVDQU32, 1, idx, 0)
	a.V(x64.VPERMI2D, 1, t[2], t[3], 0)
	a.VTest(5, idx, g.con(32), 0)
	a.V1(x64.VMOVDQU32, z, x64.Z(1), 5)
}

// laneMoves is which lanes those of each quarter read: some of one quarter.
type laneMoves struct {
	from     [4]int
	at       [4][16]uint32
	straight bool // each the one in its place
	crossing bool // of another quarter, perhaps
}

// movesOf are the moves where each lane reads the one that from says. It is nil if lanes of a quarter read several quarters.
func (g *nativeGen) movesOf(from func(lane int) int) *laneMoves {
	m := &laneMoves{straight: true}
	for q := range g.quarterCount() {
		for i := range 16 {
			l := from(16*q + i)
			if i == 0 {
				m.from[q] = l >> 4
			}
			if m.from[q] != l>>4 {
				return nil
			}
			m.at[q][i] = uint32(l & 15)
			m.straight = m.straight && l&15 == i
		}
		m.crossing = m.crossing || m.from[q] != q
	}
	return m
}

// moved are the quarters of a register whose lanes are moved, with zeros in those that are not active: in Z4 to Z7, if they have others or are
// to be apart from where they are.
func (g *nativeGen) moved(data *gcn.Operand, apart bool) (t [4]any) {
	for q := range g.quarterCount() {
		z := x64.Z(4 + q)
		if t[q] = g.onlyActive(z, g.at(data, 0, q), q); g.full && apart {
			g.to(z, t[q])
			t[q] = z
		}
	}
	return t
}

// move makes dst the lanes of data that the moves say. Lanes that are not active read as 0.
func (g *nativeGen) move(dst, data *gcn.Operand, m *laneMoves) {
	t := g.moved(data, m.crossing && overlap(data, 1, dst, 1))
	for q := range g.quarterCount() {
		d, k, done := g.target(dst, 0, q)
		if m.straight {
			g.toLanes(d, t[m.from[q]], k)
		} else {
			if q == 0 || m.at[q] != m.at[q-1] {
				g.to(2, g.lanesOf(func(i int) uint32 { return m.at[q][i] }))
			}
			g.a.V(x64.VPERMD, d, 2, t[m.from[q]], k)
		}
		done()
	}
}

// swizzleLanes translates ds_swizzle_b32, which says itself which lanes it moves.
func swizzleLanes(g *nativeGen, in *gcn.Inst) bool {
	m := g.movesOf(func(l int) int { return swizzleLane(uint16(in.Offset), l) })
	if in.GDS || !isVec(&in.Addr) || !isVec(&in.Dst) || m == nil {
		return false
	}
	g.move(&in.Dst, &in.Addr, m)
	return true
}

// bpermute translates ds_bpermute_b32: lanes read by address. Inactive ones
// read as 0.
func bpermute(g *nativeGen, in *gcn.Inst) bool {
	if in.GDS || !isVec(&in.Addr) || !isVec(&in.Data) || !isVec(&in.Dst) {
		return false
	}
	if s := g.knownStep(); s != nil && s.moves != nil {
		g.move(&in.Dst, &in.Data, s.moves)
		return true
	}
	a := &g.a
	var t [4]x64.Z
	for q, at := range g.moved(&in.Data, overlap(&in.Data, 1, &in.Dst, 1)) {
		if at != nil {
			t[q] = g.inReg(x64.Z(4+q), at)
		}
	}
	for q := range g.quarterCount() {
		z := g.inReg(2, g.at(&in.Addr, 0, q))
		if imm := uint32(uint16(in.Offset)); imm != 0 {
			a.V(x64.VPADDD, 2, z, g.con(imm), 0)
			z = 2
		}
		a.VShift(x64.VPSRLD, 2, z, 0, 2)
		if g.p.arch.Has(gcn.RDNA) { // each 32 lanes by themselves
			a.V1(x64.VMOVDQU32, 0, x64.Z(2), 0)
			a.V(x64.VPERMI2D, 0, t[q&^1], t[q|1], 0)
		} else {
			g.fromAll(0, 2, t)
		}
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
	g.a.OpImm(x64.AND, false, x64.RCX, int32(g.size()-1))
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
	g.a.OpImm(x64.AND, false, x64.RCX, int32(g.size()-1))
	g.scalarTo(x64.RAX, &in.Src[0])
	at := vecAt(&in.Dst, 0, 0)
	g.a.Store(false, x64.Scaled(at.Base, x64.RCX, 2, int(at.Disp)), x64.RAX)
	for q := range g.quarterCount() {
		if z, ok := g.at(&in.Dst, 0, q).(x64.Z); ok {
			g.to(z, vecAt(&in.Dst, 0, q))
		}
	}
	return true
}

var _ = define(func() {
	nativeMemory["ds_bpermute_b32"] = bpermute
	nativeMemory["ds_swizzle_b32"] = swizzleLanes
	nativeVector["v_readlane_b32"] = readLane
	nativeVector["v_writelane_b32"] = writeLane
})

// permuteBytes is v_perm_b32: each byte of the result is one of the eight of b and a, the sign of
// an odd one, 0 or 255, as c says.
func permuteBytes(g *nativeGen, d x64.Z, k x64.K, x x64.Z, y, by any) {
	a, lo := &g.a, g.inReg(3, y)
	own := g.lanesOf(func(i int) uint32 { return uint32(4*i) * 0x01010101 }) // where the lane's bytes are
	bytes := func(v uint32) x64.Bcast { return g.con(v * 0x01010101) }
	part := func(z x64.Z, mask uint32, up byte) { // of the selector
		a.V(x64.VPANDD, z, 1, bytes(mask), 0)
		if up > 0 {
			a.VShift(x64.VPSLLD, z, z, 0, up)
		}
	}
	g.to(1, by)
	part(5, 3, 0)
	part(6, 4, 4) // 64: of the other register
	a.V(x64.VPORD, 5, 5, x64.Z(6), 0)
	a.V(x64.VPORD, 5, 5, own, 0)
	g.lookUpBytes(5, lo, x)
	part(6, 1, 1)
	part(7, 2, 5)
	a.V(x64.VPORD, 6, 6, x64.Z(7), 0)
	a.V(x64.VPORD, 6, 6, bytes(1), 0)
	a.V(x64.VPORD, 6, 6, own, 0)
	g.lookUpBytes(6, lo, x)

	a.VCmp(x64.VPCMPUB, 5, 1, everyByte(g, 8), 0, x64.NLT)
	a.V1(x64.VMOVDQU8, 5, everyByte(g, 0), 5)
	a.VCmp(x64.VPCMPB, 6, 6, everyByte(g, 0), 5, x64.LT)
	a.VCmp(x64.VPCMPUB, 7, 1, everyByte(g, 12), 0, x64.EQ)
	a.VCmp(x64.VPCMPUB, 5, 1, everyByte(g, 13), 0, x64.NLT)
	a.V1(x64.VMOVDQU8, 5, everyByte(g, 0xff), 6)
	a.V1(x64.VMOVDQU8, 5, everyByte(g, 0), 7)
	a.V1(x64.VMOVDQU8, 5, everyByte(g, 0xff), 5)
	a.V1(x64.VMOVDQU32, d, x64.Z(5), k)
}

// lookUpBytes makes z the bytes of its lanes that it has the numbers of: of lo, or of x from 64 on. Z7 and K5 are used.
func (g *nativeGen) lookUpBytes(z, lo, x x64.Z) {
	if hasByteTables {
		g.a.V(x64.VPERMI2B, z, lo, x, 0)
		return
	}
	g.a.V(x64.VPSHUFB, 7, lo, z, 0)
	g.a.VCmp(x64.VPCMPUB, 5, z, everyByte(g, 64), 0, x64.NLT)
	g.a.V(x64.VPSHUFB, z, x, z, 0)
	g.a.V1(x64.VMOVDQU8, 7, z, 5)
	g.to(z, x64.Z(7))
}

// everyByte is a vector of equal bytes.
func everyByte(g *nativeGen, v uint32) x64.Mem {
	return g.lanesOf(func(int) uint32 { return v * 0x01010101 })
}

var _ = define(func() {
	vec("v_perm_b32", permuteBytes)
})
