//go:build linux && amd64

package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Which vector registers matter where a block begins: those that are read before something else is in them. What may
// follow a region without being part of it is looked at as well, as far as it is not much; behind that, every register
// matters.

// regSet is a set of vector registers.
type regSet [4]uint64

func (s *regSet) add(reg, n int) {
	for r := reg; r < min(reg+n, 256); r++ {
		s[r>>6] |= 1 << (r & 63)
	}
}

func (s *regSet) remove(reg int) { s[reg>>6] &^= 1 << (reg & 63) }

func (s *regSet) has(reg int) bool { return reg < 256 && s[reg>>6]>>(reg&63)&1 != 0 }

// plus is s and o together, without those in not.
func (s *regSet) plus(o, not *regSet) (sum regSet) {
	for i := range sum {
		sum[i] = s[i] | o[i]&^not[i]
	}
	return sum
}

var allRegs = regSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// What is looked at behind a region.
const (
	beyondBlocks = 64
	beyondInsts  = 1024
)

// successors are the blocks that may follow b, whose instructions are ins, executed before or not. It is false if nobody knows.
func (p *Program) successors(b *block, ins []gcn.Inst) (next, target *block, ok bool) {
	name := endName(b, ins)
	_, branches := nativeBranches[name]
	switch {
	case name == "s_endpgm":
		return nil, nil, !endsLive
	case name != "" && name != "s_barrier" && name != "s_branch" && !branches:
		return nil, nil, false
	}
	if name != "s_branch" {
		next = p.made(b.end)
	}
	if name == "s_branch" || branches {
		target = p.made(b.targetPC)
	}
	return next, target, true
}

// endName is the name of the instruction that ends a block, empty if there is none.
func endName(b *block, ins []gcn.Inst) string {
	if len(b.at) > len(b.ops) {
		return ins[len(b.ops)].Op.String()
	}
	return ""
}

// lookBeyond adds what may follow the region's blocks to what is looked at.
func (g *nativeGen) lookBeyond() {
	known := map[*block]bool{}
	var queue []*block
	follow := func(nb *nativeBlock) {
		nb.next, nb.target, nb.known = g.p.successors(nb.b, nb.ins)
		for _, n := range []*block{nb.next, nb.target} {
			if n != nil && !known[n] {
				known[n] = true
				queue = append(queue, n)
			}
		}
	}
	for i := range g.blocks {
		known[g.blocks[i].b] = true
	}
	for i := range g.blocks {
		// What is not part of the region is no block to go to: it stays as it was found.
		nb := g.blocks[i]
		follow(&nb)
		g.around = append(g.around, nb)
	}
	for insts := 0; len(queue) > 0 && len(g.around) < len(g.blocks)+beyondBlocks; queue = queue[1:] {
		b := queue[0]
		if b.dead.Load() {
			continue
		}
		ins, ok := g.p.instructions(b)
		if insts += len(ins); !ok || insts > beyondInsts {
			continue
		}
		nb := nativeBlock{b: b, ins: ins}
		follow(&nb)
		g.around = append(g.around, nb)
	}
}

// findLive computes which vector registers matter where each block begins. A lane that is not active does not execute the
// block at all, so what a block writes it need not have had, but blocks behind it may read other lanes.
func (g *nativeGen) findLive() {
	g.lookBeyond()
	reads := make([]regSet, len(g.around))
	for i := range g.around {
		nb := &g.around[i]
		var written regSet
		for j := range nb.b.ops {
			in := &nb.ins[j]
			if !mayTranslate(in) || crossesLanes(in) {
				reads[i] = allRegs
				break
			}
			whole := writesWhole(in)
			vectorUses(in, func(reg, n int, write bool) {
				if !write || !whole {
					var used regSet
					used.add(reg, n)
					reads[i] = reads[i].plus(&used, &written)
				}
			})
			if whole {
				vectorUses(in, func(reg, n int, write bool) {
					if write {
						written.add(reg, n)
					}
				})
			}
		}
	}
	g.live = make(map[*block]regSet, len(g.around))
	for i := range g.around {
		g.live[g.around[i].b] = reads[i]
	}
	g.liveOut = make(map[*block]regSet, len(g.around))
	for changed := true; changed; {
		changed = false
		for i := len(g.around) - 1; i >= 0; i-- {
			nb := &g.around[i]
			out := g.liveBehind(nb)
			g.liveOut[nb.b] = out
			in := g.live[nb.b]
			if sum := in.plus(&out, &regSet{}); sum != in {
				g.live[nb.b] = sum
				changed = true
			}
		}
	}
}

// liveBehind are the registers that matter where a block ends, by what is known so far.
func (g *nativeGen) liveBehind(nb *nativeBlock) (out regSet) {
	if !nb.known {
		return allRegs
	}
	for _, n := range []*block{nb.next, nb.target} {
		if n == nil {
			continue
		}
		live, ok := g.live[n]
		if !ok {
			return allRegs
		}
		out = out.plus(&live, &regSet{})
	}
	return out
}

// pinsOf are the pinned registers of a set.
func (g *nativeGen) pinsOf(s *regSet) (set uint8) {
	for i, r := range g.pins.regs {
		if s.has(int(r)) {
			set |= 1 << i
		}
	}
	return set
}

// needed are the pinned registers that matter where a block of the region begins.
func (g *nativeGen) needed(b *block) uint8 {
	live := g.live[b]
	return g.pinsOf(&live)
}

// mayTranslate reports whether some form of an instruction can be translated: it uses no registers but those that it names.
func mayTranslate(in *gcn.Inst) bool {
	name := in.Op.String()
	return (nativeScalar[name] != nil || nativeVector[name] != nil || nativeMemory[name] != nil) && (in.Dual == nil || mayTranslate(in.Dual))
}

// readsVCC reports whether what ends a block, or something behind it, may read VCC before it is written again.
func (g *nativeGen) readsVCC(nb *nativeBlock) bool {
	if endsLive {
		return true
	}
	reads, known := g.vccRead[nb.b]
	if !known {
		reads = g.findVCCRead(nb)
		g.vccRead[nb.b] = reads
	}
	return reads
}

func (g *nativeGen) findVCCRead(nb *nativeBlock) bool {
	around := make(map[*block]*nativeBlock, len(g.around))
	for i := range g.around {
		around[g.around[i].b] = &g.around[i]
	}
	queue := []*block{nb.b}
	seen := map[*block]bool{}
	for from := len(nb.b.ops); len(queue) > 0; from, queue = 0, queue[1:] {
		n := around[queue[0]]
		if n == nil || !n.known {
			return true
		}
		reads, writes := g.usesVCC(n.ins[from:])
		switch {
		case reads:
			return true
		case writes:
			continue
		}
		for _, next := range []*block{n.next, n.target} {
			if next != nil && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// usesVCC reports whether VCC is read by instructions before it is written, or else written.
func (g *nativeGen) usesVCC(ins []gcn.Inst) (reads, writes bool) {
	n := g.maskRegs()
	mask := gcn.Operand{Kind: gcn.SGPR, Index: regVCC}
	for i := range ins {
		in := &ins[i]
		if c, ok := nativeBranches[in.Op.String()]; ok && c.reg == regVCC {
			return true, false
		}
		if reads, _ := readsMask(in, regVCC, n); reads {
			return true, false
		}
		for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
			if overlap(o, max(1, int(o.Width)), &mask, n) && int(o.Index) == regVCC && int(o.Width) == n {
				return false, true
			}
		}
	}
	return false, false
}
