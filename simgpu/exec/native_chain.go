//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The end of a wave in a chain: the next one begins without going back to Go.

// chainRegion is the region that begins with b.
func (b *block) chainRegion() *region {
	if e := b.entry.Load(); e != nil && e.at == e.r.begin {
		return e.r
	}
	return nil
}

// nextWave makes the wave the next one of its chain; at the label out Go does. Waves begin with the region's first block: Go
// sees to it that there is no chain otherwise.
func (g *nativeGen) nextWave(out x64.Label) {
	a := &g.a
	a.CmpShort(x64.At(rW, waveTally), maxTally)
	a.JumpIf(x64.AE, out)
	begin, last, fresh, some := a.Label(), a.Label(), a.Label(), a.Label()
	a.OpImm(x64.CMP, true, x64.At(rW, meetNext), 0)
	a.JumpIf(x64.NE, g.endsInRing(out))
	a.OpImm(x64.SUB, false, x64.At(rW, chainLeft), 1)
	a.JumpIf(x64.B, last)
	a.OpImm(x64.CMP, false, x64.At(rW, chainOther), 0)
	a.JumpIf(x64.NE, g.wholeBegin(begin, last))
	lines, whole := g.linesWritten()
	g.beginLines(lines)
	if whole {
		g.beginRest()
	}
	a.Bind(begin)
	a.Load(true, x64.RAX, x64.At(rW, chainAt))
	a.Op(x64.CMP, true, x64.RAX, x64.At(rW, chainLast))
	a.JumpIf(x64.E, fresh)
	a.OpImm(x64.ADD, true, x64.RAX, 4*WaveSize)
	a.Bind(some)
	g.stubs = append(g.stubs, func() {
		a.Bind(last) // there is none
		a.OpImm(x64.ADD, false, x64.At(rW, chainLeft), 1)
		a.Jump(out)
		a.Bind(fresh) // a workgroup
		a.OpImm(x64.ADD, false, x64.At(rW, chainGroup), 1)
		a.Load(true, x64.RAX, x64.At(rW, chainIDs))
		a.Jump(some)
	})
	a.Store(true, x64.At(rW, chainAt), x64.RAX)
	g.beginWave()
}

// beginWave goes to the beginning of a wave, the ids of whose work-items are at RAX. Scalar registers are what they are then but for what
// differs from wave to wave.
func (g *nativeGen) beginWave() {
	a := &g.a
	a.Load(false, x64.RCX, x64.At(rW, chainNumber))
	a.Load(false, x64.R9, x64.At(rW, chainGroup))
	a.Store(false, x64.Scaled(rW, x64.RCX, 2, waveS), x64.R9)
	a.StoreImm(false, sreg(regSCC), 0)
	a.StoreImm(g.wide(), sreg(regEXEC), -1)
	ids := g.pins.of(0, 1)
	g.loadPins(g.needed(g.blocks[0].b) &^ ids)
	for q := range g.quarterCount() {
		z, pinned := g.pins.at(0, q)
		if !pinned {
			z = x64.Z(q)
		}
		a.V1(x64.VMOVDQU32, z, x64.At(x64.RAX, 64*q), 0)
		if !pinned {
			a.VStore(memoryOf(0, q), z, 0)
		}
	}
	g.loadScalars()
	g.disown()
	a.Jump(g.begins)
}

// wholeBegin is where all is made what a wave begins with, after something else than the region was executed. It goes to
// begin then, or to last if waves begin in another region.
func (g *nativeGen) wholeBegin(begin, last x64.Label) x64.Label {
	l := g.a.Label()
	g.stubs = append(g.stubs, func() {
		a := &g.a
		a.Bind(l)
		a.Load(true, x64.RAX, x64.At(rW, waveRegion))
		a.Op(x64.CMP, true, x64.RAX, x64.At(rW, chainRegion))
		a.JumpIf(x64.NE, last)
		a.StoreImm(false, x64.At(rW, chainOther), 0)
		g.beginLines(1<<scalarLines - 1)
		g.beginRest()
		a.Jump(begin)
	})
	return l
}

// scalarLines are the lines of scalar registers that a wave begins with, 16 in each.
const scalarLines = chainScalars / 16

// beginLines makes scalar registers what they are at the beginning of a wave.
func (g *nativeGen) beginLines(lines uint) {
	for i := range scalarLines {
		if lines>>i&1 != 0 {
			g.a.V1(x64.VMOVDQU32, x64.Z(i), x64.At(rW, waveBegin+64*i), 0)
			g.a.VStore(x64.At(rW, waveS+64*i), x64.Z(i), 0)
		}
	}
}

