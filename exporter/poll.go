package exporter

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rocwire/rocwire/exporter/collector"
	"github.com/rocwire/rocwire/smi"
)

// poller reads a source in the background: the list of cards, and each card in a
// goroutine of its own, so that one that hangs keeps only itself from being fresh.
// A reading that does not end, whatever its context says, is not started again.
type poller struct {
	opt *Options

	mu      sync.Mutex
	cards   map[int]*cardState
	devices []smi.Device
	listErr error     // of the last list
	listed  time.Time // when the last attempt ended; zero: never
	asked   time.Time // when the first did
	listing bool
}

// cardState is the newest that is known about one card.
type cardState struct {
	snap    smi.DeviceSnapshot
	at      time.Time     // when its last reading ended; zero: never
	took    time.Duration // how long that was
	reading bool
}

func newPoller(opt *Options) *poller {
	return &poller{opt: opt, cards: map[int]*cardState{}}
}

func (p *poller) run(ctx context.Context) {
	t := time.NewTicker(p.opt.Interval)
	defer t.Stop()
	for {
		p.start(ctx)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// once reads everything and waits.
func (p *poller) once(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.opt.Timeout)
	defer cancel()
	done := p.start(ctx)
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// start begins to read whatever is not being read yet. The channel is closed when
// all that was begun has ended.
func (p *poller) start(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	p.mu.Lock()
	busy := p.listing
	p.listing = true
	p.mu.Unlock()
	if busy {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(ctx, p.opt.Timeout)
		defer cancel()
		if s, ok := p.opt.Source.(smi.Snapshotter); ok {
			p.readAll(ctx, s)
			return
		}
		p.readEach(ctx)
	}()
	return done
}

// readAll asks for everything at once.
func (p *poller) readAll(ctx context.Context, s smi.Snapshotter) {
	begin := p.opt.now()
	snap, err := s.Snapshot(ctx)
	end := p.opt.now()
	var devices []smi.Device
	if err == nil {
		for i := range snap.Devices {
			devices = append(devices, snap.Devices[i].Device)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setList(devices, err, end)
	if err != nil {
		return
	}
	for i := range snap.Devices {
		d := &snap.Devices[i]
		*p.cards[d.Device.Index] = cardState{snap: *d, at: end, took: end.Sub(begin)}
	}
}

// readEach lists the cards, then reads them side by side.
func (p *poller) readEach(ctx context.Context) {
	devices, err := p.opt.Source.Devices(ctx)
	p.mu.Lock()
	p.setList(devices, err, p.opt.now())
	var begin []smi.Device
	for _, d := range p.devices {
		if c := p.cards[d.Index]; err == nil && !c.reading {
			c.reading = true
			begin = append(begin, d)
		}
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, d := range begin {
		wg.Go(func() { p.readCard(ctx, d) })
	}
	wg.Wait()
}

func (p *poller) readCard(ctx context.Context, d smi.Device) {
	begin := p.opt.now()
	snap := smi.ReadDevice(ctx, p.opt.Source, d)
	end := p.opt.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.cards[d.Index]; c != nil && c.snap.Device == d {
		*c = cardState{snap: snap, at: end, took: end.Sub(begin)}
	}
}

// setList ends an attempt to list the cards. A list that failed keeps the old
// cards, whose figures grow old.
func (p *poller) setList(devices []smi.Device, err error, now time.Time) {
	p.listing = false
	if err != nil && (p.listErr == nil || p.listErr.Error() != err.Error()) {
		p.opt.Log.Warn("cannot read the GPUs", "reason", err)
	} else if err == nil && p.listErr != nil {
		p.opt.Log.Info("the GPUs can be read again", "count", len(devices))
	}
	p.listErr, p.listed = err, now
	if p.asked.IsZero() {
		p.asked = now
	}
	if err != nil {
		return
	}
	p.devices = slices.Clone(devices)
	old := p.cards
	p.cards = make(map[int]*cardState, len(devices))
	for _, d := range devices {
		c := old[d.Index]
		if c == nil || c.snap.Device != d {
			c = &cardState{snap: smi.DeviceSnapshot{Device: d}}
		}
		p.cards[d.Index] = c
	}
}

// list is the cards there are, nil when they cannot be asked.
func (p *poller) list() []smi.Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listErr != nil || p.listed.IsZero() {
		return nil
	}
	return slices.Clone(p.devices)
}

// ready reports whether a first attempt to read every card has ended, or has had its
// time: a card that hangs must not keep the others from being shown.
func (p *poller) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked.IsZero() || p.opt.now().Sub(p.asked) >= p.opt.Timeout {
		return !p.asked.IsZero()
	}
	for _, d := range p.devices {
		if p.cards[d.Index].at.IsZero() {
			return false
		}
	}
	return true
}

// view is what is known of the cards, but for their details. Of a card that has told nothing for too long its identity stays, and whom it was
// given to: who waits for a card that hangs is what is asked then. Where that is known on this machine it is known anew.
func (p *poller) view() *collector.View {
	var owners map[int][]smi.Owner
	here := smi.OwnersOf(p.opt.Source)
	if here != nil {
		owners = here.Owners()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &collector.View{Now: p.opt.now(), MaxAge: p.opt.MaxAge, Err: p.listErr}
	switch {
	case p.listed.IsZero():
		v.Err = smi.Errorf(smi.ErrUnavailable, "nothing has been read yet")
	case v.Err == nil && v.Now.Sub(p.listed) > p.opt.MaxAge:
		v.Err = smi.Errorf(smi.ErrTimeout, "no answer for %v", v.Now.Sub(p.listed).Round(time.Second))
	}
	for _, d := range p.devices {
		s := p.cards[d.Index]
		c := collector.Card{Snap: s.snap, Known: !s.at.IsZero(), Took: s.took}
		if c.Known {
			c.Age = v.Now.Sub(s.at)
		}
		c.Fresh = c.Known && c.Age <= p.opt.MaxAge
		if !c.Fresh {
			c.Snap = smi.DeviceSnapshot{Device: d, Info: s.snap.Info, Owners: s.snap.Owners}
			c.OwnersAge = c.Age
		}
		if here != nil {
			c.Snap.Owners, c.OwnersAge = owners[d.Index], 0
		}
		v.Cards = append(v.Cards, c)
	}
	return v
}
