//go:build linux && amd64

package exec

import (
	"maps"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Registers of translated code: RBX the wave, RSI its vector registers, R8 its
// accumulation registers, from the one in the middle of those that are reached by a short displacement, RDI the LDS, RDX device memory; R12 EXEC, R11 and R13 to R15 other scalar registers; K1 to K4 EXEC, 16 lanes
// each; Z8 and up what is pinned.
const (
	rW   = x64.RBX
	rV   = x64.RSI
	rA   = x64.R8
	rLDS = x64.RDI
)

// vectorsFrom is where in the memory of vector registers RSI and R8 point.
const vectorsFrom = 128 * 64

// size is how many lanes the waves have: where that is 32, registers have them in their lower halves, and code is for two quarters of these.
func (g *nativeGen) size() int { return g.p.arch.WaveSize() }
func (g *nativeGen) quarterCount() int {
	if g.first {
		return 1
	}
	return g.size() / 16
}

// wide reports whether a lane mask is a pair of scalar registers.
func (g *nativeGen) wide() bool { return g.size() == 64 }

// maskRegs is how many scalar registers a lane mask is.
func (g *nativeGen) maskRegs() int { return 1 + btoi(g.wide()) }

// lanes is the mask of a quarter's active lanes, for instructions that take one.
func (g *nativeGen) lanes(q int) x64.K {
	if g.full {
		return 0
	}
	return x64.K(1 + q)
}

// active takes the lanes that are not active out of k.
func (g *nativeGen) active(k x64.K, q int) {
	if !g.full {
		g.a.K(x64.KAND, k, k, g.lanes(q))
	}
}

// copyLanes makes k the active lanes.
func (g *nativeGen) copyLanes(k x64.K, q int) {
	if g.full {
		g.a.K(x64.KXNOR, k, k, k)
		return
	}
	g.a.KMov(k, g.lanes(q))
}

// nativeGen generates the code of a region.
type nativeGen struct {
	p       *Program
	a       x64.Asm
	r       *region
	blocks  []nativeBlock
	starts  map[*block]x64.Label // bodies
	entries []x64.Label          // by block: set up the registers and go to the body
	begins  x64.Label            // where a wave begins with the first block, and all registers are set up
	falls   *block               // the one whose code follows what is generated; nil: none
	resumes []x64.Label          // by exit; -1: none

	heads   map[*block]bool // blocks that one behind them goes back to
	depth   []int           // how many loops each block is in
	pins    pins
	scalars []scalarPin
	dirtyIn map[*block]uint8 // pinned registers that may be dirty where a block begins

	around        []nativeBlock     // the region's blocks and what may follow them; see findLive
	live, liveOut map[*block]regSet // vector registers that matter where a block begins, and where it ends
	vccRead       map[*block]bool   // see readsVCC

	matrices map[any]x64.Label // code of matrix instructions, see callMatrix

	rings  map[int32]x64.Label // see stopsOtherwise, and 0: chooseOfRing
	afresh map[bool]x64.Label  // see beginsInRing
	stubs  []func()            // what stands behind the code
	full   bool                // all lanes are active in what is generated
	few    bool                // none is behind the first quarter; see native_few.go
	first  bool                // the current instruction is executed for that quarter alone
	strip  *strip              // that is generated; nil: none
	blk    *block              // being generated
	nb     *nativeBlock
	idx    int

	halved [256]bool // scalar registers that a store of 32 bits has written in the block, see joinHalves

	held, holds int // 1 + the scalar register pair whose mask is in K1 to K4; what it is behind the instruction

	plans  map[*block]*affinePlan
	affine *affinePlan   // of what is generated; nil: none
	stale  []affineStale // registers that the current instruction finds not written

	knowns map[*block]*knownPlan
	known  *knownPlan // of what is generated; nil: none

	uniform map[int]*gcn.Operand // what is in vector registers of the block, which were not written; see skips

	forms  map[int]ldsForm  // what is known of the addresses in kept slots, in what is generated
	places map[int]ldsPlace // of vector registers whose contents are in the LDS

	ranges    []ldsRange // known in the block
	nextRange int
	kept      []ldsRange  // known all through the region, by slot
	keptAt    []x64.Label // code that finds it out, and goes to R10
}

func (g *nativeGen) generate() []byte {
	g.begins = g.a.Label()
	for i := range g.blocks {
		g.entries = append(g.entries, g.a.Label())
		nb := &g.blocks[i]
		nb.can = make([]bool, len(nb.b.ops))
		for j := range nb.can {
			nb.can[j] = g.can(nb.b, &nb.ins[j])
		}
	}
	g.findLive()
	g.vccRead = map[*block]bool{}
	g.depth = g.depths()
	g.chooseRanges()
	g.choosePins()
	g.chooseScalars()
	g.flow()
	g.planAffine()
	g.planKnown()
	for i := range g.blocks {
		g.block(i)
	}
	g.falls = nil
	for i := range g.blocks {
		g.a.Bind(g.entries[i])
		g.setUp()
		g.loadPins(g.needed(g.blocks[i].b))
		g.a.Jump(g.starts[g.blocks[i].b])
	}
	for i := 0; i < len(g.stubs); i++ { // some add others
		g.stubs[i]()
	}
	return g.a.Finish()
}

// later has f generate code behind that of all blocks, as things stand here: what is rarely executed would only be in the way.
func (g *nativeGen) later(f func()) {
	nb, blk, idx, full, dirty, held, stale := g.nb, g.blk, g.idx, g.full, g.pins.dirty, g.held, g.stale
	uniform := maps.Clone(g.uniform)
	g.stubs = append(g.stubs, func() {
		g.nb, g.blk, g.idx, g.full, g.pins.dirty, g.held, g.stale = nb, blk, idx, full, dirty, held, stale
		g.uniform = uniform
		f()
		g.stale = nil
	})
}

// setUp loads the general registers.
func (g *nativeGen) setUp() {
	g.setUpPointers()
	g.loadScalars()
}

// setUpPointers loads those that say where things are.
func (g *nativeGen) setUpPointers() {
	g.a.Load(true, rV, x64.At(rW, waveV))
	g.a.Load(true, rA, x64.At(rW, waveA))
	for _, r := range []x64.Reg{rV, rA} {
		g.a.OpImm(x64.ADD, true, r, vectorsFrom)
	}
	g.a.Load(true, rLDS, x64.At(rW, waveLDS))
	g.a.Imm(rMem, g.p.mem.Base)
}

func (g *nativeGen) loadExec() {
	for q := range g.quarterCount() {
		g.quarterOf(x64.K(1+q), rExec, q)
	}
}

// exit makes the place where code returns for x, and returns its label.
func (g *nativeGen) exit(x nativeExit, resume x64.Label) x64.Label {
	id := len(g.r.exits)
	g.r.exits = append(g.r.exits, x)
	g.resumes = append(g.resumes, resume)
	l, dirty := g.a.Label(), g.pins.dirty
	if x.kind == exitOps {
		g.r.exits[id].affine = g.stale
	}
	if x.kind == exitNext || x.kind == exitTaken {
		out := g.liveOut[x.blk]
		dirty &= g.pinsOf(&out)
	}
	g.stubs = append(g.stubs, func() {
		g.a.Bind(l)
		g.storePins(dirty)
		g.a.Imm(x64.RAX, uint64(id))
		g.a.Ret()
	})
	return l
}

// resumeAt makes the place where Go comes back to: what follows here.
func (g *nativeGen) resumeAt(here x64.Label) x64.Label {
	l, full := g.a.Label(), g.full
	g.stubs = append(g.stubs, func() {
		g.a.Bind(l)
		g.setUp()
		g.loadPins(0xff)
		if !full {
			g.loadExec()
		}
		g.a.Jump(here)
	})
	return l
}

func (g *nativeGen) block(i int) {
	nb := &g.blocks[i]
	b, a := nb.b, &g.a
	g.blk = b
	g.r.needV, g.r.needA = max(g.r.needV, b.needV), max(g.r.needA, b.needA)
	a.Bind(g.starts[b])
	g.pins.dirty = g.dirtyIn[b]
	if g.heads[b] {
		a.CmpShort(x64.At(rW, waveTally), maxTally)
		a.JumpIf(x64.AE, g.exit(nativeExit{kind: exitTally, blk: b}, -1))
	}
	g.falls = nil
	var after *block
	if i+1 < len(g.blocks) {
		after = g.blocks[i+1].b
	}
	if nb.isScalar() {
		if i == 0 {
			a.Bind(g.begins)
		}
		g.full, g.falls = false, after
		g.body(nb)
		return
	}
	// Most blocks are executed with all lanes active: they have code for that.
	masked := a.Label()
	a.OpImm(x64.CMP, g.wide(), rExec, -1)
	a.JumpIf(x64.NE, masked)
	if i == 0 {
		a.Bind(g.begins)
	}
	g.full = true
	if forms := g.formed(i); len(forms) > 0 {
		g.byForm(nb, forms)
	} else if plan := g.plans[b]; plan != nil {
		g.findRoots(plan, g.withoutPlan(nb))
		g.affine = plan
		a.Bind(plan.start)
	} else if known := g.knowns[b]; known != nil {
		if len(known.begins) > 0 {
			g.checkKnown(known, g.withoutPlan(nb))
		}
		g.known = known
	}
	g.falls = after
	g.body(nb)
	g.known = nil
	g.stubs = append(g.stubs, func() {
		a.Bind(masked)
		g.blk, g.full = b, false
		if g.worthFew(nb) {
			g.fewLanes(nb)
		}
		g.body(nb)
	})
}

// withoutPlan is where there is a block's code for all lanes that supposes nothing of registers.
func (g *nativeGen) withoutPlan(nb *nativeBlock) x64.Label {
	l := g.a.Label()
	g.stubs = append(g.stubs, func() {
		g.a.Bind(l)
		g.blk, g.full = nb.b, true
		g.body(nb)
	})
	return l
}

// isScalar reports whether it makes no difference to the block's code which lanes are active.
func (nb *nativeBlock) isScalar() bool {
	for j := range nb.b.ops {
		switch nb.ins[j].Enc {
		case gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK, gcn.SOPP, gcn.SMEM:
		default:
			return false
		}
	}
	return true
}

func (g *nativeGen) body(nb *nativeBlock) {
	b, a := nb.b, &g.a
	g.pins.dirty = g.dirtyIn[b]
	g.tally(b)
	if !g.full && !nb.isScalar() {
		g.loadExec()
	}
	g.nb, g.ranges, g.held = nb, nil, 0
	g.uniform, g.halved = map[int]*gcn.Operand{}, [256]bool{}
	if g.forms != nil {
		g.places = map[int]ldsPlace{}
	}
	for i := 0; i < len(b.ops); i++ {
		g.idx = i
		if s := g.affineStep(); s != nil {
			g.writeAffine(s.write)
			g.stale = s.stale
			if s.make != nil {
				g.instead(&nb.ins[i], s)
				continue
			}
		}
		if s := g.knownStep(); s != nil && s.folds {
			g.r.folded++
			g.fold(&nb.ins[i], s)
			continue
		}
		if n := g.stripEnd(i); n >= i+leastOfStrip {
			g.inTurns(i, n)
			i = n - 1
			continue
		}
		if nb.can[i] {
			g.one(&nb.ins[i])
			continue
		}
		if canRelative(&nb.ins[i]) {
			g.relative(&nb.ins[i])
			continue
		}
		// What Go executes in a row costs one return.
		n := i + 1
		for n < len(b.ops) && !nb.can[n] && !canRelative(&nb.ins[n]) {
			n++
		}
		g.readAll(allRegs.has)
		g.forms = nil
		back := a.Label()
		a.Jump(g.exit(nativeExit{kind: exitOps, blk: b, from: i, to: n}, g.resumeAt(back)))
		a.Bind(back)
		g.pins.dirty, g.ranges, g.held = 0, nil, 0
		g.disown()
		i = n - 1
	}
	live := g.liveOut[b]
	g.readAll(live.has)
	if plan := g.affine; plan != nil {
		g.affine, g.stale = nil, nil
		if plan.turn != nil {
			g.turnTo(nb, plan)
			return
		}
		g.writeAffine(plan.write)
	}
	g.end(nb)
}

// tally counts the instructions of a block.
func (g *nativeGen) tally(b *block) {
	add := func(at int, n uint64) {
		if n != 0 {
			g.a.Imm(x64.RAX, n)
			g.a.OpTo(x64.ADD, true, x64.At(rW, at), x64.RAX)
		}
	}
	add(waveLow, b.tallied.low)
	add(waveHigh, b.tallied.high)
	switch {
	case g.full:
		add(waveLanes, b.tallied.lanes*uint64(g.size()))
	case b.tallied.lanes != 0:
		g.countLanes(waveLanes, b.tallied.lanes)
	}
}

// one generates an instruction that can be translated.
func (g *nativeGen) one(in *gcn.Inst) {
	if g.skips(in) {
		g.unplace(int(in.Dst.Index), 1)
		g.forget(in)
		return
	}
	g.between()
	g.beforeInst(in)
	g.settle(in)
	g.joinHalves(in)
	g.holds = 0
	g.first = g.few && laneByLane(in)
	g.inst(in)
	g.first = false
	g.afterInst(in)
	g.notUniform(in)
	if g.held = g.heldBehind(in, g.held); g.holds != 0 {
		g.held = g.holds
	}
	g.pins.dirty |= g.written(in)
	g.forget(in)
}

// instead generates what stands for an instruction.
func (g *nativeGen) instead(in *gcn.Inst, s *affineStep) {
	g.joinHalves(in)
	s.make(g)
	g.replaced(in)
}

// replaced notes what follows from an instruction that something else was generated for.
func (g *nativeGen) replaced(in *gcn.Inst) {
	g.notUniform(in)
	g.held = g.heldBehind(in, g.held)
	g.forget(in)
}

// between says that nobody needs any more what lasts an instruction.
func (g *nativeGen) between() { g.a.Dead(1<<firstPinned-1, 0xff&^(1<<1|1<<2|1<<3|1<<4)) }

// countLanes adds n for each active lane to a counter of the wave.
func (g *nativeGen) countLanes(at int, n uint64) {
	g.a.Popcnt(true, x64.RCX, rExec)
	g.a.Imm(x64.RAX, n)
	g.a.Mul(true, x64.RAX, x64.RCX)
	g.a.OpTo(x64.ADD, true, x64.At(rW, at), x64.RAX)
}

// can reports whether an instruction can be translated.
func (g *nativeGen) can(b *block, in *gcn.Inst) bool {
	try := nativeGen{p: g.p, r: &region{}, blk: b}
	try.lower()
	return try.inst(in) && !try.a.Missing()
}

// lower makes code for processors without AVX-512, if this is one.
func (g *nativeGen) lower() {
	if !hasAVX512 {
		g.a.Lower(rW, waveSlots)
	}
}

// punt makes Go execute the current instruction after all, and returns the label
// to go to for that. done stands behind the instruction.
func (g *nativeGen) punt(done x64.Label) x64.Label {
	return g.exit(nativeExit{kind: exitOps, blk: g.blk, from: g.idx, to: g.idx + 1, why: leftByCode}, g.resumeAt(done))
}

// end goes to the block after nb.
func (g *nativeGen) end(nb *nativeBlock) {
	b, a := nb.b, &g.a
	switch {
	case b.gives != 0:
		g.atWait(nb)
		return
	case len(b.at) == len(b.ops): // EXEC has changed, or the block was too long
		g.next(nb)
		return
	}
	name := nb.ins[len(b.ops)].Op.String()
	if name == "s_branch" {
		a.Jump(g.taken(nb))
		return
	}
	c, ok := nativeBranches[name]
	if !ok {
		out := g.exit(nativeExit{kind: exitTerm, blk: b}, -1)
		switch name {
		case "s_endpgm":
			g.nextWave(out)
		case "s_barrier":
			g.atBarrier(nb, len(g.r.exits)-1, out)
		default:
			a.Jump(out)
		}
		return
	}
	wide := c.reg != regSCC && g.wide()
	a.OpImm(x64.CMP, wide, g.scalarAt(c.reg, wide), 0)
	a.JumpIf(c.taken, g.taken(nb))
	g.next(nb)
}

// nativeBranches are the conditional branches: what they compare with zero, a
// scalar register pair or SCC, and when they are taken.
var nativeBranches = map[string]struct {
	reg   int
	taken x64.Cond
}{
	"s_cbranch_scc0": {regSCC, x64.E}, "s_cbranch_scc1": {regSCC, x64.NE},
	"s_cbranch_vccz": {regVCC, x64.E}, "s_cbranch_vccnz": {regVCC, x64.NE},
	"s_cbranch_execz": {regEXEC, x64.E}, "s_cbranch_execnz": {regEXEC, x64.NE},
}

func (g *nativeGen) taken(nb *nativeBlock) x64.Label {
	if l, ok := g.starts[nb.target]; ok {
		return l
	}
	return g.exit(nativeExit{kind: exitTaken, blk: nb.b}, -1)
}

func (g *nativeGen) next(nb *nativeBlock) {
	if g.falls != nil && g.falls == nb.next {
		return
	}
	if l, ok := g.starts[nb.next]; ok {
		g.a.Jump(l)
		return
	}
	g.a.Jump(g.exit(nativeExit{kind: exitNext, blk: nb.b}, -1))
}

// endsOutside reports whether Go executes what ends a block.
func (g *nativeGen) endsOutside(nb *nativeBlock) bool {
	name := nb.ins[len(nb.b.ops)].Op.String()
	_, branch := nativeBranches[name]
	return !branch && name != "s_branch"
}

// inst translates an instruction that does not end its block. It emits nothing
// if it cannot.
func (g *nativeGen) inst(in *gcn.Inst) bool {
	if usesZ(in) || !g.canNull(in) || refused(in) != "" || in.Enc == gcn.VOP3P && in.Form == gcn.FormDPP {
		return false
	}
	if in.Dual != nil {
		return g.dual(in)
	}
	name := in.Op.String()
	switch in.Enc {
	case gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK, gcn.SOPP:
		if f := nativeScalar[name]; f != nil {
			return f(g, in)
		}
		return false
	case gcn.DS, gcn.SMEM, gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH, gcn.MUBUF:
		if f := nativeMemory[name]; f != nil {
			return f(g, in)
		}
		return false
	}
	if f := nativeVector[name]; f != nil {
		return f(g, in)
	}
	return false
}
