package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Giving way. The waves of a workgroup that leave a barrier together have all issued their
// loads on a card before the first of them has a result, and programs rest on that, most often
// without knowing: all waves read x, the first one stores to it what it computes, and no barrier is between.
// So a wave that waits for what it loads gives way to the others here, too: it goes on when all of
// them have come to such a wait, to a barrier or to their end. It does so at the first wait for
// vector memory and at the first one for the LDS after it began and after each barrier; that
// it was every wait would cost much, as a wave's registers are in the processor's. Scalar memory does not count: it is
// loaded once for a wave, mostly before the first barrier.
//
// Where that may be is found before a kernel is executed the first time; see findWaits. Blocks end behind these
// instructions, and whether the wave gives way is seen when it is there.

// waitFor is what a wait is for: what a wave gives way at, or still will.
type waitFor uint32

const (
	waitsVM  waitFor = 1 << iota // vector memory
	waitsLDS                     // the LDS
	waitsAll = waitsVM | waitsLDS
)

// freshWaits are what a wave of the workgroup gives way at when it begins, and behind a barrier.
func (g *workgroup) freshWaits() waitFor {
	if g.count < 2 {
		return 0
	}
	return waitsAll
}

// giveWay ends a block whose last instruction is a wait that a wave may give way at.
func giveWay(w *wave, b *block) *block {
	next := w.d.Program.following(b)
	if w.gives&b.waits == 0 {
		return next
	}
	w.gives &^= b.waits
	return w.pause(gaveWay, next)
}

// waitcnt is what an s_waitcnt lets be under way.
func waitcnt(in *gcn.Inst) (vm, lgkm uint32) {
	return uint32(in.Simm16&15 | in.Simm16>>14<<4), uint32(in.Simm16 >> 8 & 15)
}
