package collector

import "maps"

// labelCache keeps labels, made ready for what has an identity K, from one scrape to the
// next. What a scrape did not use is forgotten at its end. It is not safe for several
// goroutines.
type labelCache[K comparable, V any] struct {
	known  map[K]*cached[V]
	scrape uint64
	used   int // by this scrape
}

type cached[V any] struct {
	labels V
	scrape uint64 // that used it last
}

func (c *labelCache[K, V]) begin() {
	if c.known == nil {
		c.known = map[K]*cached[V]{}
	}
	c.scrape, c.used = c.scrape+1, 0
}

func (c *labelCache[K, V]) end() {
	if c.used < len(c.known) {
		maps.DeleteFunc(c.known, func(_ K, x *cached[V]) bool { return x.scrape != c.scrape })
	}
}

func (c *labelCache[K, V]) get(k K) (labels V, ok bool) {
	x := c.known[k]
	if x == nil {
		return labels, false
	}
	if x.scrape != c.scrape {
		x.scrape = c.scrape
		c.used++
	}
	return x.labels, true
}

func (c *labelCache[K, V]) put(k K, labels V) {
	c.known[k] = &cached[V]{labels, c.scrape}
	c.used++
}
