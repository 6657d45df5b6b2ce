//go:build linux && amd64

package exec

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scalar registers that are in registers of the processor, too: EXEC, and those
// that a region uses most, single or in pairs. Memory always has them as well, so
// nothing has to be stored on a way out, and whatever reads memory is right.

const rExec = x64.R12

// scalarPins are the processor registers for others than EXEC.
var scalarPins = []x64.Reg{x64.R11, x64.R13, x64.R14, x64.R15}

// scalarPin is a scalar register, or a pair of them.
type scalarPin struct {
	reg  int
	wide bool
	in   x64.Reg
}

func (p *scalarPin) regs() int {
	if p.wide {
		return 2
	}
	return 1
}

func sreg(n int) x64.Mem { return x64.At(rW, waveS+4*n) }

// scalarAt is where scalar register n, or the pair from it on, can be read: a Reg
// or a Mem.
func (g *nativeGen) scalarAt(n int, wide bool) any {
	for i := range g.scalars {
		if p := &g.scalars[i]; p.reg == n && (p.wide || !wide) {
			return p.in
		}
	}
	return sreg(n)
}

// setScalar writes r to scalar register n, or to the pair from it on.
func (g *nativeGen) setScalar(n int, wide bool, r x64.Reg) {
	a := &g.a
	a.Store(wide, sreg(n), r)
	g.halved[n] = !wide
	if wide {
		g.halved[n+1] = false
	}
	for i := range g.scalars {
		p := &g.scalars[i]
		switch {
		case p.reg >= n+1+btoi(wide) || n >= p.reg+p.regs():
		case p.reg == n && p.wide == wide:
			a.Load(wide, p.in, r)
		case p.wide && !wide: // half of it: reading what two stores wrote takes long
			a.Load(false, r, r)
			turn := func() {
				if p.reg != n {
					a.ShiftImm(x64.ROR, true, p.in, 32)
				}
			}
			turn()
			a.ShiftImm(x64.SHR, true, p.in, 32)
			a.ShiftImm(x64.SHL, true, p.in, 32)
			a.Op(x64.OR, true, p.in, r)
			turn()
		default:
			a.Load(p.wide, p.in, sreg(p.reg))
		}
	}
}

// joinHalves makes pairs one in memory that an instruction reads as such and whose registers were written one by one: what two stores
// wrote one load gets when they are all the way in the cache, and so is everything before them. Sums of 64 bits are made that way.
func (g *nativeGen) joinHalves(in *gcn.Inst) {
	a := &g.a
	for _, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Src[2], &in.Base} {
		n := int(o.Index)
		if o.Kind != gcn.SGPR || o.Width != 2 || !g.halved[n] && !g.halved[n+1] {
			continue
		}
		if _, pinned := g.scalarAt(n, true).(x64.Reg); pinned {
			continue
		}
		a.Load(false, x64.RCX, sreg(n+1))
		a.Load(false, x64.RAX, sreg(n))
		a.ShiftImm(x64.SHL, true, x64.RCX, 32)
		a.Op(x64.OR, true, x64.RAX, x64.RCX)
		a.Store(true, sreg(n), x64.RAX)
		g.halved[n], g.halved[n+1] = false, false
	}
}

// scalarsWritten loads again what lies in n registers from reg on, which were
// written in memory, two at a time.
func (g *nativeGen) scalarsWritten(reg, n int) {
	clear(g.halved[reg : reg+n])
	for i := range g.scalars {
		if p := &g.scalars[i]; p.reg < reg+n && reg < p.reg+p.regs() {
			g.a.Load(p.wide, p.in, sreg(p.reg))
		}
	}
}

// loadScalars loads all of them.
func (g *nativeGen) loadScalars() { g.scalarsWritten(0, 256) }

// chooseScalars chooses which scalar registers to keep.
func (g *nativeGen) chooseScalars() {
	type key struct {
		reg  int
		wide bool
	}
	score := map[key]int{}
	for i := range g.blocks {
		nb := &g.blocks[i]
		weight := 1 << (3 * min(g.depth[i], 4))
		for j := range nb.ins {
			in := &nb.ins[j]
			if j < len(nb.can) && !nb.can[j] {
				continue
			}
			for _, o := range []*gcn.Operand{&in.Dst, &in.SDst, &in.Src[0], &in.Src[1], &in.Src[2], &in.Base} {
				if o.Kind == gcn.SGPR && o.Width <= 2 && o.Index < regEXEC {
					score[key{int(o.Index), o.Width == 2}] += weight
				}
			}
		}
	}
	var keys []key
	for k, n := range score {
		if n > 3 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a.reg, b.reg), cmp.Compare(btoi(a.wide), btoi(b.wide)))
	})
	g.scalars = []scalarPin{{regEXEC, g.wide(), rExec}}
	for _, k := range keys[:min(len(keys), len(scalarPins))] {
		g.scalars = append(g.scalars, scalarPin{k.reg, k.wide, scalarPins[len(g.scalars)-1]})
	}
}
