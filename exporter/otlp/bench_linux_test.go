package otlp

import (
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi/smitest"
)

// fullSink has 8 cards with 64 processes each to tell of: 5000 points.
func fullSink(tb testing.TB) (*Sink, *source) {
	src := &source{r: fullReading()}
	src.r.Cards = nil
	for _, d := range smitest.Machine(8, 64) {
		src.r.Cards = append(src.r.Cards, exporter.Card{DeviceSnapshot: d, Fresh: true})
	}
	s, err := New(Options{Metrics: Signal{Endpoint: "http://127.0.0.1:1"}}, src)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	s.Export()
	return s, src
}

// BenchmarkExport is one reading until it is on the queue. By default that happens once a
// minute.
func BenchmarkExport(b *testing.B) {
	s, src := fullSink(b)
	size := s.Stats()[0].WaitingBytes
	b.ReportAllocs()
	begin := cpu(b)
	for b.Loop() {
		src.tick(time.Second)
		s.Export()
	}
	b.ReportMetric(float64((cpu(b)-begin).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(size), "queue-bytes/op")
}

// BenchmarkLook is what happens each second.
func BenchmarkLook(b *testing.B) {
	src := &source{r: fullReading()}
	p := NewProducer(Options{}, src)
	for b.Loop() {
		p.Look()
	}
}

// cpu is the time this process has computed, whatever else the machine is doing.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
