package discovery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// source names targets.
type source interface {
	name() string
	period() time.Duration
	// read names all targets there are, and counts what makes no sense. With an error
	// that is a *partialError the targets are good.
	read(ctx context.Context) (targets []Target, bad int, err error)
}

// Discovery knows the workers that its sources name.
type Discovery struct {
	log     *slog.Logger
	sources []source

	mu    sync.Mutex
	state []state         // of each source
	list  []Target        // of all of them; replaced, never changed
	named map[string]bool // addresses of list; nil: a source was read since both were made
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
	opt.defaults()
	d := &Discovery{log: opt.Log}
	for _, name := range opt.Sources {
		s, err := opt.open(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(d.sources, func(o source) bool { return o.name() == s.name() }) {
			d.sources = append(d.sources, s)
		}
	}
	d.state = make([]state, len(d.sources))
	return d, nil
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

// Refresh reads all sources once, side by side.
func (d *Discovery) Refresh(ctx context.Context) {
	var wg sync.WaitGroup
	for i := range d.sources {
		wg.Go(func() { d.refresh(ctx, i) })
	}
	wg.Wait()
}

func (d *Discovery) refresh(ctx context.Context, i int) {
	targets, bad, err := d.sources[i].read(ctx)
	if errors.Is(ctx.Err(), context.Canceled) { // nobody wants to know any more
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
		s.targets, d.named = targets, nil
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
// twice, the first. The list is everybody's and not to be changed.
func (d *Discovery) Targets() []Target {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.join()
	return d.list
}

// Has reports whether a worker is named now, by the form of its address that Normalize gives.
func (d *Discovery) Has(address string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.join()
	return d.named[address]
}

// join makes one list of those of all sources, with mu, if one of them was read since.
func (d *Discovery) join() {
	if d.named != nil {
		return
	}
	d.list, d.named = nil, map[string]bool{}
	for i := range d.state {
		for _, t := range d.state[i].targets {
			if !d.named[t.Address] {
				d.named[t.Address] = true
				d.list = append(d.list, t)
			}
		}
	}
	slices.SortFunc(d.list, func(a, b Target) int { return strings.Compare(a.Address, b.Address) })
}

// State is how it goes with one source.
type State struct {
	Source   string // its name, without passwords
	Targets  int
	Bad      int       // targets and labels that make no sense, when it was last read
	Err      string    // why it could not be read; "" if it could
	Success  time.Time // of the last reading without an error; zero: none
	Failures uint64
}

// States are all sources, in the order of the options.
func (d *Discovery) States() []State {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]State, len(d.sources))
	for i := range d.state {
		s := &d.state[i]
		all[i] = State{Source: d.sources[i].name(), Targets: len(s.targets), Bad: s.bad, Err: s.err, Success: s.success, Failures: s.failures}
	}
	return all
}
