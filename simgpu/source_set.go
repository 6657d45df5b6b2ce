package simgpu

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/simgpu/model"
	"github.com/rocwire/rocwire/smi"
)

// settings are what a card was told. The zero settings are those after a reset.
type settings struct {
	powerCap float64                // watts, 0: the product's
	level    string                 // one of levels, "": PerfAuto
	set      map[string]model.Range // by clock domain, with PerfManual and PerfDeterminism
}

func (t *settings) perf() string {
	if t.level == "" {
		return smi.PerfAuto
	}
	return t.level
}

// levels are the performance levels a card can be held to, and which clocks each
// holds where.
var levels = map[string]func(p *product, l *model.Limits){
	smi.PerfAuto:        func(*product, *model.Limits) {},
	smi.PerfManual:      func(*product, *model.Limits) {},
	smi.PerfDeterminism: func(*product, *model.Limits) {},
	smi.PerfLow: func(p *product, l *model.Limits) {
		l.GFX, l.Mem, l.SOC = p.lowest(smi.ClockGFX), p.lowest(smi.ClockMem), p.lowest(smi.ClockSOC)
	},
	smi.PerfHigh: highest,
	smi.PerfPeak: highest,
	smi.PerfStandard: func(p *product, l *model.Limits) {
		gfx := p.span(smi.ClockGFX)
		middle := (gfx.Low + gfx.High) / 2
		l.GFX = model.Range{Low: middle, High: middle}
	},
	smi.PerfMinMem: func(p *product, l *model.Limits) { l.Mem = p.lowest(smi.ClockMem) },
	smi.PerfMinGFX: func(p *product, l *model.Limits) { l.GFX = p.lowest(smi.ClockGFX) },
}

func highest(p *product, l *model.Limits) {
	hold := func(domain string) model.Range {
		return model.Range{Low: p.span(domain).High, High: p.span(domain).High}
	}
	l.GFX, l.Mem, l.SOC = hold(smi.ClockGFX), hold(smi.ClockMem), hold(smi.ClockSOC)
}

// span is what a clock can be set to.
func (p *product) span(domain string) model.Range {
	ph := &p.physical
	switch domain {
	case smi.ClockGFX:
		return model.Range{Low: ph.GFXMin, High: ph.GFXMax}
	case smi.ClockMem:
		return model.Range{Low: ph.MemIdle, High: ph.MemMax}
	case smi.ClockSOC:
		return model.Range{Low: ph.SOCIdle, High: ph.SOCMax}
	}
	return model.Range{}
}

func (p *product) lowest(domain string) model.Range {
	return model.Range{Low: p.span(domain).Low, High: p.span(domain).Low}
}

// limits are the settings and faults as the model takes them.
func (g *gauge) limits(p *product) *model.Limits {
	l := &model.Limits{PowerCap: g.powerCap, GFX: g.set[smi.ClockGFX], Mem: g.set[smi.ClockMem], Heat: g.heat}
	levels[g.perf()](p, l)
	return l
}

// rangeOf is the range a clock may run in now.
func (g *gauge) rangeOf(p *product, domain string) model.Range {
	l, r := g.limits(p), p.span(domain)
	set := map[string]model.Range{smi.ClockGFX: l.GFX, smi.ClockMem: l.Mem, smi.ClockSOC: l.SOC}[domain]
	if set.Low > 0 {
		r.Low = set.Low
	}
	if set.High > 0 {
		r.High = set.High
	}
	return r
}

// Set changes a card; the model obeys from now on. ErrNotSupported for fans, of which
// these cards have none, for clocks that cannot be set, and for partitions other than
// the one there is (ErrBusy while somebody uses the card).
func (s *Source) Set(ctx context.Context, index int, t smi.Setting) error {
	if err := t.Check(); err != nil {
		return err
	}
	return s.change(ctx, index, func(g *gauge) error {
		if g.Gone {
			return gone(index)
		}
		if err := s.apply(index, &t); err != nil {
			return err
		}
		s.sample()
		return nil
	})
}

