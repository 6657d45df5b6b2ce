//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The end of a wave in a chain: the next one begins without going back to Go.

// chainEntry is where a wave that begins with b begins in translated code, and the region of that.
func (b *block) chainEntry() (uintptr, *region) {
	if e := b.entry.Load(); e != nil {
		return e.at, e.r
	}
	return 0, nil
}

// nextWave makes the wave the next one of its chain; at the label out Go does.
func (g *nativeGen) nextWave(out x64.Label) {
	a := &g.a
	a.OpImm(x64.CMP, false, x64.At(rW, chainLeft), 0)
	a.JumpIf(x64.E, out)
	a.CmpShort(x64.At(rW, waveTally), maxTally)
	a.JumpIf(x64.AE, out)
	a.OpImm(x64.CMP, false, x64.At(rW, chainOther), 0)
	begin := a.Label()
	a.JumpIf(x64.NE, g.wholeBegin(begin, out))
	lines, whole := g.linesWritten()
	g.beginLines(lines)
	if whole {
		g.beginRest()
	}
	a.Bind(begin)
	a.OpImm(x64.SUB, false, x64.At(rW, chainLeft), 1)
	a.OpImm(x64.ADD, true, x64.At(rW, waveWaves), 1)

	same := a.Label()
	a.Load(false, x64.RAX, x64.At(rW, waveID)) // it is less than 16
	a.OpImm(x64.ADD, false, x64.RAX, 1)
	a.Op(x64.CMP, false, x64.RAX, x64.At(rW, chainWaves))
	a.JumpIf(x64.NE, same)
	a.Load(true, x64.RCX, x64.At(rW, waveGroup))
	a.OpImm(x64.ADD, false, x64.At(x64.RCX, groupID), 1)
	a.OpImm(x64.ADD, false, x64.At(rW, chainGroup), 1)
	a.Imm(x64.RAX, 0)
	a.Bind(same)
	a.Store(true, x64.At(rW, waveID), x64.RAX)

	a.Load(false, x64.RCX, x64.At(rW, chainNumber))
	a.Load(false, x64.R9, x64.At(rW, chainGroup))
	a.Store(false, x64.Scaled(rW, x64.RCX, 2, waveS), x64.R9)
	a.StoreImm(false, sreg(regSCC), 0)
	a.ShiftImm(x64.SHL, true, x64.RAX, 8) // the size of a Vec
	a.Op(x64.ADD, true, x64.RAX, x64.At(rW, chainIDs))
	for q := range 4 {
		a.V1(x64.VMOVDQU32, x64.Z(q), x64.At(x64.RAX, 64*q), 0)
		a.VStore(memoryOf(0, q), x64.Z(q), 0)
	}
	g.disown()
	a.JumpTo(x64.At(rW, chainAt))
}

// wholeBegin is where all is made what a wave begins with, after something else than the region was executed. It goes to
// begin then, or out if waves begin in another region.
func (g *nativeGen) wholeBegin(begin, out x64.Label) x64.Label {
	l := g.a.Label()
	g.stubs = append(g.stubs, func() {
		a := &g.a
		a.Bind(l)
		a.Load(true, x64.RAX, x64.At(rW, waveRegion))
		a.Op(x64.CMP, true, x64.RAX, x64.At(rW, chainRegion))
		a.JumpIf(x64.NE, out)
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
// write something of what beginRest is about.
func (g *nativeGen) linesWritten() (lines uint, rest bool) {
	line := func(reg int) uint { return 1 << (reg / 16) }
	lines = line(regVCC) | line(regEXEC) // some write them without saying so
	for i := range g.blocks {
		nb := &g.blocks[i]
		for j := range nb.ins {
			in := &nb.ins[j]
			if j < len(nb.can) && !nb.can[j] || j >= len(nb.can) && !plainEnd(in.Info.Name) || in.Info.Name == "s_setprio" {
				return 1<<scalarLines - 1, true
			}
			for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
				if o.Kind == gcn.SGPR {
					for r := range max(1, int(o.Width)) {
						lines |= line(int(o.Index) + r)
					}
				}
			}
		}
	}
	return lines & (1<<scalarLines - 1), false
}

// Where what it uses lies in a wave, and in a workgroup.
var (
	waveChained = int(unsafe.Offsetof(wave{}.chain))
	chainLeft   = waveChained + int(unsafe.Offsetof(waveChain{}.left))
	chainWaves  = waveChained + int(unsafe.Offsetof(waveChain{}.waves))
	chainGroup  = waveChained + int(unsafe.Offsetof(waveChain{}.group))
	chainNumber = waveChained + int(unsafe.Offsetof(waveChain{}.number))
	chainAt     = waveChained + int(unsafe.Offsetof(waveChain{}.at))
	chainRegion = waveChained + int(unsafe.Offsetof(waveChain{}.region))
	chainIDs    = waveChained + int(unsafe.Offsetof(waveChain{}.ids))
	chainOther  = waveChained + int(unsafe.Offsetof(waveChain{}.other))
	waveBegin   = int(unsafe.Offsetof(wave{}.begin))
	waveRegion  = int(unsafe.Offsetof(wave{}.region))
	waveID      = int(unsafe.Offsetof(wave{}.id))
	waveGroup   = int(unsafe.Offsetof(wave{}.wg))
	waveTraps   = int(unsafe.Offsetof(wave{}.traps))
	waveWaves   = int(unsafe.Offsetof(wave{}.stats) + unsafe.Offsetof(Stats{}.Waves))
	groupID     = int(unsafe.Offsetof(workgroup{}.id))
)
