package exporter

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files and METRICS.md anew")

// fakeClock stands still until it is told otherwise.
type fakeClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// testCalls is call totals of a fixed past.
type testCalls struct{ totals *rpcstats.Totals }

func (c testCalls) Calls() []rpcstats.CallTotal {
	calls := c.totals.Calls()
	for i := range calls {
		calls[i].Since = smitest.Then
	}
	return calls
}

func someCalls() testCalls {
	r := rpcstats.NewTotals(rpcstats.Names{})
	for i := range 1000 {
		r.Observe("hipMalloc", "client", "hipSuccess", 20e-6+float64(i)*1e-7)
		r.Observe("hipMalloc", "worker", "hipSuccess", 5e-6)
	}
	r.Observe("hipMalloc", "worker", "hipErrorOutOfMemory", 0.5)
	r.Observe("hipStreamSynchronize", "client", "hipSuccess", 100)
	r.Observe("hipMemcpy", "queue", "hipSuccess", 2e-6)
	r.Observe("hipMemcpy", "execution", "hipSuccess", 30e-6)
	r.Observe("hipMemcpy", "network", "hipSuccess", 80e-6)
	return testCalls{r}
}

type env struct {
	*Exporter
	src   *smitest.Fake
	clock *fakeClock
	h     http.Handler
}

func start(t *testing.T, opt Options) *env {
	t.Helper()
	e := &env{clock: &fakeClock{t: smitest.Then.Add(time.Minute)}}
	if opt.Source == nil {
		e.src = smitest.NewFake(smitest.Cards()...)
		opt.Source = e.src
	}
	if opt.Timeout == 0 {
		opt.Timeout = time.Minute // whatever else the machine is doing
	}
	if opt.Events == "" {
		opt.Events = EventsOn // the cards only say that they are amdgpu's
	}
	opt.now = e.clock.now
	x, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	e.Exporter, e.h = x, x.Handler()
	return e
}

func (e *env) get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.h.ServeHTTP(w, r)
	return w
}

func (e *env) metrics(t *testing.T) string {
	t.Helper()
	w := e.get(t, "/metrics")
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// value is the value of one series, "" if there is none.
func value(text, series string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("%s differs at line %d (go test -rewrite writes it anew):\n got %s\nwant %s", file, i+1, a, b)
		}
	}
}

func TestMetricsGolden(t *testing.T) {
	src := smitest.NewFake(fullCards()...)
	src.SetDetails(fullDetail())
	src.SetTopology(smitest.Topology(2))
	e := start(t, Options{Source: &owned{src, someOwners}, Sessions: limitedClients{}, Calls: someCalls(), Sinks: someSinks, Local: someLocal(), Version: "1.2.3",
		Place: Place{Host: "gpu-1", Cluster: "eu", Pool: "training"}})
	e.Poll(t.Context())
	e.hear(t, src, smi.Event{Kind: smi.EventVMFault}, smi.Event{Device: 1, Kind: "invented"}, smi.Event{Device: 7, Kind: smi.EventLost},
		smi.Event{Device: smi.NoCard, Kind: smi.EventMissed, Count: 3})
	e.clock.advance(1500 * time.Millisecond)
	text := strings.ReplaceAll(e.metrics(t), `goversion="`+runtime.Version()+`"`, `goversion="GO"`)
	golden(t, "testdata/metrics.txt", []byte(text))

	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("promlint: %s: %s", p.Metric, p.Text)
	}
	// Everything that is declared is shown by this source.
	for _, m := range collector.Metrics() {
		if !m.Compat && !strings.Contains(text, "# HELP "+m.Name+" ") {
			t.Errorf("%s is declared and not in the golden file", m.Name)
		}
	}
}

func TestMetricsTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Metrics\n\n" +
		"Made by `go test ./exporter -rewrite`; do not edit. A figure that is not available has no series.\n" +
		"Join with `gpu_info` by `gpu`, with `gpu_process_info` by `gpu` and `pid`, with `hip_session_info` by `session`.\n\n" +
		"| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n")
	for _, m := range collector.Metrics() {
		if !m.Compat {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, strings.Join(m.Labels, ", "), m.Help)
		}
	}
	golden(t, "METRICS.md", []byte(b.String()))
}

