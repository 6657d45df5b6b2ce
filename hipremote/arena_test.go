package hipremote

import (
	"math/rand/v2"
	"testing"
)

// Blocks of an arena do not overlap, and all of it can be had again once they are freed.
func TestArena(t *testing.T) {
	const base, size = 1 << 40, slab
	a := &arena{base: base, size: size, places: newPlaces(base, size, 0)}
	r := rand.New(rand.NewPCG(1, 2))
	var live blocks
	refused := 0
	for range 20000 {
		if len(live) > 0 && r.IntN(2) == 0 {
			b := live[r.IntN(len(live))]
			live.remove(b)
			a.put(b)
			continue
		}
		n := 1 + r.Uint64N(inArena)
		b := a.take(n)
		if b == nil {
			refused++
			continue
		}
		if b.base < base || b.base+b.size > base+size || b.base%pageSize != 0 || b.want != n || live.overlaps(b.base, b.size) {
			t.Fatalf("%+v", b)
		}
		live.insert(b)
	}
	if refused == 0 {
		t.Error("it was never full")
	}
	for _, b := range live {
		a.put(b)
	}
	if a.live != 0 || a.used != 0 {
		t.Errorf("%d blocks, %d bytes", a.live, a.used)
	}
	for range size / inArena {
		if a.take(inArena) == nil {
			t.Fatal("not all of it is free")
		}
	}
	if a.take(1) != nil {
		t.Error("more than all of it")
	}
}
