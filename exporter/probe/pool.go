package probe

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smiremote"
)

// errCrowded is why a target cannot be asked now.
var errCrowded = errors.New("as many workers as may be are being asked at this moment")

// pool keeps an exporter for each worker that is asked for.
type pool struct {
	opt *Options

	mu      sync.Mutex
	closed  bool
	targets map[string]*target
	wg      sync.WaitGroup
	evicted uint64
}

// target is one worker.
type target struct {
	exporter *exporter.Exporter
	ready    chan struct{} // closed when it was read for the first time, or could not be
	stop     context.CancelFunc
	used     time.Time
	users    int  // requests that wait for it or read it
	listed   bool // it has a place of its own
}

// take gives the exporter of a worker, made if need be; give must be called then.
func (p *pool) take(addr string) (*target, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the exporter ends")
	}
	t := p.targets[addr]
	if t == nil {
		listed := p.opt.has(addr)
		for !listed && p.others() >= p.opt.MaxTargets { // several: some were listed before
			if !p.evict() {
				return nil, errCrowded
			}
		}
		var err error
		if t, err = p.start(addr); err != nil {
			return nil, err
		}
		t.listed = listed
		p.targets[addr] = t
	}
	t.users++
	t.used = time.Now()
	return t, nil
}

func (p *pool) give(t *target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.users--
	t.used = time.Now()
}

// start begins to read a worker.
func (p *pool) start(addr string) (t *target, err error) {
	client := p.opt.Client
	client.Address = addr
	if client.ConnectTimeout <= 0 {
		client.ConnectTimeout = p.opt.Exporter.Timeout
	}
	if client.IOTimeout <= 0 {
		client.IOTimeout = p.opt.Exporter.Timeout
	}
	src := smiremote.NewClient(client)
	mirror := smiremote.NewMirror(src, p.opt.Exporter.Interval)
	o := p.opt.Exporter
	o.Source, o.Sessions, o.Calls = src, mirror, mirror
	// The template's host is this one.
	if o.Place.Host, _, err = net.SplitHostPort(addr); err != nil {
		o.Place.Host = ""
	}
	o.Sinks, o.Local, o.More, o.Runtime = nil, nil, nil, false
	e, err := exporter.New(o)
	if err != nil {
		_ = src.Close() // it never connected
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	t = &target{exporter: e, ready: make(chan struct{}), stop: cancel}
	p.wg.Go(func() {
		defer src.Close()
		var wg sync.WaitGroup
		wg.Go(func() { mirror.Update(ctx) })
		wg.Go(func() { e.Poll(ctx) })
		wg.Wait()
		close(t.ready)
		wg.Go(func() { mirror.Run(ctx) })
		wg.Go(func() { e.Run(ctx) })
		// Whatever hangs in a question ends with its connection.
		<-ctx.Done()
		_ = src.Close()
		wg.Wait()
	})
	return t, nil
}

// others is how many workers are read that are not listed, with mu.
func (p *pool) others() (n int) {
	for _, t := range p.targets {
		if !t.listed {
			n++
		}
	}
	return n
}

// evict lets the worker go that is not listed and was not used for longest, with mu;
// false if all are in use.
func (p *pool) evict() bool {
	oldest := ""
	for addr, t := range p.targets {
		if !t.listed && t.users == 0 && (oldest == "" || t.used.Before(p.targets[oldest].used)) {
			oldest = addr
		}
	}
	if oldest == "" {
		return false
	}
	p.evicted++
	p.drop(oldest)
	return true
}

func (p *pool) drop(addr string) {
	p.targets[addr].stop()
	delete(p.targets, addr)
}

// sweep lets workers go that were not used for long, and those that may not be asked
// any more.
func (p *pool) sweep(now time.Time, allowed func(string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for addr, t := range p.targets {
		t.listed = p.opt.has(addr)
		if t.users == 0 && (now.Sub(t.used) >= p.opt.Idle || !allowed(addr)) {
			p.drop(addr)
		}
	}
}

// close lets all go and waits for that.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for addr := range p.targets {
		p.drop(addr)
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *pool) size() (n int, evicted uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.targets), p.evicted
}