// The protobuf form carries the native histogram, the text form classic buckets;
// both count the same.
func TestNativeHistogram(t *testing.T) {
	calls := someCalls()
	e := start(t, Options{Calls: calls})
	e.Poll(t.Context())
	w := e.get(t, "/metrics", "Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	dec := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header()))
	found := 0
	for {
		var f dto.MetricFamily
		if dec.Decode(&f) != nil {
			break
		}
		if f.GetName() != "hip_rpc_duration_seconds" {
			continue
		}
		for i, m := range f.Metric {
			h, want := m.GetHistogram(), callOf(t, calls, m)
			found++
			if h.GetSchema() != 3 || h.GetSampleCount() != want.Count() || h.GetSampleSum() != want.Seconds() {
				t.Errorf("series %d: schema %d, %d samples, sum %v; want 3, %d, %v", i, h.GetSchema(), h.GetSampleCount(), h.GetSampleSum(), want.Count(), want.Seconds())
			}
			if got := spans(t, h); fmt.Sprint(got) != fmt.Sprint(want.Buckets) {
				t.Errorf("series %d: buckets %v, want %v", i, got, want.Buckets)
			}
			last := h.Bucket[len(h.Bucket)-1]
			if n := last.GetCumulativeCount(); n != want.Count() && want.Op != "hipStreamSynchronize" {
				t.Errorf("series %d: %d samples up to %v s, want %d", i, n, last.GetUpperBound(), want.Count())
			}
			if !h.GetCreatedTimestamp().AsTime().Equal(smitest.Then) {
				t.Errorf("series %d: created %v", i, h.GetCreatedTimestamp().AsTime())
			}
		}
	}
	if found != 4 {
		t.Errorf("%d series", found)
	}
}

// callOf is the total that a series is made of.
func callOf(t *testing.T, calls testCalls, m *dto.Metric) rpcstats.CallTotal {
	l := map[string]string{}
	for _, p := range m.Label {
		l[p.GetName()] = p.GetValue()
	}
	for _, c := range calls.Calls() {
		if c.Op == l["op"] && c.Side == l["side"] && c.Code == l["code"] {
			return c
		}
	}
	t.Fatalf("no call is %v", l)
	return rpcstats.CallTotal{}
}

// spans reads a native histogram's sparse form back.
func spans(t *testing.T, h *dto.Histogram) (b []rpcstats.Bucket) {
	at, n, d := 0, int64(0), 0
	for _, s := range h.PositiveSpan {
		at += int(s.GetOffset())
		for range s.GetLength() {
			n += h.PositiveDelta[d]
			d++
			if n > 0 {
				b = append(b, rpcstats.Bucket{Index: at, Count: uint64(n)})
			}
			at++
		}
	}
	if d != len(h.PositiveDelta) {
		t.Errorf("%d deltas, %d in spans", len(h.PositiveDelta), d)
	}
	return b
}

// The buckets are exactly those that client_golang's own histogram would fill.
func TestBucketsAgreeWithClientGolang(t *testing.T) {
	own := newReferenceHistogram()
	r := rpcstats.NewRecorder(rpcstats.Client)
	for d := time.Duration(1); d < time.Hour; d = d*5/4 + 1 {
		own.Observe(float64(d) / 1e9)
		r.Record(1, 0, d)
	}
	var m dto.Metric
	if err := own.Write(&m); err != nil {
		t.Fatal(err)
	}
	if m.Histogram.GetSchema() != rpcstats.Schema {
		t.Fatalf("client_golang uses schema %d for a factor of 1.1", m.Histogram.GetSchema())
	}
	if got, want := r.Take().Series[0].Buckets, spans(t, m.Histogram); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("buckets\n%v\nwant\n%v", got, want)
	}
}

