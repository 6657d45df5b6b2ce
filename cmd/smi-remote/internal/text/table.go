package text

import (
	"fmt"
	"io"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Title string
	Right bool // aligned to the right
	Min   int  // it may be cut down to this width; 0: it may not be cut
	Drop  int  // it may be left out, those with the highest number first; 0: it may not
}

// Table is rows of cells, with notes under some of them.
type Table struct {
	Columns  []Column
	NoHeader bool
	rows     []row
}

type row struct {
	cells []string
	notes []string
}

// Row adds a row, with a cell for each column.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, row{cells: cells}) }

// Note puts lines under the last row.
func (t *Table) Note(lines ...string) {
	r := &t.rows[len(t.rows)-1]
	r.notes = append(r.notes, lines...)
}

// Empty reports whether there is no row.
func (t *Table) Empty() bool { return len(t.rows) == 0 }

const gap = 2 // between columns

// Write prints the table so that no line is wider than width. Columns that may be
// cut are; if that is not enough, others are left out, and the last line names them.
func (t *Table) Write(w io.Writer, width int) {
	header, rows, dropped := t.Lines(width)
	if !t.NoHeader {
		fmt.Fprintln(w, header)
	}
	for i, r := range t.rows {
		fmt.Fprintln(w, rows[i])
		for _, n := range r.notes {
			fmt.Fprintln(w, Clip("     "+n, width))
		}
	}
	if len(dropped) > 0 {
		fmt.Fprintln(w, Clip("Left out for lack of room: "+strings.Join(dropped, ", ")+".", width))
	}
}

// Lines is what Write prints, but for the notes: the line of titles, a line for each
// row, and the titles of the columns that were left out.
func (t *Table) Lines(width int) (header string, rows, dropped []string) {
	widths, dropped := t.fit(width)
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
	}
	rows = make([]string, len(t.rows))
	for i, r := range t.rows {
		rows[i] = t.line(r.cells, widths, width)
	}
	return t.line(titles, widths, width), rows, dropped
}

// natural is how wide the columns are when nothing is cut.
func (t *Table) natural() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = Width(c.Title)
		for _, r := range t.rows {
			widths[i] = max(widths[i], Width(r.cells[i]))
		}
	}
	return widths
}

// fit is how wide the columns become, -1 for those that are left out, and the
// titles of those.
func (t *Table) fit(width int) (widths []int, dropped []string) {
	natural := t.natural()
	out := make([]bool, len(t.Columns))
	for {
		widths = make([]int, len(natural))
		total := -gap
		for i, n := range natural {
			if widths[i] = n; out[i] {
				widths[i] = -1
				continue
			}
			total += n + gap
		}
		if t.shrink(widths, total-width) {
			break
		}
		worst := -1
		for i, c := range t.Columns {
			if c.Drop > 0 && !out[i] && (worst < 0 || c.Drop > t.Columns[worst].Drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		out[worst] = true
	}
	for i, c := range t.Columns {
		if out[i] {
			dropped = append(dropped, c.Title)
		}
	}
	return widths, dropped
}

// shrink takes excess from the columns that may be cut, the widest first, and says
// whether that was enough.
func (t *Table) shrink(widths []int, excess int) bool {
	for ; excess > 0; excess-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Min > 0 && widths[i] > c.Min && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
	return true
}

func (t *Table) line(cells []string, widths []int, width int) string {
	var b strings.Builder
	for i, c := range cells {
		if widths[i] < 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		b.WriteString(Pad(c, widths[i], t.Columns[i].Right))
	}
	return Clip(strings.TrimRight(b.String(), " "), width)
}
