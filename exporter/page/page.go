package page

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// Page is the page and its history.
type Page struct {
	opt   Options
	grid  grid
	steps int
	mux   *http.ServeMux
	gate  chan struct{} // holds a token for each request being answered

	mu     sync.Mutex
	store  *store
	calls  *callRing
	errors map[string][3]smi.Opt[uint64] // that cards told of, by UUID: corrected, not corrected, deferred
}

// New checks the options and returns a page that has no history yet; Run makes it. Its
// errors are ErrOptions with a reason.
func New(opt Options) (*Page, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	steps := int(opt.History / opt.Step)
	g := newGrid(opt.now(), opt.Step, steps)
	p := &Page{
		opt: opt, grid: g, steps: steps, gate: make(chan struct{}, opt.MaxRequests),
		errors: map[string][3]smi.Opt[uint64]{},
		store:  newStore(steps, opt.MaxBytes/2), calls: newCallRing(steps, opt.MaxBytes/2, int64(steps)-1),
	}
	p.mux = p.routes()
	return p, nil
}

// perStep is how many readings a step's gauges are the mean of.
const perStep = 5

// Run samples until ctx is done.
func (p *Page) Run(ctx context.Context) {
	t := time.NewTicker(max(p.opt.Step/perStep, time.Second))
	defer t.Stop()
	for {
		p.sample()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// sample adds what is known now to the history.
func (p *Page) sample() {
	r, sinks := p.read()
	now := p.opt.now()
	step := p.grid.of(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	// Calls are totals: what they are when a step is over tells all of it.
	if step > p.store.open && r.CallsErr == nil {
		p.calls.put(step-1, r.Calls)
	}
	p.store.begin(step, now)
	p.store.add(&r, sinks)
	for i := range r.Cards[:min(len(r.Cards), maxCards)] {
		c := cardOf(&r.Cards[i])
		p.ecc(&c)
	}
}

func (p *Page) read() (exporter.Reading, []push.Stats) {
	r := p.opt.Read()
	if p.opt.Sinks == nil {
		return r, nil
	}
	return r, p.opt.Sinks()
}

// ServeHTTP serves the page at /, its files under /assets/ and its figures under
// /api/v1/, all read only.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case p.gate <- struct{}{}:
		defer func() { <-p.gate }()
	default:
		w.Header().Set("Retry-After", "2")
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
		return
	}
	secure(w.Header())
	p.mux.ServeHTTP(w, r)
}
