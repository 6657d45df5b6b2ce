//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// form makes the waves that have met a ring, if all of them can go on in translated code.
func (g *workgroup) form() {
	if g.live < 2 && g.id[0] == g.last || !useNative {
		return
	}
	left := g.last - g.id[0]
	for _, w := range g.waves {
		if w.status == ended {
			left = 0
			continue
		}
		if w.blk == nil {
			w.toStart()
		}
		e := w.blk.entry.Load()
		if e == nil || w.watched != nil || !e.suits(w) || w.left != 0 {
			return
		}
		if w.tally.high>>48 > maxTally/2 { // otherwise it ends the ring soon
			w.flushTally()
		}
		w.toNative(e)
		w.meet = waveMeet{resume: e.at, gives: g.mayGive()}
		if w.chain.group = g.id[0]; w.mode != g.s.init.mode {
			left = 0
		}
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
	first.meet.first, last.meet.left = 1, left
	g.meeting = true
}

// part ends the ring, if there is one: the wave at now executes. It returns that, which is w
// where there is no ring. Whether w has ended the caller sees to.
func (g *workgroup) part(w *wave, now uintptr) *wave {
	if !g.meeting {
		return w
	}
	g.meeting = false
	called := w
	for _, o := range g.waves {
		if o.status != ended && uintptr(unsafe.Pointer(o)) == now {
			w = o
		}
	}
	at := w.chain.group
	finished := uint64(at - g.id[0])
	g.id[0] = at
	mixed, over := w.meet.of == meetsFree, w.meet.of == meetsEnd
	begun := true // waves before the one that executes
	for _, o := range g.waves {
		if o.status == ended {
			continue
		}
		m := o.meet
		o.meet = waveMeet{}
		o.stats.Waves += finished
		if o == w {
			begun = false
			continue
		}
		o.status = running
		switch {
		case o.chain.group != at:
			o.start(g.s, g.count*w.d.waveSize())
			continue
		case begun && over:
			if o.status = ended; o != called {
				o.stats.Waves++
				g.live--
			}
			continue
		case m.exit == 0:
			continue
		}
		b := o.region.exits[m.exit-1].blk
		o.blk = o.d.Program.following(b)
		switch {
		case mixed && m.of == meetsHeld, begun && b.gives == 0:
			o.status = atBarrier
		case begun:
			o.status = gaveWay
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
	meetsBarrier = 1 + iota // those before it in this turn of the ring, all of them
	meetsWait               // likewise
	meetsFree               // they are mixed, and it goes on when it is its turn
	meetsHeld               // they are mixed, and it is held at the barrier
	meetsEnd                // those before it have ended; it is not the first
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
// is no ring. exit is the number of the way out.
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
	a.OpImm(x64.CMP, false, x64.At(rW, meetOf), meetsEnd)
	a.JumpIf(x64.E, out)
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
	a.OpImm(x64.CMP, false, x64.At(rW, meetOf), of)
	a.JumpIf(x64.NE, g.stopsOtherwise(of))
	g.passTurn(of)
}

// passTurn goes to the wave at RAX, when all before it in this turn of the ring stopped at the same.
func (g *nativeGen) passTurn(of int32) {
	a := &g.a
	a.Load(true, rW, x64.RAX)
	a.StoreImm(false, x64.At(rW, meetOf), of)
	a.JumpTo(x64.At(rW, meetResume))
}

// stopsOtherwise is where a wave goes to that stopped at something, and those before it may have stopped at something
// else. The next one is at RAX.
func (g *nativeGen) stopsOtherwise(of int32) x64.Label {
	if l, ok := g.rings[of]; ok {
		return l
	}
	l, choose := g.a.Label(), g.chooseOfRing()
	g.rings[of] = l
	itself, before := int32(meetsHeld), int32(meetsFree)
	if of == meetsWait {
		itself, before = before, itself
	}
	g.stubs = append(g.stubs, func() {
		a := &g.a
		stops, mixes, again, behind := a.Label(), a.Label(), a.Label(), a.Label()
		a.Bind(l)
		a.OpImm(x64.CMP, false, x64.At(rW, meetOf), meetsFree)
		a.JumpIf(x64.E, stops)
		a.OpImm(x64.CMP, false, x64.At(rW, meetFirst), 0)
		a.JumpIf(x64.E, mixes)
		g.passTurn(of) // there is none before it

		a.Bind(mixes)
		a.Imm(x64.RCX, meetsFree) // those behind it
		a.Bind(again)
		a.OpImm(x64.CMP, false, x64.At(x64.RAX, meetFirst), 0)
		a.JumpIf(x64.E, behind)
		a.Imm(x64.RCX, uint64(before))
		a.Bind(behind)
		a.Store(false, x64.At(x64.RAX, meetOf), x64.RCX)
		a.Load(true, x64.RAX, x64.At(x64.RAX, meetNext))
		a.Op(x64.CMP, true, x64.RAX, rW)
		a.JumpIf(x64.NE, again)

		a.Bind(stops)
		a.StoreImm(false, x64.At(rW, meetOf), itself)
		a.Jump(choose)
	})
	return l
}

// chooseOfRing is where the code goes behind a wave of a mixed ring: to the next one that is free, or
// to the first one if that was the last. If all are held they have all come to the barrier.
func (g *nativeGen) chooseOfRing() x64.Label {
	if l, ok := g.rings[0]; ok {
		return l
	}
	l := g.a.Label()
	g.rings[0] = l
	g.stubs = append(g.stubs, func() {
		a := &g.a
		over, look, all, free := a.Label(), a.Label(), a.Label(), a.Label()
		next := func(r x64.Reg) { a.Load(true, r, x64.At(r, meetNext)) }
		a.Bind(l)
		next(rW)
		a.OpImm(x64.CMP, false, x64.At(rW, meetFirst), 0)
		a.JumpIf(x64.NE, over)
		a.OpImm(x64.CMP, false, x64.At(rW, meetOf), meetsHeld)
		a.JumpIf(x64.E, l)
		a.JumpTo(x64.At(rW, meetResume))

		a.Bind(over)
		a.Load(true, x64.RAX, rW)
		a.Bind(look)
		a.OpImm(x64.CMP, false, x64.At(x64.RAX, meetOf), meetsHeld)
		a.JumpIf(x64.NE, free)
		next(x64.RAX)
		a.Op(x64.CMP, true, x64.RAX, rW)
		a.JumpIf(x64.NE, look)
		a.Bind(all)
		a.StoreImm(false, x64.At(x64.RAX, meetOf), meetsBarrier)
		next(x64.RAX)
		a.Op(x64.CMP, true, x64.RAX, rW)
		a.JumpIf(x64.NE, all)
		a.Bind(free)
		a.Load(true, rW, x64.RAX)
		a.JumpTo(x64.At(rW, meetResume))
	})
	return l
}

// endsInRing is the end of a wave of a ring; at the label out Go executes it.
func (g *nativeGen) endsInRing(out x64.Label) x64.Label {
	l := g.a.Label()
	g.stubs = append(g.stubs, func() {
		a := &g.a
		all, other, stop, last, clears := a.Label(), a.Label(), a.Label(), a.Label(), a.Label()
		a.Bind(l)
		a.Load(true, x64.RAX, x64.At(rW, meetNext))
		a.OpImm(x64.CMP, false, x64.At(rW, meetOf), meetsEnd)
		a.JumpIf(x64.E, all)
		a.OpImm(x64.CMP, false, x64.At(rW, meetFirst), 0)
		a.JumpIf(x64.E, out) // some before it have not ended
		a.OpImm(x64.CMP, false, x64.At(rW, meetOf), meetsFree)
		a.JumpIf(x64.E, out) // some are held
		a.Bind(all)
		a.LoadAddress(x64.RCX, g.beginsInRing(false))
		a.OpImm(x64.CMP, false, x64.At(rW, chainOther), 0)
		a.JumpIf(x64.NE, other)
		a.Bind(stop)
		a.OpImm(x64.CMP, false, x64.At(x64.RAX, meetFirst), 0)
		a.JumpIf(x64.NE, last)
		a.Store(true, x64.At(rW, meetResume), x64.RCX)
		a.StoreImm(false, x64.At(rW, waveAccess), 0)
		g.passTurn(meetsEnd)

		a.Bind(other) // it was executed in more than this region, in which waves may begin or not
		a.Load(true, x64.R9, x64.At(rW, waveRegion))
		a.Op(x64.CMP, true, x64.R9, x64.At(rW, chainRegion))
		a.JumpIf(x64.NE, out)
		a.LoadAddress(x64.RCX, g.beginsInRing(true))
		a.Jump(stop)

		a.Bind(last) // the workgroup has ended
		a.OpImm(x64.SUB, false, x64.At(rW, meetLeft), 1)
		a.JumpIf(x64.B, out) // Go ends the ring
		a.Store(true, x64.At(rW, meetResume), x64.RCX)
		a.StoreImm(false, x64.At(rW, waveAccess), 0)
		a.Load(false, x64.RCX, x64.At(rW, waveLen))
		a.V(x64.VPXORD, 0, 0, x64.Z(0), 0)
		a.OpImm(x64.ADD, false, x64.RCX, ldsLine-1)
		a.OpImm(x64.AND, false, x64.RCX, -ldsLine)
		a.Load(true, rW, x64.RAX)
		a.Bind(clears) // there is an LDS: see rings
		a.VStore(x64.Scaled(rLDS, x64.RCX, 0, -ldsLine), 0, 0)
		a.OpImm(x64.SUB, false, x64.RCX, ldsLine)
		a.JumpIf(x64.NE, clears)
		a.JumpTo(x64.At(rW, meetResume))
	})
	return l
}

// beginsInRing is where the wave at rW becomes the one of the next workgroup that has the same place in it; other: after something else than the
// region was executed.
func (g *nativeGen) beginsInRing(other bool) x64.Label {
	if l, ok := g.afresh[other]; ok {
		return l
	}
	l := g.a.Label()
	g.afresh[other] = l
	g.stubs = append(g.stubs, func() {
		a := &g.a
		a.Bind(l)
		if other {
			g.beginLines(1<<scalarLines - 1)
			g.beginRest()
			a.StoreImm(false, x64.At(rW, chainOther), 0)
		} else {
			lines, rest := g.linesWritten()
			g.beginLines(lines)
			if rest {
				g.beginRest()
			}
		}
		a.OpImm(x64.ADD, false, x64.At(rW, chainGroup), 1)
		a.Load(false, x64.RAX, x64.At(rW, meetGives))
		a.Store(false, x64.At(rW, waveGives), x64.RAX)
		g.setUpPointers()
		a.Load(true, x64.RAX, x64.At(rW, chainAt))
		g.beginWave()
	})
	return l
}

// Where what it uses lies in a wave.
var (
	waveMet    = int(unsafe.Offsetof(wave{}.meet))
	meetNext   = waveMet + int(unsafe.Offsetof(waveMeet{}.next))
	meetResume = waveMet + int(unsafe.Offsetof(waveMeet{}.resume))
	meetExit   = waveMet + int(unsafe.Offsetof(waveMeet{}.exit))
	meetOf     = waveMet + int(unsafe.Offsetof(waveMeet{}.of))
	meetFirst  = waveMet + int(unsafe.Offsetof(waveMeet{}.first))
	meetLeft   = waveMet + int(unsafe.Offsetof(waveMeet{}.left))
	meetGives  = waveMet + int(unsafe.Offsetof(waveMeet{}.gives))
	waveGives  = int(unsafe.Offsetof(wave{}.gives))
)
