package sysfs

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/sysfs/sysfstest"
)

// What a snapshot of 8 cards costs this process, with 64 processes on each, of which
// every one is listed under every card. Files of a disk cost about what those of the
// kernel do, without what the card itself takes to answer.
func BenchmarkSnapshot(b *testing.B) {
	tree := sysfstest.MI300X(b, 8)
	for i := range 8 * 64 {
		tree.Process(1000+i, "python3")
		tree.Compute(1000+i, map[int]sysfstest.Use{i % 8: {VRAM: 1 << 30, SDMA: 5, Units: 3, Queues: 1}})
	}
	s := openTree(b, tree)
	for _, fresh := range []struct {
		name string
		age  time.Duration
	}{{"ProcessesOnce", 200 * time.Millisecond}, {"NoProcesses", time.Hour}} {
		b.Run(fresh.name, func(b *testing.B) {
			s.scanFresh = fresh.age
			b.ReportAllocs()
			for b.Loop() {
				if fresh.age < time.Hour {
					s.users.mu.Lock()
					s.users.last = nil // as after a pause
					s.users.mu.Unlock()
				}
				if _, err := smi.TakeSnapshot(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMetrics(b *testing.B) {
	s := openTree(b, sysfstest.MI300X(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Metrics(b.Context(), 0); err != nil {
			b.Fatal(err)
		}
	}
}
