package otlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rocwire/rocwire/smi"
)

// point is one value of one series.
type point struct {
	attrs attribute.Set
	start time.Time
	value float64
}

// spread is one histogram of one series.
type spread struct {
	attrs attribute.Set
	start time.Time
	latencies
}

// points are what one reading gives, by metric.id.
type points struct {
	now     time.Time
	max     int // series of one metric
	starts  *starts
	numbers [][]point
	spreads [][]spread
	seen    map[seriesKey]attribute.Set
	dropped uint64
}

// seriesKey stands for one series. Different attributes may meet in it, which is why
// whoever looks something up compares these too.
type seriesKey struct {
	metric int
	attrs  attribute.Distinct
}

func newPoints(now time.Time, max int, s *starts) *points {
	return &points{
		now: now, max: max, starts: s, numbers: make([][]point, len(defined)), spreads: make([][]spread, len(defined)),
		seen: map[seriesKey]attribute.Set{},
	}
}

// allow reports whether the series may be added: once, and within the bound.
func (p *points) allow(m *metric, have int, attrs attribute.Set) bool {
	key := seriesKey{m.id, attrs.Equivalent()}
	if old, ok := p.seen[key]; have >= p.max || ok && old.Equals(&attrs) {
		p.dropped++
		return false
	}
	p.seen[key] = attrs
	return true
}

// gauge adds what has a value only now, or may rise and fall.
func (p *points) gauge(m *metric, v float64, attrs attribute.Set) {
	if math.IsNaN(v) || math.IsInf(v, 0) || !p.allow(m, len(p.numbers[m.id]), attrs) {
		return
	}
	pt := point{attrs: attrs, value: v}
	if m.kind == upDown {
		pt.start = p.starts.began
	}
	p.numbers[m.id] = append(p.numbers[m.id], pt)
}

// counter adds a running total that began at since; a zero since is not known, and the
// series' own history tells.
func (p *points) counter(m *metric, v float64, attrs attribute.Set, since time.Time) {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || !p.allow(m, len(p.numbers[m.id]), attrs) {
		return
	}
	start := p.starts.of(m, attrs, v, p.now, since)
	p.numbers[m.id] = append(p.numbers[m.id], point{attrs: attrs, start: start, value: v})
}

// spread adds a histogram.
func (p *points) spread(m *metric, l latencies, attrs attribute.Set, since time.Time) {
	if !p.allow(m, len(p.spreads[m.id]), attrs) {
		return
	}
	start := p.starts.of(m, attrs, float64(l.count), p.now, since)
	p.spreads[m.id] = append(p.spreads[m.id], spread{attrs: attrs, start: start, latencies: l})
}

type numeric interface {
	~int | ~int64 | ~uint32 | ~uint64 | ~float64
}

// gaugeOpt adds a value if it is available.
func gaugeOpt[T numeric](p *points, m *metric, v smi.Opt[T], attrs attribute.Set) {
	if n, ok := v.Get(); ok {
		p.gauge(m, float64(n), attrs)
	}
}

// counterOpt adds a running total if it is available.
func counterOpt[T numeric](p *points, m *metric, v smi.Opt[T], attrs attribute.Set, since time.Time) {
	if n, ok := v.Get(); ok {
		p.counter(m, float64(n), attrs, since)
	}
}

// secondsOpt adds a running total of time if it is available.
func secondsOpt(p *points, m *metric, v smi.Opt[smi.Duration], attrs attribute.Set, since time.Time) {
	if d, ok := v.Get(); ok {
		p.counter(m, d.Seconds(), attrs, since)
	}
}

// metrics are all points in the SDK's form. Metrics without points are left out.
func (p *points) metrics(explicit bool) []metricdata.Metrics {
	var list []metricdata.Metrics
	for _, m := range defined {
		var data metricdata.Aggregation
		switch numbers, spreads := p.numbers[m.id], p.spreads[m.id]; {
		case len(spreads) > 0 && explicit:
			data = explicitBuckets(spreads, p.now)
		case len(spreads) > 0:
			data = exponential(spreads, p.now)
		case len(numbers) == 0:
			continue
		case m.kind.whole():
			data = aggregate[int64](m, numbers, p.now)
		default:
			data = aggregate[float64](m, numbers, p.now)
		}
		list = append(list, metricdata.Metrics{Name: m.name, Description: m.help, Unit: m.unit, Data: data})
	}
	return list
}

func aggregate[N int64 | float64](m *metric, list []point, now time.Time) metricdata.Aggregation {
	out := make([]metricdata.DataPoint[N], len(list))
	for i, p := range list {
		out[i] = metricdata.DataPoint[N]{Attributes: p.attrs, StartTime: p.start, Time: now, Value: number[N](p.value)}
	}
	switch m.kind {
	case gauge, intGauge:
		return metricdata.Gauge[N]{DataPoints: out}
	}
	return metricdata.Sum[N]{DataPoints: out, Temporality: metricdata.CumulativeTemporality, IsMonotonic: m.kind != upDown}
}

// number is v as N; a whole number stops at the end of its range.
func number[N int64 | float64](v float64) N {
	if _, whole := any(N(0)).(int64); whole && v >= math.MaxInt64 {
		var most int64 = math.MaxInt64
		return N(most)
	}
	return N(v)
}
