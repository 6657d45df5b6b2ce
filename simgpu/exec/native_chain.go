//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
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
	a.Load(true, x64.RAX, x64.At(rW, waveRegion))
	a.Op(x64.CMP, true, x64.RAX, x64.At(rW, chainRegion))
	a.JumpIf(x64.NE, out)
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

	for i := range chainScalars / 16 {
		a.V1(x64.VMOVDQU32, x64.Z(i), x64.At(rW, chainS+64*i), 0)
		a.VStore(x64.At(rW, waveS+64*i), x64.Z(i), 0)
	}
	a.Load(false, x64.RCX, x64.At(rW, chainNumber))
	a.Load(false, x64.RDX, x64.At(rW, chainGroup))
	a.Store(false, x64.Scaled(rW, x64.RCX, 2, waveS), x64.RDX)
	a.StoreImm(false, sreg(regSCC), 0)
	a.ShiftImm(x64.SHL, true, x64.RAX, 8) // the size of a Vec
	a.Op(x64.ADD, true, x64.RAX, x64.At(rW, chainIDs))
	for q := range 4 {
		a.V1(x64.VMOVDQU32, x64.Z(q), x64.At(x64.RAX, 64*q), 0)
		a.VStore(memoryOf(0, q), x64.Z(q), 0)
	}
	a.StoreImm(false, x64.At(rW, waveTraps), 0)
	g.disown()
	a.Imm(x64.RAX, 0)
	a.StoreSmall(1, x64.At(rW, wavePriority), x64.RAX)
	a.JumpTo(x64.At(rW, chainAt))
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
	chainS      = waveChained + int(unsafe.Offsetof(waveChain{}.S))
	waveRegion  = int(unsafe.Offsetof(wave{}.region))
	waveID      = int(unsafe.Offsetof(wave{}.id))
	waveGroup   = int(unsafe.Offsetof(wave{}.wg))
	waveTraps   = int(unsafe.Offsetof(wave{}.traps))
	waveWaves   = int(unsafe.Offsetof(wave{}.stats) + unsafe.Offsetof(Stats{}.Waves))
	groupID     = int(unsafe.Offsetof(workgroup{}.id))
)
