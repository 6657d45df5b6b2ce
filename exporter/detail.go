package exporter

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// detailPoller reads what changes slowly: links, partitions, firmware, bad pages and
// topology. It has its own, longer interval and its own goroutine for each card, so
// that questions which some cards answer in seconds delay no other figure.
type detailPoller struct {
	opt  *Options
	list func() []smi.Device // the cards to ask; nil: they cannot be asked

	mu    sync.Mutex
	cards map[int]*cardDetail
	topo  part[*smi.Topology]
	turn  struct {
		busy bool      // the topology is being asked for
		at   time.Time // when that began; zero: never
	}
}

// cardDetail is the newest of one card. A card that is another one by now has a new
// cardDetail, and a late answer goes to the old one.
type cardDetail struct {
	device     smi.Device
	busy       bool
	at         time.Time // when its last turn began; zero: never
	xgmi       part[*smi.XGMI]
	partitions part[*smi.Partitions]
	firmware   part[[]smi.Firmware]
	badPages   part[[]smi.BadPage]

	linkErrors uint64 // readings in which links had had errors since the one before
	linkRate   linkRate
}

// part is the newest answer to one question.
type part[T any] struct {
	value T
	err   error         // of the last answer
	at    time.Time     // of value; zero: there was none
	took  time.Duration // the last answer
	asked bool
	busy  bool
}

// partView is a part as a scrape sees it.
type partView[T any] struct {
	value T // if known
	known bool
	asked bool // and the card knows the question
	err   error
	age   time.Duration
	took  time.Duration
}

// detailView is what a scrape sees of a card's details.
type detailView struct {
	xgmi       partView[*smi.XGMI]
	partitions partView[*smi.Partitions]
	firmware   partView[[]smi.Firmware]
	badPages   partView[[]smi.BadPage]
	linkErrors uint64
	linkRate   LinkRate
}

func newDetailPoller(opt *Options, list func() []smi.Device) *detailPoller {
	return &detailPoller{opt: opt, list: list, cards: map[int]*cardDetail{}}
}

// run asks whatever is due. It looks often, so that a card that appears is asked soon.
func (d *detailPoller) run(ctx context.Context) {
	t := time.NewTicker(d.opt.Interval)
	defer t.Stop()
	for {
		d.start(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// once asks whatever is due and waits for it, until ctx is done.
func (d *detailPoller) once(ctx context.Context) {
	done := make(chan struct{})
	turns := d.start(ctx)
	go func() {
		defer close(done)
		turns.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// start gives a turn to each card that is due.
func (d *detailPoller) start(ctx context.Context) *sync.WaitGroup {
	var turns sync.WaitGroup
	devices := d.list()
	if devices == nil {
		return &turns
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opt.now()
	old := d.cards
	d.cards = make(map[int]*cardDetail, len(devices))
	for _, dev := range devices {
		c := old[dev.Index]
		if c == nil || c.device != dev {
			c = &cardDetail{device: dev}
		}
		d.cards[dev.Index] = c
		if !c.busy && d.due(c.at, now) {
			c.busy, c.at = true, now
			turns.Go(func() { d.askCard(ctx, c) })
		}
	}
	if t := &d.turn; !t.busy && d.due(t.at, now) {
		t.busy, t.at = true, now
		turns.Go(func() { d.askTopology(ctx) })
	}
	return &turns
}

func (d *detailPoller) due(last, now time.Time) bool {
	return last.IsZero() || now.Sub(last) >= d.opt.SlowInterval
}

func (d *detailPoller) askCard(ctx context.Context, c *cardDetail) {
	src, i := d.opt.Source, c.device.Index
	ask(ctx, d, &c.xgmi, func(ctx context.Context) (*smi.XGMI, error) {
		x, err := some(src.XGMI(ctx, i))
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if x.Errors == smi.XGMIError || x.Errors == smi.XGMIMultipleErrors {
			c.linkErrors++
		}
		c.linkRate.add(x, d.opt.now())
		return x, nil
	})
	ask(ctx, d, &c.partitions, func(ctx context.Context) (*smi.Partitions, error) { return some(src.Partitions(ctx, i)) })
	ask(ctx, d, &c.firmware, func(ctx context.Context) ([]smi.Firmware, error) { return src.Firmware(ctx, i) })
	ask(ctx, d, &c.badPages, func(ctx context.Context) ([]smi.BadPage, error) { return src.BadPages(ctx, i) })
	d.mu.Lock()
	defer d.mu.Unlock()
	c.busy = false
}

func (d *detailPoller) askTopology(ctx context.Context) {
	ask(ctx, d, &d.topo, func(ctx context.Context) (*smi.Topology, error) { return some(d.opt.Source.Topology(ctx)) })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn.busy = false
}

// some refuses the answer of a source that breaks its promise.
func some[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		return nil, smi.Errorf(smi.ErrInternal, "the source answered nothing")
	}
	return v, err
}

// ask puts one question and waits for its answer, at most for Options.Timeout. A
// source that does not heed that answers later, and is not asked again until then.
func ask[T any](ctx context.Context, d *detailPoller, p *part[T], question func(context.Context) (T, error)) {
	d.mu.Lock()
	busy := p.busy
	p.busy = true
	d.mu.Unlock()
	if busy {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		begin := d.opt.now()
		v, err := question(ctx)
		end := d.opt.now()
		d.mu.Lock()
		defer d.mu.Unlock()
		p.busy, p.asked, p.err, p.took = false, true, err, end.Sub(begin)
		if err == nil {
			p.value, p.at = v, end
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// view is what is known about a card; the zero value is nothing.
func (d *detailPoller) view(dev smi.Device, now time.Time) detailView {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.cards[dev.Index]
	if c == nil || c.device != dev {
		return detailView{}
	}
	v := detailView{
		xgmi: look(d, &c.xgmi, now), partitions: look(d, &c.partitions, now), firmware: look(d, &c.firmware, now),
		badPages: look(d, &c.badPages, now), linkErrors: c.linkErrors,
	}
	if v.xgmi.known {
		v.linkRate = c.linkRate.rate
		if s, ok := v.xgmi.value.Stale.Get(); ok {
			v.xgmi.age += time.Duration(s)
			v.xgmi.known = v.xgmi.age <= d.maxAge()
		}
	}
	return v
}

func (d *detailPoller) topology(now time.Time) partView[*smi.Topology] {
	d.mu.Lock()
	defer d.mu.Unlock()
	return look(d, &d.topo, now)
}

// maxAge is the age above which a detail is not shown: three turns may fail.
func (d *detailPoller) maxAge() time.Duration { return max(d.opt.MaxAge, 3*d.opt.SlowInterval) }

func look[T any](d *detailPoller, p *part[T], now time.Time) partView[T] {
	if errors.Is(p.err, smi.ErrNotSupported) {
		return partView[T]{err: p.err}
	}
	v := partView[T]{asked: p.asked, err: p.err, took: p.took}
	if p.at.IsZero() {
		return v
	}
	v.age = max(now.Sub(p.at), 0)
	if v.known = v.age <= d.maxAge(); v.known {
		v.value = p.value
	}
	return v
}

// failure is why a detail is not known, or out of date; nil where the card does not
// have it, or was not asked yet.
func (v *partView[T]) failure(gpu, what string) error {
	if v.err == nil || !v.asked {
		return nil
	}
	return failed(gpu, what, smi.FailureOf(v.err))
}
