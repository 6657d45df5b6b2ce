//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// form makes the waves that have met a ring, if all of them can go on in translated code.
func (g *workgroup) form() {
	if g.live < 2 || !useNative {
		return
	}
	for _, w := range g.waves {
		if w.status == ended {
			continue
		}
		e := w.blk.entry.Load()
		if e == nil || w.watched != nil || !e.suits(w) || w.left != 0 {
			return
		}
		w.toNative(e)
		w.meet = waveMeet{resume: e.at}
	}
	var first, last *wave
	for _, w := range g.waves {
		switch {
		case w.status == ended:
			continue
		case first == nil:
			first = w
		default:
			last.meet.next = w
		}
		last = w
	}
	last.meet.next = first
	first.meet.first = 1
	g.meeting = true
}

// part ends the ring, if there is one: the wave at now executes. It returns that, which is w
// where there is no ring.
func (g *workgroup) part(w *wave, now uintptr) *wave {
	if !g.meeting {
		return w
	}
	g.meeting = false
	begun := true // waves before the one that executes
	for _, o := range g.waves {
		if o.status == ended {
			continue
		}
		at := o.meet.exit
		o.meet = waveMeet{}
		if uintptr(unsafe.Pointer(o)) == now {
			w, begun = o, false
			continue
		}
		o.status = running
		if at == 0 {
			continue
		}
		b := o.region.exits[at-1].blk
		o.blk = o.d.Program.following(b)
		switch {
		case !begun:
		case b.gives != 0:
			o.status = gaveWay
		default:
			o.status = atBarrier
		}
	}
	return w
}

// accessing is the wave that translated code executes; w where there is no ring.
func (g *workgroup) accessing(w *wave) *wave {
	if g.meeting {
		for _, o := range g.waves {
			if o.accessing != 0 {
				return o
			}
		}
	}
	return w
}

// What waves of a ring meet at, see waveMeet.of.
const (
	meetsBarrier = 1 + iota
	meetsWait
)

// atBarrier is the end of a block with a barrier. exit is its number, out is where Go executes it.
func (g *nativeGen) atBarrier(nb *nativeBlock, exit int, out x64.Label) {
	g.nextOfRing(nb, meetsBarrier, exit, out)
}

// atWait is the end of a block with a wait that a wave may give way at.
func (g *nativeGen) atWait(nb *nativeBlock) {
	a, waits := &g.a, int32(nb.b.gives)
	gives := a.Label()
	a.Load(false, x64.RAX, x64.At(rW, waveGives))
	a.OpImm(x64.AND, false, x64.RAX, waits)
	a.JumpIf(x64.NE, gives)
	out := g.exit(nativeExit{kind: exitTerm, blk: nb.b}, -1)
	exit := len(g.r.exits) - 1
	g.later(func() {
		a.Bind(gives)
		g.nextOfRing(nb, meetsWait, exit, out)
	})
	g.next(nb)
}

// nextOfRing goes to the next wave of the ring where a block ends, or out if there
// is no ring, or the waves before this one met at something else. exit is the number of the way out.
func (g *nativeGen) nextOfRing(nb *nativeBlock, of int32, exit int, out x64.Label) {
	a := &g.a
	next := -1
	for i := range g.blocks {
		if g.blocks[i].b == nb.next {
			next = i
		}
	}
	if next < 0 {
		a.Jump(out)
		return
	}
	a.Load(true, x64.RAX, x64.At(rW, meetNext))
	a.Op(x64.OR, true, x64.RAX, x64.RAX)
	a.JumpIf(x64.E, out)
	a.CmpShort(x64.At(rW, waveTally), maxTally)
	a.JumpIf(x64.AE, out)
	same := a.Label()
	a.OpImm(x64.CMP, false, x64.At(rW, meetOf), of)
	a.JumpIf(x64.E, same)
	a.OpImm(x64.CMP, false, x64.At(rW, meetFirst), 0)
	a.JumpIf(x64.E, out)
	a.Bind(same)
	live := g.liveOut[nb.b]
	g.storePins(g.pins.dirty & g.pinsOf(&live))
	a.LoadAddress(x64.RCX, g.entries[next])
	a.Store(true, x64.At(rW, meetResume), x64.RCX)
	a.StoreImm(false, x64.At(rW, meetExit), int32(exit+1))
	a.StoreImm(false, x64.At(rW, waveAccess), 0)
	if of == meetsWait {
		a.OpImm(x64.AND, false, x64.At(rW, waveGives), ^int32(nb.b.gives))
	} else {
		a.StoreImm(false, x64.At(rW, waveGives), int32(spaceAll))
	}
	a.Load(true, rW, x64.RAX)
	a.StoreImm(false, x64.At(rW, meetOf), of)
	a.JumpTo(x64.At(rW, meetResume))
}

// Where what it uses lies in a wave.
var (
	waveMet    = int(unsafe.Offsetof(wave{}.meet))
	meetNext   = waveMet + int(unsafe.Offsetof(waveMeet{}.next))
	meetResume = waveMet + int(unsafe.Offsetof(waveMeet{}.resume))
	meetExit   = waveMet + int(unsafe.Offsetof(waveMeet{}.exit))
	meetOf     = waveMet + int(unsafe.Offsetof(waveMeet{}.of))
	meetFirst  = waveMet + int(unsafe.Offsetof(waveMeet{}.first))
	waveGives  = int(unsafe.Offsetof(wave{}.gives))
)
