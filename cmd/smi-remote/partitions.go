package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// partitionRow is how one card is divided.
type partitionRow struct {
	gpu
	*smi.Partitions
}

func (a *app) partitions(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	var rows []partitionRow
	var on []*card
	err = each(ctx, a, cards, p, "partitions", func(ctx context.Context, c *card) (*smi.Partitions, error) {
		return c.client.Partitions(ctx, c.Device.Index)
	}, func(c *card, v *smi.Partitions) {
		rows, on = append(rows, partitionRow{c.gpu(), v}), append(on, c)
	})
	if err != nil {
		return err
	}
	p.settle(words)
	return a.show(result{key: "gpus", rows: rows, p: p, table: func(w io.Writer) {
		t := a.table(text.Column{Title: "COMPUTE", Min: 7}, text.Column{Title: "MEMORY", Min: 6}, text.Column{Title: "COMPUTE MAY BE", Min: 14}, text.Column{Title: "MEMORY MAY BE", Min: 13})
		for i := range rows {
			v := rows[i].Partitions
			var modes []string
			for _, f := range v.Profiles {
				modes = append(modes, f.Type)
			}
			a.cardRow(t, on[i], text.Dash(v.Compute), text.Dash(v.Memory), text.Dash(strings.Join(modes, " ")), text.Dash(strings.Join(v.Memories, " ")))
		}
		a.write(w, t, p, "No GPU can be divided.")
		for i := range rows {
			if len(words) > 0 && len(rows[i].Profiles) > 0 {
				fmt.Fprintln(w)
				a.printProfiles(w, on[i], rows[i].Profiles)
			}
		}
	}})
}

func (a *app) printProfiles(w io.Writer, c *card, profiles []smi.PartitionProfile) {
	t := a.table(text.Column{Title: "MODE", Min: 4}, text.Column{Title: "PARTS", Right: true}, text.Column{Title: "MEMORY", Min: 6}, text.Column{Title: "EACH PART HAS", Min: 13})
	for i := range profiles {
		f := &profiles[i]
		var each []string
		for _, r := range f.Resources {
			s := fmt.Sprintf("%d %s", r.Count, text.Clean(r.Kind))
			if r.SharedBy > 1 {
				s += fmt.Sprintf(" (of %d parts together)", r.SharedBy)
			}
			each = append(each, s)
		}
		a.cardRow(t, c, text.Dash(f.Type), fmt.Sprint(f.Partitions), text.Dash(strings.Join(f.Memories, " ")), text.Dash(strings.Join(each, ", ")))
	}
	t.Write(w, a.width)
}
