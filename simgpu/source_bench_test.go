package simgpu

import (
	"context"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// benchMachine is a source of eight cards that 64 sessions use.
func benchMachine(b *testing.B) *Source {
	seg, err := CreateSegment(Options{Cards: 8, MemoryBytes: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(seg.Close)
	s, err := NewSource(Options{Segment: seg})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for i := range 64 {
		ss, err := seg.Attach(1<<30 + i)
		if err != nil {
			b.Fatal(err)
		}
		for c := range 8 {
			ss.Card(c).Take(1 << 20)
			ss.Card(c).Begin("kernel", 8)
			ss.Card(c).Work(&card.Work{Waves: 1, Instructions: [card.NumClasses]uint64{card.VALU: 1000}})
		}
	}
	return s
}

// BenchmarkMetrics8x64 is one question about one card, as they come when they come
// one after the other: most are answered by the same look at the cards.
func BenchmarkMetrics8x64(b *testing.B) {
	s := benchMachine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Metrics(context.Background(), 3); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLook8x64 is a look at all cards and sessions.
func BenchmarkLook8x64(b *testing.B) {
	s := benchMachine(b)
	b.ReportAllocs()
	for b.Loop() {
		s.mu.Lock()
		s.sample()
		s.mu.Unlock()
	}
}

// BenchmarkSnapshot8x64 is everything about all cards, once a second.
func BenchmarkSnapshot8x64(b *testing.B) {
	s := benchMachine(b)
	b.ReportAllocs()
	for b.Loop() {
		s.mu.Lock()
		s.looked = time.Time{} // as if a second had passed
		s.mu.Unlock()
		if _, err := smi.TakeSnapshot(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}
