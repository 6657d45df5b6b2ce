package worker

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestStagingIsUsedAgain: memory for copies is taken once, whatever their sizes, and what is kept is bounded.
func TestStagingIsUsedAgain(t *testing.T) {
	s := newStaging(256 << 20)
	for _, n := range []int{1, 4096, 4097, 64<<10 + 4, 1 << 20, 5 << 20, stagingUnit} {
		b := s.take(0, n)
		if len(b) != n {
			t.Fatalf("%d bytes, want %d", len(b), n)
		}
		first := addressOf(b)
		s.give(b)
		if b = s.take(0, n); addressOf(b) != first {
			t.Errorf("%d bytes: other memory", n)
		}
		s.give(b)
	}
	if n := testing.AllocsPerRun(100, func() { s.give(s.take(0, 1<<20)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	s = newStaging(256 << 20)
	var out [][]byte
	for range 20 {
		out = append(out, s.take(0, stagingUnit))
	}
	out = append(out, s.take(0, stagingUnit+1))
	for _, b := range out {
		s.give(b)
	}
	if s.kept != stagingKeep || s.used != 0 {
		t.Errorf("%d bytes are kept, %d count as used", s.kept, s.used)
	}
	for range 20 {
		s.take(0, stagingUnit)
	}
	if s.kept != 0 {
		t.Errorf("%d bytes are kept after all were taken", s.kept)
	}
}

// TestPinnedStagingIsBounded: pinned memory counts as long as it is there, in use or not. Where there is no room, what is idle and of no use is given back.
func TestPinnedStagingIsBounded(t *testing.T) {
	const limit = 16 << 20
	s, pinned := newStaging(limit), 0
	freed := make(chan int)
	s.pins = &pins{
		pin:   func(_ int32, n int) []byte { pinned += n; return make([]byte, n) },
		unpin: func(_ int32, b []byte) { freed <- len(b) }, // somebody waits for the streams
		idle:  map[pinKind][][]byte{}, out: map[hip.Ptr]pin{},
	}
	of := int32(0)
	all := func(n, count int) {
		var out [][]byte
		for range count {
			out = append(out, s.take(of, n))
		}
		for _, b := range out {
			s.give(b)
		}
	}
	counted := func() { // the last is about to be counted out
		for counts := -1; counts != 0; {
			s.mu.Lock()
			counts = s.used
			s.mu.Unlock()
		}
	}
	all(1<<20, 8)
	if pinned != 8<<20 {
		t.Errorf("%d bytes are pinned for 8 MiB", pinned)
	}
	all(3000, 8)
	if pinned != 8<<20 {
		t.Errorf("%d bytes are pinned for copies that others had room for", pinned)
	}
	all(limit-stagingCost, 1) // in other memory, as nothing else is in use
	for range 8 {
		if n := <-freed; n != 1<<20 {
			t.Errorf("%d bytes are given back", n)
		}
	}
	counted()
	all(limit/2, 1)
	if pinned != 16<<20 {
		t.Errorf("%d bytes are pinned for a copy that there is room for", pinned)
	}
	// What was pinned for one device another does not get, but its room.
	of = 1
	all(limit/2, 1) // in other memory
	if n := <-freed; n != limit/2 || pinned != 16<<20 {
		t.Errorf("%d bytes are given back, %d pinned", n, pinned)
	}
	counted()
	all(limit/2, 1)
	if pinned != 24<<20 {
		t.Errorf("%d bytes are pinned for the second device", pinned)
	}
	// What was taken before a device was reset is used no more.
	b := s.take(of, limit/2)
	s.forget()
	s.give(b)
	all(limit/2, 1)
	if pinned != 32<<20 || s.used != limit/2 {
		t.Errorf("%d bytes are pinned after the reset, %d count", pinned, s.used)
	}
}
