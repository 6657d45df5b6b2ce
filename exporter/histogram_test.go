package exporter

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi/smitest"
)

const traceA, traceB = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7d75a974853acd4f7"

// tracedCalls are calls of which some are part of traces.
type tracedCalls struct{ testCalls }

func (tracedCalls) SlowCalls() []rpcstats.SlowCall {
	at := smitest.Then
	return []rpcstats.SlowCall{
		{Op: "hipMalloc", Code: "hipSuccess", Start: at, Total: 100 * time.Microsecond, Queue: -1, Network: 20 * time.Microsecond, Execution: -1, TraceID: traceA},
		// The same bucket, later: it wins.
		{Op: "hipMalloc", Code: "hipSuccess", Start: at.Add(time.Second), Total: 99 * time.Microsecond, Queue: -1, Network: 20 * time.Microsecond, Execution: -1, TraceID: traceB},
		{Op: "hipStreamSynchronize", Code: "hipSuccess", Start: at, Total: 100 * time.Second, Queue: -1, Network: 0, Execution: -1, TraceID: traceA},
		{Op: "hipMemcpy", Code: "hipSuccess", Start: at, Total: 112 * time.Microsecond, Queue: 2 * time.Microsecond, Network: 80 * time.Microsecond,
			Execution: 30 * time.Microsecond, TraceID: traceA},
		// Not sampled, and nonsense.
		{Op: "hipMalloc", Code: "hipSuccess", Start: at.Add(time.Hour), Total: 98 * time.Microsecond, Network: 1},
		{Op: "hipMalloc", Code: "hipSuccess", Start: at.Add(time.Hour), Total: 98 * time.Microsecond, Network: 1, TraceID: strings.Repeat("\"\n", 16)},
		{Op: "hipMalloc", Code: "hipSuccess", Start: at.Add(time.Hour), Total: 98 * time.Microsecond, Network: 1, TraceID: strings.Repeat("0", 32)},
		// In a bucket in which nothing was counted yet.
		{Op: "hipMalloc", Code: "hipSuccess", Start: at, Total: 3 * time.Second, Queue: -1, Network: 1, Execution: -1, TraceID: traceA},
	}
}

var exemplarLine = regexp.MustCompile(`(?m)^(\S+\{.*\}) \d+ # (\{.*\} \S+ \S+)$`)

func TestExemplars(t *testing.T) {
	e := start(t, Options{Calls: tracedCalls{someCalls()}})
	e.Poll(t.Context())
	w := e.get(t, "/metrics", "Accept", "application/openmetrics-text;version=1.0.0")
	got := map[string]string{}
	for _, m := range exemplarLine.FindAllStringSubmatch(w.Body.String(), -1) {
		got[m[1]] = m[2]
	}
	then := float64(smitest.Then.UnixNano()) / 1e9
	ex := func(trace string, seconds float64, end float64) string {
		return fmt.Sprintf(`{trace_id="%s"} %s %s`, trace, strconv.FormatFloat(seconds, 'g', -1, 64), strconv.FormatFloat(end, 'g', -1, 64))
	}
	want := map[string]string{
		`hip_rpc_duration_seconds_bucket{code="hipSuccess",op="hipMalloc",side="client",le="0.0001220703125"}`:            ex(traceB, 99e-6, then+1+99e-6),
		`hip_rpc_duration_seconds_bucket{code="hipSuccess",op="hipStreamSynchronize",side="client",le="+Inf"}`:            ex(traceA, 100, then+100),
		`hip_rpc_phase_duration_seconds_bucket{code="hipSuccess",op="hipMemcpy",phase="queue",le="3.814697265625e-06"}`:   ex(traceA, 2e-6, then+112e-6),
		`hip_rpc_phase_duration_seconds_bucket{code="hipSuccess",op="hipMemcpy",phase="execution",le="3.0517578125e-05"}`: ex(traceA, 30e-6, then+112e-6),
		`hip_rpc_phase_duration_seconds_bucket{code="hipSuccess",op="hipMemcpy",phase="network",le="0.0001220703125"}`:    ex(traceA, 80e-6, then+112e-6),
	}
	if len(got) != len(want) {
		t.Errorf("%d exemplars, want %d", len(got), len(want))
	}
	for series, x := range want {
		g, w := strings.Fields(got[series]), strings.Fields(x)
		if len(g) != 3 || g[0] != w[0] || !near(g[1], w[1]) || !near(g[2], w[2]) {
			t.Errorf("%s:\n got %s\nwant %s", series, got[series], x)
		}
	}
	if text := e.metrics(t); strings.Contains(text, "trace_id") {
		t.Error("exemplars in a format that has none")
	}
	families := protobufOf(t, e)
	n := 0
	for _, m := range families["hip_rpc_duration_seconds"].Metric {
		n += len(m.Histogram.Exemplars)
	}
	if n != 4 { // the native histogram takes the one without a bucket, too
		t.Errorf("%d exemplars of native histograms, want 4", n)
	}
}

