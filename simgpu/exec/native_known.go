//go:build linux && amd64

package exec

import (
	"maps"
	"slices"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector registers whose contents are known when code is generated: the number of the lane, and what is computed from that and from
// constants. The sum of a wave is made by moving registers between lanes whose numbers differ in a bit (__shfl_xor), and compilers compute
// in every kernel anew which lanes these are. Where all lanes are active that is not executed: registers get the result if somebody wants
// it, and moves are of lanes that are known.
//
// Between blocks that is only supposed. A block that moves lanes by what it begins with looks whether it is so, and has other code
// if it is not.

// knownStep is what is known of an instruction.
type knownStep struct {
	value *Vec       // what its vector register is
	mask  uint64     // what its lane mask is
	folds bool       // the instruction is not executed
	write bool       // but its result is written
	moves *laneMoves // of ds_bpermute_b32; nil: not known, or not of that kind
}

// knownPlan is what is known of a block.
type knownPlan struct {
	begins map[int]*Vec // registers that are looked at where it begins
	steps  []knownStep
}

// planKnown finds out what is known of each block.
func (g *nativeGen) planKnown() {
	g.knowns = map[*block]*knownPlan{}
	if !slices.ContainsFunc(g.blocks, func(nb nativeBlock) bool {
		return slices.ContainsFunc(nb.ins, func(in gcn.Inst) bool { return in.Op == gcn.V_MBCNT_LO_U32_B32 })
	}) {
		return
	}
	ends := map[*block]map[int]*Vec{}
	for round := range 2 { // what comes back from a loop is taken into account the second time
		for i := range g.blocks {
			nb := &g.blocks[i]
			k := knower{g: g, nb: nb, begins: g.knownBefore(nb, ends)}
			plan := k.plan()
			ends[nb.b] = k.ends()
			if round > 0 && plan != nil {
				k.chooseWrites()
				g.knowns[nb.b] = plan
			}
		}
	}
}

// knownBefore are the registers of which the blocks before one say the same, as far as they have been looked at.
func (g *nativeGen) knownBefore(nb *nativeBlock, ends map[*block]map[int]*Vec) (known map[int]*Vec) {
	for i := range g.blocks {
		from := &g.blocks[i]
		end, ok := ends[from.b]
		switch {
		case !ok || from.next != nb.b && from.target != nb.b:
		case known == nil:
			known = maps.Clone(end)
		default:
			maps.DeleteFunc(known, func(reg int, v *Vec) bool { return end[reg] == nil || *end[reg] != *v })
		}
	}
	return known
}

// knower goes through a block.
type knower struct {
	g      *nativeGen
	nb     *nativeBlock
	begins map[int]*Vec   // registers that are as it begins
	known  map[int]*Vec   // registers that are not
	masks  map[int]uint64 // pairs of scalar registers
	steps  []knownStep
}

// plan is nil if nothing of use is known.
func (k *knower) plan() *knownPlan {
	k.known, k.masks = map[int]*Vec{}, map[int]uint64{}
	k.steps = make([]knownStep, len(k.nb.b.ops))
	plan := &knownPlan{begins: map[int]*Vec{}, steps: k.steps}
	useful := false
	k.begins = maps.Clone(k.begins)
	for i := range k.steps {
		in, s := &k.nb.ins[i], &k.steps[i]
		if !k.nb.can[i] { // Go executes it: what it writes is not only what it names
			clear(k.known)
			clear(k.begins)
			clear(k.masks)
			continue
		}
		if in.Op == gcn.DS_BPERMUTE_B32 && in.Addr.Kind == gcn.VGPR {
			reg := int(in.Addr.Index)
			if lanes := k.known[reg]; lanes != nil {
				s.moves = k.moves(in, lanes)
			} else if lanes := k.begins[reg]; lanes != nil {
				if s.moves = k.moves(in, lanes); s.moves != nil {
					plan.begins[reg] = lanes
				}
			}
		}
		made := k.evaluate(in, s)
		k.forget(in)
		if made {
			k.note(in, s)
		}
		useful = useful || s.folds || s.moves != nil
	}
	if !useful {
		return nil
	}
	return plan
}

// chooseWrites finds out which results are written.
func (k *knower) chooseWrites() {
	for i := range k.steps {
		if s := &k.steps[i]; s.folds {
			s.write = k.wanted(i)
		}
	}
}

// ends are the registers that are known where the block ends.
func (k *knower) ends() map[int]*Vec {
	all := maps.Clone(k.known)
	maps.Copy(all, k.begins)
	return all
}

// source is what an operand is, of one dword. It is nil if that is not known.
func (k *knower) source(o *gcn.Operand) *Vec {
	if o.Kind == gcn.VGPR && o.Width <= 1 {
		return k.known[int(o.Index)]
	}
	v, ok := constOf(o)
	if !ok || o.Width > 1 {
		return nil
	}
	var all Vec
	for i := range all {
		all[i] = uint32(v)
	}
	return &all
}

// evaluate computes what an instruction does. It reports whether its result is known.
func (k *knower) evaluate(in *gcn.Inst, s *knownStep) bool {
	if !isVALU(in) || crossesLanes(in) || !isPlain(in) || in.Dual != nil || in.Enc == gcn.VOP3P {
		return false
	}
	name := in.Op.String()
	x, y := k.source(&in.Src[0]), k.source(&in.Src[1])
	if r := relations[name]; r != nil {
		d, err := sdst(&in.Dst, k.g.maskRegs())
		if err != nil || x == nil || y == nil || d >= regEXEC {
			return false
		}
		s.mask, s.folds = r(x, y), true
		return true
	}
	if in.Dst.Kind != gcn.VGPR || in.Dst.Width > 1 {
		return false
	}
	var d Vec
	switch v := vops[name]; {
	case in.Op == gcn.V_CNDMASK_B32:
		m, ok := k.masks[int(in.Src[2].Index)]
		if !ok || in.Src[2].Kind != gcn.SGPR || x == nil || y == nil {
			return false
		}
		for i := range d {
			if d[i] = x[i]; m>>i&1 != 0 {
				d[i] = y[i]
			}
		}
	case v == nil || v.fl != notFloat || v.dst != 1 || v.keeps:
		return false
	default:
		z := k.source(&in.Src[2])
		for i, v := range []*Vec{x, y, z}[:v.srcs] {
			if v == nil || in.Src[i].Width > 1 {
				return false
			}
		}
		v.k(&d, x, y, z)
	}
	s.value = &d
	s.folds = in.Op != gcn.V_MOV_B32
	return true
}

// forget drops what was known of registers that are written.
func (k *knower) forget(in *gcn.Inst) {
	vectorUses(in, func(reg, n int, write bool) {
		for r := reg; write && r < reg+n; r++ {
			delete(k.known, r)
			delete(k.begins, r)
		}
	})
	n := k.g.maskRegs()
	maps.DeleteFunc(k.masks, func(pair int, _ uint64) bool {
		return writesScalars(in, pair, n) || in.Info.Flags&gcn.WritesVCC != 0 && pair == regVCC
	})
}

// note notes what an instruction has written.
func (k *knower) note(in *gcn.Inst, s *knownStep) {
	if s.value != nil {
		k.known[int(in.Dst.Index)] = s.value
	} else {
		k.masks[int(in.Dst.Index)] = s.mask
	}
}

// wanted reports whether somebody wants the result of instruction i where it is written.
func (k *knower) wanted(i int) bool {
	if endsLive {
		return true
	}
	g, dst, n := k.g, &k.nb.ins[i].Dst, k.g.maskRegs()
	vector, reg := dst.Kind == gcn.VGPR, int(dst.Index)
	for j := i + 1; j < len(k.steps); j++ {
		in, s := &k.nb.ins[j], &k.steps[j]
		if !k.nb.can[j] {
			return true
		}
		if !vector {
			if reads, _ := readsMask(in, reg, n); reads && !s.folds {
				return true
			}
			if writesScalars(in, reg, n) {
				return int(in.Dst.Index) != reg || in.Dst.Kind != gcn.SGPR || int(in.Dst.Width) != n
			}
			continue
		}
		reads, writes := false, false
		vectorUses(in, func(first, m int, write bool) {
			if reg >= first && reg < first+m {
				reads, writes = reads || !write, writes || write
			}
		})
		switch {
		case s.moves != nil:
			reads = overlap(&in.Data, 1, dst, 1)
		case s.folds:
			reads = false
		}
		switch {
		case reads, writes && !s.folds && s.moves == nil && !writesWhole(in):
			return true
		case writes:
			return false
		}
	}
	switch live := g.liveOut[k.nb.b]; {
	case vector:
		return live.has(reg)
	case reg == regVCC:
		return g.readsVCC(k.nb)
	}
	return endName(k.nb.b, k.nb.ins) != "s_endpgm"
}

// knownStep is the current instruction's, nil where nothing is known.
func (g *nativeGen) knownStep() *knownStep {
	if g.known == nil {
		return nil
	}
	return &g.known.steps[g.idx]
}

// fold generates what is left of an instruction whose result is known.
func (g *nativeGen) fold(in *gcn.Inst, s *knownStep) {
	g.between()
	switch {
	case !s.write:
	case s.value != nil:
		for q := range g.quarterCount() {
			d, _, done := g.target(&in.Dst, 0, q)
			g.to(d, g.quarter(s.value, q))
			done()
		}
		g.pins.dirty |= g.written(in)
	default:
		g.a.Imm(x64.RAX, s.mask)
		g.setScalar(int(in.Dst.Index), g.wide(), x64.RAX)
	}
	g.replaced(in)
}

// quarter is a quarter of what is known.
func (g *nativeGen) quarter(v *Vec, q int) x64.Mem {
	return g.lanesOf(func(i int) uint32 { return v[16*q+i] })
}

// checkKnown goes to other unless registers are what a plan takes them to be.
func (g *nativeGen) checkKnown(p *knownPlan, other x64.Label) {
	const bad = 4 // bits in which they differ
	a := &g.a
	a.V(x64.VPXORD, bad, bad, x64.Z(bad), 0)
	for _, reg := range slices.Sorted(maps.Keys(p.begins)) {
		o := gcn.Operand{Kind: gcn.VGPR, Index: uint16(reg)}
		for q := range g.quarterCount() {
			a.VImm(x64.VPTERNLOGD, bad, g.inReg(2, g.at(&o, 0, q)), g.quarter(p.begins[reg], q), 0, 0xf6) // bad | register ^ known
		}
	}
	a.VTest(5, bad, x64.Z(bad), 0)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, other)
}

// moves is what ds_bpermute_b32 does with known addresses. It is nil if lanes of a quarter read several quarters.
func (k *knower) moves(in *gcn.Inst, addresses *Vec) *laneMoves {
	n := k.g.size()
	if k.g.p.arch.Has(gcn.RDNA) { // each 32 lanes by themselves
		n = 32
	}
	return k.g.movesOf(func(l int) int { return int(addresses[l]+uint32(uint16(in.Offset)))>>2&(n-1) | l&^(n-1) })
}

// relations are the comparisons of numbers of 32 bits that are no floats.
var relations = map[string]relation{}

var _ = define(func() {
	for _, t := range []string{"u32", "i32"} {
		o := orderings[t]
		for cond, r := range o.conditions() {
			relations["v_cmp_"+cond+"_"+t] = r
		}
	}
})