// apply makes one change. mu is held.
func (s *Source) apply(index int, t *smi.Setting) error {
	g, p := &s.cards[index], s.product
	switch {
	case t.PowerCap.Ok():
		w := float64(t.PowerCap.Or(0))
		if !(w >= p.minCap && w <= p.physical.MaxPower) {
			return smi.Errorf(smi.ErrInvalid, "a power cap of %v W: this card takes %v to %v W", w, p.minCap, p.physical.MaxPower)
		}
		g.powerCap = w
	case t.PerfLevel != "":
		if levels[t.PerfLevel] == nil {
			return smi.Errorf(smi.ErrInvalid, "%q is no performance level; there are %s", t.PerfLevel, strings.Join(slices.Sorted(maps.Keys(levels)), ", "))
		}
		if t.PerfLevel != smi.PerfManual && t.PerfLevel != g.perf() {
			g.set = nil
		}
		g.level = t.PerfLevel
	case t.Clock != nil:
		return g.setClock(p, t.Clock)
	case t.Determinism.Ok():
		span, f := p.span(smi.ClockGFX), float64(t.Determinism.Or(0))
		if !(f >= span.Low && f <= span.High) {
			return outside(smi.ClockGFX, f, span)
		}
		g.level, g.set = smi.PerfDeterminism, map[string]model.Range{smi.ClockGFX: {High: f}}
	case t.Fan.Ok(), t.FanAuto:
		return smi.Errorf(smi.ErrNotSupported, "%s has no fan", p.name)
	case t.ComputePartition != "":
		return s.partition(index, t.ComputePartition, "SPX", func(r smi.PartitionProfile) string { return r.Type })
	case t.MemoryPartition != "":
		return s.partition(index, t.MemoryPartition, "NPS1", nil)
	case t.Reset:
		s.reset(index)
	}
	return nil
}

func outside(domain string, f float64, r model.Range) error {
	return smi.Errorf(smi.ErrInvalid, "a %s clock of %.0f MHz: this card takes %.0f to %.0f MHz", domain, f/1e6, r.Low/1e6, r.High/1e6)
}

func (g *gauge) setClock(p *product, c *smi.ClockRange) error {
	if c.Domain != smi.ClockGFX && c.Domain != smi.ClockMem {
		if slices.Contains([]string{smi.ClockSOC, smi.ClockDF, smi.ClockVideo, smi.ClockData, smi.ClockDCEF, smi.ClockPCIe}, c.Domain) {
			return smi.Errorf(smi.ErrNotSupported, "the %s clock of this card cannot be set", c.Domain)
		}
		return smi.Errorf(smi.ErrInvalid, "there is no clock %q", c.Domain)
	}
	if !c.Min.Ok() && !c.Max.Ok() {
		return smi.Errorf(smi.ErrInvalid, "a range of the %s clock without a bound", c.Domain)
	}
	span := p.span(c.Domain)
	r := span
	if g.level == smi.PerfManual {
		r = g.rangeOf(p, c.Domain) // a bound that is not given stays
	}
	for _, b := range []struct {
		given smi.Opt[smi.Hertz]
		to    *float64
	}{{c.Min, &r.Low}, {c.Max, &r.High}} {
		if f, ok := b.given.Get(); ok {
			if !(float64(f) >= span.Low && float64(f) <= span.High) {
				return outside(c.Domain, float64(f), span)
			}
			*b.to = float64(f)
		}
	}
	if r.Low > r.High {
		return smi.Errorf(smi.ErrInvalid, "a %s clock from %.0f down to %.0f MHz", c.Domain, r.Low/1e6, r.High/1e6)
	}
	if g.level != smi.PerfManual || g.set == nil {
		g.set = map[string]model.Range{}
	}
	g.level, g.set[c.Domain] = smi.PerfManual, r
	return nil
}

// partition answers a wish to divide the card. Dividing it would make several devices
// of one, which the simulated card cannot do.
func (s *Source) partition(index int, want, have string, name func(smi.PartitionProfile) string) error {
	p := s.product
	if p.chip.profiles == nil {
		return smi.Errorf(smi.ErrNotSupported, "%s cannot be divided", p.name)
	}
	known := slices.Clone(p.chip.memories)
	if name != nil {
		known = nil
		for _, r := range p.chip.profiles {
			known = append(known, name(r))
		}
	}
	switch {
	case !slices.Contains(known, want):
		return smi.Errorf(smi.ErrInvalid, "partition %q is none of %v", want, known)
	case want == have:
		return nil
	case slices.ContainsFunc(s.cards[index].now.Sessions, inUse):
		return smi.Errorf(smi.ErrBusy, "GPU %d is in use: it can be divided when nobody uses it", index)
	}
	return smi.Errorf(smi.ErrNotSupported, "a simulated card is not divided: it stays %s", have)
}
