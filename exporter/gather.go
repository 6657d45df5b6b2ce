package exporter

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// gatherer runs the collectors. It is a prometheus.Gatherer itself and builds what
// is encoded directly: a registry would check, hash and copy each of some thousand
// series at each scrape again, which costs several times what telling them does.
type gatherer struct {
	e          *Exporter
	names      []string
	collectors []collector
	others     []prometheus.Gatherer // of metrics with names of their own
	chosen     selection
	hidden     []bool // ours that are not served, by id; nil: none

	mu      sync.Mutex
	dropped []float64 // per collector
	failed  []string  // why, per collector; logged when it changes
}

func newGatherer(e *Exporter, others []prometheus.Gatherer, chosen selection) *gatherer {
	g := &gatherer{e: e, others: others, chosen: chosen, hidden: chosen.hidden()}
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		if c := registered[name](&e.opt); c != nil {
			g.names, g.collectors = append(g.names, name), append(g.collectors, c)
		}
	}
	g.dropped = make([]float64, len(g.names))
	g.failed = make([]string, len(g.names))
	return g
}

// Gather implements prometheus.Gatherer: families by name, series in the order in
// which their collector emitted them.
func (g *gatherer) Gather() ([]*dto.MetricFamily, error) {
	return g.gather(nil)
}

func (g *gatherer) gather(more []*dto.MetricFamily) ([]*dto.MetricFamily, error) {
	x, err := g.collect(more)
	list := x.families()
	x.release()
	return list, err
}

// collect runs the collectors. Families of others are added. The exposition is to be
// released.
func (g *gatherer) collect(more []*dto.MetricFamily) (*exposition, error) {
	v := g.e.view()
	out := newSheet()
	for i, c := range g.collectors {
		begin := g.e.opt.now()
		em := &emitter{out: out, hidden: g.hidden, max: g.e.opt.MaxSeries, form: g.e.opt.Histograms}
		err := c.update(v, em)
		success := 1.0
		if err != nil {
			success = 0
		}
		dropped := g.note(i, err, em)
		em.max = len(g.collectors)
		em.gauge(collectorSuccess, success, g.names[i])
		em.gauge(collectorSeconds, g.e.opt.now().Sub(begin).Seconds(), g.names[i])
		em.counter(droppedSeries, dropped, g.names[i])
	}
	expectedSeries.Store(int64(len(out.seen)))
	x := &exposition{sheet: out, others: slices.Clone(more)}
	for i := range out.families {
		if f := &out.families[i]; len(f.series) > 0 {
			f.m.expected.Store(int64(len(f.series)))
			x.own = append(x.own, f)
		}
	}
	x.others = g.chosen.of(x.others)
	var errs []error
	for _, o := range g.others {
		list, err := o.Gather()
		x.others, errs = append(x.others, g.chosen.of(list)...), append(errs, err)
	}
	slices.SortFunc(x.own, func(a, b *family) int { return strings.Compare(a.m.name, b.m.name) })
	slices.SortFunc(x.others, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return x, errors.Join(errs...)
}

// note keeps what went wrong with a collector, and logs a reason once.
func (g *gatherer) note(i int, err error, em *emitter) (dropped float64) {
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
	g.dropped[i] += float64(em.dropped)
	return g.dropped[i]
}
