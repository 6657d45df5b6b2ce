package exporter

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// collectorSet is all collectors that the options want, as one prometheus.Collector: they
// tell of one moment, and one after the other, so that each is timed by itself.
type collectorSet struct {
	e          *Exporter
	names      []string
	collectors []collector
	hidden     []bool       // metrics that are not served, by id; nil: none
	expected   atomic.Int64 // series, as the last scrape had

	mu      sync.Mutex
	dropped []float64 // per collector
	failed  []string  // why, per collector; logged when it changes
}

func newCollectorSet(e *Exporter, hidden []bool) *collectorSet {
	s := &collectorSet{e: e, hidden: hidden}
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		if c := registered[name](&e.opt); c != nil {
			s.names, s.collectors = append(s.names, name), append(s.collectors, c)
		}
	}
	s.dropped = make([]float64, len(s.names))
	s.failed = make([]string, len(s.names))
	return s
}

// Describe implements prometheus.Collector.
func (s *collectorSet) Describe(out chan<- *prometheus.Desc) {
	for _, m := range metrics {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (s *collectorSet) Collect(out chan<- prometheus.Metric) {
	v := s.e.view()
	all := &scrape{out: out, hidden: s.hidden, form: s.e.opt.Histograms, series: make([]int, len(metrics)), seen: make(map[uint64]struct{}, s.expected.Load())}
	for i, c := range s.collectors {
		begin := s.e.opt.now()
		em := &emitter{scrape: all, max: s.e.opt.MaxSeries}
		err := c.update(v, em)
		dropped := s.note(i, err, em)
		em.max = len(s.collectors)
		em.gauge(collectorSuccess, truth(err == nil), s.names[i])
		em.gauge(collectorSeconds, s.e.opt.now().Sub(begin).Seconds(), s.names[i])
		em.counter(droppedSeries, dropped, s.names[i])
	}
	s.expected.Store(int64(len(all.seen)))
}

// note keeps what went wrong with a collector, and logs a reason once.
func (s *collectorSet) note(i int, err error, em *emitter) (dropped float64) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason != s.failed[i] && reason != "" {
		s.e.opt.Log.Warn("collector failed", "collector", s.names[i], "reason", reason)
	}
	s.failed[i] = reason
	s.dropped[i] += float64(em.dropped)
	return s.dropped[i]
}
