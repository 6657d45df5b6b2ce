package hipabi

import (
	"maps"
	"sync"
	"sync/atomic"
)

// table is a map for looking up on every call, from many threads at once, what
// changes rarely: a lookup takes no lock and writes nothing once things settle.
type table[K comparable, V any] struct {
	read atomic.Pointer[map[K]V] // a copy that is never written; nil: made when it pays
	mu   sync.Mutex
	all  map[K]V
	miss int // lookups since the last change that the copy could not answer
}

// get is what k leads to, and whether it leads to anything.
func (t *table[K, V]) get(k K) (V, bool) {
	if m := t.read.Load(); m != nil {
		if v, ok := (*m)[k]; ok {
			return v, true
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.all[k]
	if !ok {
		return v, false // wrong keys do not make copies
	}
	// Copying costs about as much as the lookups that went before.
	if t.miss++; t.miss > len(t.all)/4+4 {
		m := maps.Clone(t.all)
		t.read.Store(&m)
		t.miss = 0
	}
	return v, true
}

// put adds or replaces.
func (t *table[K, V]) put(k K, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[K]V{}
	}
	if _, ok := t.all[k]; ok {
		t.read.Store(nil)
	}
	t.all[k] = v
	t.miss = 0
}

// deleteFunc removes what drop says; afterwards no lookup finds it.
func (t *table[K, V]) deleteFunc(drop func(K, V) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.all, drop)
	t.read.Store(nil)
	t.miss = 0
}

// take removes one key and returns what it led to, if anything.
func (t *table[K, V]) take(k K) (V, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.all[k]
	delete(t.all, k)
	t.read.Store(nil)
	t.miss = 0
	return v, ok
}

// clear removes everything.
func (t *table[K, V]) clear() { t.deleteFunc(func(K, V) bool { return true }) }

// each calls f for everything, in no order.
func (t *table[K, V]) each(f func(K, V)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, v := range t.all {
		f(k, v)
	}
}

// values are all values, in no order.
func (t *table[K, V]) values() []V {
	t.mu.Lock()
	defer t.mu.Unlock()
	vs := make([]V, 0, len(t.all))
	for _, v := range t.all {
		vs = append(vs, v)
	}
	return vs
}
