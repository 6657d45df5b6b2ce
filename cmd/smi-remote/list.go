package main

import (
	"context"
	"io"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// listRow is one card of list.
type listRow struct {
	gpu
	IDs  smi.IDs      `json:"ids"`
	VRAM smi.VRAMInfo `json:"vram"`
}

func (a *app) list(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, true)
	if err != nil {
		return err
	}
	rows := make([]listRow, len(cards))
	for i := range cards {
		c := &cards[i]
		rows[i].gpu = c.gpu()
		if c.Info != nil {
			rows[i].IDs, rows[i].VRAM = c.Info.IDs, c.Info.VRAM
		}
		p.failed(c, "information", c.InfoErr)
	}
	p.hush()
	return a.show(result{key: "gpus", rows: rows, p: p, table: func(w io.Writer) {
		t := a.table(text.Column{Title: "BDF"}, text.Column{Title: "NAME", Min: 12}, text.Column{Title: "TARGET"}, text.Column{Title: "VRAM", Right: true})
		for i := range rows {
			r := &rows[i]
			a.cardRow(t, &cards[i], text.Or(r.BDF), text.Dash(r.Name), text.Clip(text.Dash(base(r.Target)), 8), text.Bytes(r.VRAM.Size))
		}
		a.write(w, t, p, "There is no GPU.")
	}})
}

// base is a target without its features: gfx942:sramecc+ is gfx942.
func base(target string) string {
	name, _, _ := strings.Cut(target, ":")
	return name
}
