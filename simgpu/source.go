package simgpu

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/model"
	"github.com/rocwire/rocwire/smi"
)

// How often a Source looks at its cards, over how long it says how active they are,
// and how old a look may be that answers a question if who holds memory has not changed
// since: many questions at once cost one.
const (
	sampleEvery = 100 * time.Millisecond
	window      = time.Second
	fresh       = 10 * time.Millisecond
)

// Source tells what the cards of a segment do: an smi.Source, whose cards can be set
// and made to fail (smi.Injector). A segment has one, in the process that started the
// sessions. Safe for concurrent use.
//
// Its figures are a function of what the sessions counted, of what it was told to set
// and inject, and of the clock; nothing else.
type Source struct {
	smi.Unimplemented
	product *product
	monitor *card.Monitor
	clock   func() time.Time
	read    func() []card.Card                // of the monitor
	faults  func() []card.Fault               // of the monitor
	memory  func() uint64                     // of the monitor
	tell    func(index int, c card.Condition) // the sessions
	host    host

	stop func()
	done chan struct{}

	mu     sync.Mutex
	cards  []gauge
	looked time.Time // at the cards
	held   uint64    // memory, then
	closed bool
	events hub
}

// gauge is what a source remembers of a card.
type gauge struct {
	now     card.Card
	state   model.State
	samples []sample // the last one is now; as many as the window needs
	settings
	trouble
	processes processes
	hot       bool // temperature held it back when it was looked at last
}

type sample struct {
	at time.Time
	card.Counters
	energy, power, heat, limited float64 // of model.State
	stalled                      bool
}

var (
	_ smi.Source   = (*Source)(nil)
	_ smi.Injector = (*Source)(nil)
)

// NewSource makes the source of o.Segment, whose cards are of o.Arch.
func NewSource(o Options) (*Source, error) {
	if o.Segment == nil {
		return nil, fmt.Errorf("%w: a source needs a segment", ErrOptions)
	}
	o.Cards, o.MemoryBytes = o.Segment.Cards(), o.Segment.Capacity(0)
	if err := o.complete(); err != nil {
		return nil, err
	}
	m := card.NewMonitor(o.Segment)
	s := newSource(products[o.Arch], m.Read, time.Now)
	s.monitor, s.faults, s.memory, s.host = m, m.TakeFaults, m.Memory, thisHost()
	s.tell = func(i int, c card.Condition) { o.Segment.SetCondition(i, c) }
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go s.watch(ctx)
	return s, nil
}

func newSource(p *product, read func() []card.Card, clock func() time.Time) *Source {
	s := &Source{
		product: p, clock: clock, read: read, done: make(chan struct{}),
		faults: func() []card.Fault { return nil }, memory: func() uint64 { return 0 }, tell: func(int, card.Condition) {},
	}
	s.looked = clock()
	for _, c := range read() {
		g := gauge{now: c, state: p.physical.Start(), samples: []sample{{at: s.looked, Counters: c.Counters}}}
		g.ecc = map[string]*eccCount{}
		s.cards = append(s.cards, g)
	}
	return s
}

// watch looks at the cards regularly, so that what happened between two
// questions is known at its time.
func (s *Source) watch(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			s.sample()
			s.mu.Unlock()
		}
	}
}

// sample reads the cards, moves their state on, tells the sessions what that means
// for them, and others what happened. mu is held.
func (s *Source) sample() {
	now := s.clock()
	s.looked, s.held = now, s.memory()
	for i, c := range s.read() {
		g := &s.cards[i]
		g.now = c
		if !g.Gone {
			s.step(g, now)
		}
		if g.pending && g.now.Used == 0 {
			g.reserve()
		}
		s.watchProcesses(i)
		if hot := s.product.physical.TooHot(g.state.Hotspot); hot != g.hot {
			if g.hot = hot; hot {
				s.event(i, smi.EventThermalThrottle, 0, fmt.Sprintf("the hot spot has %.0f °C, its limit is %.0f °C", g.state.Hotspot, s.product.physical.HotspotLimit))
			}
		}
		s.publish(i)
	}
	s.tellFaults()
}

// tellFaults tells of what kernels did that they may not. mu is held.
func (s *Source) tellFaults() {
	for _, f := range s.faults() {
		switch {
		case f.Card >= len(s.cards):
		case f.Check > 0:
			s.event(f.Card, smi.EventKernelCheck, uint32(f.PID), fmt.Sprintf("%s: kernel %s", exec.Checks(1<<(f.Check-1)), f.Kernel))
		default:
			s.event(f.Card, smi.EventVMFault, uint32(f.PID), strings.TrimSuffix(fmt.Sprintf("kernel %s: no memory at address %#x: %s", f.Kernel, f.Addr, f.Text), ": "))
		}
	}
}

