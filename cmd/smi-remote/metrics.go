package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// metricsRow is one card of metrics. Of a card that cannot be read there are no
// figures at all.
type metricsRow struct {
	gpu
	*smi.Metrics
}

func (a *app) metrics(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, true)
	if err != nil {
		return err
	}
	var rows []metricsRow
	var read []card
	for i := range cards {
		c := &cards[i]
		p.failed(c, "metrics", c.MetricsErr)
		rows = append(rows, metricsRow{c.gpu(), c.Metrics})
		if c.Metrics != nil {
			read = append(read, *c)
		}
	}
	p.settle(words)
	return a.show(result{key: "gpus", rows: rows, p: p, table: func(w io.Writer) {
		if len(words) > 0 {
			blocks(w, read, func(c *card) { a.printMetrics(w, c) })
			return
		}
		t := a.table(
			text.Column{Title: "GFX%", Right: true}, text.Column{Title: "UMC%", Right: true, Drop: 2}, text.Column{Title: "VRAM used/total", Right: true},
			text.Column{Title: "gfx/mem MHz", Right: true, Drop: 1}, text.Column{Title: "W now/cap", Right: true},
			text.Column{Title: "°C e/h/mem", Right: true}, text.Column{Title: "ENERGY", Right: true, Drop: 3},
		)
		for i := range cards {
			m := cards[i].Metrics
			if m == nil {
				m = &smi.Metrics{}
			}
			a.cardRow(t, &cards[i], text.Percent(m.Activity.GFX), text.Percent(m.Activity.UMC),
				text.BytesOf(m.VRAM.Used, m.VRAM.Total),
				text.MHz(m.Clock(smi.ClockGFX))+"/"+text.MHz(m.Clock(smi.ClockMem)),
				text.Round(m.Power.Draw())+"/"+text.Round(m.Power.Cap),
				text.Round(m.Temperature(smi.SensorEdge))+"/"+text.Round(m.Temperature(smi.SensorHotspot))+"/"+text.Round(m.Temperature(smi.SensorMem)),
				text.SI(m.Energy, "J"))
			aged(t, m.Stale)
		}
		a.write(w, t, p, "There is no GPU.")
	}})
}

// printMetrics prints everything a card measures.
func (a *app) printMetrics(w io.Writer, c *card) {
	m := c.Metrics
	a.title(w, c)
	a.printTime(w, m)
	a.fact(w, "Busy", fmt.Sprintf("gfx %s, memory controller %s, video %s", text.Unit(text.Percent(m.Activity.GFX), "%"),
		text.Unit(text.Percent(m.Activity.UMC), "%"), text.Unit(text.Percent(m.Activity.MM), "%")))
	for _, e := range m.Activity.Engines {
		a.fact(w, fmt.Sprintf("Engine %s %d", e.Kind, e.Index), text.Unit(text.Percent(e.Busy), "%"))
	}
	a.fact(w, "VRAM", text.Bytes(m.VRAM.Used)+" of "+text.Bytes(m.VRAM.Total))
	a.factOf(w, "VRAM the host reaches", "%s of %s", text.Bytes(m.VisibleVRAM.Used), text.Bytes(m.VisibleVRAM.Total))
	a.factOf(w, "GTT", "%s of %s", text.Bytes(m.GTT.Used), text.Bytes(m.GTT.Total))
	for i := range m.Clocks {
		a.printClock(w, &m.Clocks[i])
	}
	a.printPower(w, m)
	for _, t := range m.Temperatures {
		a.fact(w, "Temperature "+t.Sensor, text.Unit(text.Round(t.Current), "°C")+limits(&t))
	}
	for _, f := range m.Fans {
		a.fact(w, fmt.Sprintf("Fan %d", f.Index), text.Unit(text.Round(f.Speed), "rpm")+", "+text.Unit(text.Percent(f.Duty), "%"))
	}
	a.printPCIe(w, &m.PCIe)
	a.printThrottle(w, m)
}

