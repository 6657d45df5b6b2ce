package pagewatch

import (
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

const pageSize = 4096

// Options say how memory is watched.
type Options struct {
	// Off: every look is at all of the memory.
	Off bool
	// Private: the memory is known to be private and anonymous. Otherwise /proc/self/maps must say so.
	Private bool
	// Pinned: the memory is a program's, which may have devices write to it.
	Pinned bool
}

// Watch watches one piece of memory. It is not safe for concurrent use.
type Watch struct {
	base, size uint64
	pages      int // that the memory touches, whole or in part
	first, end int // those that belong to it whole: only they are protected

	k    *kernel // nil: every look is at all
	area *area

	need  set // pages to look at
	calm  set // open pages in which the last look found nothing new
	looks int // of which the first is at all: it brings pages into being, and only then they are protected

	unseen bool // some writers are not seen
	young  set  // protected, still looked at, since turned or later
	old    set  // the same, before
	turned int64
	rest   time.Duration // until the next turn
}

// grace is the least time between the protection of a page and the check that nothing has it pinned.
const grace = 10 * time.Millisecond

// New begins to watch [base, base+size). At first all of it is to be looked at.
func New(base, size uint64, o Options) *Watch {
	w := &Watch{base: base, size: size, unseen: o.Pinned, rest: grace}
	from := base &^ (pageSize - 1)
	w.pages = int((base + size + pageSize - 1 - from) / pageSize)
	w.first, w.end = 0, w.pages
	if base%pageSize != 0 {
		w.first++
	}
	if (base+size)%pageSize != 0 {
		w.end--
	}
	w.need = newSet(w.pages)
	if k := theKernel(); k != nil && !o.Off && w.first < w.end {
		w.area = enter(w.address(w.first), w.address(w.end))
		if (o.Private || private(w.area.base, w.area.end)) && k.register(w.area.base, w.area.end) == nil {
			w.k = k
			w.calm, w.young, w.old = newSet(w.pages), newSet(w.pages), newSet(w.pages)
		}
	}
	w.all()
	return w
}

// Close ends the watch. The memory need not be there any more.
func (w *Watch) Close() {
	if w.k != nil {
		w.k.unregister(w.area.base, w.area.end)
		w.k = nil
	}
	if w.area != nil {
		w.area.leave()
		w.area = nil
	}
}

// Tracking says whether the kernel tells what was written.
func (w *Watch) Tracking() bool { return w.k != nil }

func (w *Watch) address(page int) uint64 { return w.base&^(pageSize-1) + uint64(page)*pageSize }

func (w *Watch) all() {
	for i := range w.pages {
		w.need.add(i)
	}
}

// Look asks what was written. Until the next time Next gives out what is to be looked at.
func (w *Watch) Look() {
	if w.k == nil {
		w.all()
		return
	}
	if w.area.contested.Load() || !w.scan() {
		w.Close()
		w.all()
		return
	}
	if w.looks++; w.looks == 1 { // the next look protects all
		for i := w.first; i < w.end; i++ {
			w.calm.add(i)
		}
	}
	if w.first > 0 {
		w.need.add(0)
	}
	if w.end < w.pages {
		w.need.add(w.pages - 1)
	}
	if w.young.n+w.old.n > 0 {
		w.turn()
	}
}

// scan finds the open pages, and protects those in which nothing happens. False: the kernel cannot tell any more.
func (w *Watch) scan() bool {
	base := w.address(0)
	return w.k.written(w.area.base, w.area.end, func(from, to uint64) bool {
		last := int((to - base) / pageSize)
		for i := int((from - base) / pageSize); i < last; {
			w.need.add(i)
			if !w.calm.has(i) {
				i++
				continue
			}
			start := i
			for ; i < last && w.calm.has(i); i++ {
				w.need.add(i)
				w.calm.remove(i)
			}
			if !w.protect(start, i) {
				return false
			}
		}
		return true
	})
}

// protect protects pages. What is found in them afterwards was there before, or opens them again.
func (w *Watch) protect(from, to int) bool {
	if w.k.protect(w.address(from), w.address(to)) != nil {
		return false
	}
	if w.unseen {
		for i := from; i < to; i++ {
			w.young.add(i)
		}
	}
	return true
}

// turn has pages looked at which something may have pinned before they were protected, for the last time if nothing can have.
func (w *Watch) turn() {
	if now := mono.Now(); w.turned == 0 {
		w.turned = now
	} else if now-w.turned >= int64(w.rest) {
		clean := w.old.n > 0 && !unseenWriters()
		spent := mono.Since(now)
		w.rest = max(grace, 20*spent) // it costs little beside what it saves, and little at all
		w.need.union(&w.old)
		if clean {
			w.old.clear()
		}
		w.old.union(&w.young)
		w.young.clear()
		w.turned = mono.Now()
	}
	w.need.union(&w.young)
	w.need.union(&w.old)
}

// Due is about how many bytes there are to be looked at.
func (w *Watch) Due() int { return min(w.need.n*pageSize, int(w.size)) }

// Next is the next part of the memory to be looked at that ends behind the offset from; false if there is none. Parts begin before a multiple of block bytes and
// end at one, or at the end of the memory, and may overlap by less than that. It stays the next part until Looked.
func (w *Watch) Next(from, block int) (p Part, ok bool) {
	head := int(w.base % pageSize)
	for i := w.need.next((from + head) / pageSize); i >= 0; i = w.need.next(i + 1) {
		start, end := max(0, i*pageSize-head), min((i+1)*pageSize-head, int(w.size))
		if end <= from {
			continue
		}
		start = max(start/block*block, from)
		end = min((end+block-1)/block*block, int(w.size))
		return Part{start, end, i}, true
	}
	return Part{}, false
}

// Part is bytes [From, To) of the memory.
type Part struct {
	From, To int
	page     int
}

// Looked says that a part was looked at to its end, and whether anything in it was new.
func (w *Watch) Looked(p Part, changed bool) {
	w.need.remove(p.page)
	if w.k == nil || p.page < w.first || p.page >= w.end {
		return
	}
	if changed && w.looks > 1 {
		w.calm.remove(p.page)
	} else {
		w.calm.add(p.page)
	}
}
