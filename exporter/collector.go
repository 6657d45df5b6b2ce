package exporter

import (
	"sort"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// A collector makes the series of one subject. It is called for each scrape, on
// what is known at that moment, and must not wait for anything.
type collector interface {
	// update emits series. An error means that something could not be known; what
	// was emitted is served all the same.
	update(v *view, emit *emitter) error
}

// registered holds the collectors that registered themselves.
var registered = map[string]func(*Options) collector{}

func registerCollector(name string, make func(*Options) collector) {
	if registered[name] != nil {
		panic("exporter: collector " + name + " registered twice")
	}
	registered[name] = make
}

// metric is one metric that some collector emits.
type metric struct {
	name, help, kind string
	labels           []string
	desc             *prometheus.Desc
}

var metrics []*metric

// Kinds of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// define declares a metric; the table in METRICS.md is made of these.
func define(kind, name, help string, labels ...string) *metric {
	m := &metric{name: name, help: help, kind: kind, labels: labels, desc: prometheus.NewDesc(name, help, labels, nil)}
	metrics = append(metrics, m)
	return m
}

var (
	collectorSuccess = define(gauge, "gpu_exporter_collector_success",
		"1 if the collector knew all it wanted to know at this scrape, else 0.", "collector")
	collectorSeconds = define(gauge, "gpu_exporter_collector_duration_seconds",
		"How long the collector took at this scrape.", "collector")
	droppedSeries = define(counter, "gpu_exporter_dropped_series_total",
		"Series left out because there were too many of one metric, or the same one twice.", "collector")
)

// gatherer runs the collectors; it is the one prometheus.Collector of an exporter.
type gatherer struct {
	e          *Exporter
	names      []string
	collectors []collector

	mu      sync.Mutex
	dropped []float64 // per collector
	failed  []string  // why, per collector; logged when it changes
}

func newGatherer(e *Exporter) *gatherer {
	g := &gatherer{e: e}
	for name := range registered {
		g.names = append(g.names, name)
	}
	sort.Strings(g.names)
	for _, name := range g.names {
		g.collectors = append(g.collectors, registered[name](&e.opt))
	}
	g.dropped = make([]float64, len(g.names))
	g.failed = make([]string, len(g.names))
	return g
}

// Describe implements prometheus.Collector.
func (g *gatherer) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range metrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (g *gatherer) Collect(ch chan<- prometheus.Metric) {
	v := g.e.poll.view()
	for i, c := range g.collectors {
		begin := g.e.opt.now()
		em := &emitter{ch: ch, max: g.e.opt.MaxSeries, seen: map[string]struct{}{}, count: map[*metric]int{}}
		err := c.update(v, em)
		em.max, em.seen = 1<<30, map[string]struct{}{}
		success := 1.0
		if err != nil {
			success = 0
		}
		dropped := g.note(i, err, em.dropped)
		em.gauge(collectorSuccess, success, g.names[i])
		em.gauge(collectorSeconds, g.e.opt.now().Sub(begin).Seconds(), g.names[i])
		em.counter(droppedSeries, dropped, g.names[i])
	}
}

// note keeps what went wrong with a collector, and logs a reason once.
func (g *gatherer) note(i int, err error, dropped int) (total float64) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason != g.failed[i] && reason != "" {
		g.e.opt.Log.Warn("collector failed", "collector", g.names[i], "reason", reason)
	}
	g.failed[i] = reason
	g.dropped[i] += float64(dropped)
	return g.dropped[i]
}

// emitter passes on the series of one collector, within bounds.
type emitter struct {
	ch      chan<- prometheus.Metric
	max     int
	seen    map[string]struct{}
	count   map[*metric]int
	dropped int
}

// allow cleans the label values in place and reports whether the series may be
// emitted.
func (e *emitter) allow(m *metric, labels []string) bool {
	for i := range labels {
		labels[i] = cleanLabel(labels[i])
	}
	key := m.name + "\xff" + strings.Join(labels, "\xff")
	if _, twice := e.seen[key]; twice || e.count[m] >= e.max {
		e.dropped++
		return false
	}
	e.seen[key] = struct{}{}
	e.count[m]++
	return true
}

func (e *emitter) gauge(m *metric, v float64, labels ...string) {
	if e.allow(m, labels) {
		e.ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, v, labels...)
	}
}

func (e *emitter) counter(m *metric, v float64, labels ...string) {
	if e.allow(m, labels) {
		e.ch <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, v, labels...)
	}
}

// maxLabel bounds a label value in bytes.
const maxLabel = 256

func cleanLabel(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "")
	}
	return s
}
