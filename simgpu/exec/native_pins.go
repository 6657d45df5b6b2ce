//go:build linux && amd64

package exec

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector registers that stay in registers of the processor.
//
// A region pins the few vector registers that its loops use most, each in four
// processor registers, a quarter each, for as long as the region executes. The
// others are operands in memory. Whoever else looks at the wave, Go or the
// handler of a page fault, finds what he needs in memory: what was written is
// stored on every way out, and what an instruction uses that may fault, before it. Those that do not
// matter where the code begins are not loaded there, and those that do not where it ends are not stored; see findLive.

const (
	mostPinned  = 6
	firstPinned = 8 // Z0 to Z7 are for what lasts an instruction
)

// pins are the pinned registers of a region.
type pins struct {
	slot  [256]uint8 // 1 + place in regs
	regs  []uint16
	dirty uint8 // those written since they were stored, where code is being generated
}

// at is the processor register of a quarter of a vector register.
func (p *pins) at(reg, q int) (x64.Z, bool) {
	if reg > 255 || p.slot[reg] == 0 {
		return 0, false
	}
	return x64.Z(firstPinned + 4*int(p.slot[reg]-1) + q), true
}

// of are those among n registers from reg on.
func (p *pins) of(reg, n int) (set uint8) {
	for r := reg; r < min(reg+n, 256); r++ {
		if s := p.slot[r]; s != 0 {
			set |= 1 << (s - 1)
		}
	}
	return set
}

func memoryOf(reg, q int) x64.Mem { return x64.At(rV, reg*4*WaveSize+q*64-vectorsFrom) }

// loadPins loads those of a set.
func (g *nativeGen) loadPins(set uint8) {
	for i, r := range g.pins.regs {
		if set>>i&1 == 0 {
			continue
		}
		for q := range g.quarterCount() {
			g.a.V1(x64.VMOVDQU32, x64.Z(firstPinned+4*i+q), memoryOf(int(r), q), 0)
		}
	}
}

// storePins stores those of a set.
func (g *nativeGen) storePins(set uint8) {
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros8(set)
		for q := range g.quarterCount() {
			g.a.VStore(memoryOf(int(g.pins.regs[i]), q), x64.Z(firstPinned+4*i+q), 0)
		}
	}
}

// settle makes memory hold the registers that an instruction uses.
func (g *nativeGen) settle(in *gcn.Inst) {
	set := g.settled(in)
	g.storePins(g.pins.dirty & set)
	g.pins.dirty &^= set
}

// vectorUses calls f for the vector registers that an instruction uses, and its second operation, if it has one.
func vectorUses(in *gcn.Inst, f func(reg, n int, write bool)) {
	use := func(o *gcn.Operand, write bool) {
		if o.Kind == gcn.VGPR {
			f(int(o.Index), max(1, int(o.Width)), write)
		}
	}
	use(&in.Dst, true)
	for _, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Src[2], &in.Addr, &in.Data, &in.Data1} {
		use(o, false)
	}
	if in.Dual != nil {
		vectorUses(in.Dual, f)
	}
}

// settled are the pinned registers that memory has to hold for an instruction.
func (g *nativeGen) settled(in *gcn.Inst) (set uint8) {
	access := false
	switch in.Enc {
	case gcn.MFMA, gcn.VOP3P:
		if name := in.Op.String(); multiplies[name] {
			vectorUses(in, func(reg, n int, write bool) {
				if !write || wmmaNative[name].half { // of half a register the other one stays
					set |= g.pins.of(reg, n)
				}
			})
		}
		return set
	case gcn.SMEM, gcn.FLAT, gcn.GLOBAL, gcn.MUBUF:
		access = true
	}
	lanes := in.Op == gcn.V_READFIRSTLANE_B32 || in.Op == gcn.V_READLANE_B32 || in.Op == gcn.V_WRITELANE_B32 || lanesInMemory[in.Op.String()]
	switch {
	case access && endsLive: // it may end here
		return 0xff
	case !access && !lanes:
		return 0
	}
	vectorUses(in, func(reg, n int, write bool) {
		if lanes || !write {
			set |= g.pins.of(reg, n)
		}
	})
	return set
}

// lanesInMemory are instructions on the LDS that read their data lane by lane.
var lanesInMemory = map[string]bool{
	"ds_write_b8": true, "ds_write_b16": true, "ds_write_b8_d16_hi": true, "ds_write_b16_d16_hi": true,
}

// What pinning a register saves and costs, about, in loads of 64 bytes.
const (
	readCost  = 2
	writeCost = 6
)

// leaveCost is for storing and loading it where Go executes something. Tests set it.
var leaveCost = 8

