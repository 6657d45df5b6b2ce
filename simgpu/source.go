package simgpu

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/simgpu/model"
	"github.com/rocwire/rocwire/smi"
)

// How often a Source looks at its cards, and over how long it says how active
// they are.
const (
	sampleEvery = 100 * time.Millisecond
	window      = time.Second
)

// Source tells what the cards of a segment do: an smi.Source. A segment has
// one, in the process that started the sessions. Safe for concurrent use.
type Source struct {
	smi.Unimplemented
	product *product
	monitor *card.Monitor
	clock   func() time.Time
	read    func() []card.Card // of the monitor

	stop func()
	done chan struct{}

	mu     sync.Mutex
	cards  []gauge
	closed bool
}

// gauge is what a source remembers of a card.
type gauge struct {
	now     card.Card
	state   model.State
	samples []sample // the last one is now; as many as the window needs
}

type sample struct {
	at time.Time
	card.Counters
}

var _ smi.Source = (*Source)(nil)

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
	s.monitor = m
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go s.watch(ctx)
	return s, nil
}

func newSource(p *product, read func() []card.Card, clock func() time.Time) *Source {
	s := &Source{product: p, clock: clock, read: read, done: make(chan struct{})}
	now := clock()
	for _, c := range read() {
		s.cards = append(s.cards, gauge{now: c, state: p.physical.Start(), samples: []sample{{now, c.Counters}}})
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

// sample reads the cards and moves their state on. mu is held.
func (s *Source) sample() {
	now := s.clock()
	for i, c := range s.read() {
		g := &s.cards[i]
		g.now = c
		last := g.samples[len(g.samples)-1]
		if !now.After(last.at) {
			continue
		}
		next := sample{now, c.Counters}
		g.state = s.product.physical.Step(g.state, interval(last, next))
		g.samples = append(g.samples, next)
		// Keep one sample that is at least a window old.
		drop := 0
		for drop+1 < len(g.samples)-1 && now.Sub(g.samples[drop+1].at) >= window {
			drop++
		}
		g.samples = append(g.samples[:0], g.samples[drop:]...)
	}
}

// interval is what happened between two samples.
func interval(a, b sample) model.Interval {
	in := model.Interval{
		Seconds:  b.at.Sub(a.at).Seconds(),
		Busy:     float64(b.Busy-a.Busy) / 1e9,
		CopyBusy: float64(b.CopyBusy-a.CopyBusy) / 1e9,
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

// Sweep takes the figures of sessions that are gone out of the cards' use: all
// whose process alive does not vouch for.
func (s *Source) Sweep(alive func(pid int) bool) { s.monitor.Sweep(alive) }

// Reap does so for one process that has ended.
func (s *Source) Reap(pid int) { s.monitor.Reap(pid) }

// Use is what each session uses of a card now.
func (s *Source) Use(index int) []card.Use {
	cards := s.read()
	if index < 0 || index >= len(cards) {
		return nil
	}
	return cards[index].Sessions
}

// Close ends the watch. The segment stays.
func (s *Source) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if !was && s.stop != nil {
		s.stop()
		<-s.done
	}
	return nil
}

// look reads the cards and calls f with one of them.
func (s *Source) look(ctx context.Context, index int, f func(g *gauge)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return smi.ErrUnavailable
	}
	if index < 0 || index >= len(s.cards) {
		return smi.Errorf(smi.ErrNotFound, "there is no card %d", index)
	}
	s.sample()
	f(&s.cards[index])
	return nil
}

// Devices lists the cards.
func (s *Source) Devices(ctx context.Context) ([]smi.Device, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, smi.ErrUnavailable
	}
	var list []smi.Device
	for i := range s.cards {
		list = append(list, s.product.device(i))
	}
	return list, nil
}

func (p *product) device(index int) smi.Device {
	return smi.Device{
		Index: index, BDF: smi.Some(smi.BDF{Bus: uint8(busID(index))}), UUID: "GPU-" + serial(p, index),
		Name: p.name, Target: p.target.Short(),
	}
}

// Info is what a card is.
func (s *Source) Info(ctx context.Context, index int) (*smi.Info, error) {
	var in *smi.Info
	err := s.look(ctx, index, func(g *gauge) {
		p := s.product
		in = &smi.Info{
			Device: p.device(index),
			ASIC: smi.ASIC{
				VendorID: smi.Some(uint32(vendorID)), VendorName: vendorName, DeviceID: smi.Some(p.deviceID),
				SubvendorID: smi.Some(uint32(vendorID)), SubsystemID: smi.Some(p.subsystemID), Revision: smi.Some(p.revision),
				Serial: serial(p, index), ComputeUnits: smi.Some(int(p.computeUnits)),
				MaxClockGFX: smi.Some(smi.Hertz(p.physical.GFXMax)), MaxClockMem: smi.Some(smi.Hertz(p.physical.MemMax)),
			},
			VRAM: smi.VRAMInfo{
				Type: p.memoryType, Size: smi.Some(smi.Bytes(g.now.Capacity)), BitWidth: smi.Some(int(p.busWidth)),
				MaxBandwidth: smi.Some(smi.BytesPerSecond(p.bandwidth)),
			},
			Driver: smi.Driver{Name: driverName, Version: driverVersion()},
		}
	})
	return in, err
}

// driverVersion is the version of this module.
var driverVersion = sync.OnceValue(func() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "devel"
})

