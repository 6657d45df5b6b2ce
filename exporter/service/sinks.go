package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/greptime"
	"github.com/rocwire/rocwire/exporter/influx"
	"github.com/rocwire/rocwire/exporter/otlp"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
)

// sink sends what is known to one server.
type sink interface {
	// Run works until its context is done, and a moment longer to send what waits.
	Run(context.Context)
	Close() error
}

// sinks are those that the options turn on.
type sinks struct {
	list   []sink
	stats  []func() []push.Stats
	traces *otlp.Traces
}

// openSinks opens their queues. None waits for its server.
func openSinks(o *Options, program, version, instance string, read *exporter.Exporter, log *slog.Logger) (s *sinks, err error) {
	s = &sinks{}
	defer func() {
		if err != nil {
			s.close(log)
		}
	}()
	if o.OTLP.Enabled() {
		opt := o.OTLP
		opt.Service = "rocwire." + program
		opt.Version, opt.Instance, opt.Place, opt.Queue, opt.Log = version, instance, o.Place, o.Queue.push(), log
		x, err := otlp.New(opt, read)
		if err != nil {
			return s, err
		}
		s.add(x, x.Stats)
		s.traces = x.Traces()
	}
	r := rows.RunnerOptions{Options: o.Rows, Place: o.Place, Read: read.Read, Queue: o.Queue.push(), Log: log}
	r.MaxProcesses = o.Metrics.MaxProcesses
	if o.Greptime.Enabled() {
		x, err := greptime.Open(o.Greptime, r)
		if err != nil {
			return s, err
		}
		s.add(x, one(x.Stats))
	}
	if o.Influx.Enabled() {
		x, err := influx.Open(o.Influx, r)
		if err != nil {
			return s, err
		}
		s.add(x, one(x.Stats))
	}
	return s, nil
}

func one(f func() push.Stats) func() []push.Stats {
	return func() []push.Stats { return []push.Stats{f()} }
}

func (s *sinks) add(x sink, stats func() []push.Stats) {
	s.list = append(s.list, x)
	s.stats = append(s.stats, stats)
}

// Stats tells how all deliveries go.
func (s *sinks) Stats() []push.Stats {
	var all []push.Stats
	for _, f := range s.stats {
		all = append(all, f()...)
	}
	return all
}

// run sends until ctx is done and what waits then had its time.
func (s *sinks) run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, x := range s.list {
		wg.Go(func() { x.Run(ctx) })
	}
}

func (s *sinks) close(log *slog.Logger) {
	var errs []error
	for _, x := range s.list {
		errs = append(errs, x.Close())
	}
	if err := errors.Join(errs...); err != nil {
		log.Warn("a queue cannot be closed in order", "reason", err)
	}
}
