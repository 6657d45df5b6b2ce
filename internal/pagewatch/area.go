package pagewatch

import (
	"slices"
	"sync"
	"sync/atomic"
)

// area is whole pages that somebody watches. Protection is a page's, not a watcher's: where two watch the same page, neither can rely on it.
type area struct {
	base, end uint64
	contested atomic.Bool
}

var areas struct {
	sync.Mutex
	list []*area
}

func enter(base, end uint64) *area {
	a := &area{base: base, end: end}
	areas.Lock()
	defer areas.Unlock()
	for _, o := range areas.list {
		if o.base < end && base < o.end {
			o.contested.Store(true)
			a.contested.Store(true)
		}
	}
	areas.list = append(areas.list, a)
	return a
}

func (a *area) leave() {
	areas.Lock()
	defer areas.Unlock()
	areas.list = slices.DeleteFunc(areas.list, func(o *area) bool { return o == a })
}
