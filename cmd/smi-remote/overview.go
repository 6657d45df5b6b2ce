package main

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// overview is what the program shows when it is asked for nothing: the cards, and who uses them.
func (a *app) overview(ctx context.Context, _ []string) error {
	if a.csv {
		return usagef("--csv is of one table: which command? (see smi-remote --help)")
	}
	cards, p, err := a.cards(ctx, nil, true)
	if err != nil {
		return err
	}
	var gpus []metricsRow
	processes := []processRow{}
	for i := range cards {
		c := &cards[i]
		p.failed(c, "metrics", c.MetricsErr)
		p.failed(c, "processes", c.ProcessesErr)
		gpus = append(gpus, metricsRow{c.gpu(), c.Metrics})
		for _, x := range c.Processes {
			processes = append(processes, processRow{c.address(), x, c.ProcessesStale})
		}
	}
	p.settle(nil)
	return a.show(result{key: "gpus", rows: gpus, extra: map[string]any{"processes": processes}, p: p, table: func(w io.Writer) {
		a.overviewCards(w, cards, p)
		if len(cards) > 0 {
			fmt.Fprintln(w)
			a.overviewPrograms(w, cards, p)
		}
	}})
}

func (a *app) overviewCards(w io.Writer, cards []card, p *problems) {
	t := a.table(
		text.Column{Title: "NAME", Min: 10}, text.Column{Title: "GFX%", Right: true}, text.Column{Title: "VRAM used/total", Right: true},
		text.Column{Title: "W now/cap", Right: true, Drop: 1}, text.Column{Title: "°C", Right: true, Drop: 2},
	)
	for i := range cards {
		m := cards[i].Metrics
		if m == nil {
			m = &smi.Metrics{}
		}
		a.cardRow(t, &cards[i], text.Dash(cards[i].Device.Name), text.Percent(m.Activity.GFX), text.BytesOf(m.VRAM.Used, m.VRAM.Total),
			text.Round(m.Power.Draw())+"/"+text.Round(m.Power.Cap), text.Round(m.Temperature(smi.SensorHotspot)))
		aged(t, m.Stale)
	}
	a.write(w, t, p, "There is no GPU.")
}

// overviewPrograms lists programs, not what serves them: of a session that is its client.
func (a *app) overviewPrograms(w io.Writer, cards []card, p *problems) {
	t := a.table(
		text.Column{Title: "PROGRAM", Min: 12}, text.Column{Title: "PID", Right: true}, text.Column{Title: "USER", Min: 12}, text.Column{Title: "SESSION", Right: true, Drop: 1},
		text.Column{Title: "VRAM", Right: true},
	)
	for i := range cards {
		for _, x := range cards[i].Processes {
			program, pid, user := x.Name, x.PID, text.Dash(x.User)
			if x.Client != nil {
				program, pid, user = path.Base(x.Client.Executable), x.Client.PID, text.UserAtHost(x.Client)
			}
			a.cardRow(t, &cards[i], text.Dash(program), fmt.Sprint(pid), user, text.Dash(x.Session), text.Bytes(x.VRAM))
		}
	}
	a.write(w, t, p, "No program uses a GPU.")
}