// step moves a card's state on to now. mu is held.
func (s *Source) step(g *gauge, now time.Time) {
	last := g.last()
	if !now.After(last.at) {
		return
	}
	next := sample{at: now, Counters: g.now.Counters, stalled: g.Hung}
	g.state = s.product.physical.Step(g.state, interval(last, &next), g.limits(s.product))
	next.energy, next.power, next.heat, next.limited = g.state.Energy, g.state.PowerLimited, g.state.HeatLimited, g.state.Limited
	g.samples = append(g.samples, next)
	// Keep one sample that is at least a window old.
	drop := 0
	for drop+1 < len(g.samples)-1 && now.Sub(g.samples[drop+1].at) >= window {
		drop++
	}
	g.samples = append(g.samples[:0], g.samples[drop:]...)
}

func (g *gauge) last() *sample { return &g.samples[len(g.samples)-1] }

// interval is what happened between two samples.
func interval(a, b *sample) model.Interval {
	in := model.Interval{
		Seconds:  b.at.Sub(a.at).Seconds(),
		Busy:     float64(b.Busy-a.Busy) / 1e9,
		CopyBusy: float64(b.CopyBusy-a.CopyBusy) / 1e9,
		UnitTime: float64(b.UnitTime-a.UnitTime) / 1e9,
		Stalled:  b.stalled,
	}
	w := &in.Work
	w.ReadBytes, w.WriteBytes = b.Work.ReadBytes-a.Work.ReadBytes, b.Work.WriteBytes-a.Work.WriteBytes
	w.FLOPs, w.Atomics = b.Work.FLOPs-a.Work.FLOPs, b.Work.Atomics-a.Work.Atomics
	for i := range w.Instructions {
		w.Instructions[i] = b.Work.Instructions[i] - a.Work.Instructions[i]
		w.Lanes[i] = b.Work.Lanes[i] - a.Work.Lanes[i]
	}
	return in
}

// instant is what the card shows over the last stretch that is long enough to say
// something. mu is held.
func (s *Source) instant(g *gauge) model.Reading {
	n := len(g.samples)
	if n < 2 {
		return s.product.physical.Read(model.Interval{}, g.state.Hotspot, g.limits(s.product))
	}
	k := n - 2
	for k > 0 && g.last().at.Sub(g.samples[k].at) < sampleEvery {
		k--
	}
	return s.product.physical.Read(interval(&g.samples[k], g.last()), g.state.Hotspot, g.limits(s.product))
}

// publish tells the sessions what has become of a card, if that is new. mu is held.
func (s *Source) publish(i int) {
	g := &s.cards[i]
	c := g.Condition
	c.Slower = uint16(math.Round((1 - s.instant(g).Speed) * 1000))
	c.Link = g.link.slower(s.product.chip)
	if c != g.told {
		g.told = c
		s.tell(i, c)
	}
}

// Reap takes a process that has ended out of the cards' use. It looks at that process alone: with many sessions one ends at any time.
func (s *Source) Reap(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := make([]bool, len(s.cards))
	s.monitor.Reap(pid, func(i int, last card.Use) { used[i] = used[i] || touched(&last) })
	s.tellFaults()
	for i := range s.cards {
		s.leaves(i, pid, used[i])
	}
}

// Use is what each session uses of a card now.
func (s *Source) Use(index int) []card.Use {
	cards := s.read()
	if index < 0 || index >= len(cards) {
		return nil
	}
	return cards[index].Sessions
}

// Held is the memory in bytes that a process holds of some cards, of all if none is named; false if it has no session.
func (s *Source) Held(pid int, cards ...int) (bytes uint64, ok bool) {
	return s.monitor.Held(pid, cards...)
}

// Close ends the watch. The segment stays.
func (s *Source) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if !was {
		s.events.close()
		if s.stop != nil {
			s.stop()
			<-s.done
		}
	}
	return nil
}

// look reads the cards, unless that was just done, and calls f with one of them that
// answers.
func (s *Source) look(ctx context.Context, index int, f func(g *gauge)) error {
	return s.change(ctx, index, func(g *gauge) error {
		if g.Gone {
			return gone(index)
		}
		f(g)
		return nil
	})
}

// change is look for any card, and f may fail.
func (s *Source) change(ctx context.Context, index int, f func(g *gauge) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errSourceClosed
	}
	if index < 0 || index >= len(s.cards) {
		return smi.NoDevice(index, len(s.cards))
	}
	if d := s.clock().Sub(s.looked); d < 0 || d >= fresh || s.memory() != s.held {
		s.sample()
	}
	return f(&s.cards[index])
}

var errSourceClosed = smi.Errorf(smi.ErrUnavailable, "the simulated cards' source is closed")

// gone is the answer of a card that was told not to answer.
func gone(index int) error {
	return smi.Errorf(smi.ErrUnavailable, "GPU %d does not answer (simulated fault)", index)
}
