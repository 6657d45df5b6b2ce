package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// pageRow is one bad page of one card.
type pageRow struct {
	place
	smi.BadPage
}

func (a *app) badPages(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	var rows []pageRow
	var on []*card
	told := false
	err = each(ctx, a, cards, p, "bad pages", func(ctx context.Context, c *card) ([]smi.BadPage, error) {
		return c.client.BadPages(ctx, c.Device.Index)
	}, func(c *card, list []smi.BadPage) {
		told = true
		for _, b := range list {
			rows, on = append(rows, pageRow{c.place(), b}), append(on, c)
		}
	})
	if err != nil {
		return err
	}
	p.settle(words)
	return a.show(result{key: "pages", rows: rows, p: p, table: func(w io.Writer) {
		t := a.table(text.Column{Title: "ADDRESS", Right: true}, text.Column{Title: "SIZE", Right: true}, text.Column{Title: "STATE", Min: 8})
		for i := range rows {
			a.cardRow(t, on[i], fmt.Sprintf("%#x", rows[i].Address), text.BytesText(rows[i].Size), text.Dash(rows[i].State))
		}
		empty := "No GPU tells its bad pages."
		if told {
			empty = "There is no bad page."
		}
		a.write(w, t, p, empty)
	}})
}