// limits of a sensor, where they are known.
func limits(t *smi.Temperature) string {
	switch {
	case t.Limit.Ok() && t.Shutdown.Ok():
		return fmt.Sprintf(" (limit %s, off at %s)", text.Round(t.Limit), text.Round(t.Shutdown))
	case t.Limit.Ok():
		return fmt.Sprintf(" (limit %s)", text.Round(t.Limit))
	}
	return ""
}

func (a *app) printTime(w io.Writer, m *smi.Metrics) {
	if !m.Time.IsZero() {
		a.fact(w, "Read at", m.Time.Local().Format(time.DateTime))
	}
	if age, ok := m.Stale.Get(); ok {
		a.fact(w, "Not of now", staleText(age))
	}
}

func (a *app) printClock(w io.Writer, c *smi.Clock) {
	name := "Clock " + c.Domain
	if c.Index > 0 {
		name += fmt.Sprintf(" %d", c.Index)
	}
	s := fmt.Sprintf("%s (%s to %s)", text.Unit(text.MHz(c.Current), "MHz"), text.MHz(c.Min), text.MHz(c.Max))
	if c.Locked.Or(false) {
		s += ", locked"
	}
	if c.DeepSleep.Or(false) {
		s += ", deep sleep"
	}
	a.fact(w, name, s)
}

func (a *app) printPower(w io.Writer, m *smi.Metrics) {
	p := &m.Power
	watts := func(v smi.Opt[smi.Watts]) string { return text.Unit(text.Round(v), "W") }
	a.fact(w, "Power", fmt.Sprintf("%s now, %s average, cap %s", watts(p.Socket), watts(p.Average), watts(p.Cap)))
	a.factOf(w, "Cap may be", "%s to %s, default %s", watts(p.MinCap), watts(p.MaxCap), watts(p.DefaultCap))
	volts := func(v smi.Opt[smi.Volts]) string {
		return text.With(v, func(v smi.Volts) string { return fmt.Sprintf("%.3f V", float64(v)) })
	}
	a.factOf(w, "Voltages", "gfx %s, soc %s, memory %s", volts(m.Voltages.GFX), volts(m.Voltages.SOC), volts(m.Voltages.Mem))
	a.fact(w, "Energy", text.SI(m.Energy, "J"))
	if m.PerfLevel != "" {
		a.fact(w, "Performance level", m.PerfLevel)
	}
}

func (a *app) printPCIe(w io.Writer, p *smi.PCIe) {
	a.factOf(w, "PCIe link", "%s, %s", text.Unit(text.Or(p.Width), "lanes"), text.SI(p.Speed, "T/s"))
	a.factOf(w, "PCIe traffic", "%s (sent %s, received %s)", text.SI(p.Bandwidth, "B/s"), text.SI(p.Sent, "B/s"), text.SI(p.Received, "B/s"))
	a.factOf(w, "PCIe errors", "%s replays, %s recoveries, NAKs %s sent, %s received",
		text.Or(p.Replays), text.Or(p.Recoveries), text.Or(p.NAKsSent), text.Or(p.NAKsReceived))
}

func (a *app) printThrottle(w io.Writer, m *smi.Metrics) {
	if s, ok := m.Throttle.Status.Get(); ok {
		a.fact(w, "Throttle status", fmt.Sprintf("%#x", s))
	}
	for _, v := range m.Throttle.Violations {
		name := "Limit " + strings.ReplaceAll(v.Kind, "_", " ")
		if v.Index > 0 {
			name += fmt.Sprintf(" %d", v.Index)
		}
		now := text.With(v.Active, func(on bool) string {
			if on {
				return "ACTIVE, "
			}
			return "not active, "
		})
		a.fact(w, name, strings.TrimPrefix(now, "-")+text.Unit(text.Percent(v.Ratio), "% of the time")+", "+text.Seconds(v.Total)+" so far")
	}
}
