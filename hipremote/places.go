package hipremote

import (
	"cmp"
	"slices"
)

// places hands out addresses of a range. It moves forward through the range and comes back to freed addresses only when it has reached
// the end, so that a pointer used after its free meets nothing instead of somebody else's memory. Between two allocations it leaves an
// address page that is never allocated: running over the end of one does not run into the next.
// It is not safe for concurrent use.
type places struct {
	guard       uint64 // bytes left between two allocations
	next, limit uint64
	free        []extent // freed, ordered by base, never adjacent
}

type extent struct{ base, size uint64 }

func (e extent) end() uint64 { return e.base + e.size }

func newPlaces(base, size uint64) *places {
	return &places{guard: pageSize, next: base, limit: base + size}
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
	if size == 0 || size%pageSize != 0 {
		return 0, false
	}
	align, need := alignOf(size), size+p.guard
	if base := (p.next + align - 1) &^ (align - 1); base >= p.next && need >= size && base <= p.limit && need <= p.limit-base {
		if base > p.next {
			p.insert(extent{p.next, base - p.next})
		}
		p.next = base + need
		return base, true
	}
	for i, f := range p.free {
		base := (f.base + align - 1) &^ (align - 1)
		if base < f.base || base > f.end() || need > f.end()-base {
			continue
		}
		tail := extent{base + need, f.end() - base - need}
		head := extent{f.base, base - f.base}
		p.free = slices.Delete(p.free, i, i+1)
		for _, e := range []extent{head, tail} {
			if e.size > 0 {
				p.insert(e)
			}
		}
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
