package simgpu

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// trouble is what is wrong with a card.
type trouble struct {
	card.Condition
	told    card.Condition // what the sessions know
	heat    float64        // at which the hot spot is held, 0: it is not
	link    pcieLink
	ecc     map[string]*eccCount // by block
	pages   []smi.BadPage
	pending bool // some of pages are
}

// inUse reports whether a session holds memory of the card or runs something on it.
func inUse(u card.Use) bool { return u.Used != 0 || u.Host != 0 || u.Running != 0 }

// Inject makes a card suffer a fault. What each does is told in docs/simulated-gpu.md.
func (s *Source) Inject(ctx context.Context, index int, f smi.Fault) error {
	return s.change(ctx, index, func(g *gauge) error {
		if g.Gone && f.Kind != smi.FaultGone {
			return gone(index)
		}
		s.sample() // what was before counts without the fault
		var err error
		switch f.Kind {
		case smi.FaultECC:
			err = s.injectECC(index, &f)
		case smi.FaultThermal:
			err = s.injectHeat(g, &f)
		case smi.FaultHang:
			s.injectHang(index, !f.Clear)
		case smi.FaultReset:
			if !f.Clear {
				s.reset(index)
			}
		case smi.FaultLink:
			err = s.injectLink(index, &f)
		case smi.FaultGone:
			s.injectGone(index, !f.Clear)
		default:
			kinds := []string{smi.FaultECC, smi.FaultThermal, smi.FaultHang, smi.FaultReset, smi.FaultLink, smi.FaultGone}
			err = smi.Errorf(smi.ErrInvalid, "a simulated card has no fault %q, but %s", f.Kind, strings.Join(kinds, ", "))
		}
		if err == nil {
			s.sample()
		}
		return err
	})
}

func (s *Source) injectECC(index int, f *smi.Fault) error {
	if f.Clear {
		return nil
	}
	g, block, kind, n := &s.cards[index], f.Block, f.Error, f.Count
	if block == "" {
		block = "umc"
	}
	if kind == "" {
		kind = "correctable"
	}
	if n == 0 {
		n = 1
	}
	if !slices.Contains(smi.ECCBlocks, block) || s.product.chip.unsafe[block] {
		return smi.Errorf(smi.ErrInvalid, "block %q counts no errors; those of this card that do: %s", block, strings.Join(s.safeBlocks(), ", "))
	}
	var c eccCount
	if k := g.ecc[block]; k != nil {
		c = *k
	}
	switch kind {
	case "correctable":
		c.correctable = saturated(c.correctable, n)
	case "uncorrectable":
		c.uncorrectable = saturated(c.uncorrectable, n)
	case "deferred":
		c.deferred = saturated(c.deferred, n)
	default:
		return smi.Errorf(smi.ErrInvalid, "errors are correctable, uncorrectable or deferred, not %q", kind)
	}
	g.ecc[block] = &c
	if kind == "uncorrectable" && block == "umc" {
		s.retire(index, n)
	}
	s.event(index, smi.EventECC, 0, fmt.Sprintf("%d %s errors in %s", n, kind, block))
	return nil
}

func (s *Source) safeBlocks() []string {
	return slices.DeleteFunc(slices.Clone(smi.ECCBlocks), func(b string) bool { return s.product.chip.unsafe[b] })
}

func (s *Source) injectHeat(g *gauge, f *smi.Fault) error {
	if f.Clear {
		g.heat = 0
		return nil
	}
	ph := &s.product.physical
	t := float64(f.Temperature.Or(smi.Celsius((ph.HotspotLimit + ph.HotspotOff) / 2)))
	if !(t >= ph.Ambient && t <= ph.HotspotOff) {
		return smi.Errorf(smi.ErrInvalid, "a hot spot of %v °C: from %v to %v °C, where the card would go off", t, ph.Ambient, ph.HotspotOff)
	}
	g.heat, g.state.Hotspot = t, t
	return nil
}

func (s *Source) injectHang(index int, on bool) {
	g := &s.cards[index]
	if g.Hung == on {
		return
	}
	if g.Hung = on; on {
		s.event(index, smi.EventRingHang, 0, "the compute queues do not get on")
	}
}

func (s *Source) injectLink(index int, f *smi.Fault) error {
	g, c := &s.cards[index], s.product.chip
	next := pcieLink{recoveries: g.link.recoveries + 1}
	if !f.Clear {
		widths := []int{1, 2, 4, 8, 16}
		speeds := []smi.TransfersPerSecond{2.5e9, 5e9, 8e9, 16e9, 32e9}
		speeds = speeds[:c.pcieGen]
		next.width, next.speed = g.link.of(c)
		if !f.Width.Ok() && !f.Speed.Ok() {
			next.width = pcieLanes / 2
		}
		next.width, next.speed = f.Width.Or(next.width), f.Speed.Or(next.speed)
		if !slices.Contains(widths, next.width) {
			return smi.Errorf(smi.ErrInvalid, "a link of %d lanes: there are %v", next.width, widths)
		}
		if !slices.Contains(speeds, next.speed) {
			return smi.Errorf(smi.ErrInvalid, "a link of %.1f GT/s: this card has %v", float64(next.speed)/1e9, gigatransfers(speeds))
		}
	}
	w1, s1 := g.link.of(c)
	w2, s2 := next.of(c)
	if w1 == w2 && s1 == s2 {
		return nil
	}
	g.link = next
	s.event(index, smi.EventLinkChange, 0, fmt.Sprintf("PCIe x%d at %.1f GT/s, before x%d at %.1f GT/s", w2, float64(s2)/1e9, w1, float64(s1)/1e9))
	return nil
}

func gigatransfers(list []smi.TransfersPerSecond) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%.1f", float64(s)/1e9))
	}
	return strings.Join(out, ", ") + " GT/s"
}

// injectGone takes the card away or brings it back, cold and with the settings it has
// after a reset; its counters and the books of its errors it keeps.
func (s *Source) injectGone(index int, on bool) {
	g := &s.cards[index]
	if g.Gone == on {
		return
	}
	if on {
		g.Gone, g.Hung = true, false
		s.event(index, smi.EventLost, 0, "the card does not answer")
		return
	}
	g.Gone, g.settings, g.heat, g.link = false, settings{}, 0, pcieLink{recoveries: g.link.recoveries}
	start := s.product.physical.Start()
	start.Energy, start.PowerLimited, start.HeatLimited, start.Limited = g.state.Energy, g.state.PowerLimited, g.state.HeatLimited, g.state.Limited
	g.state = start
	// Nothing is known of the time in between.
	last := *g.last()
	last.at, last.Counters = s.looked, g.now.Counters
	g.samples = append(g.samples[:0], last)
	s.event(index, smi.EventFound, 0, "the card answers again")
}

// reset resets a card: what ran on it is lost, settings are those from the beginning,
// errors are forgotten but not the bad pages, and a hang is over.
func (s *Source) reset(index int) {
	g := &s.cards[index]
	s.event(index, smi.EventPreReset, 0, "the card is reset")
	g.Resets++
	g.Hung, g.settings, g.ecc = false, settings{}, map[string]*eccCount{}
	g.reserve()
	s.event(index, smi.EventPostReset, 0, "the card was reset")
}
