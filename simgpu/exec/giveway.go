package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Giving way. The waves of a workgroup that leave a barrier together have all issued their
// loads on a card before the first of them has a result, and programs rest on that, most often
// without knowing: all waves read x, the first one stores to it what it computes, and no barrier is between.
// So a wave that waits for what it loads gives way to the others here, too: it goes on when all of
// them have come to such a wait, to a barrier or to their end. It does so where it may store afterwards, before the
// next barrier, where it loaded from, device memory or the LDS, and once for each of them after it began and after each
// barrier: that every wait were one would cost much, as a wave's registers are in the processor's.
//
// Likewise waves that leave a barrier together store together: what one of them has stored is there for another one that has waited
// for device memory in the meantime, with no barrier between (MAGMA's Cholesky factorization). So a wave gives way as well where it waits for device memory, has stored there since the
// barrier and loads from there afterwards.
//
// Where that is, is found before a kernel is executed the first time; see findWaits. Blocks end behind these
// instructions, and whether the wave gives way is seen when it is there.

// spaces are memories that all waves of a workgroup share.
type spaces uint32

const (
	spaceDevice spaces = 1 << iota
	spaceLDS
	spaceAll = spaceDevice | spaceLDS
)

// mayGive are the loads for which waves give way when they begin, and behind a barrier.
func (g *workgroup) mayGive() spaces {
	if g.count < 2 {
		return 0
	}
	return spaceAll
}

// giveWay ends a block whose last instruction is a wait that a wave may give way at.
func giveWay(w *wave, b *block) *block {
	next := w.d.Program.following(b)
	if w.gives&b.gives == 0 {
		return next
	}
	w.gives &^= b.gives
	return w.pause(gaveWay, next)
}

// waitcnt is what an s_waitcnt lets be under way.
func waitcnt(in *gcn.Inst) (vm, lgkm uint32) {
	if in.Arch.Has(gcn.RDNA) {
		return uint32(in.Simm16 >> 10), uint32(in.Simm16 >> 4 & 63)
	}
	return uint32(in.Simm16&15 | in.Simm16>>14<<4), uint32(in.Simm16 >> 8 & 15)
}
