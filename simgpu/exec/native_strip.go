//go:build linux && amd64

package exec

import (
	"maps"
	"slices"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Instructions in a row that work lane by lane are executed a quarter at a time: all of them on the first 16 lanes, then all on the next.
// So few lanes have room in registers of the processor, where what one instruction computes is for the next. Processors with AVX-512 have pinned registers
// for that; see pins.

const (
	firstOfStrip = 8  // Z0 to Z7 are for what lasts an instruction
	mostOfStrip  = 20 // registers of a strip; Z28 and up are for matrices
)

// leastOfStrip is how many instructions a strip has at least, and how often they use a register that it has. Tests set it.
var leastOfStrip = 2

// strip is such a row while it is generated for a quarter.
type strip struct {
	q  int
	in map[int]x64.Z // where vector registers are
}

// at is the register with a quarter of a vector register, if there is one.
func (s *strip) at(reg, q int) (x64.Z, bool) {
	if s == nil || q != s.q {
		return 0, false
	}
	z, ok := s.in[reg]
	return z, ok
}

// turns are the quarters that code is generated for.
func (g *nativeGen) turns() []int {
	if g.strip != nil {
		return []int{g.strip.q}
	}
	return []int{0, 1, 2, 3}[:g.quarterCount()]
}

// acrossLanes are the instructions, among those on vectors that name no lanes, whose code is not by turns.
var acrossLanes = map[string]bool{"v_div_scale_f32": true, "v_div_scale_f64": true}

// madding are the products with sums of register pairs.
var madding = map[string]bool{"v_mad_u64_u32": true, "v_mad_i64_i32": true}

// rowOf finds out how far a strip goes.
type rowOf struct {
	g      *nativeGen
	places map[int]ldsPlace
	reads  []gcn.Operand // scalar registers that its vector instructions have read
	holder int           // 1 + the mask that is held
	mask   int           // 1 + the mask that is made a scalar register, which is whole behind the last turn
}

// stripEnd is the first instruction of the block, from i on, that no strip of i and those behind it has.
func (g *nativeGen) stripEnd(i int) int {
	if hasAVX512 {
		return i
	}
	defer func(idx int) { g.idx = idx }(g.idx)
	r := rowOf{g: g, places: maps.Clone(g.places), holder: g.held}
	start, last := i, i // a strip ends with a vector instruction
	for ; i < len(g.nb.b.ops) && g.nb.can[i]; i++ {
		g.idx = i
		if s := g.affineStep(); s != nil && (s.make != nil || i > start && len(s.write) > 0) {
			break
		}
		if s := g.knownStep(); s != nil && s.folds {
			break
		}
		in := &g.nb.ins[i]
		if !isVALU(in) {
			if !r.scalar(in) {
				break
			}
			continue
		}
		if !r.vector(in) || in.Dual != nil && !r.vector(in.Dual) {
			break
		}
		last = i + 1
	}
	return last
}

// scalar reports whether a scalar instruction may stand between the vector instructions: it is executed in the first turn. Those that change EXEC
// end a block.
func (r *rowOf) scalar(in *gcn.Inst) bool {
	switch in.Enc {
	case gcn.SOPP:
		return in.Dst.Kind == gcn.None && nativeScalar[in.Op.String()] != nil
	case gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK:
	default:
		return false
	}
	r.holder = r.g.heldBehind(in, r.holder)
	return r.mask == 0 && !r.overwrites(&in.Dst) && !r.overwrites(&in.SDst)
}

// overwrites reports whether a scalar register is written that was read before.
func (r *rowOf) overwrites(o *gcn.Operand) bool {
	return slices.ContainsFunc(r.reads, func(read gcn.Operand) bool { return overlap(o, max(1, int(o.Width)), &read, max(1, int(read.Width))) })
}

// vector reports whether a vector instruction works lane by lane, and what else than vector registers it writes is a mask that can be in turns.
func (r *rowOf) vector(in *gcn.Inst) bool {
	g, name := r.g, in.Op.String()
	if !isVALU(in) || in.Enc == gcn.MFMA || mayLeave[name] || acrossLanes[name] || crossesLanes(in) || !isVec(&in.Dst) && !comparing[name] || r.wants(in) {
		return false
	}
	if r.mask != 0 {
		if reads, selects := readsMask(in, r.mask-1, g.maskRegs()); reads && (!selects || r.holder != r.mask) {
			return false
		}
	}
	if !r.makes(in) {
		return false
	}
	for _, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Src[2]} {
		if from := g.uniform[int(o.Index)]; from != nil && o.Kind == gcn.VGPR {
			o = from
		}
		if o.Kind == gcn.SGPR {
			r.reads = append(r.reads, *o)
		}
	}
	if in.Info.Flags&gcn.ReadsVCC != 0 {
		r.reads = append(r.reads, gcn.Operand{Kind: gcn.SGPR, Index: regVCC, Width: 2})
	}
	vectorUses(in, func(reg, n int, write bool) {
		for x := reg; write && x < reg+n; x++ {
			delete(r.places, x)
		}
	})
	return true
}

