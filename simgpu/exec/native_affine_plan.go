//go:build linux && amd64

package exec

import (
	"maps"
	"slices"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// What becomes of the blocks of a region, and of their instructions, where registers are affine.

// branchOf is what ends a block with a branch, or what is behind it where EXEC changes, and nothing but that. It is nil if there is no such thing.
func (g *nativeGen) branchOf(nb *nativeBlock) *nativeBlock {
	branches := func(n *nativeBlock) bool {
		_, ok := nativeBranches[endName(n.b, n.ins)]
		return ok && n.b.gives == 0
	}
	if branches(nb) {
		return nb
	}
	if endName(nb.b, nb.ins) != "" || nb.b.gives != 0 {
		return nil
	}
	for i := range g.blocks {
		if n := &g.blocks[i]; n.b == nb.next && len(n.b.ops) == 0 && branches(n) {
			return n
		}
	}
	return nil
}

// planAffine decides what becomes of all blocks: first of loops, then of what comes before them.
func (g *nativeGen) planAffine() {
	g.plans = map[*block]*affinePlan{}
	if g.p.mem.Size < 16*WaveSize {
		return
	}
	for _, loops := range []bool{true, false} {
		for i := range g.blocks {
			nb := &g.blocks[i]
			last := g.branchOf(nb)
			if loop := last != nil && last.target == nb.b; loop != loops || len(g.formed(i)) > 0 || !anyAddress(nb) {
				continue
			}
			var turn *affineTurn
			if last != nil && (loops || g.plans[last.target] != nil) {
				turn = &affineTurn{last: last, to: last.target}
			}
			plan := g.planned(nb, turn)
			if plan == nil && turn != nil {
				plan = g.planned(nb, nil)
			}
			if plan != nil {
				plan.start, plan.number = g.a.Label(), len(g.plans)
				g.plans[nb.b] = plan
			}
		}
	}
}

const (
	mostAffine     = 1 << 12 // of scale and stride
	affineBenefit  = 12      // vector instructions that an access saves, and each instruction
	affineInstead  = 6
	affineRootCost = 14 // that finding out takes
	mostRoots      = affineSlots / 2
)

// affinePlanner goes through a block.
type affinePlanner struct {
	g       *nativeGen
	nb      *nativeBlock
	regs    map[int]affineReg
	written map[int]bool // registers that are not as the block began
	roots   map[int]*affineRoot
	only    map[int]bool // instructions that may be other code; nil: all
	wanted  map[int]bool // those that addresses come from
	pairs   map[int]pairSum
	plan    *affinePlan
	gain    int
	failed  bool
	turn    *affineTurn
}

// pairSum is a sum of pairs whose lower half was added, by the instruction that adds the upper one.
type pairSum struct {
	src  affineReg  // the lower half of what is added to
	term affineTerm // the lower half of what is added: in a slot, or a constant
	reg  int        // the result's
	mask mdst       // the carries
	at   int
}

// planned is what becomes of a block, with a turn or without, nil if nothing is gained.
func (g *nativeGen) planned(nb *nativeBlock, turn *affineTurn) *affinePlan {
	first := affinePlanner{g: g, nb: nb, roots: map[int]*affineRoot{}, turn: turn}
	first.all()
	second := affinePlanner{g: g, nb: nb, roots: map[int]*affineRoot{}, only: first.wanted, turn: turn}
	for reg, r := range first.roots {
		if r.stride > 0 {
			second.roots[reg] = &affineRoot{reg: reg, wide: r.wide, stride: r.stride, stale: r.stale}
		}
	}
	if len(second.roots) > mostRoots { // each needs a slot where the block begins
		return nil
	}
	second.all()
	cost := affineRootCost * len(second.roots)
	if turn != nil && turn.to == nb.b {
		cost /= 4 // once for all rounds
	}
	if second.failed || second.gain <= cost {
		return nil
	}
	return second.plan
}

// anyAddress reports whether a block accesses device memory through vector registers, after all that is quickly seen.
func anyAddress(nb *nativeBlock) bool {
	for j := range nb.b.ops {
		if nb.can[j] && accessesRow(&nb.ins[j]) > 0 {
			return true
		}
	}
	return false
}

// accessesRow is how many bytes of a lane an instruction accesses, if it can access them of lanes that lie one after the other, and otherwise 0.
func accessesRow(in *gcn.Inst) int {
	switch in.Enc {
	case gcn.GLOBAL, gcn.FLAT:
		return rowAccesses[in.Op.String()]
	}
	return 0
}

// rowAccesses are the instructions that do, by name.
var rowAccesses = map[string]int{}

// all goes through the block.
func (p *affinePlanner) all() {
	n := len(p.nb.b.ops)
	p.regs, p.written, p.pairs, p.wanted = map[int]affineReg{}, map[int]bool{}, map[int]pairSum{}, map[int]bool{}
	p.plan = &affinePlan{steps: make([]affineStep, n)}
	if p.only != nil { // their slots are written where the block begins
		for _, reg := range slices.Sorted(maps.Keys(p.roots)) {
			r := p.roots[reg]
			p.begins(reg, r.wide)
			for i := range 1 + btoi(r.wide) {
				at := p.regs[reg+i]
				at.stale = r.stale
				p.regs[reg+i] = at
			}
		}
	}
	for i := range n {
		p.inst(i)
	}
	for _, reg := range slices.Sorted(maps.Keys(p.roots)) {
		p.plan.roots = append(p.plan.roots, p.roots[reg])
	}
	if p.turn != nil {
		p.turns()
	}
	live := p.g.liveOut[p.nb.b]
	p.plan.write = p.stale(live.has)
}

// turns finds out what the roots are of the loop that the block turns to.
func (p *affinePlanner) turns() {
	t := &affineTurn{last: p.turn.last, to: p.turn.to, again: map[*affineRoot]*affine{}}
	p.plan.turn = t
	roots := p.plan.roots
	if t.to != p.nb.b {
		roots = p.g.plans[t.to].roots
	}
	known := 0
	p.failed = p.failed || len(roots) > mostTurned
	for _, root := range roots {
		v := p.number(root.reg, root.wide)
		if v == nil || v.wide != root.wide {
			continue
		}
		if t.to == p.nb.b {
			if v.root != root || v.scale != 1 || root.stride == 0 { // without a stride it is of no use
				continue
			}
			root.stale = root.stale || len(v.made) > 0
		} else if !p.strides(v, root.stride) {
			continue
		}
		t.again[root] = v
		p.want(v)
		known++
	}
	if t.to != p.nb.b { // it need not find them
		p.gain += affineRootCost * known
	}
	p.failed = p.failed || known < len(roots) && p.only != nil || known == 0
}

// strides reports whether an affine number's stride is n, or can be made that.
func (p *affinePlanner) strides(v *affine, n int) bool {
	switch {
	case v.root == nil || v.scale == 0 || n%v.scale != 0:
		return false
	case p.only != nil:
		return v.stride == n
	case v.root.stride == 0:
		v.root.stride = n / v.scale
	}
	return v.root.stride*v.scale == n
}

// stale are the registers that were not written, those of them that which is true for.
func (p *affinePlanner) stale(which func(reg int) bool) (all []affineStale) {
	for _, reg := range slices.Sorted(maps.Keys(p.regs)) {
		if r := p.regs[reg]; r.stale && which(reg) {
			all = append(all, affineStale{reg: reg, slot: r.slot, stride: r.stride, part: r.part})
		}
	}
	return all
}

// unwritten are all of them, and the lower halves of sums, for whom the upper ones may have to be added by Go.
func (p *affinePlanner) unwritten() []affineStale {
	all := p.stale(func(int) bool { return true })
	for _, i := range slices.Sorted(maps.Keys(p.pairs)) {
		s := p.pairs[i]
		all = append(all, affineStale{s.reg, s.src.slot, s.src.stride, affineSum, s.term, s.mask})
	}
	return all
}

// writes notes that registers are to be written before an instruction.
func (p *affinePlanner) writes(s *affineStep, which func(reg int) bool) {
	for _, w := range p.stale(which) {
		s.write = append(s.write, w)
		r := p.regs[w.reg]
		r.stale = false
		p.regs[w.reg] = r
	}
}

// inst decides about an instruction.
func (p *affinePlanner) inst(i int) {
	in, s := &p.nb.ins[i], &p.plan.steps[i]
	if !p.nb.can[i] { // Go executes it
		p.writes(s, func(int) bool { return true })
		p.lost(0, 256, true) // what it writes is not only what it names
		return
	}
	if p.only == nil || p.only[i] {
		if p.instead(i) {
			return
		}
	}
	if n := accessesRow(in); n > 0 {
		if v := p.address(i, n); v != nil {
			s.address = v
			p.want(v)
			p.gain += affineBenefit
		}
	}
	vectorUses(in, func(reg, n int, write bool) {
		if write && writesWhole(in) || !write && s.address != nil && reg == int(in.Addr.Index) && !p.reads(in, reg) {
			return
		}
		p.writes(s, func(r int) bool { return r >= reg && r < reg+n })
	})
	s.stale = p.unwritten()
	vectorUses(in, func(reg, n int, write bool) { p.lost(reg, n, write) })
}

// want notes that an affine number is wanted, and so the instructions that have computed it.
func (p *affinePlanner) want(v *affine) {
	for _, j := range v.made {
		p.wanted[j] = true
	}
}

// reads reports whether an access reads a register other than for its address.
func (p *affinePlanner) reads(in *gcn.Inst, reg int) bool {
	at := gcn.Operand{Kind: gcn.VGPR, Index: uint16(reg), Width: 2}
	for _, o := range []*gcn.Operand{&in.Data, &in.Data1} {
		if overlap(o, max(1, int(o.Width)), &at, 2) {
			return true
		}
	}
	return false
}

// lost forgets what was in registers that are written.
func (p *affinePlanner) lost(reg, n int, write bool) {
	for r := reg; write && r < reg+n; r++ {
		delete(p.regs, r)
		p.written[r] = true
	}
}

// address is the address of an access of n bytes a lane, if the lanes' lie one after the other.
func (p *affinePlanner) address(i, n int) *affine {
	in := &p.nb.ins[i]
	if in.Addr.Kind != gcn.VGPR {
		return nil
	}
	reg := int(in.Addr.Index)
	var v *affine
	if in.Base.Kind == gcn.SGPR {
		if low := p.low(reg); low.affine != nil {
			v = low.affine
		}
	} else {
		v = p.pair(reg)
	}
	if v == nil || !p.strides(v, n) {
		return nil
	}
	return v
}

// low is what is in a register, if it is the lower half of an affine number: one that the block begins with is a root, perhaps.
func (p *affinePlanner) low(reg int) affineReg {
	if r, ok := p.regs[reg]; ok && r.part == affineLow {
		return r
	}
	if _, ok := p.regs[reg]; ok || p.written[reg] {
		return affineReg{}
	}
	return p.begins(reg, false)
}

// begins makes a root of what the block begins with, if it can be one.
func (p *affinePlanner) begins(reg int, wide bool) affineReg {
	root, v := p.roots[reg], p.value(wide)
	switch {
	case root == nil && p.only != nil, root != nil && root.wide != wide:
		return affineReg{}
	case root == nil:
		root = &affineRoot{reg: reg, wide: wide}
		p.roots[reg] = root
	}
	if v == nil {
		return affineReg{}
	}
	v.root, v.scale, v.stride, root.slot = root, 1, root.stride, v.slot
	p.regs[reg] = affineReg{v, affineLow, false}
	if wide {
		p.regs[reg+1] = affineReg{v, affineHigh, false}
	}
	return p.regs[reg]
}

// pair is the affine number in a pair of registers, nil if there is none. One that the block begins with is a root.
func (p *affinePlanner) pair(reg int) *affine {
	_, known := p.regs[reg]
	_, also := p.regs[reg+1]
	if !known && !also && !p.written[reg] && !p.written[reg+1] {
		return p.begins(reg, true).affine
	}
	return p.number(reg, true)
}

// number is the affine number whose lower half is in a register and, of a wide one, whose upper half is in the next. It is nil if there is none.
func (p *affinePlanner) number(reg int, wide bool) *affine {
	lo, hi := p.regs[reg], p.regs[reg+1]
	if lo.part != affineLow || wide && (hi.affine != lo.affine || hi.part != affineHigh) {
		return nil
	}
	return lo.affine
}

// value finds a slot for another number. It is nil if there is none.
func (p *affinePlanner) value(wide bool) *affine {
	var used [affineSlots]bool
	for _, r := range p.regs {
		used[r.slot] = true
	}
	for _, s := range p.pairs {
		used[s.src.slot] = true
		if s.term.affine != nil {
			used[s.term.slot] = true
		}
	}
	for i, u := range used {
		if !u {
			return &affine{slot: i, wide: wide}
		}
	}
	return nil
}
