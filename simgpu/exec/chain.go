package exec

import (
	"cmp"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Chains. Where there is no LDS, the waves of a workgroup have little to do with
// each other, and most of them are short. One wave structure executes them then, one
// after the other, workgroup after workgroup along X: where a wave ends it becomes the
// next one, which translated code sees to by itself. A wave that does not end at
// once, or waits, may wait for one that is still to come: its workgroup gets waves
// for all that are left, the workgroups behind it are started as any others, and the
// dispatch makes no more chains.
//
// With an LDS, which waves have for meeting at barriers, each wave of the workgroup has a structure of its own, and they are a ring (see meet.go) that goes through
// a chain of workgroups. Such waves take longer, so there is no chain before it is known how long.

// mostChained is how many waves a chain has at most: less than a slice of a core. Of waves that turn out to be
// short it has more, about chainInsts instructions. Tests set both.
var (
	mostChained = 128
	chainInsts  = uint64(1 << 12)
	ringInsts   = uint64(1 << 15) // likewise, of a chain of rings; 0: there are none
)

// endsLive: what registers hold when a wave ends, or faults, matters. Tests that look at them set it.
var endsLive = false

// waveChain is what translated code makes the next wave of.
type waveChain struct {
	left    uint32         // waves that may follow
	told    uint32         // what that was when the wave and its workgroup were told last; see settle
	number  uint32         // place in S of the workgroup's number along X
	group   uint32         // that number; S is not written: copying a line that has been written in part would have to wait
	region  *region        // that begins where waves begin; nil: none does
	ids     unsafe.Pointer // of work-items: a Vec for each wave of a workgroup
	idsAt   uintptr        // of the present wave
	idsLast uintptr        // of a workgroup's last wave
	other   uint32         // not 0: something else than that region was executed since the wave began
}

// settle makes of the wave and its workgroup which they are by now: translated code only counts.
func (w *wave) settle() {
	c := &w.chain
	if c.left == c.told {
		return
	}
	w.stats.Waves += uint64(c.told - c.left)
	c.told = c.left
	w.wg.id[0] = c.group
	w.id = int((c.idsAt - uintptr(c.ids)) / unsafe.Sizeof(Vec{}))
}

// unchain ends the chain with this wave.
func (w *wave) unchain() { w.chain.left, w.chain.told = 0, 0 }

// chainScalars are those that start sets. Behind them, in a wave, is the place of a number that the kernel does not want.
const chainScalars = 128

// chains reports whether the waves of a dispatch may be executed one after the other.
func (d *Dispatch) chains(l *launchState) bool {
	items := l.size[0] * l.size[1] * l.size[2]
	return !d.Cooperative && d.Clock == nil && d.Program.watch == nil && items%uint32(d.waveSize()) == 0 && !d.Desc.workgroupInfo()
}

// chainFrom is how many workgroups a chain that begins with number n has. mu is held.
func (s *scheduler) chainFrom(n uint64) uint64 {
	id := s.id(n)
	if !s.chained.Load() || s.d.workgroupSize(id) != s.init.size {
		return 1
	}
	whole := uint64(s.d.Grid[0] / s.d.Group[0])
	fair := s.total - n
	if s.workers > 1 { // all goroutines are to end at about the same time
		fair = fair/(4*uint64(s.workers)) + 1
	}
	most := uint64(mostChained)
	switch {
	case s.rings() && s.stats.Waves == 0:
		return 1
	case s.rings():
		most = ringInsts * s.stats.Waves / s.stats.TotalInstructions()
	case s.stats.Waves > 0:
		most = max(most, chainInsts*s.stats.Waves/s.stats.TotalInstructions())
	}
	return max(1, min(whole-uint64(id[0]), fair, most/uint64(len(s.init.ids))))
}

// rings reports whether chains are of workgroups whose waves have structures of their own.
func (s *scheduler) rings() bool { return s.init.lds > 0 }

// id is the place of workgroup number n.
func (s *scheduler) id(n uint64) [3]uint32 {
	x, n := n%uint64(s.groups[0]), n/uint64(s.groups[0])
	return [3]uint32{uint32(x), uint32(n % uint64(s.groups[1])), uint32(n / uint64(s.groups[1]))}
}

// groupSpan are workgroups, by number.
type groupSpan struct{ from, to uint64 }

// claim takes the next workgroup that nobody has started, and says how many are chained
// to it. mu is held.
func (s *scheduler) claim() (n, more uint64) {
	if len(s.back) > 0 {
		n = s.back[0].from
		if s.back[0].from++; s.back[0].from == s.back[0].to {
			s.back = slices.Delete(s.back, 0, 1)
		}
		return n, 0
	}
	n = s.next
	more = s.chainFrom(n) - 1
	s.next += 1 + more
	return n, more
}

// unstarted reports whether there is a workgroup to claim. mu is held.
func (s *scheduler) unstarted() bool { return s.next < s.total || len(s.back) > 0 }

// unchain gives back workgroups of a chain that has come to an end too early. mu is held.
func (s *scheduler) unchain(x groupSpan) {
	s.chained.Store(false)
	if x.from < x.to {
		s.back = append(s.back, x)
		slices.SortFunc(s.back, func(a, b groupSpan) int { return cmp.Compare(a.from, b.from) })
	}
}

// follow executes a chain, all of it or, as it reports, up to a wave that has not ended.
func (g *workgroup) follow(w *wave, stop *atomic.Bool) bool {
	for {
		if w.blk == nil {
			w.blk = g.s.start()
		}
		w.prepareChain(g)
		if w.status = w.run(1, stop); w.status != ended {
			g.spread(w)
			return false
		}
		w.stats.Waves++
		switch {
		case w.id+1 < g.count:
			w.id++
		case g.id[0] < g.last:
			g.id[0]++
			w.id = 0
		default:
			g.live = 0
			return true
		}
		w.start(g.s, g.count*w.d.waveSize())
	}
}

// prepareChain says what translated code makes of w, which begins.
func (w *wave) prepareChain(g *workgroup) {
	c := &w.chain
	c.left = (g.last-g.id[0])*uint32(g.count) + uint32(g.count-1-w.id)
	c.told = c.left
	w.prepareNext(g)
}

// prepareNext says what translated code makes of w when it is another wave, of the same place in a workgroup or behind it.
func (w *wave) prepareNext(g *workgroup) {
	c, ids := &w.chain, g.s.init.ids
	c.ids, c.idsAt, c.idsLast = unsafe.Pointer(&ids[0]), uintptr(unsafe.Pointer(&ids[w.id])), uintptr(unsafe.Pointer(&ids[g.count-1]))
	copy(w.begin[:], w.S[:])
	c.number, c.group = chainScalars, g.id[0]
	if g.s.d.Desc.workgroupID(0) {
		c.number = uint32(g.s.init.user)
	}
	c.region = w.blk.chainRegion()
	c.other = 0
}

// behind are the workgroups that are chained to g.
func (g *workgroup) behind() groupSpan {
	s := g.s
	n := uint64(g.id[0]) + uint64(s.groups[0])*(uint64(g.id[1])+uint64(s.groups[1])*uint64(g.id[2]))
	return groupSpan{n + 1, n + 1 + uint64(g.last-g.id[0])}
}

// again makes g, which has finished, the next workgroup of its chain. It reports whether there is one.
func (g *workgroup) again() bool {
	if g.id[0] == g.last {
		return false
	}
	g.id[0]++
	clear(g.lds)
	g.live = g.count
	for _, w := range g.waves {
		w.start(g.s, g.count*w.d.waveSize())
	}
	return true
}

// spread gives all waves of the workgroup from w on structures of their own.
func (g *workgroup) spread(w *wave) {
	s := g.s
	s.mu.Lock()
	s.unchain(g.behind())
	s.mu.Unlock()
	w.unchain()
	g.last = g.id[0]
	g.chained, g.live = false, g.count-w.id
	g.grow(g.count)
	g.waves[0], g.waves[w.id] = g.waves[w.id], w
	for i, o := range g.waves {
		switch {
		case i < w.id:
			o.id, o.status = i, ended
		case i > w.id:
			o.id = i
			o.start(s, g.count*s.d.waveSize())
		}
	}
}

// tell takes note of the workgroups of a chain that have finished. mu of the scheduler is held.
func (g *workgroup) tell() {
	n := uint64(g.id[0] - g.counted)
	g.counted = g.id[0]
	g.finished += n
	g.s.finished += n
}
