package simgpu

import (
	"context"
	"fmt"
	"math"

	"github.com/rocwire/rocwire/simgpu/model"
	"github.com/rocwire/rocwire/smi"
)

// Metrics is what a card does: activity, clocks and bandwidth over the last second,
// power over a tenth of one, temperatures now.
func (s *Source) Metrics(ctx context.Context, index int) (*smi.Metrics, error) {
	var m *smi.Metrics
	err := s.look(ctx, index, func(g *gauge) {
		p := s.product
		ph, l := &p.physical, g.limits(p)
		first, last := &g.samples[0], g.last()
		in := interval(first, last)
		r := ph.Read(in, g.state.Hotspot, l)
		m = &smi.Metrics{
			Time:         last.at,
			Activity:     smi.Activity{GFX: smi.Some(smi.Ratio(r.GFX)), UMC: smi.Some(smi.Ratio(r.UMC)), MM: smi.Some(smi.Ratio(0)), Engines: p.engines(&r)},
			VRAM:         smi.MemoryUse{Total: smi.Some(smi.Bytes(g.now.Capacity)), Used: smi.Some(smi.Bytes(g.now.Used))},
			VisibleVRAM:  smi.MemoryUse{Total: smi.Some(smi.Bytes(g.now.Capacity)), Used: smi.Some(smi.Bytes(g.now.Used))}, // a large BAR, as its properties say
			GTT:          smi.MemoryUse{Total: smi.Some(smi.Bytes(hostLimit())), Used: smi.Some(smi.Bytes(min(g.now.Host, hostLimit())))},
			Clocks:       p.clocks(g, &r),
			Power:        s.power(g, first, l),
			Temperatures: p.temperatures(&g.state),
			Energy:       smi.Some(smi.Joules(g.state.Energy)),
			Voltages: smi.Voltages{
				GFX: smi.Some(smi.Volts(r.GFXVolts)), SOC: smi.Some(p.chip.socVolts), Mem: smi.Some(p.chip.memVolts),
			},
			PCIe:      p.pcie(g, first, in.Seconds),
			Throttle:  s.throttle(g, first, in.Seconds),
			PerfLevel: g.perf(),
		}
	})
	return m, err
}

// engines are the dies that compute. Workgroups are dealt to them one by one, so a
// kernel of two workgroups keeps two busy.
func (p *product) engines(r *model.Reading) []smi.Engine {
	list := make([]smi.Engine, p.chip.xccs)
	for i := range list {
		share := 1.0
		if r.Units > 0 {
			share = math.Min(1, math.Max(0, r.Units-float64(i)))
		}
		list[i] = smi.Engine{Kind: smi.EngineGFX, Index: i, Busy: smi.Some(smi.Ratio(r.GFX * share))}
	}
	return list
}

func (p *product) clocks(g *gauge, r *model.Reading) []smi.Clock {
	ph, c := &p.physical, p.chip
	clock := func(domain string, i int, now, low, high float64) smi.Clock {
		return smi.Clock{
			Domain: domain, Index: i, Current: smi.Some(smi.Hertz(now)), Min: smi.Some(smi.Hertz(low)), Max: smi.Some(smi.Hertz(high)),
			Locked: smi.Some(false), DeepSleep: smi.Some(now < low),
		}
	}
	var list []smi.Clock
	gfx := g.rangeOf(p, smi.ClockGFX)
	for i := range c.xccs {
		k := clock(smi.ClockGFX, i, r.GFXClock, gfx.Low, gfx.High)
		k.Locked = smi.Some(gfx.Low == gfx.High)
		list = append(list, k)
	}
	mem, soc := g.rangeOf(p, smi.ClockMem), g.rangeOf(p, smi.ClockSOC)
	k := clock(smi.ClockMem, 0, r.MemClock, mem.Low, mem.High)
	k.Locked = smi.Some(mem.Low == mem.High)
	// The fabric follows the memory. The video engines, which are not simulated, sleep.
	load := (r.MemClock - ph.MemIdle) / (ph.MemMax - ph.MemIdle)
	fabric := float64(c.fabric[0]) + float64(c.fabric[1]-c.fabric[0])*math.Min(1, math.Max(0, load))
	return append(list, k,
		clock(smi.ClockSOC, 0, r.SOCClock, soc.Low, soc.High),
		clock(smi.ClockDF, 0, fabric, float64(c.fabric[0]), float64(c.fabric[1])),
		clock(smi.ClockVideo, 0, float64(c.video[0]), float64(c.video[0]), float64(c.video[1])),
		clock(smi.ClockData, 0, float64(c.data[0]), float64(c.data[0]), float64(c.data[1])))
}

