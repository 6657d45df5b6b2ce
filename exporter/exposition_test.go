package exporter

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// expfmtText is what package expfmt makes of the same families.
func expfmtText(t *testing.T, x *exposition, openMetrics bool) string {
	t.Helper()
	kind := expfmt.TypeTextPlain
	if openMetrics {
		kind = expfmt.TypeOpenMetrics
	}
	var b bytes.Buffer
	enc := expfmt.NewEncoder(&b, expfmt.NewFormat(kind))
	for _, f := range x.families() {
		if err := enc.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	if c, ok := enc.(expfmt.Closer); ok {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// sameAsExpfmt compares what is written with what expfmt writes.
func sameAsExpfmt(t *testing.T, x *exposition) {
	t.Helper()
	for _, om := range []bool{false, true} {
		var got bytes.Buffer
		if err := x.writeText(&got, om); err != nil {
			t.Fatal(err)
		}
		want := strings.Split(expfmtText(t, x, om), "\n")
		for i, g := range strings.Split(got.String(), "\n") {
			if i >= len(want) || g != want[i] {
				t.Fatalf("OpenMetrics %v, line %d: %q, want %q", om, i+1, g, want[min(i, len(want)-1)])
			}
		}
		if n := strings.Count(got.String(), "\n") + 1; n != len(want) {
			t.Errorf("OpenMetrics %v: %d lines, want %d", om, n, len(want))
		}
	}
}

func TestTextIsExpfmts(t *testing.T) {
	cards := compatCards()
	evil := "\xff\n\"\\{}é"
	cards[0].Processes = append(cards[0].Processes, smi.Process{PID: 9, Name: evil, Client: &smi.Client{Host: evil, User: "\\", Executable: "\""}})
	src := smitest.NewFake(cards...)
	src.SetDetails(fullDetail())
	src.SetTopology(smitest.Topology(2))
	e := start(t, Options{Source: src, Sessions: smitest.Clients{}, Calls: tracedCalls{someCalls()}, Compat: CompatDME, Runtime: true})
	e.Poll(t.Context())
	x, err := e.gatherer.collect([]*dto.MetricFamily{})
	if err != nil || len(x.own) < 100 || len(x.others) < 10 {
		t.Fatalf("%d families, %d of others, %v", len(x.own), len(x.others), err)
	}
	sameAsExpfmt(t, x)

	for _, form := range []string{HistogramsBoth, HistogramsNative, HistogramsClassic} {
		for _, calls := range []CallSource{someCalls(), tracedCalls{someCalls()}} {
			e := start(t, Options{Calls: calls, Histograms: form})
			e.Poll(t.Context())
			if x, err = e.gatherer.collect(nil); err != nil {
				t.Fatal(err)
			}
			sameAsExpfmt(t, x)
		}
	}

	f := &family{m: gpuPower}
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1e21, 1e20, 123456789, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324,
	} {
		f.series = append(f.series, sample{labels: makeLabels(gpuPower, []string{"0"}), value: v})
	}
	sameAsExpfmt(t, &exposition{own: []*family{f}})
	odd := define(counter, "test_oddly_named", "A \"counter\" with \\ and\na line.")
	metrics = metrics[:len(metrics)-1]
	sameAsExpfmt(t, &exposition{own: []*family{{m: odd, series: []sample{{labels: noLabels, value: 3}}}}})
}

func TestCompression(t *testing.T) {
	e := start(t, Options{})
	e.Poll(t.Context())
	plain := e.metrics(t)
	for accept, zipped := range map[string]bool{
		"gzip": true, "deflate, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "identity": false, "": false, "xgzip": false, "gzip;q=0.01": true,
	} {
		w := e.get(t, "/metrics", "Accept-Encoding", accept)
		body := w.Body.Bytes()
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != zipped {
			t.Errorf("%q: compressed %v", accept, got)
			continue
		}
		if zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != plain {
			t.Errorf("%q: another text", accept)
		}
	}
}

// stuckWriter is a scraper that takes nothing until it is let.
type stuckWriter struct {
	http.ResponseWriter
	stuck  chan<- struct{}
	resume <-chan struct{}
}

func (s *stuckWriter) Write(b []byte) (int, error) {
	s.stuck <- struct{}{}
	<-s.resume
	return s.ResponseWriter.Write(b)
}

func TestTooManyScrapes(t *testing.T) {
	e := start(t, Options{})
	e.Poll(t.Context())
	stuck, resume := make(chan struct{}), make(chan struct{})
	ended := make(chan int)
	for range maxScrapes {
		go func() {
			w := httptest.NewRecorder()
			e.h.ServeHTTP(&stuckWriter{w, stuck, resume}, httptest.NewRequest("GET", "/metrics", nil))
			ended <- w.Code
		}()
		<-stuck
	}
	if w := e.get(t, "/metrics"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one scrape too many: %d", w.Code)
	}
	if w := e.get(t, "/-/healthy"); w.Code != 200 {
		t.Errorf("healthy: %d", w.Code)
	}
	go func() {
		for range stuck { // whatever is still written
		}
	}()
	close(resume)
	for range maxScrapes {
		if code := <-ended; code != 200 {
			t.Errorf("a slow scrape: %d", code)
		}
	}
	close(stuck)
	if w := e.get(t, "/metrics"); w.Code != 200 {
		t.Errorf("afterwards: %d", w.Code)
	}
}
