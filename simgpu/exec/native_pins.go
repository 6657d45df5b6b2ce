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
// handler of a page fault, finds all of them in memory: what was written is
// stored before device memory is accessed, and on every way out.

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

func memoryOf(reg, q int) x64.Mem { return x64.At(rV, reg*4*WaveSize+q*64) }

// loadPins loads all of them.
func (g *nativeGen) loadPins() {
	for i, r := range g.pins.regs {
		for q := range 4 {
			g.a.V1(x64.VMOVDQU32, x64.Z(firstPinned+4*i+q), memoryOf(int(r), q), 0)
		}
	}
}

// storePins stores those of a set.
func (g *nativeGen) storePins(set uint8) {
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros8(set)
		for q := range 4 {
			g.a.VStore(memoryOf(int(g.pins.regs[i]), q), x64.Z(firstPinned+4*i+q), 0)
		}
	}
}

// settle makes memory hold what registers do.
func (g *nativeGen) settle() {
	g.storePins(g.pins.dirty)
	g.pins.dirty = 0
}

// vectorUses calls f for the vector registers that an instruction uses.
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
}

// settles reports whether memory has to hold the registers for an instruction.
func settles(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.SMEM, gcn.FLAT, gcn.GLOBAL, gcn.MUBUF:
		return true
	}
	switch in.Op {
	case gcn.V_READFIRSTLANE_B32, gcn.V_READLANE_B32, gcn.V_WRITELANE_B32:
		return true
	}
	return lanesInMemory[in.Info.Name]
}

// lanesInMemory are instructions on the LDS that read their data lane by lane.
var lanesInMemory = map[string]bool{
	"ds_write_b8": true, "ds_write_b16": true, "ds_write_b8_d16_hi": true, "ds_write_b16_d16_hi": true,
	"ds_add_u32": true, "ds_sub_u32": true, "ds_and_b32": true, "ds_or_b32": true, "ds_xor_b32": true,
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
func (g *nativeGen) choosePins(depth []int) {
	var score [256]int
	leaves := 1
	for i := range g.blocks {
		nb := &g.blocks[i]
		weight := 1 << (3 * min(depth[i], 4))
		away := false
		for j := range nb.b.ops {
			if !nb.can[j] {
				if !away {
					leaves += weight
				}
				away = true
				continue
			}
			away = false
			vectorUses(&nb.ins[j], func(reg, n int, write bool) {
				for r := reg; r < min(reg+n, 256); r++ {
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
	g.pins.regs = regs[:min(len(regs), mostPinned)]
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
	type effect struct {
		settles bool
		dirty   uint8
	}
	effects := make([]effect, len(g.blocks))
	for i := range g.blocks {
		nb, e := &g.blocks[i], &effects[i]
		for j := range nb.b.ops {
			in := &nb.ins[j]
			if !nb.can[j] || settles(in) {
				*e = effect{settles: true}
			}
			if nb.can[j] {
				e.dirty |= g.written(in)
			}
		}
	}
	g.dirtyIn = make(map[*block]uint8, len(g.blocks))
	for changed := true; changed; {
		changed = false
		for i := range g.blocks {
			b := g.blocks[i].b
			out := effects[i].dirty
			if !effects[i].settles {
				out |= g.dirtyIn[b]
			}
			for _, to := range []*block{g.blocks[i].next, g.blocks[i].target} {
				if _, ok := g.starts[to]; ok && g.dirtyIn[to]|out != g.dirtyIn[to] {
					g.dirtyIn[to] |= out
					changed = true
				}
			}
		}
	}
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
