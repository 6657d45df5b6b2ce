package hipremote

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPlacesNeverOverlapAndKeepGuards(t *testing.T) {
	const base, size = 0x100000000000, 64 << 20
	p := newPlaces(base, size, pageSize)
	live := map[uint64]uint64{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		if len(live) > 0 && r.IntN(2) == 0 {
			for a, n := range live {
				p.put(a, n)
				delete(live, a)
				break
			}
			continue
		}
		n := uint64(1+r.IntN(700)) * pageSize
		a, ok := p.take(n)
		if !ok {
			continue
		}
		if a < base || a+n+pageSize > base+size || a%alignOf(n) != 0 {
			t.Fatalf("take(%d) = %#x: outside the range or not aligned", n, a)
		}
		for b, m := range live {
			if a < b+m+pageSize && b < a+n+pageSize {
				t.Fatalf("take(%d) = %#x overlaps %#x+%d or its guard page", n, a, b, m)
			}
		}
		live[a] = n
	}
	for a, n := range live {
		p.put(a, n)
	}
	if want := []extent{{base, size}}; !slices.Equal(p.free, want) {
		t.Errorf("free at the end: %v, want %v", p.free, want)
	}
}

func TestPlacesDoNotReuseBeforeTheEnd(t *testing.T) {
	p := newPlaces(0x1000, 16*pageSize, pageSize)
	a, _ := p.take(pageSize)
	p.put(a, pageSize)
	if b, ok := p.take(pageSize); !ok || b == a {
		t.Errorf("second take = %#x, %v; want another address than the freed %#x", b, ok, a)
	}
	for _, n := range []uint64{0, 1, pageSize + 1, 17 * pageSize, 1 << 63, ^uint64(0) &^ (pageSize - 1)} {
		if b, ok := p.take(n); ok {
			t.Errorf("take(%d) = %#x, want none", n, b)
		}
	}
}

// TestPlacesGoRound: with one allocation at a time, each address comes again only when all others have been.
func TestPlacesGoRound(t *testing.T) {
	p := newPlaces(0x1000, 16*pageSize, pageSize)
	held, _ := p.take(pageSize)
	var before []uint64
	for range 100 {
		a, ok := p.take(pageSize)
		if !ok {
			t.Fatal("no room")
		}
		p.put(a, pageSize)
		if i := slices.Index(before, a); i >= 0 && len(before)-i < 7 || a == held {
			t.Fatalf("%#x after %#x, with %#x in use", a, before, held)
		}
		before = append(before, a)
	}
}

func TestReserveCandidates(t *testing.T) {
	got := reserveCandidates()
	if len(got) == 0 {
		t.Fatal("no range reserved")
	}
	for _, r := range got {
		if err := reserveRange(r.base, r.size); err == nil {
			t.Errorf("%#x could be reserved twice", r.base)
		}
	}
	if err := commit(got[0].base, 2*pageSize); err != nil {
		t.Fatal(err)
	}
	b := hostBytes(got[0].base, 2*pageSize)
	b[0], b[2*pageSize-1] = 1, 2
	decommit(got[0].base, 2*pageSize)
	if err := commit(got[0].base, pageSize); err != nil {
		t.Fatal(err)
	}
	if b := hostBytes(got[0].base, 1); b[0] != 0 {
		t.Error("memory committed again is not zero")
	}
	for _, r := range got {
		unmap(r.base, r.size)
	}
}

// TestReserveBetween: a process that has something in every TiB, as clients leave it that were closed with host memory, still gets ranges.
func TestReserveBetween(t *testing.T) {
	for base := uint64(firstCandidate); base < lastCandidate; base += 1 << 40 {
		if reserveRange(base, granularity) == nil {
			defer unmap(base, granularity)
		}
	}
	got := reserveCandidates()
	if len(got) == 0 {
		t.Error("no range reserved")
	}
	for _, r := range got {
		if r.size < 1<<38 {
			t.Errorf("a range of %#x bytes", r.size)
		}
		unmap(r.base, r.size)
	}
}
