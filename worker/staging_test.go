package worker

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestStagingIsUsedAgain: memory for copies is taken once, whatever their sizes, and what is kept is bounded.
func TestStagingIsUsedAgain(t *testing.T) {
	s := newStaging(256 << 20)
	for _, n := range []int{1, 4096, 4097, 64<<10 + 4, 1 << 20, 5 << 20, stagingUnit} {
		b := s.take(n)
		if len(b) != n {
			t.Fatalf("%d bytes, want %d", len(b), n)
		}
		first := addressOf(b)
		s.give(b)
		if b = s.take(n); addressOf(b) != first {
			t.Errorf("%d bytes: other memory", n)
		}
		s.give(b)
	}
	if n := testing.AllocsPerRun(100, func() { s.give(s.take(1 << 20)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	s = newStaging(256 << 20)
	var out [][]byte
	for range 20 {
		out = append(out, s.take(stagingUnit))
	}
	out = append(out, s.take(stagingUnit+1))
	for _, b := range out {
		s.give(b)
	}
	if s.kept != stagingKeep || s.used != 0 {
		t.Errorf("%d bytes are kept, %d count as used", s.kept, s.used)
	}
	for range 20 {
		s.take(stagingUnit)
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
		pin:   func(n int) []byte { pinned += n; return make([]byte, n) },
		unpin: func(b []byte) { freed <- len(b) }, // somebody waits for the streams
		idle:  map[int][][]byte{}, out: map[hip.Ptr]pin{},
	}
	all := func(n, count int) {
		var out [][]byte
		for range count {
			out = append(out, s.take(n))
		}
		for _, b := range out {
			s.give(b)
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
	for counts := -1; counts != 0; { // the last is about to be counted out
		s.mu.Lock()
		counts = s.used
		s.mu.Unlock()
	}
	all(limit/2, 1)
	if pinned != 16<<20 {
		t.Errorf("%d bytes are pinned for a copy that there is room for", pinned)
	}
	// What was taken before a device was reset is used no more.
	b := s.take(limit / 2)
	s.forget()
	s.give(b)
	all(limit/2, 1)
	if pinned != 24<<20 || s.used != limit/2 {
		t.Errorf("%d bytes are pinned after the reset, %d count", pinned, s.used)
	}
}
