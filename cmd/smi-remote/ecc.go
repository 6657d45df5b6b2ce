package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// eccRow is one card's errors, with its blocks.
type eccRow struct {
	gpu
	*smi.ECC
}

// eccBlock is one block for CSV; the row without a block is the whole card.
type eccBlock struct {
	place
	smi.ECCBlock
	Stale smi.Opt[smi.Duration] `json:"stale_seconds"`
}

func (a *app) ecc(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	var rows []eccRow
	var flat []eccBlock
	var on []*card
	err = each(ctx, a, cards, p, "ECC", func(ctx context.Context, c *card) (*smi.ECC, error) {
		return c.client.ECC(ctx, c.Device.Index)
	}, func(c *card, e *smi.ECC) {
		rows, on = append(rows, eccRow{c.gpu(), e}), append(on, c)
		total := smi.ECCBlock{Correctable: e.Correctable, Uncorrectable: e.Uncorrectable, Deferred: e.Deferred}
		for _, b := range append([]smi.ECCBlock{total}, e.Blocks...) {
			flat = append(flat, eccBlock{c.place(), b, e.Stale})
		}
	})
	if err != nil {
		return err
	}
	p.settle(words)
	return a.show(result{key: "gpus", rows: rows, flat: flat, p: p, table: func(w io.Writer) {
		if len(words) > 0 {
			for i := range rows {
				if i > 0 {
					fmt.Fprintln(w)
				}
				a.printECC(w, on[i], rows[i].ECC)
			}
			return
		}
		t := a.eccTable()
		hidden := false
		for i := range rows {
			e := rows[i].ECC
			a.cardRow(t, on[i], "all", "-", text.Or(e.Correctable), text.Or(e.Uncorrectable), text.Or(e.Deferred))
			aged(t, e.Stale)
			for j := range e.Blocks {
				b := &e.Blocks[j]
				if b.Correctable.Or(0)+b.Uncorrectable.Or(0)+b.Deferred.Or(0) == 0 {
					hidden = true
					continue
				}
				a.eccLine(t, on[i], b)
			}
		}
		a.write(w, t, p, "No GPU counts its errors.")
		if hidden {
			fmt.Fprintln(w, text.Clip("Left out: blocks without errors (ecc GPU has them).", a.width))
		}
	}})
}

func (a *app) eccTable() *text.Table {
	return a.table(
		text.Column{Title: "BLOCK", Min: 8}, text.Column{Title: "STATE", Min: 8, Drop: 1}, text.Column{Title: "CORRECTABLE", Right: true},
		text.Column{Title: "UNCORRECTABLE", Right: true}, text.Column{Title: "DEFERRED", Right: true},
	)
}

func (a *app) eccLine(t *text.Table, c *card, b *smi.ECCBlock) {
	a.cardRow(t, c, text.Dash(b.Block), text.Dash(b.State), text.Or(b.Correctable), text.Or(b.Uncorrectable), text.Or(b.Deferred))
}

func (a *app) printECC(w io.Writer, c *card, e *smi.ECC) {
	a.title(w, c)
	if age, ok := e.Stale.Get(); ok {
		a.fact(w, "Not of now", staleText(age))
	}
	a.fact(w, "Errors", fmt.Sprintf("%s correctable, %s uncorrectable, %s deferred", text.Or(e.Correctable), text.Or(e.Uncorrectable), text.Or(e.Deferred)))
	a.factOf(w, "Protection", "parity %s, single bit correction %s, double bit detection %s, poison %s",
		text.YesNo(e.Parity), text.YesNo(e.SingleBit), text.YesNo(e.DoubleBit), text.YesNo(e.Poison))
	a.fact(w, "Bad pages at most", text.Or(e.BadPageLimit))
	if len(e.Blocks) > 0 {
		t := a.eccTable()
		for i := range e.Blocks {
			a.eccLine(t, c, &e.Blocks[i])
		}
		t.Write(w, a.width)
	}
}
