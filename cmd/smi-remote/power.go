package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// powerRow is one card of power: what it draws, and what holds it back.
type powerRow struct {
	gpu
	*powerFigures
}

// powerFigures is a part of smi.Metrics, under the same names.
type powerFigures struct {
	Time         time.Time             `json:"time"`
	Power        smi.Power             `json:"power"`
	Energy       smi.Opt[smi.Joules]   `json:"energy_joules"`
	Voltages     smi.Voltages          `json:"voltages"`
	Clocks       []smi.Clock           `json:"clocks"`
	Temperatures []smi.Temperature     `json:"temperatures"`
	Throttle     smi.Throttle          `json:"throttle"`
	PerfLevel    string                `json:"performance_level,omitempty"`
	Stale        smi.Opt[smi.Duration] `json:"stale_seconds"`
}

func (a *app) power(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, true)
	if err != nil {
		return err
	}
	var rows []powerRow
	var read []card
	for i := range cards {
		c := &cards[i]
		p.failed(c, "power", c.MetricsErr)
		r := powerRow{gpu: c.gpu()}
		if m := c.Metrics; m != nil {
			r.powerFigures = &powerFigures{m.Time, m.Power, m.Energy, m.Voltages, m.Clocks, m.Temperatures, m.Throttle, m.PerfLevel, m.Stale}
			read = append(read, *c)
		}
		rows = append(rows, r)
	}
	p.settle(words)
	return a.show(result{key: "gpus", rows: rows, p: p, table: func(w io.Writer) {
		if len(words) > 0 {
			blocks(w, read, func(c *card) { a.printPowerOf(w, c) })
			return
		}
		t := a.table(
			text.Column{Title: "W now", Right: true}, text.Column{Title: "avg", Right: true, Drop: 1}, text.Column{Title: "cap", Right: true},
			text.Column{Title: "cap range", Right: true, Drop: 3}, text.Column{Title: "°C hot/limit", Right: true}, text.Column{Title: "gfx MHz", Right: true},
			text.Column{Title: "ENERGY", Right: true, Drop: 2}, text.Column{Title: "HELD BACK BY", Min: 30},
		)
		for i := range cards {
			m := cards[i].Metrics
			if m == nil {
				m = &smi.Metrics{}
			}
			var hot smi.Temperature
			for _, s := range m.Temperatures {
				if s.Sensor == smi.SensorHotspot {
					hot = s
				}
			}
			a.cardRow(t, &cards[i], text.Round(m.Power.Socket), text.Round(m.Power.Average), text.Round(m.Power.Cap),
				capRange(&m.Power), text.Round(hot.Current)+"/"+text.Round(hot.Limit),
				text.MHz(m.Clock(smi.ClockGFX)), text.SI(m.Energy, "J"), heldBack(&m.Throttle))
			aged(t, m.Stale)
		}
		a.write(w, t, p, "There is no GPU.")
	}})
}

// capRange is the range the cap may be set in.
func capRange(p *smi.Power) string {
	if !p.MinCap.Ok() && !p.MaxCap.Ok() {
		return "-"
	}
	return text.Round(p.MinCap) + " to " + text.Round(p.MaxCap)
}

// heldBack names the limits in force; "-" if that is not known.
func heldBack(t *smi.Throttle) string {
	var names []string
	known := false
	for _, v := range t.Violations {
		known = known || v.Active.Ok()
		if name := text.Clean(v.Kind); v.Active.Or(false) && !slices.Contains(names, name) { // several dies may have one
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ",")
	case known:
		return "nothing"
	}
	return "-"
}

func (a *app) printPowerOf(w io.Writer, c *card) {
	m := c.Metrics
	a.title(w, c)
	a.printTime(w, m)
	a.printPower(w, m)
	for i := range m.Clocks {
		if k := &m.Clocks[i]; k.Index == 0 && (k.Domain == smi.ClockGFX || k.Domain == smi.ClockMem) {
			a.printClock(w, k)
		}
	}
	a.printThrottle(w, m)
}
