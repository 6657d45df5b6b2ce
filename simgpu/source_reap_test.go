package simgpu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// TestReapLooksAtNobodyElse: with hundreds of sessions one ends at any time, and each looked at all others four times. What it did counts all the same, and
// that it began and ended is told although nobody has looked meanwhile.
func TestReapLooksAtNobodyElse(t *testing.T) {
	seg, err := CreateSegment(Options{MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seg.Close)
	src, err := NewSource(Options{Segment: seg})
	if err != nil {
		t.Fatal(err)
	}
	src.stop() // nobody looks by himself
	<-src.done
	src.stop = nil
	t.Cleanup(func() { _ = src.Close() })
	for pid := range 3 {
		s, err := seg.Attach(4_000_001 + pid) // no process of this machine
		if err != nil || !s.Card(0).Take(4096) {
			t.Fatal(err)
		}
		s.Card(0).Work(&card.Work{Dispatches: 1})
	}
	src.sample()
	events, err := src.events.open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := seg.Attach(4_000_009)
	if err != nil || !s.Card(0).Take(4096) {
		t.Fatal(err)
	}
	s.Card(0).Work(&card.Work{Dispatches: 5})
	looks, read := 0, src.read
	src.read = func() []card.Card { looks++; return read() }
	src.Reap(4_000_009)
	src.Reap(4_000_002)
	src.Reap(4_000_077) // which has no seat
	if looks != 0 {
		t.Errorf("all sessions were looked at %d times", looks)
	}
	var told []string
	src.events.push(smi.Event{Kind: "last"})
	for !slices.Contains(told, "last 0") {
		list, err := events.Next(t.Context(), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			told = append(told, fmt.Sprint(e.Kind, " ", e.PID))
		}
	}
	if want := []string{"process_start 4000009", "process_end 4000009", "process_end 4000002", "last 0"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
	if c := src.read()[0]; c.Work.Dispatches != 8 || len(c.Sessions) != 2 || c.Used != 8192 {
		t.Errorf("%+v", c)
	}
}