// Metrics is what a card does, over the last second.
func (s *Source) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	var m *smi.Metrics
	err := s.look(ctx, index, func(g *gauge) {
		ph := &s.product.physical
		first, last := g.samples[0], g.samples[len(g.samples)-1]
		r := ph.Read(interval(first, last))
		instant := r
		if n := len(g.samples); n > 1 {
			// The last stretch that is long enough to say something.
			k := n - 2
			for k > 0 && last.at.Sub(g.samples[k].at) < sampleEvery {
				k--
			}
			instant = ph.Read(interval(g.samples[k], last))
		}
		clock := func(domain string, now, low, high float64) smi.Clock {
			return smi.Clock{Domain: domain, Current: smi.Some(smi.Hertz(now)), Min: smi.Some(smi.Hertz(low)), Max: smi.Some(smi.Hertz(high))}
		}
		sensor := func(name string, now, limit, off float64) smi.Temperature {
			return smi.Temperature{Sensor: name, Current: smi.Some(smi.Celsius(now)), Limit: smi.Some(smi.Celsius(limit)), Shutdown: smi.Some(smi.Celsius(off))}
		}
		m = &smi.Metrics{
			Time:     last.at,
			Activity: smi.Activity{GFX: smi.Some(smi.Ratio(r.GFX)), UMC: smi.Some(smi.Ratio(r.UMC))},
			VRAM:     smi.MemoryUse{Total: smi.Some(smi.Bytes(g.now.Capacity)), Used: smi.Some(smi.Bytes(g.now.Used))},
			GTT:      smi.MemoryUse{Total: smi.Some(smi.Bytes(hostLimit())), Used: smi.Some(smi.Bytes(g.now.Host))},
			Clocks: []smi.Clock{
				clock(smi.ClockGFX, r.GFXClock, ph.GFXIdle, ph.GFXMax),
				clock(smi.ClockMem, r.MemClock, ph.MemIdle, ph.MemMax),
				clock(smi.ClockSOC, r.SOCClock, ph.SOCIdle, ph.SOCMax),
			},
			Power: smi.Power{
				Socket: smi.Some(smi.Watts(instant.Power)), Average: smi.Some(smi.Watts(r.Power)), Cap: smi.Some(smi.Watts(ph.MaxPower)),
				DefaultCap: smi.Some(smi.Watts(ph.MaxPower)), MinCap: smi.Some(smi.Watts(s.product.minCap)), MaxCap: smi.Some(smi.Watts(ph.MaxPower)),
			},
			Temperatures: []smi.Temperature{
				sensor(smi.SensorEdge, g.state.Edge, ph.EdgeLimit, ph.EdgeOff),
				sensor(smi.SensorHotspot, g.state.Hotspot, ph.HotspotLimit, ph.HotspotOff),
				sensor(smi.SensorMem, g.state.Mem, ph.MemLimit, ph.MemOff),
			},
			Energy: smi.Some(smi.Joules(g.state.Energy)),
		}
	})
	return m, err
}

// Processes are the sessions that use a card.
func (s *Source) Processes(ctx context.Context, index int) ([]smi.Process, error) {
	var list []smi.Process
	err := s.look(ctx, index, func(g *gauge) {
		rows := map[int]*smi.Process{}
		for _, u := range g.now.Sessions {
			if u.Used == 0 && u.Host == 0 && u.Busy == 0 && u.CopyBusy == 0 {
				continue // it has never touched this card
			}
			units := min(u.Units, int(s.product.computeUnits))
			if u.Running == 0 {
				units = 0
			}
			if p := rows[u.PID]; p != nil { // a process with several runtimes
				p.VRAM = smi.Some(p.VRAM.Or(0) + smi.Bytes(u.Used))
				p.GTT = smi.Some(p.GTT.Or(0) + smi.Bytes(u.Host))
				p.Busy = smi.Some(p.Busy.Or(0) + smi.Duration(u.Busy))
				p.SDMA = smi.Some(p.SDMA.Or(0) + smi.Duration(u.CopyBusy))
				p.CUOccupancy = smi.Some(min(p.CUOccupancy.Or(0)+units, int(s.product.computeUnits)))
				continue
			}
			rows[u.PID] = &smi.Process{
				Device: index, PID: uint32(u.PID), Name: processName(u.PID), VRAM: smi.Some(smi.Bytes(u.Used)), GTT: smi.Some(smi.Bytes(u.Host)),
				Busy: smi.Some(smi.Duration(u.Busy)), SDMA: smi.Some(smi.Duration(u.CopyBusy)),
				CUOccupancy: smi.Some(units), Origin: smi.OriginSim,
			}
		}
		for _, p := range rows {
			list = append(list, *p)
		}
	})
	if err != nil {
		return nil, err
	}
	sortByPID(list)
	return list, nil
}

// processName is the name of a process of this machine, "" if it is gone.
func processName(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func sortByPID(list []smi.Process) {
	slices.SortFunc(list, func(a, b smi.Process) int { return cmp.Compare(a.PID, b.PID) })
}
