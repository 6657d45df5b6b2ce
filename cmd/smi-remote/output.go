package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// place says in JSON and CSV which card a row is about.
type place struct {
	Host   string `json:"host"`   // the worker's address
	Device int    `json:"device"` // index of the card
}

func (c *card) place() place { return place{c.address(), c.Device.Index} }

// gpu is a row that is a card.
type gpu struct {
	Host string `json:"host"`
	smi.Device
}

func (c *card) gpu() gpu { return gpu{c.address(), c.Device} }

// result is what a command has to show.
type result struct {
	key   string         // what the rows are, in JSON
	rows  any            // a slice; of structs, for JSON
	flat  any            // the same for CSV, if rows is too deep for that
	extra map[string]any // more for JSON
	table func(w io.Writer)
	p     *problems
}

// show prints a result as the flags say; its error is what could not be answered.
func (a *app) show(r result) error {
	switch {
	case a.json:
		if err := a.printJSON(&r); err != nil {
			return err
		}
	case a.csv:
		if r.flat == nil {
			r.flat = r.rows
		}
		if err := writeCSV(&a.out, r.flat, !a.noHeader && !a.repeated); err != nil {
			return err
		}
	default:
		r.table(&a.out)
	}
	return r.p.err()
}

func (a *app) printJSON(r *result) error {
	doc := map[string]any{r.key: list(r.rows), "errors": list(r.p.list)}
	for k, v := range r.extra {
		doc[k] = v
	}
	e := json.NewEncoder(&a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// list is a slice that becomes [] in JSON, not null, when it is empty.
func list(v any) any {
	if r := reflect.ValueOf(v); r.Len() == 0 {
		return []struct{}{}
	}
	return v
}

// table is an empty table with these columns behind those that every table has for
// the worker, if there are several, and for the card.
func (a *app) table(columns ...text.Column) *text.Table {
	return a.tableOf(append([]text.Column{{Title: "GPU", Right: true}}, columns...)...)
}

// tableOf is a table whose rows are not about cards.
func (a *app) tableOf(columns ...text.Column) *text.Table {
	t := &text.Table{NoHeader: a.noHeader, Columns: columns}
	if a.several() {
		widest := 0
		for _, w := range a.workers {
			widest = max(widest, text.Width(w.label))
		}
		// Rather less of the rest than hosts that look alike.
		t.Columns = append([]text.Column{{Title: "HOST", Min: min(widest, 24)}}, columns...)
	}
	return t
}

// row adds a row of a worker's.
func (a *app) row(t *text.Table, w *worker, cells ...string) {
	if a.several() {
		cells = append([]string{w.label}, cells...)
	}
	t.Row(cells...)
}

// cardRow adds a row of a card's.
func (a *app) cardRow(t *text.Table, c *card, cells ...string) {
	a.row(t, c.worker, append([]string{fmt.Sprint(c.Device.Index)}, cells...)...)
}

// aged puts a mark under a row whose figures are not of now.
func aged(t *text.Table, stale smi.Opt[smi.Duration]) {
	if age, ok := stale.Get(); ok {
		t.Note(staleText(age))
	}
}

func staleText(age smi.Duration) string {
	return "! " + text.Age(age) + " old: the GPU does not answer, this is the last it told"
}

// write prints a table, or a sentence in its place if it is empty.
func (a *app) write(w io.Writer, t *text.Table, p *problems, empty string) {
	switch {
	case !t.Empty():
		t.Write(w, a.width)
	case p.err() == nil:
		fmt.Fprintln(w, empty)
	}
}

// factName is how wide the names of a description are.
const factName = 22

// fact prints one figure of a description, in several lines if need be.
func (a *app) fact(w io.Writer, name, value string) {
	name = text.Clip(text.Clean(name), 2*factName)
	indent := max(text.Width(name), factName) + 1
	lines := text.Wrap(text.Dash(value), a.width-indent, 4)
	fmt.Fprintf(w, "%s%s\n", text.Pad(name, indent, false), strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}

// factOf prints a figure of several values if one of them is known.
func (a *app) factOf(w io.Writer, name, format string, values ...string) {
	known := false
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = text.Dash(v)
		known = known || args[i] != "-"
	}
	if known {
		a.fact(w, name, fmt.Sprintf(format, args...))
	}
}

// blocks prints descriptions of several cards with an empty line in between.
func blocks[T any](w io.Writer, list []T, one func(*T)) {
	for i := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		one(&list[i])
	}
}

// title prints the head of a card's description.
func (a *app) title(w io.Writer, c *card) {
	name := fmt.Sprintf("%d, %s", c.Device.Index, text.Dash(c.Device.Name))
	if a.several() {
		name += ", " + c.label
	}
	a.fact(w, "GPU", name)
}

// failed notes a failure that came in a snapshot.
func (p *problems) failed(c *card, what string, f *smi.Failure) {
	if err := f.Err(); err != nil {
		p.add(c.worker, &c.Device, what, err)
	}
}

// settle is the end of a question: that a card does not know something is worth a
// word only if it was asked by name.
func (p *problems) settle(words []string) {
	if len(words) == 0 {
		p.hush()
	}
}
