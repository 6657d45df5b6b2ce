package collector

import (
	"hash/maphash"
	"strings"
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

// series is a gauge, a counter or a histogram at this moment. What client_golang makes of
// a desc and label values copies the labels for each; these are kept from one scrape to the
// next.
type series struct {
	m         *metric
	labels    *labels
	value     float64
	durations *durations // instead
}

func (s *series) Desc() *prometheus.Desc { return s.m.desc }

func (s *series) Write(d *dto.Metric) error {
	d.Label = s.labels.pairs
	switch s.m.kind {
	case counter:
		d.Counter = &dto.Counter{Value: &s.value}
	case gauge:
		d.Gauge = &dto.Gauge{Value: &s.value}
	case histogram:
		d.Histogram = s.durations.dto()
	}
	return nil
}

// allow reports whether a series may be emitted; it is to be, then.
func (e *emitter) allow(m *metric, l *labels) bool {
	if e.hidden != nil && e.hidden[m.id] {
		return false
	}
	key := l.key + uint64(m.id)*0x9e3779b97f4a7c15 // odd, so that those of two metrics differ
	if _, twice := e.seen[key]; twice || e.series[m.id] >= e.max {
		e.dropped++
		return false
	}
	e.seen[key] = struct{}{}
	e.series[m.id]++
	return true
}

// put emits a gauge or a counter.
func (e *emitter) put(m *metric, v float64, l *labels) {
	if e.allow(m, l) {
		e.out <- &series{m: m, labels: l, value: v}
	}
}

func (e *emitter) gauge(m *metric, v float64, values ...string) {
	e.put(m, v, makeLabels(m, values))
}

func (e *emitter) counter(m *metric, v float64, values ...string) {
	e.put(m, v, makeLabels(m, values))
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
