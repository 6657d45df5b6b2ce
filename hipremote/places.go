package hipremote

import (
	"cmp"
	"slices"
)

// places hands out addresses of a range. It moves forward through what is free there, round and round: what was freed is had again as late as can be, so that
// a pointer used after its free meets nothing instead of somebody else's memory, and so that a worker that gives memory back only once its device has nothing
// to do is not asked for those addresses before. Between two allocations it leaves an address page that is never allocated: running over the end of one does
// not run into the next. It is not safe for concurrent use.
type places struct {
	guard uint64   // bytes left between two allocations
	next  uint64   // where the search begins
	free  []extent // ordered by base, never adjacent
}

type extent struct{ base, size uint64 }

func (e extent) end() uint64 { return e.base + e.size }

func newPlaces(base, size, guard uint64) *places {
	return &places{guard: guard, free: []extent{{base, size}}}
}

// alignOf is the alignment of an allocation: a page, and a huge page for what is as large as one.
func alignOf(size uint64) uint64 {
	if size >= 2<<20 {
		return 2 << 20
	}
	return pageSize
}

// take finds size bytes (a multiple of the page) and the guard page behind them.
func (p *places) take(size uint64) (uint64, bool) {
	align, need := alignOf(size), size+p.guard
	if size == 0 || size%pageSize != 0 || need < size || len(p.free) == 0 {
		return 0, false
	}
	first, _ := slices.BinarySearchFunc(p.free, p.next, func(x extent, a uint64) int { return cmp.Compare(x.end(), a+1) })
	for k := range len(p.free) + 1 { // the first again at the end, which the search may have begun within
		i := (first + k) % len(p.free)
		f := p.free[i]
		at := f.base
		if k == 0 && first < len(p.free) {
			at = max(at, p.next)
		}
		base := (at + align - 1) &^ (align - 1)
		if base < at || base > f.end() || need > f.end()-base {
			continue
		}
		p.next = base + need
		rest := make([]extent, 0, 2)
		for _, e := range []extent{{f.base, base - f.base}, {p.next, f.end() - p.next}} {
			if e.size > 0 {
				rest = append(rest, e)
			}
		}
		p.free = slices.Replace(p.free, i, i+1, rest...)
		return base, true
	}
	return 0, false
}

// put gives back what take handed out; size is the size asked for.
func (p *places) put(base, size uint64) { p.insert(extent{base, size + p.guard}) }

func (p *places) insert(e extent) {
	i, _ := slices.BinarySearchFunc(p.free, e.base, func(x extent, b uint64) int { return cmp.Compare(x.base, b) })
	if i < len(p.free) && e.end() == p.free[i].base {
		e.size += p.free[i].size
		p.free = slices.Delete(p.free, i, i+1)
	}
	if i > 0 && p.free[i-1].end() == e.base {
		p.free[i-1].size += e.size
		return
	}
	p.free = slices.Insert(p.free, i, e)
}
