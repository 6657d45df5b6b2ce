package collector

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// A collector makes the series of one subject. It is called for each scrape, on
// what is known at that moment, and must not wait for anything.
type collector interface {
	// update emits series. An error means that something could not be known; what
	// was emitted is served all the same.
	update(v *View, emit *emitter) error
}

// registered holds the collectors that registered themselves.
var registered = map[string]func(*Options) collector{}

// register makes a collector known; make returns nil where the options want
// none.
func register(name string, make func(*Options) collector) {
	if registered[name] != nil {
		panic("collector: collector " + name + " registered twice")
	}
	registered[name] = make
}

// metric is one metric that some collector emits.
type metric struct {
	name, help, kind string
	labels           []string
	desc             *prometheus.Desc

	id     int   // place in metrics
	order  []int // of the labels, by name
	compat bool  // another exporter's name, served on request
}

var metrics []*metric

// Metric is what a reader of metrics needs to know of one.
type Metric struct {
	Name, Help, Kind string
	Labels           []string
	Compat           bool // another exporter's name, served on request
}

// Metrics are all metrics that are declared, by name.
func Metrics() []Metric {
	var list []Metric
	for _, m := range metrics {
		list = append(list, Metric{m.name, m.help, m.kind, m.labels, m.compat})
	}
	slices.SortFunc(list, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Kinds of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// define declares a metric; the table in METRICS.md is made of these.
func define(kind, name, help string, labels ...string) *metric {
	m := &metric{name: name, help: help, kind: kind, labels: labels, desc: prometheus.NewDesc(name, help, labels, nil), id: len(metrics)}
	for i := range labels {
		m.order = append(m.order, i)
	}
	slices.SortFunc(m.order, func(a, b int) int { return strings.Compare(labels[a], labels[b]) })
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
