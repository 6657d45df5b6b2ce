package vmem

// tree is a treap of disjoint address ranges in order of their address. Each
// node knows the longest range below it, so that the first one that is long
// enough is found without a scan. The priorities are a hash of the address: the
// shape depends on nothing else.
type tree struct {
	root *node
	n    int
}

type node struct {
	base, size uint64
	longest    uint64 // of this node and those below it
	prio       uint64
	l, r       *node
	alloc      *Alloc
}

func (n *node) end() uint64 { return n.base + n.size }

func (n *node) update() {
	n.longest = n.size
	if n.l != nil {
		n.longest = max(n.longest, n.l.longest)
	}
	if n.r != nil {
		n.longest = max(n.longest, n.r.longest)
	}
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// split parts t into ranges that begin below addr and the others.
func split(t *node, addr uint64) (l, r *node) {
	if t == nil {
		return nil, nil
	}
	if t.base < addr {
		t.r, r = split(t.r, addr)
		t.update()
		return t, r
	}
	l, t.l = split(t.l, addr)
	t.update()
	return l, t
}

func merge(l, r *node) *node {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.prio > r.prio:
		l.r = merge(l.r, r)
		l.update()
		return l
	}
	r.l = merge(l, r.l)
	r.update()
	return r
}

// insert adds a range that overlaps none.
func (t *tree) insert(base, size uint64, a *Alloc) {
	l, r := split(t.root, base)
	m := &node{base: base, size: size, longest: size, prio: mix(base), alloc: a}
	t.root = merge(merge(l, m), r)
	t.n++
}

// remove takes out the range that begins at base.
func (t *tree) remove(base uint64) {
	l, rest := split(t.root, base)
	m, r := split(rest, base+1)
	if m != nil {
		t.n--
	}
	t.root = merge(l, r)
}

// floor is the last range that begins at or below addr, nil for none.
func (t *tree) floor(addr uint64) *node {
	var best *node
	for n := t.root; n != nil; {
		if n.base <= addr {
			best, n = n, n.r
		} else {
			n = n.l
		}
	}
	return best
}

// fit is the lowest address a of multiple align with [a, a+size) inside one
// range and inside [from, to).
func (t *tree) fit(from, to, size, align uint64) (uint64, bool) {
	return fit(t.root, from, to, size, align)
}

func fit(n *node, from, to, size, align uint64) (uint64, bool) {
	if n == nil || n.longest < size {
		return 0, false
	}
	// Ranges to the left end at or below n.base: they matter if it lies above from.
	if n.base > from {
		if a, ok := fit(n.l, from, to, size, align); ok {
			return a, ok
		}
	}
	if n.base >= to {
		return 0, false
	}
	lo, hi := max(n.base, from), min(n.end(), to)
	if a := (lo + align - 1) &^ (align - 1); a >= lo && a <= hi && hi-a >= size {
		return a, true
	}
	return fit(n.r, from, to, size, align)
}

// walk calls f for each range in order until it returns false.
func (t *tree) walk(f func(*node) bool) { walk(t.root, f) }

func walk(n *node, f func(*node) bool) bool {
	return n == nil || walk(n.l, f) && f(n) && walk(n.r, f)
}
