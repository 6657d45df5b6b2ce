package exporter

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// BenchmarkScrape is 8 cards with 64 processes each: as the first cards were that
// this was measured with, and with every figure there is.
func BenchmarkScrape(b *testing.B) {
	b.Run("plain", func(b *testing.B) { benchScrape(b, smitest.Cards()[0], "", "") })
	b.Run("full", func(b *testing.B) { benchScrape(b, fullCards()[0], "", "") })
	b.Run("gzip", func(b *testing.B) { benchScrape(b, fullCards()[0], "", "gzip") })
	b.Run("compat", func(b *testing.B) { benchScrape(b, fullCards()[0], collector.CompatDME, "") })
}

func benchScrape(b *testing.B, like smi.DeviceSnapshot, compat, encoding string) {
	var cards []smi.DeviceSnapshot
	for i := range 8 {
		d := like
		d.Info, d.Metrics = like.Info.Clone(), like.Metrics.Clone()
		d.Device.Index, d.Info.Index, d.Device.UUID = i, i, fmt.Sprint("uuid", i)
		p := like.Processes[0]
		d.Processes = nil
		for j := range 64 {
			p.Device, p.PID = i, uint32(1000+j)
			d.Processes = append(d.Processes, p)
		}
		cards = append(cards, d)
	}
	src := smitest.NewFake(cards...)
	if like.ECC != nil { // every figure there is
		src.SetDetails(smitest.Details(8)...)
		src.SetTopology(smitest.Topology(8))
	}
	e, err := New(Options{Source: src, Compat: compat, Sessions: smitest.Clients{}, Calls: someCalls()})
	if err != nil {
		b.Fatal(err)
	}
	e.Poll(b.Context())
	h := e.Handler()
	size := 0
	var body bytes.Buffer // a server's is a socket
	begin := cpu(b)
	for b.Loop() {
		w := httptest.NewRecorder()
		body.Reset()
		w.Body = &body
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Accept", prometheus3)
		r.Header.Set("Accept-Encoding", encoding)
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Body)
		}
		size = w.Body.Len()
	}
	b.ReportMetric(float64((cpu(b)-begin).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(size), "bytes/scrape")
	if encoding == "" {
		b.ReportMetric(float64(bytes.Count(body.Bytes(), []byte("\n"))-bytes.Count(body.Bytes(), []byte("\n#"))), "series")
	}
	b.ReportMetric(resident(b), "MiB-resident")
}

// resident is the memory of this process, the simulated source and the test included.
func resident(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	var size, pages float64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

// prometheus3 is what Prometheus 3 accepts unless it is configured otherwise.
const prometheus3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
	"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"

// cpu is the time this process has computed, whatever else the machine is doing.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