// makes reports whether a vector instruction makes no mask, or one that can be made in turns.
func (r *rowOf) makes(in *gcn.Inst) bool {
	g, name, mask := r.g, in.Op.String(), &in.SDst
	if comparing[name] {
		mask = &in.Dst
	}
	if mask.Kind == gcn.None && in.Info.Flags&gcn.WritesVCC == 0 {
		return true
	}
	d, err := sdst(mask, g.maskRegs())
	if err != nil {
		return false
	}
	stored, held := g.fate(int(d))
	switch {
	case madding[name]:
		return (!stored || d == regLost) && !held && isWhole(&in.Src[2])
	case !comparing[name] && !carrying[name], r.mask != 0 && (stored || overlap(mask, g.maskRegs(), &gcn.Operand{Kind: gcn.SGPR, Index: uint16(r.mask - 1)}, g.maskRegs())):
		return false
	case stored && g.forms != nil: // what has places is found by the register that gathers the mask
		return false
	}
	if stored {
		r.mask = int(d) + 1
	}
	if r.holder = g.heldBehind(in, r.holder); held {
		r.holder = int(d) + 1
	}
	return true
}

// wants reports whether an instruction wants the contents of registers that are at other places, other than it takes them from there.
func (r *rowOf) wants(in *gcn.Inst) bool {
	g := r.g
	if g.forms == nil {
		return false
	}
	wants := false
	needsRead(in, func(reg, n int) {
		for at := range r.places {
			wants = wants || at >= reg && at < reg+n
		}
	})
	return wants || slices.ContainsFunc(g.kept, func(k ldsRange) bool { return k.written(in) })
}

// inTurns generates instructions from i to end, which are a strip.
func (g *nativeGen) inTurns(i, end int) {
	g.r.turns += end - i
	in := g.ofStrip(i, end)
	kept, dead := g.endsOf(in, i, end)
	uniform, places, ranges, held := g.uniform, g.places, g.ranges, g.held
	for _, q := range g.turns()[:g.fewTurns()] {
		g.uniform, g.places, g.ranges, g.held = maps.Clone(uniform), maps.Clone(places), slices.Clone(ranges), held
		g.strip = &strip{q, in}
		for reg, z := range in {
			g.a.Home(z, memoryOf(reg, q))
		}
		for g.idx = i; g.idx < end; g.idx++ {
			in := &g.nb.ins[g.idx]
			if q > 0 && !isVALU(in) { // that was done
				g.held = g.heldBehind(in, g.held)
				continue
			}
			g.one(in)
			g.a.Dead(dead[g.idx-i], 0)
		}
		if g.full && !g.selects(end) {
			g.a.Dead(0, 1<<(1+q))
		}
		g.a.Leave(kept)
		g.strip = nil
	}
}

// selects reports whether an instruction of the block, from i on, selects by the mask that is held.
func (g *nativeGen) selects(i int) bool {
	for held := g.held; held != 0 && i < len(g.nb.b.ops) && g.nb.can[i]; i++ {
		in := &g.nb.ins[i]
		if reads, _ := readsMask(in, held-1, g.maskRegs()); reads {
			return true
		}
		held = g.heldBehind(in, held)
	}
	return false
}

// ofStrip chooses the vector registers that are in registers in a strip.
func (g *nativeGen) ofStrip(i, end int) map[int]x64.Z {
	in, uses := map[int]x64.Z{}, map[int]int{}
	for j := i; j < end; j++ {
		vectorUses(&g.nb.ins[j], func(reg, n int, _ bool) {
			for r := reg; r < min(reg+n, 256); r++ {
				if uses[r]++; uses[r] == leastOfStrip && len(in) < mostOfStrip {
					in[r] = x64.Z(firstOfStrip + len(in))
				}
			}
		})
	}
	return in
}

// endsOf says which registers matter behind a strip, and which do not behind each of its instructions.
func (g *nativeGen) endsOf(in map[int]x64.Z, i, end int) (kept uint32, dead []uint32) {
	for r, z := range in {
		if g.matters(r, end) {
			kept |= 1 << z
		}
	}
	live, dead := kept, make([]uint32, end-i)
	for j := end - 1; j >= i; j-- {
		var written, read uint32
		whole := writesWhole(&g.nb.ins[j])
		vectorUses(&g.nb.ins[j], func(reg, n int, write bool) {
			for r := reg; r < reg+n; r++ {
				if z, ok := in[r]; ok && write && whole {
					written |= 1 << z
				} else if ok {
					read |= 1 << z
				}
			}
		})
		dead[j-i] = (written | read) &^ live
		live = live&^written | read
	}
	return kept, dead
}

// matters reports whether what is in a vector register before instruction i may be read.
func (g *nativeGen) matters(reg, i int) bool {
	for ; i < len(g.nb.b.ops); i++ {
		in := &g.nb.ins[i]
		reads, writes := false, false
		vectorUses(in, func(first, n int, write bool) {
			if reg >= first && reg < first+n {
				reads, writes = reads || !write, writes || write
			}
		})
		switch {
		case !g.nb.can[i] || crossesLanes(in) || endsLive && !holdsMasks(in) || reads:
			return true
		case writes:
			return !writesWhole(in)
		}
	}
	live := g.liveOut[g.nb.b]
	return live.has(reg)
}