func TestSourceDown(t *testing.T) {
	e := start(t, Options{})
	if s := e.metrics(t); value(s, "gpu_exporter_source_up") != "0" || value(s, `gpu_exporter_collector_success{collector="device"}`) != "0" {
		t.Errorf("before the first reading:\n%s", s)
	}
	if w := e.get(t, "/-/ready"); w.Code != 503 {
		t.Errorf("ready before the first reading: %d", w.Code)
	}
	e.Poll(t.Context())
	if w := e.get(t, "/-/ready"); w.Code != 200 {
		t.Errorf("not ready after it: %d", w.Code)
	}
	e.src.Fail(smi.Errorf(smi.ErrUnavailable, "gone"))
	e.Poll(t.Context())
	e.clock.advance(10 * time.Second)
	s := e.metrics(t)
	if value(s, "gpu_exporter_source_up") != "0" || value(s, `gpu_power_watts{gpu="0"}`) != "412" || value(s, `gpu_snapshot_age_seconds{gpu="0"}`) != "10" {
		t.Errorf("a source that has just gone:\n%s", s)
	}
	e.clock.advance(time.Minute)
	s = e.metrics(t)
	if value(s, `gpu_up{gpu="0"}`) != "0" || strings.Contains(s, "gpu_power_watts") || strings.Contains(s, "gpu_process_") || value(s, `gpu_snapshot_age_seconds{gpu="0"}`) != "70" {
		t.Errorf("old figures:\n%s", s)
	}
	e.src.Fail(nil)
	e.Poll(t.Context())
	if s = e.metrics(t); value(s, "gpu_exporter_source_up") != "1" || value(s, `gpu_power_watts{gpu="0"}`) != "412" {
		t.Errorf("the source is back:\n%s", s)
	}
}

// A card that hangs keeps neither a scrape nor the other card's figures.
func TestHangingCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := start(t, Options{Timeout: 500 * time.Millisecond})
		e.Poll(t.Context())
		release := e.src.Hang(0)
		defer release()
		for range 3 {
			e.clock.advance(20 * time.Second)
			e.Poll(t.Context())
		}
		s := e.metrics(t)
		for series, want := range map[string]string{
			`gpu_up{gpu="0"}`: "0", `gpu_snapshot_age_seconds{gpu="0"}`: "60", `gpu_up{gpu="1"}`: "1", `gpu_snapshot_age_seconds{gpu="1"}`: "0",
			`gpu_exporter_source_up`: "1", `gpu_power_watts{gpu="0"}`: "", `gpu_exporter_collector_success{collector="device"}`: "0",
		} {
			if got := value(s, series); got != want {
				t.Errorf("%s = %q, want %q", series, got, want)
			}
		}
	})
}

// The exporter is ready when every card has been read, or has had its time.
func TestReadyWithHangingCard(t *testing.T) {
	src := smitest.NewFake(smitest.Cards()...)
	release := src.Hang(0)
	defer release()
	e := start(t, Options{Source: src})
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Poll(t.Context())
	}()
	for value(e.metrics(t), `gpu_up{gpu="1"}`) != "1" { // the other card has been read
		time.Sleep(time.Millisecond)
	}
	if w := e.get(t, "/-/ready"); w.Code != 503 {
		t.Errorf("ready while a card is being read: %d", w.Code)
	}
	e.clock.advance(time.Minute)
	if w := e.get(t, "/-/ready"); w.Code != 200 {
		t.Errorf("not ready when it has had its time: %d", w.Code)
	}
	release()
	<-done
}

