package exporter

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// emitter passes on the series of one collector, within bounds.
type emitter struct {
	out     *sheet
	hidden  []bool // metrics that are not served, by id; nil: none
	max     int    // series of one metric
	form    string // of histograms
	dropped int
}

// seed makes the hashes of label values those of this process, so that no client can
// choose names that meet.
var seed = maphash.MakeSeed()

// labels are label values made ready, for all metrics that have the same labels.
type labels struct {
	values []string
	text   string // as the text formats have them
	key    uint64
}

// makeLabels makes label values ready for m and metrics with the same labels. They
// are cleaned in place, and the slice must not be changed afterwards.
func makeLabels(m *metric, values []string) *labels {
	if len(values) != len(m.labels) {
		panic("exporter: " + m.name + " has other labels")
	}
	if len(values) == 0 {
		return noLabels
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range values {
		values[i] = cleanLabel(values[i])
		h.WriteString(values[i])
		h.WriteByte(0xff) // not in UTF-8
	}
	return &labels{values: values, text: labelText(m, values), key: h.Sum64()}
}

var noLabels = &labels{}

// allow reports whether a series may be emitted; it is to be, then.
func (e *emitter) allow(m *metric, l *labels) bool {
	if e.hides(m) {
		return false
	}
	if len(e.out.families[m.id].series) >= e.max || !e.out.first(m, l) {
		e.dropped++
		return false
	}
	return true
}

func (e *emitter) hides(m *metric) bool { return e.hidden != nil && e.hidden[m.id] }

func (e *emitter) add(m *metric, s sample) {
	f := &e.out.families[m.id]
	if f.series == nil {
		f.series = make([]sample, 0, max(m.expected.Load(), 1))
	}
	f.series = append(f.series, s)
}

// put emits a gauge or a counter.
func (e *emitter) put(m *metric, v float64, l *labels) {
	if e.allow(m, l) {
		e.add(m, sample{labels: l, value: v})
	}
}

func (e *emitter) gauge(m *metric, v float64, values ...string) {
	e.put(m, v, makeLabels(m, values))
}

func (e *emitter) counter(m *metric, v float64, values ...string) {
	e.put(m, v, makeLabels(m, values))
}

// write emits a series that writes itself, labels included.
func (e *emitter) write(m *metric, series prometheus.Metric) error {
	if e.hides(m) {
		return nil
	}
	d := &dto.Metric{}
	if err := series.Write(d); err != nil {
		return err
	}
	e.add(m, sample{hist: d})
	return nil
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
