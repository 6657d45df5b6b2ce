package vmem

import (
	"errors"
	"fmt"
	"math/rand"
	"runtime/debug"
	"testing"
)

const gib = 1 << 30

func reserve(t *testing.T, o Options) *Space {
	t.Helper()
	s, err := ReserveAny(16*gib, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func alloc(t *testing.T, s *Space, n uint64) *Alloc {
	t.Helper()
	a, err := s.Alloc(n, Alloc{Kind: Device})
	if err != nil {
		t.Fatalf("Alloc(%d): %v", n, err)
	}
	return a
}

// faults reports whether reading the byte at addr faults.
func faults(addr uint64) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(interface{ Addr() uintptr }); !ok {
				panic(e)
			}
			faulted = true
		}
	}()
	sink = Raw(addr, 1)[0]
	return false
}

var sink byte

func TestAlloc(t *testing.T) {
	s := reserve(t, Options{})
	for _, n := range []uint64{1, 255, 4096, 4097, 1 << 20, 2 << 20, 5<<20 + 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			a := alloc(t, s, n)
			if a.Size != n || a.Base%256 != 0 || n >= LargeAlign && a.Base%LargeAlign != 0 {
				t.Errorf("Alloc(%d) = %+v", n, a)
			}
			b, ok := s.Bytes(a.Base, n)
			if !ok || uint64(len(b)) != n {
				t.Fatalf("Bytes: %d, %v", len(b), ok)
			}
			b[0], b[n-1] = 1, 2
			if _, ok := s.Bytes(a.Base, n+1); ok {
				t.Error("Bytes beyond the end")
			}
			if _, ok := s.Bytes(a.Base+n, 0); ok {
				t.Error("Bytes at the end")
			}
			if got := s.Lookup(a.Base + n - 1); got != a {
				t.Errorf("Lookup(last) = %v", got)
			}
			if got := s.Lookup(a.Base + n); got != nil {
				t.Errorf("Lookup(end) = %v", got)
			}
			if !faults(a.Base+a.Pages()) || !faults(a.Base-1) {
				t.Error("the pages beside an allocation can be read")
			}
			if !s.Free(a) {
				t.Error("Free")
			}
			if s.Free(a) {
				t.Error("freed twice")
			}
			if !faults(a.Base) {
				t.Error("freed memory can be read")
			}
		})
	}
	for _, n := range []uint64{0, s.Size() + 1, ^uint64(0), ^uint64(0) - 4000} {
		if _, err := s.Alloc(n, Alloc{}); !errors.Is(err, ErrNoMemory) {
			t.Errorf("Alloc(%#x): %v", n, err)
		}
	}
	if s.Len() != 0 {
		t.Errorf("%d allocations left", s.Len())
	}
}

func TestAllocAt(t *testing.T) {
	s := reserve(t, Options{})
	base := s.Base()
	a, err := s.AllocAt(base+8192, 8192, Alloc{Kind: Device})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		addr, size uint64
		want       error
	}{
		{"the same", base + 8192, 8192, ErrTaken},
		{"its end", base + 12288, 8192, ErrTaken},
		{"its begin", base + 4096, 8192, ErrTaken},
		{"around it", base, 1 << 20, ErrTaken},
		{"not aligned", base + 100, 4096, ErrRange},
		{"size not aligned", base, 100, ErrRange},
		{"nothing", base, 0, ErrRange},
		{"below", base - 4096, 4096, ErrRange},
		{"above", base + s.Size(), 4096, ErrRange},
		{"over the end", base + s.Size() - 4096, 8192, ErrRange},
		{"wraps", ^uint64(0) &^ 4095, 8192, ErrRange},
		{"before", base + 4096, 4096, nil},
		{"after", base + 16384, 4096, nil},
		{"last page", base + s.Size() - 4096, 4096, nil},
	}
	for _, tt := range tests {
		if _, err := s.AllocAt(tt.addr, tt.size, Alloc{Kind: Device}); !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	s.Free(a)
	if _, err := s.AllocAt(base+8192, 8192, Alloc{}); err != nil {
		t.Errorf("after Free: %v", err)
	}
}

func TestZeroOnReuse(t *testing.T) {
	s := reserve(t, Options{})
	addr := s.Base() + 4<<20
	for i := range 3 {
		a, err := s.AllocAt(addr, 4<<20, Alloc{})
		if err != nil {
			t.Fatal(err)
		}
		b := Raw(addr, 4<<20)
		for j := 0; j < len(b); j += 4096 {
			if b[j] != 0 {
				t.Fatalf("round %d: byte %#x is %d", i, j, b[j])
			}
			b[j] = 0xff
		}
		s.Free(a)
	}
}

func TestAddressNotReusedAtOnce(t *testing.T) {
	s := reserve(t, Options{})
	a := alloc(t, s, 4096)
	s.Free(a)
	if b := alloc(t, s, 4096); b.Base == a.Base {
		t.Errorf("%#x is given out again at once", b.Base)
	}
}

