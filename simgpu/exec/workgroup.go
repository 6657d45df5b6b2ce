package exec

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// workgroup is the resumable state of one workgroup.
type workgroup struct {
	id    [3]uint32
	size  [3]uint32 // work-items; the last of a dimension may be smaller than the others
	count int       // waves that it has
	waves []*wave   // of a chain perhaps one only
	live  int       // waves that have not ended
	// finished is how many workgroups it was that finished since what they executed
	// was collected: of many short ones that is done together.
	finished uint64
	lds      []byte
	slept    bool // at the end of the last turn all waves asked to let others run
	spun     bool // likewise, but some of them spin, see waveSpin
	gws      *gws // nil unless the dispatch is cooperative
	s        *scheduler

	chained bool   // one wave structure is all waves of a chain
	last    uint32 // workgroups behind it are its own up to this one along X
	counted uint32 // those before it have been told to the scheduler

	meeting bool // its waves go from one to the next in translated code, see waveMeet

	watched *watchedGroup // nil: nobody watches
}

const waveBytes = int(unsafe.Sizeof(wave{}))

var wavePool = sync.Pool{New: func() any { return new(wave) }}

// lds is the LDS of a workgroup in bytes, a multiple of 16.
func (d *Dispatch) lds() int {
	return (int(d.Desc.GroupSegmentSize) + int(d.DynamicLDS) + 15) &^ 15
}

// ldsLine is what memory of an LDS is a multiple of, so that it is cleared by whole lines.
const ldsLine = 64

// newWorkgroup sets up workgroup number n of the dispatch, to which more are chained. It does not touch
// device memory.
func newWorkgroup(s *scheduler, n, more uint64) *workgroup {
	g := &workgroup{gws: s.gws, s: s}
	if s.init.lds > 0 {
		g.lds = make([]byte, s.init.lds, (s.init.lds+ldsLine-1)&^(ldsLine-1))
	}
	g.begin(n, more)
	return g
}

// next makes a workgroup that has finished number n.
func (g *workgroup) next(n, more uint64) *workgroup {
	clear(g.lds)
	g.begin(n, more)
	return g
}

func (g *workgroup) begin(n, more uint64) {
	s := g.s
	g.id = s.id(n)
	g.last, g.counted = g.id[0]+uint32(more), g.id[0]
	g.size = s.d.workgroupSize(g.id)
	items := int(g.size[0]) * int(g.size[1]) * int(g.size[2])
	g.count = s.d.waves(items)
	g.live = g.count
	// Another goroutine may have ended chaining since this chain was claimed: the workgroups behind the first are this one's all the same.
	g.chained = !s.rings() && (more > 0 || s.chained.Load() && g.size == s.init.size)
	g.watched = s.d.Program.watch.group(len(g.lds), g.live)
	if g.live < len(g.waves) && !g.chained {
		s.mu.Lock()
		s.collect(g) // before waves go
		s.mu.Unlock()
		g.keep(g.live)
	}
	if g.chained {
		g.grow(1)
		w := g.waves[0]
		w.id = 0
		w.start(s, items)
		return
	}
	g.grow(g.count)
	for i, w := range g.waves {
		w.id = i
		w.start(s, items)
	}
}

// grow gives the workgroup n waves, or more.
func (g *workgroup) grow(n int) {
	for len(g.waves) < n {
		w := wavePool.Get().(*wave)
		w.wg = g
		w.stats, w.tally = Stats{}, tally{}
		g.waves = append(g.waves, w)
	}
}

// dueAfter is after about how many instructions it is collected what short workgroups
// executed: within microseconds. Tests set it.
var dueAfter = uint64(1 << 11)

// due reports whether it is worth collecting what the waves executed.
func (g *workgroup) due() bool {
	n := uint64(0)
	for _, w := range g.waves {
		if w.stats.Instructions[Branch] != 0 { // the tally was full
			return true
		}
		n += w.tally.high >> 48
	}
	return n >= dueAfter
}

// release gives the waves back for other dispatches.
func (g *workgroup) release() { g.keep(0) }

// keep gives all waves back but the first n.
func (g *workgroup) keep(n int) {
	for len(g.waves) > n {
		i := len(g.waves) - 1
		w := g.waves[i]
		w.d, w.wg, w.blk, w.mem, w.watched = nil, nil, nil, nil, nil
		w.chain, w.ldsOwner = waveChain{}, nil
		wavePool.Put(w)
		g.waves[i], g.waves = nil, g.waves[:i]
	}
}

// before reports whether g has a lower number than o.
func (g *workgroup) before(o *workgroup) bool {
	for _, k := range [3]int{2, 1, 0} {
		if g.id[k] != o.id[k] {
			return g.id[k] < o.id[k]
		}
	}
	return false
}

// begins reports whether no wave has executed anything.
func (g *workgroup) begins() bool {
	return g.live == g.count && !slices.ContainsFunc(g.waves, func(w *wave) bool { return w.blk != nil })
}

// toStart puts the wave at the kernel's first instruction.
func (w *wave) toStart() {
	g := w.wg
	if w.blk = g.s.start(); g.s.rings() && g.s.chained.Load() {
		w.prepareNext(g)
	}
}

// turn executes the waves for a while. It reports whether the workgroup has
// finished, or how it failed.
func (g *workgroup) turn(stop *atomic.Bool) (fault *Fault, done bool) {
	var w *wave
	defer func() {
		if e := recover(); e != nil {
			w = g.accessing(w)
			g.part(nil, uintptr(unsafe.Pointer(w)))
			fault = w.toFault(e)
		}
	}()
	g.slept, g.spun = false, false
	met := !g.chained && g.begins()
	if g.chained {
		if w = g.waves[0]; g.follow(w, stop) {
			return nil, true
		}
	}
	at := g.id[0]
	for turns, meets := 0, 0; turns < groupTurns && meets < groupMeets; {
		if g.id[0] != at { // that is another one
			at, turns, meets = g.id[0], 0, 0
		}
		busy, spun, waiting, gave := false, false, 0, 0
		if met {
			g.form()
		}
		met = false
		for _, w = range g.waves {
			switch w.status {
			case ended:
				continue
			case atBarrier:
				waiting++
				continue
			case gaveWay: // a while ago; see part
				gave++
				continue
			case atGWS:
				if !g.gws.passes(&w.waits) {
					continue
				}
			case spinning:
				w.tally.hasten()
			}
			if w.blk == nil {
				w.toStart()
			}
			w.status = running
			w.status = w.run(waveSlice, stop)
			g.part(w, uintptr(unsafe.Pointer(w)))
			switch w.status {
			case ended:
				w.stats.Waves++
				g.live--
			case atBarrier:
				waiting++
			case gaveWay:
				gave++
			case running:
				busy = true
			case spinning:
				spun = true
			}
			if stop.Load() {
				return nil, false
			}
		}
		if g.live == 0 {
			if !g.again() {
				return nil, true
			}
			met = true
			continue
		}
		if waiting == g.live {
			for _, w := range g.waves {
				if w.status == atBarrier {
					w.status = running
				}
			}
			g.watched.meet()
			met = true
			meets++ // they had less than their turn
			continue
		}
		if gave > 0 { // all others have had their turn
			for _, w := range g.waves {
				if w.status == gaveWay {
					w.status = running
				}
			}
			met = gave == g.live
			if !busy {
				meets++
				continue
			}
		}
		if !busy && waiting < g.live {
			g.slept, g.spun = !spun, spun
			return nil, false
		}
		turns++
	}
	return nil, false
}
