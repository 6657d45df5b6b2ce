package exporter

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
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

// look adds what is known about a card's details, and says how fast its links are.
func (d *detailPoller) look(c *collector.Card, now time.Time) (links LinkRate) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.cards[c.Snap.Device.Index]
	if x == nil || x.device != c.Snap.Device {
		return LinkRate{}
	}
	c.XGMI, c.Partitions, c.Firmware, c.BadPages = answer(d, &x.xgmi, now), answer(d, &x.partitions, now), answer(d, &x.firmware, now), answer(d, &x.badPages, now)
	c.LinkErrors = x.linkErrors
	if c.XGMI.Known {
		links = x.linkRate.rate
		if s, ok := c.XGMI.Value.Stale.Get(); ok {
			c.XGMI.Age += time.Duration(s)
			c.XGMI.Known = c.XGMI.Age <= d.maxAge()
		}
	}
	return links
}

func (d *detailPoller) topology(now time.Time) collector.Answer[*smi.Topology] {
	d.mu.Lock()
	defer d.mu.Unlock()
	return answer(d, &d.topo, now)
}

// maxAge is the age above which a detail is not shown: three turns may fail.
func (d *detailPoller) maxAge() time.Duration { return max(d.opt.MaxAge, 3*d.opt.SlowInterval) }

// answer is a part as others see it.
func answer[T any](d *detailPoller, p *part[T], now time.Time) collector.Answer[T] {
	if errors.Is(p.err, smi.ErrNotSupported) {
		return collector.Answer[T]{Err: p.err}
	}
	a := collector.Answer[T]{Asked: p.asked, Err: p.err, Took: p.took}
	if p.at.IsZero() {
		return a
	}
	a.Age = max(now.Sub(p.at), 0)
	if a.Known = a.Age <= d.maxAge(); a.Known {
		a.Value = p.value
	}
	return a
}
