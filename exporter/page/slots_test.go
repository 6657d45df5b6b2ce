package page

import (
	"slices"
	"testing"
	"time"
)

// TestSlots: no two slots in use share a figure, and one that was given back is used
// before new memory is asked for.
func TestSlots(t *testing.T) {
	const steps, n = 33, 3*slotsPerMap + 1 // steps that are no multiple of anything
	s := newSlots(steps)
	var used [][]float32
	for i := range n {
		v := s.take()
		if len(v) != steps || cap(v) != steps {
			t.Fatalf("slot %d has %d figures, room for %d", i, len(v), cap(v))
		}
		for j := range v {
			v[j] = float32(i)
		}
		used = append(used, v)
	}
	for i, v := range used {
		if slices.ContainsFunc(v, func(f float32) bool { return f != float32(i) }) {
			t.Fatalf("slot %d was written by another: %v", i, v)
		}
	}
	if len(s.maps.list) != 4 {
		t.Errorf("%d mappings for %d slots", len(s.maps.list), n)
	}
	for _, v := range used {
		s.give(v)
	}
	for range n {
		s.take()
	}
	if len(s.maps.list) != 4 {
		t.Errorf("%d mappings after all was given back and taken again", len(s.maps.list))
	}
}

// TestDroppedRing: a series that takes the slot of one that was dropped begins without
// its figures.
func TestDroppedRing(t *testing.T) {
	s := newStore(10, 1<<20)
	s.begin(1, time.Unix(1, 0))
	r := s.of(key{metric: "a"}, 0)
	for i := range r.vals {
		r.vals[i] = 1
	}
	slot := &r.vals[0]
	s.drop(r.key, r)
	if r.vals != nil {
		t.Error("the dropped ring has its slot still")
	}
	x := s.of(key{metric: "b"}, 0)
	if &x.vals[0] != slot {
		t.Fatal("the slot was not used again")
	}
	if slices.ContainsFunc(x.vals, func(f float32) bool { return f == f }) {
		t.Errorf("a new ring has figures: %v", x.vals)
	}
}