func (s *Source) power(g *gauge, first *sample, l *model.Limits) smi.Power {
	ph := &s.product.physical
	now := s.instant(g).Power
	average := now
	if d := g.last().at.Sub(first.at).Seconds(); d > 0 {
		average = (g.last().energy - first.energy) / d
	}
	limit := ph.MaxPower
	if l.PowerCap > 0 {
		limit = l.PowerCap
	}
	return smi.Power{
		Socket: smi.Some(smi.Watts(now)), Average: smi.Some(smi.Watts(average)), Cap: smi.Some(smi.Watts(limit)),
		DefaultCap: smi.Some(smi.Watts(ph.MaxPower)), MinCap: smi.Some(smi.Watts(s.product.minCap)), MaxCap: smi.Some(smi.Watts(ph.MaxPower)),
		Managed: smi.Some(true),
	}
}

// temperatures are those of the model's state and of the parts that follow it: stacks
// and dies differ by where they sit, up to a tenth of the way to the ambient.
func (p *product) temperatures(st *model.State) []smi.Temperature {
	ph := &p.physical
	sensor := func(name string, now, limit, off float64) smi.Temperature {
		return smi.Temperature{Sensor: name, Current: smi.Some(smi.Celsius(now)), Limit: smi.Some(smi.Celsius(limit)), Shutdown: smi.Some(smi.Celsius(off))}
	}
	list := []smi.Temperature{
		sensor(smi.SensorEdge, st.Edge, ph.EdgeLimit, ph.EdgeOff),
		sensor(smi.SensorHotspot, st.Hotspot, ph.HotspotLimit, ph.HotspotOff),
		sensor(smi.SensorMem, st.Mem, ph.MemLimit, ph.MemOff), // the hottest stack
	}
	cooler := func(t float64, i, n int) float64 {
		// The middle of a row is the hottest.
		d := math.Abs(float64(i)-float64(n/2)) / float64(max(n/2, 1))
		return t - 0.1*d*(t-ph.Ambient)
	}
	for _, name := range p.chip.vrs {
		list = append(list, smi.Temperature{Sensor: name, Current: smi.Some(smi.Celsius(st.VR))})
	}
	for i := range p.chip.stacks {
		list = append(list, smi.Temperature{Sensor: fmt.Sprint("hbm", i), Current: smi.Some(smi.Celsius(cooler(st.Mem, i, p.chip.stacks)))})
	}
	if p.chip.dieSensors {
		for i := range p.chip.xccs {
			list = append(list, smi.Temperature{Sensor: fmt.Sprint("xcd", i), Current: smi.Some(smi.Celsius(cooler(st.Hotspot, i, p.chip.xccs)))})
		}
	}
	return list
}

// Bits of the vendor's independent throttle status (amdgpu_smu.h).
const (
	throttlePPT0    = 1 << 0
	throttleHotspot = 1 << 36
)

func (s *Source) throttle(g *gauge, first *sample, seconds float64) smi.Throttle {
	last, now := g.last(), s.instant(g)
	violation := func(kind string, since, total, active float64) smi.Violation {
		v := smi.Violation{Kind: kind, Total: smi.Some(smi.Duration(total * 1e9)), Ratio: smi.Some(smi.Ratio(0)), Active: smi.Some(active > 0)}
		if seconds > 0 {
			v.Ratio = smi.Some(smi.Ratio(math.Min(1, (total-since)/seconds)))
		}
		return v
	}
	var bits uint64
	if now.PowerLimited > 0 {
		bits |= throttlePPT0
	}
	if now.HeatLimited > 0 {
		bits |= throttleHotspot
	}
	return smi.Throttle{Status: smi.Some(bits), Violations: []smi.Violation{
		violation(smi.ViolationProcHot, 0, 0, 0),
		violation(smi.ViolationPower, first.power, last.power, now.PowerLimited),
		violation(smi.ViolationSocketThermal, first.heat, last.heat, now.HeatLimited),
		violation(smi.ViolationVRThermal, 0, 0, 0),
		violation(smi.ViolationHBMThermal, 0, 0, 0),
		violation(smi.ViolationHostLimit, first.limited, last.limited, math.Max(now.PowerLimited, now.HeatLimited)),
	}}
}