// choosePins chooses the pinned registers: by how much they are used where
// loops are, less what the ways out cost there.
func (g *nativeGen) choosePins() {
	var score [256]int
	leaves, most := 1, mostPinned
	for i := range g.blocks {
		nb := &g.blocks[i]
		weight := 1 << (3 * min(g.depth[i], 4))
		away := false
		var placed regSet // what will be in the LDS, most likely
		slots := g.formed(i)
		for j := range nb.b.ops {
			if !nb.can[j] {
				if !away {
					leaves += weight
				}
				away = true
				continue
			}
			away = false
			in := &nb.ins[j]
			if multiplies[in.Op.String()] { // its operands are in memory
				most = matrixPinned
				continue
			}
			slot, keeps := g.ldsKeeps(&in.Addr)
			reads := keeps && isLDSRead(in) && slices.Contains(slots, slot)
			takes := takesPlaces(in)
			vectorUses(in, func(reg, n int, write bool) {
				for r := reg; r < min(reg+n, 256); r++ {
					switch {
					case write && reads:
						placed.add(r, 1)
						continue
					case write:
						placed.remove(r)
					case takes && placed.has(r):
						continue
					}
					if write {
						score[r] += weight * writeCost
					} else {
						score[r] += weight * readCost
					}
				}
			})
		}
		if len(nb.b.at) > len(nb.b.ops) && g.endsOutside(nb) {
			leaves += weight
		}
	}
	var regs []uint16
	for r := range score {
		if score[r] > leaves*leaveCost {
			regs = append(regs, uint16(r))
		}
	}
	slices.SortStableFunc(regs, func(a, b uint16) int { return cmp.Compare(score[b], score[a]) })
	if !hasAVX512 { // all sixteen are for what lasts an instruction
		most = 0
	}
	g.pins.regs = regs[:min(len(regs), most)]
	g.r.pinned = len(g.pins.regs)
	for i, r := range g.pins.regs {
		g.pins.slot[r] = uint8(i + 1)
	}
}

// depths is how many loops each block is in, judged by the addresses of
// branches that go back. It notes where they go to.
func (g *nativeGen) depths() []int {
	g.heads = map[*block]bool{}
	depth := make([]int, len(g.blocks))
	for i := range g.blocks {
		from := g.blocks[i].b
		for _, to := range []*block{g.blocks[i].next, g.blocks[i].target} {
			if to == nil || to.pc > from.pc {
				continue
			}
			if _, ok := g.starts[to]; !ok {
				continue
			}
			g.heads[to] = true
			for j := range g.blocks {
				if pc := g.blocks[j].b.pc; pc >= to.pc && pc <= from.pc {
					depth[j]++
				}
			}
		}
	}
	return depth
}

// flow computes which pinned registers may be dirty where each block begins:
// what is at the end of any block that goes to it.
func (g *nativeGen) flow() {
	type effect struct{ settled, dirty uint8 }
	effects := make([]effect, len(g.blocks))
	for i := range g.blocks {
		nb, e := &g.blocks[i], &effects[i]
		for j := range nb.b.ops {
			in := &nb.ins[j]
			if !nb.can[j] {
				*e = effect{settled: 0xff}
				continue
			}
			set, written := g.settled(in), g.written(in)
			e.settled, e.dirty = e.settled|set, e.dirty&^set|written
		}
	}
	g.dirtyIn = make(map[*block]uint8, len(g.blocks))
	g.dirtyIn[g.blocks[0].b] = g.pins.of(0, 1) // the next wave of a chain begins with what is in registers only
	for changed := true; changed; {
		changed = false
		for i := range g.blocks {
			b := g.blocks[i].b
			out := effects[i].dirty | g.dirtyIn[b]&^effects[i].settled
			for _, to := range []*block{g.blocks[i].next, g.blocks[i].target} {
				if _, ok := g.starts[to]; ok && g.dirtyIn[to]|out != g.dirtyIn[to] {
					g.dirtyIn[to] |= out
					changed = true
				}
			}
		}
	}
}

// crossesLanes reports whether an instruction may read lanes that are not active.
func crossesLanes(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.DS:
		return ldsOffsets[in.Op.String()] == nil
	case gcn.SMEM, gcn.FLAT, gcn.GLOBAL, gcn.MUBUF, gcn.SCRATCH, gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK, gcn.SOPP:
		return false
	case gcn.VOP1, gcn.VOP2, gcn.VOPC, gcn.VOP3, gcn.VOP3P, gcn.VOPD:
		switch in.Op {
		case gcn.V_READFIRSTLANE_B32, gcn.V_READLANE_B32, gcn.V_WRITELANE_B32, gcn.V_PERMLANE16_B32, gcn.V_PERMLANEX16_B32:
			return true
		}
		return in.Form == gcn.FormDPP || isWMMA(in)
	}
	return true
}

// writesWhole reports whether an instruction writes all of its destination, in active lanes.
func writesWhole(in *gcn.Inst) bool {
	if in.Form == gcn.FormSDWA || in.Form == gcn.FormDPP || in.Dual != nil && !writesWhole(in.Dual) {
		return false
	}
	if v := vops[in.Op.String()]; v != nil {
		return !keepsOther(in, v)
	}
	return ldsOffsets[in.Op.String()] != nil || writeWhole[in.Op.String()]
}

// writeWhole are instructions that do, among those that are no operations of vops.
var writeWhole = map[string]bool{
	"v_cndmask_b32": true, "v_add_co_u32": true, "v_addc_co_u32": true, "v_sub_co_u32": true, "v_subb_co_u32": true, "v_subrev_co_u32": true,
	"v_subbrev_co_u32": true, "v_mad_u64_u32": true, "v_mad_i64_i32": true,
}

// written are the pinned registers that an instruction writes.
func (g *nativeGen) written(in *gcn.Inst) (set uint8) {
	vectorUses(in, func(reg, n int, write bool) {
		if write {
			set |= g.pins.of(reg, n)
		}
	})
	return set
}