// Nothing a client calls itself breaks a scrape, and there is an end to series.
func TestHostileNames(t *testing.T) {
	cards := smitest.Cards()[:1]
	evil := "\xff\n\"\\{}" + strings.Repeat("é", 1000)
	cards[0].Processes = nil
	for i := range 500 {
		cards[0].Processes = append(cards[0].Processes, smi.Process{
			PID: uint32(1 + i%400), Name: evil, VRAM: smi.Some(smi.Bytes(i)), Client: &smi.Client{Host: evil, User: evil, Executable: evil},
		})
	}
	cards[0].Metrics.Clocks = append(cards[0].Metrics.Clocks, cards[0].Metrics.Clocks...)
	e := start(t, Options{Source: smitest.NewFake(cards...), MaxSeries: 50, MaxProcesses: 1000})
	e.Poll(t.Context())
	s := e.metrics(t)
	if n := strings.Count(s, "\ngpu_process_vram_bytes{"); n != 50 {
		t.Errorf("%d series", n)
	}
	if got := value(s, `gpu_exporter_dropped_series_total{collector="process"}`); got != "900" { // info and VRAM, 450 each
		t.Errorf("%s series dropped", got)
	}
	if got := value(s, `gpu_exporter_dropped_series_total{collector="device"}`); got != "5" {
		t.Errorf("%s clocks dropped", got)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range families["gpu_process_vram_bytes"].Metric[0].Label {
		if len(l.GetValue()) > 256 {
			t.Errorf("label %s of %d bytes", l.GetName(), len(l.GetValue()))
		}
	}
}

// failing is sessions and calls that cannot be known.
type failing struct{ smitest.Clients }

func (failing) Err() error                  { return smi.Errorf(smi.ErrUnavailable, "gone") }
func (failing) Calls() []rpcstats.CallTotal { return someCalls().Calls() }

func TestUnknownSessions(t *testing.T) {
	e := start(t, Options{Sessions: failing{}, Calls: failing{}})
	e.Poll(t.Context())
	s := e.metrics(t)
	if strings.Contains(s, "\nhip_") {
		t.Errorf("series of what is not known:\n%s", s)
	}
	for _, c := range []string{"session", "rpc"} {
		if value(s, `gpu_exporter_collector_success{collector="`+c+`"}`) != "0" {
			t.Errorf("collector %s claims success", c)
		}
	}
}

func TestHandler(t *testing.T) {
	e := start(t, Options{})
	e.Poll(t.Context())
	for _, c := range []struct {
		method, path string
		code         int
		want         string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/-/healthy", 200, "healthy"},
		{"GET", "/-/ready", 200, "ready"},
		{"GET", "/nothing", 404, ""},
		{"POST", "/metrics", 405, ""},
		{"DELETE", "/metrics", 405, ""},
	} {
		w := httptest.NewRecorder()
		e.h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
	if w := e.get(t, "/metrics", "Accept", "application/openmetrics-text"); !strings.HasSuffix(w.Body.String(), "# EOF\n") {
		t.Errorf("OpenMetrics: %s", w.Body)
	}
}

// Scrapes, readings and deltas at the same time, for the race detector.
func TestConcurrent(t *testing.T) {
	rpc := rpcstats.NewTotals(rpcstats.Names{})
	src := smitest.NewFake(smitest.Cards()...)
	e, err := New(Options{Source: src, Sessions: smitest.Clients{}, Calls: rpc, Interval: time.Millisecond, Runtime: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { e.Run(ctx) })
	var scrapes sync.WaitGroup
	h := e.Handler()
	for i := range 4 {
		scrapes.Go(func() {
			for range 20 {
				rpc.Observe("hipFree", "client", fmt.Sprint(i), 1e-6)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
				if w.Code != 200 {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
			}
		})
		scrapes.Go(func() {
			for range 20 {
				src.SetCards(smitest.Cards()[:1+i%2]...)
			}
		})
	}
	scrapes.Wait()
	cancel()
	wg.Wait()
}

// TestSelection: what is not chosen is not served, ours, compatible names and others' alike, and costs no mistake.
func TestSelection(t *testing.T) {
	names := func(o Options) map[string]bool {
		o.Calls, o.Compat, o.Runtime = someCalls(), collector.CompatDME, true
		e := start(t, o)
		e.Poll(t.Context())
		got := map[string]bool{}
		for _, l := range strings.Split(e.get(t, "/metrics").Body.String(), "\n") {
			if name, ok := strings.CutPrefix(l, "# TYPE "); ok {
				got[strings.Fields(name)[0]] = true
			}
		}
		return got
	}
	all := names(Options{})
	for _, name := range []string{"gpu_up", "gpu_power_watts", "gpu_health", "hip_rpc_duration_seconds", "go_goroutines"} {
		if !all[name] {
			t.Errorf("%s is not there at all", name)
		}
	}
	for name := range names(Options{Allow: []string{"gpu_*", "go_goroutines"}, Deny: []string{"gpu_power_*", "gpu_health"}}) {
		if !strings.HasPrefix(name, "gpu_") && name != "go_goroutines" || strings.HasPrefix(name, "gpu_power_") || name == "gpu_health" {
			t.Errorf("%s is served", name)
		}
	}
	some := names(Options{Allow: []string{"gpu_up", "hip_rpc_duration_seconds"}})
	if len(some) != 2 || !some["gpu_up"] || !some["hip_rpc_duration_seconds"] {
		t.Errorf("%v are served", some)
	}
	if denied := names(Options{Deny: []string{"hip_rpc_*"}}); denied["hip_rpc_duration_seconds"] || !denied["go_goroutines"] || !denied["gpu_power_watts"] {
		t.Error("what is denied is served, or what is not is not")
	}
	for _, bad := range []string{"[", ""} {
		if _, err := New(Options{Source: smitest.NewFake(), Deny: []string{bad}}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