// near compares two figures to the microsecond.
func near(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) < 1e-6
}

func protobufOf(t *testing.T, e *env) map[string]*dto.MetricFamily {
	t.Helper()
	w := e.get(t, "/metrics", "Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	dec := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header()))
	families := map[string]*dto.MetricFamily{}
	for {
		f := &dto.MetricFamily{}
		if err := dec.Decode(f); err == io.EOF {
			return families
		} else if err != nil {
			t.Fatal(err)
		}
		families[f.GetName()] = f
	}
}

func TestHistogramForms(t *testing.T) {
	for _, c := range []struct {
		form            string
		native, classic bool
	}{{"", true, true}, {collector.HistogramsBoth, true, true}, {collector.HistogramsNative, true, false}, {collector.HistogramsClassic, false, true}} {
		e := start(t, Options{Calls: tracedCalls{someCalls()}, Histograms: c.form})
		e.Poll(t.Context())
		for _, m := range protobufOf(t, e)["hip_rpc_duration_seconds"].Metric {
			h := m.Histogram
			if got := h.Schema != nil && len(h.PositiveSpan) > 0; got != c.native {
				t.Errorf("%q: native %v", c.form, got)
			}
			if got := len(h.Bucket) > 0; got != c.classic {
				t.Errorf("%q: classic %v", c.form, got)
			}
			if h.GetSampleCount() == 0 || h.GetSampleSum() == 0 {
				t.Errorf("%q: %v", c.form, h)
			}
		}
		text := e.metrics(t)
		if got := strings.Contains(text, `hip_rpc_duration_seconds_bucket{code="hipSuccess",op="hipMalloc",side="client",le="1"} 1000`); got != c.classic {
			t.Errorf("%q: buckets in text: %v", c.form, got)
		}
		if value(text, `hip_rpc_duration_seconds_count{code="hipSuccess",op="hipMalloc",side="client"}`) != "1000" {
			t.Errorf("%q: no count in text", c.form)
		}
	}
	if _, err := New(Options{Source: smitest.NewFake(), Histograms: "none"}); err == nil {
		t.Error("a form that does not exist")
	}
}

// What OpenMetrics demands: a family's lines together and its type first, counters in
// _total, no series twice, exemplars in buckets that hold them, an end.
func TestOpenMetrics(t *testing.T) {
	src := smitest.NewFake(fullCards()...)
	src.SetDetails(fullDetail())
	src.SetTopology(smitest.Topology(2))
	e := start(t, Options{Source: src, Sessions: smitest.Clients{}, Calls: tracedCalls{someCalls()}, Compat: collector.CompatDME})
	e.Poll(t.Context())
	e.hear(t, src)
	body := e.get(t, "/metrics", "Accept", "application/openmetrics-text;version=1.0.0").Body.String()
	if problems := checkOpenMetrics(body); len(problems) > 0 {
		t.Errorf("%s", strings.Join(problems, "\n"))
	}
	// The check notices what it is for.
	for name, c := range map[string][2]string{
		"no end":            {"# EOF\n", ""},
		"type missing":      {"# TYPE gpu_power_watts gauge\n", ""},
		"counter's suffix":  {"gpu_energy_joules_total{", "gpu_energy_joules{"},
		"series twice":      {"gpu_up{gpu=\"0\"} 1.0\n", "gpu_up{gpu=\"0\"} 1.0\ngpu_up{gpu=\"0\"} 1.0\n"},
		"exemplar outside":  {"} 9.9e-05 ", "} 9.9e-02 "},
		"escape":            {`gpu="0"`, `gpu="\0"`},
		"family in two":     {"# TYPE gpu_up gauge\n", "# TYPE gpu_up gauge\ngpu_power_watts{gpu=\"7\"} 1.0\n"},
		"buckets decrease":  {`side="client",le="16.0"} 1000`, `side="client",le="16.0"} 1`},
		"count is not +Inf": {`op="hipMalloc",side="client",le="+Inf"} 1000`, `op="hipMalloc",side="client",le="+Inf"} 1001`},
	} {
		broken := strings.Replace(body, c[0], c[1], 1)
		if broken == body {
			t.Errorf("%s: nothing to break", name)
		} else if len(checkOpenMetrics(broken)) == 0 {
			t.Errorf("%s is not noticed", name)
		}
	}
}

var (
	omSample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*?\})? (\S+)(?: # (\{.*\}) (\S+)(?: (\S+))?)?$`)
	omLabel  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)`)
	omTypes  = map[string][]string{"gauge": {""}, "counter": {"_total", "_created"}, "histogram": {"_bucket", "_count", "_sum", "_created"}}
)

// checkOpenMetrics is a strict reader of what expfmt writes; its faults.
func checkOpenMetrics(text string) (bad []string) {
	fail := func(line, why string) { bad = append(bad, why+": "+line) }
	if !strings.HasSuffix(text, "\n# EOF\n") || strings.Count(text, "# EOF") != 1 {
		fail("", "no end")
	}
	family, kind := "", ""
	types, series := map[string]string{}, map[string]bool{}
	var last float64
	var lastKey string
	counts := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "# EOF\n"), "\n") {
		if line == "" {
			continue
		}
		if f, ok := strings.CutPrefix(line, "# HELP "); ok {
			family, kind = strings.Fields(f)[0], ""
			continue
		}
		if f, ok := strings.CutPrefix(line, "# TYPE "); ok {
			w := strings.Fields(f)
			if types[w[0]] != "" || w[0] != family || omTypes[w[1]] == nil {
				fail(line, "type twice, elsewhere, or unknown")
			}
			types[w[0]], kind = w[1], w[1]
			continue
		}
		m := omSample.FindStringSubmatch(line)
		if m == nil {
			fail(line, "no sample")
			continue
		}
		suffix, ok := strings.CutPrefix(m[1], family)
		if !ok || !slices.Contains(omTypes[kind], suffix) {
			fail(line, "not of the family "+family)
		}
		labels, ok := omLabels(m[2])
		if !ok {
			fail(line, "labels")
		}
		if series[m[1]+m[2]] {
			fail(line, "twice")
		}
		series[m[1]+m[2]] = true
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			fail(line, "value")
		}
		if suffix == "_bucket" {
			le, err := strconv.ParseFloat(labels["le"], 64)
			if err != nil {
				fail(line, "bound")
			}
			delete(labels, "le")
			key := fmt.Sprint(m[1], labels)
			if key == lastKey && v < last {
				fail(line, "fewer than in the bucket before")
			}
			if math.IsInf(le, 1) {
				counts[strings.TrimSuffix(m[1], "_bucket")+fmt.Sprint(labels)] = m[3]
			}
			if x, err := strconv.ParseFloat(m[5], 64); m[4] != "" && (err != nil || x > le) {
				fail(line, "exemplar outside of its bucket")
			}
			lastKey, last = key, v
		} else if m[4] != "" && suffix != "_total" {
			fail(line, "exemplar")
		}
		if suffix == "_count" {
			if inf, ok := counts[strings.TrimSuffix(m[1], "_count")+fmt.Sprint(labels)]; ok && inf != m[3] {
				fail(line, "not as many as in +Inf")
			}
		}
	}
	for key, n := range counts {
		if n == "" {
			fail(key, "no +Inf")
		}
	}
	return bad
}

func omLabels(s string) (map[string]string, bool) {
	got := map[string]string{}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	for s != "" {
		m := omLabel.FindStringSubmatch(s)
		if m == nil || got[m[1]] != "" {
			return got, false
		}
		got[m[1]] = m[2]
		s = s[len(m[0]):]
	}
	return got, true
}
