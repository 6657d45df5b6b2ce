package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// pathRow is the way from one card to another.
type pathRow struct {
	Host string `json:"host"`
	smi.Path
}

func (a *app) topology(ctx context.Context, words []string) error {
	cards, p, err := a.cards(ctx, words, false)
	if err != nil {
		return err
	}
	answers, failed, err := ask(ctx, a, "topology", func(ctx context.Context, w *worker) (*smi.Topology, error) { return w.client.Topology(ctx) })
	if err != nil {
		return err
	}
	for _, n := range failed.list {
		if !n.lost || !slices.ContainsFunc(p.list, func(o problem) bool { return o.lost && o.Host == n.Host }) {
			p.list = append(p.list, n)
		}
	}
	var rows []pathRow
	for _, r := range answers {
		for _, path := range r.value.Paths {
			if len(words) == 0 || slices.ContainsFunc(cards, func(c card) bool { return c.worker == r.worker && c.Device.Index == path.From }) {
				rows = append(rows, pathRow{r.worker.address(), path})
			}
		}
	}
	return a.show(result{key: "paths", rows: rows, p: p, table: func(w io.Writer) {
		printed := false
		for _, r := range answers {
			if len(r.value.Paths) == 0 {
				continue
			}
			if printed {
				fmt.Fprintln(w)
			}
			printed = true
			if len(words) > 0 || !a.printMatrix(w, r.worker, r.value) {
				a.printPaths(w, r.worker, rows)
			}
		}
		if !printed && p.err() == nil {
			fmt.Fprintln(w, "There are no two GPUs with a way between them.")
		}
	}})
}

// printMatrix prints how each card reaches each other, unless there are too many.
func (a *app) printMatrix(w io.Writer, on *worker, topo *smi.Topology) bool {
	n := 0
	for i := range topo.Paths {
		n = max(n, topo.Paths[i].From+1, topo.Paths[i].To+1)
	}
	const narrowest = 6
	if n*(narrowest+2) > a.width-6 {
		return false
	}
	title := "from\\to"
	columns := []text.Column{{Title: title, Right: true}}
	for i := range n {
		columns = append(columns, text.Column{Title: fmt.Sprintf("GPU %d", i)})
	}
	t := &text.Table{Columns: columns, NoHeader: a.noHeader}
	for from := range n {
		cells := []string{fmt.Sprint(from)}
		for to := range n {
			switch path := topo.Path(from, to); {
			case from == to:
				cells = append(cells, ".")
			case path == nil:
				cells = append(cells, "-")
			default:
				s := text.Dash(path.Type) + "/" + text.Or(path.Hops)
				if !path.Access.Or(true) {
					s += "!"
				}
				cells = append(cells, text.Clip(s, 12))
			}
		}
		t.Row(cells...)
	}
	if a.several() {
		fmt.Fprintln(w, text.Clip("Worker "+text.Clean(on.label), a.width))
	}
	t.Write(w, a.width)
	fmt.Fprintln(w, text.Clip("Kind of link/hops; ! no access to the other's memory. topology GPU has more.", a.width))
	return true
}

func (a *app) printPaths(w io.Writer, on *worker, rows []pathRow) {
	t := a.tableOf(
		text.Column{Title: "FROM", Right: true}, text.Column{Title: "TO", Right: true}, text.Column{Title: "LINK", Min: 4}, text.Column{Title: "HOPS", Right: true},
		text.Column{Title: "WEIGHT", Right: true}, text.Column{Title: "ACCESS"}, text.Column{Title: "COHERENT", Drop: 3}, text.Column{Title: "ATOMICS 32/64", Drop: 2},
		text.Column{Title: "DMA", Drop: 4}, text.Column{Title: "MAX", Right: true, Drop: 1},
	)
	for i := range rows {
		r := &rows[i]
		if r.Host != on.address() {
			continue
		}
		a.row(t, on, fmt.Sprint(r.From), fmt.Sprint(r.To), text.Dash(r.Type), text.Or(r.Hops), text.Or(r.Weight), text.YesNo(r.Access),
			text.YesNo(r.Coherent), text.YesNo(r.Atomics32)+"/"+text.YesNo(r.Atomics64), text.YesNo(r.DMA), text.SI(r.MaxBandwidth, "B/s"))
	}
	t.Write(w, a.width)
}