func TestOwnShare(t *testing.T) {
	whole := reserve(t, Options{})
	base, size := whole.Base(), whole.Size()
	whole.Close()
	own := base + size/2
	s, err := Reserve(base, size, Options{Own: own, OwnSize: gib})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for range 3 {
		a := alloc(t, s, 512<<20-PageSize)
		if a.Base < own || a.Base+a.Size > own+gib {
			t.Errorf("placed at %#x, outside its share", a.Base)
		}
		s.Free(a)
	}
	if _, err := s.Alloc(gib+1, Alloc{}); !errors.Is(err, ErrNoMemory) {
		t.Errorf("more than the share: %v", err)
	}
	for _, o := range []Options{{Own: base - PageSize, OwnSize: gib}, {Own: base + size - gib + PageSize, OwnSize: gib}, {Own: own + 1, OwnSize: gib}, {Own: ^uint64(0) &^ 4095, OwnSize: gib}} {
		if _, err := Reserve(base, size, o); !errors.Is(err, ErrRange) {
			t.Errorf("a share of %#x bytes at %#x outside the range: %v", o.OwnSize, o.Own, err)
		}
	}
}

func TestReserveErrors(t *testing.T) {
	s := reserve(t, Options{})
	for _, tt := range []struct {
		base, size uint64
		want       error
	}{
		{0, 1 << 30, ErrRange}, {4095, 1 << 30, ErrRange}, {1 << 44, 0, ErrRange}, {1 << 44, 100, ErrRange},
		{1 << 47, 1 << 30, ErrRange}, {^uint64(0) &^ 4095, 8192, ErrRange},
		{s.Base(), 1 << 20, ErrReserve}, {s.Base() + 4096, s.Size(), ErrReserve},
	} {
		if sp, err := Reserve(tt.base, tt.size, Options{}); !errors.Is(err, tt.want) {
			t.Errorf("Reserve(%#x, %#x) = %v, %v; want %v", tt.base, tt.size, sp, err, tt.want)
		}
	}
}

// TestCrowded makes more allocations than there may be mappings and frees them
// in another order: contents survive, memory comes back zero, and afterwards
// everything faults again.
func TestCrowded(t *testing.T) {
	s := reserve(t, Options{MaxMaps: 64})
	rnd := rand.New(rand.NewSource(1))
	var list []*Alloc
	for i := range 3000 {
		a := alloc(t, s, uint64(1+rnd.Intn(200_000)))
		b := Raw(a.Base, a.Size)
		if b[0] != 0 || b[len(b)-1] != 0 {
			t.Fatalf("allocation %d is not zero", i)
		}
		b[0], b[len(b)-1] = byte(i), byte(i)
		list = append(list, a)
		if rnd.Intn(3) == 0 {
			k := rnd.Intn(len(list))
			s.Free(list[k])
			list = append(list[:k], list[k+1:]...)
		}
	}
	if len(s.pages.coarse) == 0 {
		t.Error("no chunk was opened: the test is too small")
	}
	big := alloc(t, s, 200<<20) // spans chunks
	for _, a := range list {
		if b := Raw(a.Base, a.Size); len(b) > 1 && b[0] != b[len(b)-1] {
			t.Fatalf("allocation at %#x lost its contents", a.Base)
		}
	}
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, a := range list {
		s.Free(a)
	}
	s.Free(big)
	if s.pages.ranges != 0 || len(s.pages.coarse) != 0 || s.free.n != 1 {
		t.Errorf("left: %d ranges, %d chunks, %d free ranges", s.pages.ranges, len(s.pages.coarse), s.free.n)
	}
	for _, a := range append(list, big) {
		if !faults(a.Base) {
			t.Fatalf("%#x can still be read", a.Base)
		}
	}
}

// TestAgainstModel runs random operations against a plain list.
func TestAgainstModel(t *testing.T) {
	s := reserve(t, Options{})
	rnd := rand.New(rand.NewSource(2))
	type span struct{ base, end uint64 }
	live := map[*Alloc]span{}
	check := func(a *Alloc) {
		for o, sp := range live {
			if o != a && a.Base < sp.end && sp.base < a.Base+a.Size {
				t.Fatalf("%+v overlaps %+v", a, o)
			}
		}
	}
	for range 2000 {
		switch rnd.Intn(4) {
		case 0, 1:
			a := alloc(t, s, uint64(1+rnd.Intn(1<<uint(4+rnd.Intn(20)))))
			check(a)
			live[a] = span{a.Base, a.End()}
		case 2:
			at := s.Base() + uint64(rnd.Intn(1<<16))*PageSize
			size := uint64(1+rnd.Intn(16)) * PageSize
			if a, err := s.AllocAt(at, size, Alloc{}); err == nil {
				check(a)
				live[a] = span{a.Base, a.End()}
			}
		case 3:
			for a := range live {
				if !s.Free(a) {
					t.Fatal("Free of a live allocation")
				}
				delete(live, a)
				break
			}
		}
	}
	n := 0
	last := uint64(0)
	s.Each(func(a *Alloc) bool {
		if _, ok := live[a]; !ok || a.Base < last {
			t.Errorf("table holds %+v", a)
		}
		last = a.End()
		n++
		return true
	})
	if n != len(live) || n != s.Len() {
		t.Errorf("table holds %d, model %d", n, len(live))
	}
	for a := range live {
		s.Free(a)
	}
	if s.free.n != 1 || s.free.root.size != s.Size() {
		t.Errorf("free ranges do not join: %d", s.free.n)
	}
}

func BenchmarkAllocFree(b *testing.B) {
	s, err := ReserveAny(gib, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		a, err := s.Alloc(1<<20, Alloc{})
		if err != nil {
			b.Fatal(err)
		}
		s.Free(a)
	}
}
