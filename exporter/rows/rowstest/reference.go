package rowstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/rows"
)

// Row is the values that are not null, by column: string, float64, int64, uint64 or bool.
type Row = map[string]any

// Reference makes the rows that must arrive.
type Reference struct {
	place  exporter.Place
	maker  *rows.Maker
	Tables map[string]map[string]Row // by table and key
}

// NewReference returns one that expects nothing yet.
func NewReference(place exporter.Place) *Reference {
	r := &Reference{place: place, Tables: map[string]map[string]Row{}}
	r.Restart()
	return r
}

// Restart forgets what a process remembers, and keeps what must arrive.
func (r *Reference) Restart() { r.maker = rows.NewMaker(rows.Options{}, r.place, time.Now()) }

// Put expects the rows of a reading.
func (r *Reference) Put(reading exporter.Reading) {
	b := r.maker.Make(&reading)
	r.maker.Keep()
	for i := range b.Tables {
		t := &b.Tables[i]
		if r.Tables[t.Name] == nil {
			r.Tables[t.Name] = map[string]Row{}
		}
		for k := range t.Rows {
			r.Tables[t.Name][Key(t.Columns, &t.Rows[k])] = RowOf(t.Columns, &t.Rows[k])
		}
	}
}

// Key is the tags and the time of a row.
func Key(columns []rows.Column, row *rows.Row) string {
	var b strings.Builder
	for i, c := range columns {
		if c.Tag {
			fmt.Fprintf(&b, "%s=%s\x00", c.Name, row.Values[i].Text())
		}
	}
	return fmt.Sprintf("%s%d", b.String(), row.Time)
}

// RowOf is a row's values; its time is "ts".
func RowOf(columns []rows.Column, row *rows.Row) Row {
	m := Row{"ts": row.Time}
	for i, v := range row.Values {
		switch v.Type() {
		case rows.String:
			m[columns[i].Name] = v.Text()
		case rows.Float:
			m[columns[i].Name] = v.Float()
		case rows.Int:
			m[columns[i].Name] = v.Int()
		case rows.Uint:
			m[columns[i].Name] = v.Uint()
		case rows.Bool:
			m[columns[i].Name] = v.Bool()
		}
	}
	return m
}

// Compare says how what arrived differs from what must; "" if it does not. Rows of got
// are found by all they have, so their keys may be of any form.
func (r *Reference) Compare(got map[string][]Row) string {
	text := func(row Row) string { return fmt.Sprintf("%#v", row) } // maps are printed in order
	for _, name := range slices.Sorted(maps.Keys(r.Tables)) {
		want := map[string]int{}
		for _, row := range r.Tables[name] {
			want[text(row)]++
		}
		for _, row := range got[name] {
			s := text(row)
			if want[s] == 0 {
				return fmt.Sprintf("%s: a row too much, or other than it must be: %s", name, s)
			}
			want[s]--
		}
		for s, n := range want {
			if n > 0 {
				return fmt.Sprintf("%s: a row is missing (%d of %d are there): %s", name, len(got[name]), len(r.Tables[name]), s)
			}
		}
	}
	for name := range got {
		if r.Tables[name] == nil {
			return "table " + name + " should not be there"
		}
	}
	return ""
}
