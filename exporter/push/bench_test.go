package push

import (
	"fmt"
	"testing"
)

// BenchmarkPut is what a sink waits for.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		for _, where := range []string{"disk", "memory"} {
			b.Run(fmt.Sprintf("%s/%dKiB", where, size>>10), func(b *testing.B) {
				opt := Options{MaxBytes: 64 << 20}
				if where == "disk" {
					opt.Dir = b.TempDir()
				}
				p := open(b, opt)
				rec := payload(1, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					put(b, p, rec)
				}
			})
		}
	}
}

// BenchmarkDrain is what sending costs besides Send.
func BenchmarkDrain(b *testing.B) {
	p := open(b, Options{Dir: b.TempDir(), MaxBytes: 256 << 20})
	const size = 4 << 10
	rec := payload(1, size)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if p.Stats().Waiting == 0 {
			b.StopTimer()
			for range 5000 {
				put(b, p, rec)
			}
			b.StartTimer()
		}
		take(b, p, nil)
	}
}
