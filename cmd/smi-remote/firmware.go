package main

import (
	"context"
	"io"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// firmwareRow is one piece of firmware of one card.
type firmwareRow struct {
	place
	smi.Firmware
}

func (a *app) firmware(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	var rows []firmwareRow
	var on []*card
	err = each(ctx, a, cards, p, "firmware", func(ctx context.Context, c *card) ([]smi.Firmware, error) {
		return c.client.Firmware(ctx, c.Device.Index)
	}, func(c *card, list []smi.Firmware) {
		for _, f := range list {
			rows, on = append(rows, firmwareRow{c.place(), f}), append(on, c)
		}
	})
	if err != nil {
		return err
	}
	p.settle(words)
	return a.show(result{key: "firmware", rows: rows, p: p, table: func(w io.Writer) {
		t := a.table(text.Column{Title: "FIRMWARE", Min: 10}, text.Column{Title: "VERSION", Min: 10})
		for i := range rows {
			a.cardRow(t, on[i], text.Dash(rows[i].Name), text.Dash(rows[i].Version))
		}
		a.write(w, t, p, "No GPU tells its firmware.")
	}})
}
