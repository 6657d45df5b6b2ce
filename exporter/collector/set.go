package collector

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Set is all collectors that the options want, as one prometheus.Collector: they
// tell of one moment, and one after the other, so that each is timed by itself.
type Set struct {
	opt        Options
	view       func() *View
	names      []string
	collectors []collector
	hidden     []bool // metrics that are not served, by id; nil: none

	mu      sync.Mutex
	dropped []float64 // per collector
	failed  []string  // why, per collector; logged when it changes
}

// New checks the options and returns a set that shows what view returns, from memory, at each scrape.
func New(opt Options, view func() *View) (*Set, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	s := &Set{opt: opt, view: view, hidden: opt.hidden()}
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		if c := registered[name](&s.opt); c != nil {
			s.names, s.collectors = append(s.names, name), append(s.collectors, c)
		}
	}
	s.dropped = make([]float64, len(s.names))
	s.failed = make([]string, len(s.names))
	return s, nil
}

// Served are those families of a list that the options allow; the list is changed.
func (s *Set) Served(list []*dto.MetricFamily) []*dto.MetricFamily {
	return slices.DeleteFunc(list, func(f *dto.MetricFamily) bool { return !s.opt.serves(f.GetName()) })
}

// Describe implements prometheus.Collector.
func (s *Set) Describe(out chan<- *prometheus.Desc) {
	for _, m := range metrics {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (s *Set) Collect(out chan<- prometheus.Metric) {
	v := s.view()
	all := s.newScrape(out)
	defer all.end()
	for i, c := range s.collectors {
		begin := s.opt.Now()
		em := &emitter{scrape: all, max: s.opt.MaxSeries}
		err := c.update(v, em)
		dropped := s.note(i, err, em)
		em.max = len(s.collectors)
		em.gauge(collectorSuccess, truth(err == nil), s.names[i])
		em.gauge(collectorSeconds, s.opt.Now().Sub(begin).Seconds(), s.names[i])
		em.counter(droppedSeries, dropped, s.names[i])
	}
}

// note keeps what went wrong with a collector, and logs a reason once.
func (s *Set) note(i int, err error, em *emitter) (dropped float64) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason != s.failed[i] && reason != "" {
		s.opt.Log.Warn("collector failed", "collector", s.names[i], "reason", reason)
	}
	s.failed[i] = reason
	s.dropped[i] += float64(em.dropped)
	return s.dropped[i]
}