// beginRest does it with what hardly any kernel writes.
func (g *nativeGen) beginRest() {
	g.a.StoreImm(false, x64.At(rW, waveTraps), 0)
	g.a.Imm(x64.RAX, 0)
	g.a.StoreSmall(1, x64.At(rW, wavePriority), x64.RAX)
}

// plainEnd reports whether the instruction that ends a block writes no register.
func plainEnd(name string) bool {
	_, branches := nativeBranches[name]
	return branches || name == "s_branch" || name == "s_barrier" || name == "s_endpgm"
}

// linesWritten are the lines of scalar registers that the region's instructions may write, and whether they may
// write something of what beginRest is about. EXEC is not among them, nor VCC where nobody asks what it was.
func (g *nativeGen) linesWritten() (lines uint, rest bool) {
	const all = 1<<scalarLines - 1
	write := func(reg, n int) {
		for r := reg; r < min(reg+n, chainScalars); r++ {
			if r < regEXEC || r >= regEXEC+g.maskRegs() {
				lines |= 1 << (r / 16)
			}
		}
	}
	if g.beginsWithVCC() {
		write(regVCC, g.maskRegs()) // some write it without saying so
	}
	for i := range g.blocks {
		nb := &g.blocks[i]
		for j := range nb.ins {
			in := &nb.ins[j]
			if j < len(nb.can) && !nb.can[j] || j >= len(nb.can) && !plainEnd(in.Op.String()) || in.Op.String() == "s_setprio" {
				return all, true
			}
			for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
				if n := max(1, int(o.Width)); o.Kind == gcn.SGPR && !(int(o.Index) >= regVCC && int(o.Index)+n <= regVCC+g.maskRegs()) {
					write(int(o.Index), n)
				}
			}
		}
	}
	return lines, false
}

// beginsWithVCC reports whether somebody may ask what VCC is when a wave begins: reads it before all of it is written.
func (g *nativeGen) beginsWithVCC() bool {
	asks := map[*block]bool{}   // whether somebody may from the block on
	passes := map[*block]bool{} // the block neither reads nor writes it
	for i := range g.around {
		nb := &g.around[i]
		passes[nb.b] = true
		for j := range nb.ins {
			in := &nb.ins[j]
			reads, _ := readsMask(in, regVCC, g.maskRegs())
			if j < len(nb.b.ops) {
				reads = reads || !mayTranslate(in)
			} else {
				reads = reads || !plainEnd(in.Op.String())
			}
			if reads || in.Info.Flags&gcn.ReadsVCC != 0 {
				asks[nb.b], passes[nb.b] = true, false
				break
			}
			if writesMask(in, regVCC, g.maskRegs()) {
				passes[nb.b] = false
				break
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range g.around {
			nb := &g.around[i]
			if !passes[nb.b] || asks[nb.b] {
				continue
			}
			if !nb.known {
				asks[nb.b] = true
			}
			for _, n := range []*block{nb.next, nb.target} {
				_, looked := g.live[n]
				asks[nb.b] = asks[nb.b] || n != nil && (!looked || asks[n])
			}
			changed = changed || asks[nb.b]
		}
	}
	return asks[g.blocks[0].b]
}

// writesMask reports whether an instruction writes all of n scalar registers.
func writesMask(in *gcn.Inst, reg, n int) bool {
	for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
		if o.Kind == gcn.SGPR && int(o.Index) == reg && max(1, int(o.Width)) == n {
			return true
		}
	}
	return false
}

// Where what it uses lies in a wave, and in a workgroup.
var (
	waveChained = int(unsafe.Offsetof(wave{}.chain))
	chainLeft   = waveChained + int(unsafe.Offsetof(waveChain{}.left))
	chainGroup  = waveChained + int(unsafe.Offsetof(waveChain{}.group))
	chainNumber = waveChained + int(unsafe.Offsetof(waveChain{}.number))
	chainAt     = waveChained + int(unsafe.Offsetof(waveChain{}.idsAt))
	chainLast   = waveChained + int(unsafe.Offsetof(waveChain{}.idsLast))
	chainRegion = waveChained + int(unsafe.Offsetof(waveChain{}.region))
	chainIDs    = waveChained + int(unsafe.Offsetof(waveChain{}.ids))
	chainOther  = waveChained + int(unsafe.Offsetof(waveChain{}.other))
	waveBegin   = int(unsafe.Offsetof(wave{}.begin))
	waveRegion  = int(unsafe.Offsetof(wave{}.region))
	waveTraps   = int(unsafe.Offsetof(wave{}.traps))
)
