package main

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// processRow is one process's use of one card.
type processRow struct {
	Host string `json:"host"`
	smi.Process
	Stale smi.Opt[smi.Duration] `json:"stale_seconds"` // of the card's whole list
}

func (a *app) processes(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, true)
	if err != nil {
		return err
	}
	var rows []processRow
	var on []*card
	for i := range cards {
		c := &cards[i]
		p.failed(c, "processes", c.ProcessesErr)
		for _, proc := range c.Processes {
			rows = append(rows, processRow{c.address(), proc, c.ProcessesStale})
			on = append(on, c)
		}
	}
	p.settle(words)
	return a.show(result{key: "processes", rows: rows, p: p, table: func(w io.Writer) {
		t := a.table(
			text.Column{Title: "PID", Right: true}, text.Column{Title: "USER", Min: 6, Drop: 2}, text.Column{Title: "PROGRAM", Min: 12},
			text.Column{Title: "VRAM", Right: true}, text.Column{Title: "BUSY", Right: true}, text.Column{Title: "CU", Right: true, Drop: 1},
			text.Column{Title: "FROM", Drop: 3},
		)
		for i := range rows {
			r := &rows[i]
			user, program := text.Dash(r.User), text.Dash(r.Name)
			if r.Client != nil { // the program that works, not what works for it here
				user, program = text.UserAtHost(r.Client), text.Dash(path.Base(r.Client.Executable))
			}
			a.cardRow(t, on[i], fmt.Sprint(r.PID), user, program, text.Bytes(r.VRAM), text.Seconds(r.Busy), text.Or(r.CUOccupancy), text.Dash(r.Origin))
			if r.Client != nil {
				t.Note(text.Program(r.Client)+text.Place(r.Client), "session "+text.Dash(r.Session)+", here "+text.Dash(r.Name)+" of "+text.Dash(r.User))
			}
			if r.Container != nil {
				container, pod := text.Container(r.Container, r.InnerPID)
				t.Note("in " + container)
				if pod != "" {
					t.Note("of " + pod)
				}
			}
			if r.Command != "" && r.Command != r.Name && r.Client == nil {
				t.Note(text.Clean(r.Command))
			}
			aged(t, r.Stale)
		}
		a.write(w, t, p, "No process uses a GPU.")
	}})
}
