package exporter

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// Options say what is exported. Only Source is necessary.
type Options struct {
	Source smi.Source
	// Sessions lists a worker's clients, from memory and at once; nil: there are no sessions here. It may
	// implement smi.SessionTotaler as well, and Err() error: while that is not nil
	// nothing is known about sessions and none are shown.
	Sessions smi.Sessions
	Calls    collector.CallSource // nil: no calls are measured here
	Local    local.Source         // nil: local programs are not watched
	Place    Place
	// Sinks tells how the delivery to push sinks goes; nil: there are none.
	Sinks func() []push.Stats

	Interval time.Duration // how often cards are read; default 1 s
	// SlowInterval is how often what hardly changes is asked: XGMI links, partitions,
	// firmware, bad pages, topology. Default 30 s.
	SlowInterval time.Duration
	// Events says whether what happens to cards is counted: EventsAuto (the default),
	// EventsOn or EventsOff.
	Events    string
	Timeout   time.Duration // how long one reading may take; default 10 s
	MaxAge    time.Duration // what is older is not shown; default 30 s
	MaxSeries int           // series of one metric at most; default 5000
	// MaxProcesses is how many processes of one card have series at most: those that
	// hold most of its memory. Default 256.
	MaxProcesses int
	// Histograms is the form of the histograms of durations: collector.HistogramsBoth (the
	// default), collector.HistogramsNative or collector.HistogramsClassic.
	Histograms string
	// Allow and Deny are globs of metric names, those of More and Runtime included: with any in Allow only these are served, and never those in Deny.
	Allow, Deny collector.Patterns
	// Compat is collector.CompatDME to serve the names of AMD's device-metrics-exporter as well,
	// and "" not to.
	Compat string
	// CompatOwners fills in the labels pod, namespace, container and job_… of those names, of cards with one owner.
	CompatOwners bool
	Health       collector.Thresholds // of gpu_health
	Version      string               // of the program, for gpu_exporter_build_info
	Runtime      bool                 // add the program's own go_… and process_… metrics
	// More makes further metrics to serve beside these; no name of ours may be among them.
	More []prometheus.Collector
	Log  *slog.Logger // default: discard

	now func() time.Time // for tests
}

// Place says where this exporter runs, as its operator names it: what joins its
// figures with others'. Empty is not known.
type Place struct {
	Host    string // of the GPUs; default: this machine's name for local ones
	Cluster string
	Pool    string // of TensorFusion, or any group of hosts
}

// Exporter gathers in the background and answers scrapes.
type Exporter struct {
	opt      Options
	poll     *poller
	detail   *detailPoller
	events   *eventCounter
	metrics  *collector.Set
	registry *prometheus.Registry
}

// New checks the options and returns an exporter that has not gathered anything;
// Run makes it.
func New(opt Options) (*Exporter, error) {
	if opt.Source == nil {
		return nil, errors.New("exporter: no source")
	}
	if opt.Events == "" {
		opt.Events = EventsAuto
	}
	if err := checkEvents(opt.Events); err != nil {
		return nil, err
	}
	setDefault(&opt.Interval, time.Second)
	setDefault(&opt.SlowInterval, 30*time.Second)
	setDefault(&opt.Timeout, 10*time.Second)
	setDefault(&opt.MaxAge, max(30*time.Second, 3*opt.Interval))
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.now == nil {
		opt.now = time.Now
	}
	e := &Exporter{opt: opt}
	e.poll = newPoller(&e.opt)
	e.detail = newDetailPoller(&e.opt, e.poll.list)
	e.events = newEventCounter(&e.opt, e.poll.list, e.harmless)
	set, err := collector.New(collector.Options{
		Sessions: opt.Sessions, Calls: opt.Calls, Local: opt.Local, Sinks: opt.Sinks,
		Host: opt.Place.Host, Cluster: opt.Place.Cluster, Pool: opt.Place.Pool, Version: opt.Version,
		MaxSeries: opt.MaxSeries, MaxProcesses: opt.MaxProcesses, Histograms: opt.Histograms, Allow: opt.Allow, Deny: opt.Deny,
		Compat: opt.Compat, CompatOwners: opt.CompatOwners, Health: opt.Health, Log: opt.Log, Now: opt.now,
	}, e.view)
	if err != nil {
		return nil, err
	}
	e.metrics = set
	return e, e.register()
}

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Run gathers until ctx is done. It leaves nothing running but a reading that a
// source refuses to end.
func (e *Exporter) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { e.detail.run(ctx) })
	if e.opt.Events != EventsOff {
		wg.Go(func() { e.events.run(ctx) })
	}
	e.poll.run(ctx)
	wg.Wait()
}

// Poll reads the cards once, and their details if they are due, and waits for that,
// at most for Options.Timeout. Events are counted in Run alone.
func (e *Exporter) Poll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, e.opt.Timeout)
	defer cancel()
	e.poll.once(ctx)
	e.detail.once(ctx)
}

// view is all that is known of the cards now.
func (e *Exporter) view() *collector.View {
	v := e.poll.view()
	for i := range v.Cards {
		e.detail.look(&v.Cards[i], v.Now)
	}
	v.Topology, v.Events = e.detail.topology(v.Now), e.events.view()
	return v
}
