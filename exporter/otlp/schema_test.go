package otlp

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/semconv/v1.43.0/hwconv"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// Name, unit, description and kind are those of the conventions' own package.
func TestConventions(t *testing.T) {
	meter := noop.NewMeterProvider().Meter("")
	type convention interface {
		Name() string
		Unit() string
		Description() string
	}
	known := map[string]convention{}
	add := func(c convention, err error) {
		if err != nil {
			t.Fatal(err)
		}
		known[c.Name()] = c
	}
	use := func() {
		c1, err := hwconv.NewEnergy(meter)
		add(c1, err)
		c2, err := hwconv.NewErrors(meter)
		add(c2, err)
		c3, err := hwconv.NewPower(meter)
		add(c3, err)
		c4, err := hwconv.NewStatus(meter)
		add(c4, err)
		c5, err := hwconv.NewGpuIO(meter)
		add(c5, err)
		c6, err := hwconv.NewGpuMemoryLimit(meter)
		add(c6, err)
		c7, err := hwconv.NewGpuMemoryUsage(meter)
		add(c7, err)
		c8, err := hwconv.NewGpuMemoryUtilization(meter)
		add(c8, err)
		c9, err := hwconv.NewGpuUtilization(meter)
		add(c9, err)
		c10, err := hwconv.NewTemperature(meter)
		add(c10, err)
		c11, err := hwconv.NewTemperatureLimit(meter)
		add(c11, err)
		c12, err := hwconv.NewVoltage(meter)
		add(c12, err)
		c13, err := hwconv.NewFanSpeed(meter)
		add(c13, err)
		c14, err := hwconv.NewFanSpeedLimit(meter)
		add(c14, err)
		c15, err := hwconv.NewFanSpeedRatio(meter)
		add(c15, err)
	}
	use()
	for _, m := range defined {
		if !strings.HasPrefix(m.name, "hw.") {
			continue
		}
		c := known[m.name]
		if c == nil {
			t.Errorf("%s is not in the conventions", m.name)
			continue
		}
		delete(known, m.name)
		if m.unit != c.Unit() || m.help != c.Description() {
			t.Errorf("%s: %q %q, want %q %q", m.name, m.unit, m.help, c.Unit(), c.Description())
		}
		instrument := reflect.TypeOf(c).Field(0).Name // Int64Counter, …
		if !strings.HasSuffix(instrument, m.kind.String()) || m.kind == counter && strings.HasSuffix(instrument, "UpDownCounter") {
			t.Errorf("%s is a %v, want a %s", m.name, m.kind, instrument)
		}
	}
	for name := range known {
		t.Errorf("%s is not sent", name)
	}
}

// required are attributes that the conventions demand.
var required = map[string][]string{
	"hw.": {"hw.id"}, "hw.gpu.io": {"network.io.direction"}, "hw.energy": {"hw.type"}, "hw.power": {"hw.type"}, "hw.errors": {"hw.type", "error.type"},
	"hw.status": {"hw.type", "hw.state"}, "process.gpu.": {"hw.id", "process.pid"}, "hip.": {}, "rocwire.session.": {"rocwire.session.id"},
}

// Every metric that is defined is sent when all is known, as what it is defined as, with
// no attribute that is not documented, and none that is empty.
func TestSchema(t *testing.T) {
	src := &source{r: fullReading()}
	r := &receiver{}
	s := newSink(t, src, func(o *Options) { o.Metrics.Endpoint = r.overHTTP(t) })
	s.Export()
	src.tick(5e9)
	s.Export()
	send(t, s)
	a := r.arrived()
	for _, m := range defined {
		got := a.metrics[m.name]
		if got == nil {
			t.Errorf("%s did not come", m.name)
			continue
		}
		if got.Unit != m.unit || got.Description != m.help {
			t.Errorf("%s: unit %q, %q", m.name, got.Unit, got.Description)
		}
		if k := kindOf(got); k != m.kind.String() {
			t.Errorf("%s is a %s, want a %v", m.name, k, m.kind)
		}
	}
	if len(a.metrics) != len(defined) {
		t.Errorf("%d metrics came, want %d", len(a.metrics), len(defined))
	}
	for key, attrs := range a.attrs {
		name, _, _ := strings.Cut(key, "{")
		m := defined[slices.IndexFunc(defined, func(m *metric) bool { return m.name == name })]
		for k, v := range attrs {
			if !slices.Contains(m.attrs, k) || v == "" {
				t.Errorf("%s has the attribute %s=%q", name, k, v)
			}
		}
		for prefix, keys := range required {
			for _, k := range keys {
				if strings.HasPrefix(name, prefix) && attrs[k] == "" {
					t.Errorf("%s has no %s: %v", name, k, attrs)
				}
			}
		}
	}
	for key, n := range a.points {
		if n != 1 {
			t.Errorf("%s came %d times", key, n)
		}
	}
	golden(t, "testdata/points.txt", pointList(a))
	golden(t, "METRICS.md", reference())
}

func kindOf(m *metricspb.Metric) string {
	cumulative := metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	switch d := m.Data.(type) {
	case *metricspb.Metric_Gauge:
		return "Gauge"
	case *metricspb.Metric_Sum:
		switch {
		case d.Sum.AggregationTemporality != cumulative:
			return "delta sum"
		case d.Sum.IsMonotonic:
			return "Counter"
		}
		return "UpDownCounter"
	case *metricspb.Metric_ExponentialHistogram:
		if d.ExponentialHistogram.AggregationTemporality == cumulative {
			return "Histogram"
		}
	}
	return fmt.Sprintf("%T", m.Data)
}

// pointList is every point of the first reading.
func pointList(a *arrived) string {
	var list []string
	first := "@" + fmt.Sprint(fullReading().Time.UnixNano())
	for key := range a.points {
		name, at := strings.TrimSuffix(key, first), strings.HasSuffix(key, first)
		if !at {
			continue
		}
		switch {
		case a.spreads[key] != nil:
			p := a.spreads[key]
			list = append(list, fmt.Sprintf("%s count %d sum %.6g scale %d offset %d zero %d", name, p.Count, p.GetSum(), p.Scale, p.Positive.Offset, p.ZeroCount))
		default:
			list = append(list, fmt.Sprintf("%s %.10g", name, a.values[key]))
		}
	}
	sort.Strings(list)
	return strings.Join(list, "\n") + "\n"
}

// reference is METRICS.md.
func reference() string {
	var b strings.Builder
	b.WriteString("# Metrics sent by OTLP\n\nMade by `go test ./exporter/otlp -rewrite`; do not edit. A figure that is not available has no point.\n" +
		"`hw.*` are the semantic conventions for hardware, version 1.43.0; the rest has no convention yet.\n\n" +
		"| Metric | Instrument | Unit | Attributes | Meaning |\n|---|---|---|---|---|\n")
	list := slices.Clone(defined)
	slices.SortFunc(list, func(a, b *metric) int { return strings.Compare(a.name, b.name) })
	for _, m := range list {
		fmt.Fprintf(&b, "| `%s` | %v | `%s` | %s | %s |\n", m.name, m.kind, m.unit, strings.Join(m.attrs, ", "), m.help)
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for _, l := range g {
			if !slices.Contains(w, l) {
				t.Errorf("%s does not have: %s", path, l)
			}
		}
		for _, l := range w {
			if !slices.Contains(g, l) {
				t.Errorf("%s has, but it did not come: %s", path, l)
			}
		}
		t.Fatalf("%s differs; go test ./exporter/otlp -rewrite writes it again", path)
	}
}
