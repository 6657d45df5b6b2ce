package page

import (
	"runtime"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
)

// full is a page of 8 cards with 64 processes each that has been looked at for an hour.
func full(b testing.TB) (*world, *Page) {
	w := newWorld(8, 64)
	return w, w.page(b, Options{}, time.Hour)
}

// The history of a full machine stays within its bound, and the heap with it.
func TestMemoryOfAFullMachine(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w, p := full(t)
	after := heap()
	h := p.status().History
	t.Logf("%d series, %d KiB of history, heap grew by %d KiB", h.Series, h.Bytes>>10, (int64(after)-int64(before))>>10)
	if h.Bytes > p.opt.MaxBytes {
		t.Errorf("%d bytes of history, of %d", h.Bytes, p.opt.MaxBytes)
	}
	if grew := int64(after) - int64(before); grew > p.opt.MaxBytes+4<<20 { // the world itself takes some
		t.Errorf("the heap grew by %d bytes", grew)
	}
	runtime.KeepAlive(w)
}

func BenchmarkSample(b *testing.B) {
	w, p := full(b)
	r := w.read()
	p.opt.Read = func() exporter.Reading { return r }
	for b.Loop() {
		w.mu.Lock()
		w.t = w.t.Add(time.Second)
		w.mu.Unlock()
		p.sample()
	}
}

func BenchmarkAnswer(b *testing.B) {
	_, p := full(b)
	for _, path := range []string{"/", "/api/v1/status", "/api/v1/history?points=180", "/api/v1/calls", "/api/v1/latency?points=180", "/api/v1/functions?points=180"} {
		b.Run(path, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = get(p, path, "Accept-Encoding", "gzip").Body.Len()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
