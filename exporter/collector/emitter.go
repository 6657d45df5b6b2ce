package collector

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// emitter passes the series of one collector on, within bounds.
type emitter struct {
	*scrape
	max     int // series of one metric
	dropped int
}

// scrape is what the emitters of one scrape share.
type scrape struct {
	out    chan<- prometheus.Metric
	hidden []bool // metrics that are not served, by id; nil: none
	form   string // of histograms
	series []int  // of each metric, by id
	seen   map[uint64]struct{}

	gauges   slab[gaugeSeries]
	counters slab[counterSeries]
	last     *labels // made for a metric with one label, which many series after another have
	lastName string  // of that label
}

// scrapes keeps what scrapes count in: it is as large as what they serve.
var scrapes = sync.Pool{New: func() any { return &scrape{series: make([]int, len(metrics)), seen: map[uint64]struct{}{}} }}

func (s *Set) newScrape(out chan<- prometheus.Metric) *scrape {
	a := scrapes.Get().(*scrape)
	a.out, a.hidden, a.form = out, s.hidden, s.opt.Histograms
	return a
}

// end gives back what the next scrape can count in.
func (a *scrape) end() {
	clear(a.series)
	clear(a.seen)
	scrapes.Put(&scrape{series: a.series, seen: a.seen})
}

// slab makes values many at a time. The collector of garbage has a scrape's as a few pieces then, which are of use equally long.
type slab[T any] struct{ free []T }

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.free = make([]T, 64)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// seed makes the hashes of label values those of this process, so that no client can
// choose names that meet.
var seed = maphash.MakeSeed()

// labels are label values made ready, for all metrics that have the same labels.
type labels struct {
	pairs []*dto.LabelPair // by name
	key   uint64
}

// makeLabels makes label values ready for m and metrics with the same labels. They
// are cleaned in place, and the slice must not be changed afterwards.
func makeLabels(m *metric, values []string) *labels {
	if len(values) != len(m.labels) {
		panic("collector: " + m.name + " has other labels")
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range values {
		values[i] = cleanLabel(values[i])
		h.WriteString(values[i])
		h.WriteByte(0xff) // not in UTF-8
	}
	// client_golang's own MakeLabelPairs has three allocations for each, which a scrape looks
	// at several times.
	l, all := &labels{pairs: make([]*dto.LabelPair, len(values)), key: h.Sum64()}, make([]dto.LabelPair, len(values))
	for i, at := range m.order {
		all[i].Name, all[i].Value = &m.labels[at], &values[at]
		l.pairs[i] = &all[i]
	}
	return l
}

// compareLabels is the order in which the registry has series of one metric.
func compareLabels(a, b *labels) int {
	for i := range a.pairs {
		if c := strings.Compare(*a.pairs[i].Value, *b.pairs[i].Value); c != 0 {
			return c
		}
	}
	return 0
}

// series is what a gauge, a counter and a histogram have at this moment. What client_golang makes of
// a desc and label values copies the labels for each; these are kept from one scrape to the
// next.
type series struct {
	m      *metric
	labels *labels
}

func (s *series) Desc() *prometheus.Desc { return s.m.desc }

type gaugeSeries struct {
	series
	value float64
	dto   dto.Gauge
}

func (s *gaugeSeries) Write(d *dto.Metric) error {
	s.dto.Value = &s.value
	d.Label, d.Gauge = s.labels.pairs, &s.dto
	return nil
}

type counterSeries struct {
	series
	value float64
	dto   dto.Counter
}

func (s *counterSeries) Write(d *dto.Metric) error {
	s.dto.Value = &s.value
	d.Label, d.Counter = s.labels.pairs, &s.dto
	return nil
}

// allow reports whether a series may be emitted; it is to be, then.
func (e *emitter) allow(m *metric, l *labels) bool {
	if e.hidden != nil && e.hidden[m.id] {
		return false
	}
	key := l.key + uint64(m.id)*0x9e3779b97f4a7c15 // odd, so that those of two metrics differ
	before := len(e.seen)
	if e.series[m.id] < e.max {
		e.seen[key] = struct{}{}
	}
	if len(e.seen) == before { // too many, or twice
		e.dropped++
		return false
	}
	e.series[m.id]++
	return true
}

// put emits a gauge or a counter.
func (e *emitter) put(m *metric, v float64, l *labels) {
	if !e.allow(m, l) {
		return
	}
	if m.kind == counter {
		s := e.counters.next()
		s.m, s.labels, s.value = m, l, v
		e.out <- s
		return
	}
	s := e.gauges.next()
	s.m, s.labels, s.value = m, l, v
	e.out <- s
}

// labels makes label values ready, or finds them to be those made last.
func (e *emitter) labels(m *metric, values []string) *labels {
	if len(values) != 1 || len(m.labels) != 1 {
		return makeLabels(m, values)
	}
	if e.last == nil || e.lastName != m.labels[0] || *e.last.pairs[0].Value != values[0] {
		e.last, e.lastName = makeLabels(m, []string{values[0]}), m.labels[0]
	}
	return e.last
}

func (e *emitter) gauge(m *metric, v float64, values ...string) {
	e.put(m, v, e.labels(m, values))
}

func (e *emitter) counter(m *metric, v float64, values ...string) {
	e.put(m, v, e.labels(m, values))
}

// info emits a series of value 1 that others are joined with, unless nothing but
// the card's number is known.
func (e *emitter) info(m *metric, gpu string, values ...string) {
	if strings.Join(values, "") != "" {
		e.gauge(m, 1, append([]string{gpu}, values...)...)
	}
}

// maxLabel bounds a label value in bytes.
const maxLabel = 256

func cleanLabel(s string) string {
	if len(s) <= maxLabel && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "")
	}
	return s
}
