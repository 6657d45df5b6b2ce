package discovery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// source names targets.
type source interface {
	name() string
	period() time.Duration
	// read names all targets there are, and counts what makes no sense. With an error
	// that is a *partialError the targets are good.
	read(ctx context.Context) (targets []Target, bad int, err error)
}

// Discovery knows the workers that files and URLs name. It is a prometheus.Collector of
// how that goes.
type Discovery struct {
	log     *slog.Logger
	sources []source

	mu    sync.Mutex
	state []state // of each source
}

// state is what is known of one source.
type state struct {
	targets  []Target
	bad      int
	err      string
	success  time.Time // of the last reading without an error; zero: none
	failures uint64
}

// New checks the options.
func New(opt Options) (*Discovery, error) {
	if opt.Interval <= 0 {
		opt.Interval = time.Minute
	}
	d := &Discovery{log: opt.Log}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	for _, f := range opt.Files {
		d.add(&fileSource{pattern: f})
	}
	for _, u := range opt.URLs {
		s, err := newHTTPSource(u, opt.Interval)
		if err != nil {
			return nil, err
		}
		d.add(s)
	}
	d.state = make([]state, len(d.sources))
	return d, nil
}

// add adds a source that is not there yet.
func (d *Discovery) add(s source) {
	if !slices.ContainsFunc(d.sources, func(o source) bool { return o.name() == s.name() }) {
		d.sources = append(d.sources, s)
	}
}

// Run reads all sources, and again when they are due, until ctx is done.
func (d *Discovery) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for i := range d.sources {
		wg.Go(func() {
			t := time.NewTicker(d.sources[i].period())
			defer t.Stop()
			for {
				d.refresh(ctx, i)
				select {
				case <-ctx.Done():
					return
				case <-t.C:
				}
			}
		})
	}
	wg.Wait()
}

// Refresh reads all sources once, in their order.
func (d *Discovery) Refresh(ctx context.Context) {
	for i := range d.sources {
		d.refresh(ctx, i)
	}
}

func (d *Discovery) refresh(ctx context.Context, i int) {
	targets, bad, err := d.sources[i].read(ctx)
	if ctx.Err() != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s, name := &d.state[i], d.sources[i].name()
	var part *partialError
	if err == nil || errors.As(err, &part) {
		if len(targets) != len(s.targets) {
			d.log.Info("workers are named", "source", name, "count", len(targets))
		}
		s.targets = targets
	}
	reason := ""
	if err != nil {
		reason = err.Error()
		s.failures++
	} else {
		s.success = time.Now()
		if bad > 0 && bad != s.bad {
			d.log.Warn("targets or labels make no sense", "source", name, "count", bad)
		}
		s.bad = bad
	}
	if reason != "" && reason != s.err {
		d.log.Warn("cannot read the list of workers", "source", name, "reason", reason)
	}
	s.err = reason
}

// Targets are the workers that are named now, by address; of those that are named
// twice, the first.
func (d *Discovery) Targets() []Target {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Target
	seen := map[string]bool{}
	for i := range d.state {
		for _, t := range d.state[i].targets {
			if !seen[t.Address] {
				seen[t.Address] = true
				list = append(list, t)
			}
		}
	}
	slices.SortFunc(list, func(a, b Target) int { return strings.Compare(a.Address, b.Address) })
	return list
}

var (
	targetsDesc  = prometheus.NewDesc("gpu_exporter_discovery_targets", "Workers that a file or URL names.", []string{"source"}, nil)
	failuresDesc = prometheus.NewDesc("gpu_exporter_discovery_failures_total", "Times a file or URL could not be read, or made no sense.", []string{"source"}, nil)
	successDesc  = prometheus.NewDesc("gpu_exporter_discovery_last_success_timestamp_seconds", "When a file or URL was last read without a failure.", []string{"source"}, nil)
)

// Describe implements prometheus.Collector.
func (d *Discovery) Describe(ch chan<- *prometheus.Desc) {
	ch <- targetsDesc
	ch <- failuresDesc
	ch <- successDesc
}

// Collect implements prometheus.Collector.
func (d *Discovery) Collect(ch chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.state {
		s, name := &d.state[i], d.sources[i].name()
		ch <- prometheus.MustNewConstMetric(targetsDesc, prometheus.GaugeValue, float64(len(s.targets)), name)
		ch <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(s.failures), name)
		if !s.success.IsZero() {
			ch <- prometheus.MustNewConstMetric(successDesc, prometheus.GaugeValue, float64(s.success.UnixMilli())/1e3, name)
		}
	}
}
