package worker

import "testing"

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
