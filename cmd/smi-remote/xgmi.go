package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// xgmiRow is one card's links to other cards.
type xgmiRow struct {
	gpu
	*smi.XGMI
}

// linkRow is one link for CSV.
type linkRow struct {
	place
	Hive smi.Opt[uint64] `json:"hive_id"`
	Node smi.Opt[uint64] `json:"node_id"`
	smi.XGMILink
	Stale smi.Opt[smi.Duration] `json:"stale_seconds"`
}

func (a *app) xgmi(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	var rows []xgmiRow
	var flat []linkRow
	var on []*card
	err = each(ctx, a, cards, p, "XGMI", func(ctx context.Context, c *card) (*smi.XGMI, error) {
		return c.client.XGMI(ctx, c.Device.Index)
	}, func(c *card, x *smi.XGMI) {
		rows, on = append(rows, xgmiRow{c.gpu(), x}), append(on, c)
		for _, l := range x.Links {
			flat = append(flat, linkRow{c.place(), x.Hive, x.Node, l, x.Stale})
		}
	})
	if err != nil {
		return err
	}
	p.settle(words)
	return a.show(result{key: "gpus", rows: rows, flat: flat, p: p, table: func(w io.Writer) {
		t := a.table(
			text.Column{Title: "TO"}, text.Column{Title: "LINK", Min: 4}, text.Column{Title: "LANE", Right: true, Drop: 2},
			text.Column{Title: "MAX", Right: true, Drop: 1}, text.Column{Title: "READ", Right: true}, text.Column{Title: "WRITTEN", Right: true},
		)
		for i := range rows {
			x := rows[i].XGMI
			if len(x.Links) == 0 {
				a.cardRow(t, on[i], "-", "-", "-", "-", "-", "-")
			}
			for j := range x.Links {
				l := &x.Links[j]
				a.cardRow(t, on[i], text.Or(l.Peer), text.Dash(l.State), text.SI(l.Rate, "bit/s"), text.SI(l.MaxBandwidth, "bit/s"), text.Bytes(l.Read), text.Bytes(l.Written))
			}
			if x.Errors == smi.XGMIError || x.Errors == smi.XGMIMultipleErrors {
				t.Note(fmt.Sprintf("GPU %d had errors on its links: %s", on[i].Device.Index, x.Errors))
			}
			aged(t, x.Stale)
		}
		a.write(w, t, p, "No GPU is linked to another.")
	}})
}
