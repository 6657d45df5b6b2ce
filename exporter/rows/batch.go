package rows

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Limits of a batch.
const (
	MaxRows    = 50_000
	maxTables  = 64
	maxColumns = 64
	maxCells   = 1 << 20 // rows times columns, of all tables
)

// Column is one column of a table. Every table has one more, the time.
type Column struct {
	Name string
	Type Type
	Tag  bool // part of a row's key; always a String
}

// Row is one row: a value, maybe null, for each column.
type Row struct {
	Time   int64 // milliseconds since 1970
	Values []Value
}

// Table is rows of one table. The tags are its first columns.
type Table struct {
	Name    string
	Columns []Column
	Rows    []Row
}

// Batch is what is sent together.
type Batch struct {
	Tables []Table
}

// Rows is the number of rows in all tables.
func (b *Batch) Rows() int {
	n, _ := b.size()
	return n
}

func (b *Batch) size() (rows, cells int) {
	for i := range b.Tables {
		rows += len(b.Tables[i].Rows)
		cells += len(b.Tables[i].Rows) * len(b.Tables[i].Columns)
	}
	return rows, cells
}

// ErrInvalid is the error of a batch or record that breaks a rule.
var ErrInvalid = errors.New("rows: invalid batch")

func (b *Batch) check() error {
	if len(b.Tables) > maxTables {
		return fmt.Errorf("%w: %d tables", ErrInvalid, len(b.Tables))
	}
	if n, cells := b.size(); n > MaxRows || cells > maxCells {
		return fmt.Errorf("%w: %d rows with %d values", ErrInvalid, n, cells)
	}
	seen := map[string]bool{}
	for i := range b.Tables {
		t := &b.Tables[i]
		if seen[t.Name] {
			return fmt.Errorf("%w: table %q twice", ErrInvalid, t.Name)
		}
		seen[t.Name] = true
		if err := t.check(); err != nil {
			return fmt.Errorf("%w: table %q: %w", ErrInvalid, t.Name, err)
		}
	}
	return nil
}

func (t *Table) check() error {
	if !identifier(t.Name) {
		return errors.New("that is no name")
	}
	if len(t.Columns) == 0 || len(t.Columns) > maxColumns {
		return fmt.Errorf("%d columns", len(t.Columns))
	}
	names := map[string]bool{}
	for i, c := range t.Columns {
		switch {
		case !identifier(c.Name) || names[c.Name]:
			return fmt.Errorf("column %d: %q is no name, or not the only one", i, c.Name)
		case c.Type < String || c.Type > Bool:
			return fmt.Errorf("column %q: type %d", c.Name, c.Type)
		case c.Tag && (c.Type != String || i > 0 && !t.Columns[i-1].Tag):
			return fmt.Errorf("column %q: a tag is a string and before the fields", c.Name)
		}
		names[c.Name] = true
	}
	for i := range t.Rows {
		if err := t.checkRow(&t.Rows[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (t *Table) checkRow(r *Row) error {
	if r.Time < 0 || r.Time > maxTime {
		return fmt.Errorf("time %d", r.Time)
	}
	if len(r.Values) != len(t.Columns) {
		return fmt.Errorf("%d values for %d columns", len(r.Values), len(t.Columns))
	}
	for i, v := range r.Values {
		switch {
		case v.IsNull():
		case v.typ != t.Columns[i].Type:
			return fmt.Errorf("column %q: type %d", t.Columns[i].Name, v.typ)
		case v.typ == String && (v.text == "" || len(v.text) > MaxText || !utf8.ValidString(v.text)):
			return fmt.Errorf("column %q: a text that is empty, too long or not UTF-8", t.Columns[i].Name)
		case v.typ == Float && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
			return fmt.Errorf("column %q: %v", t.Columns[i].Name, v.Float())
		}
	}
	return nil
}

// maxTime is in the year 2262: the last that is still a time in nanoseconds.
const maxTime = math.MaxInt64 / 1_000_000

// identifier reports whether a name needs quotes nowhere: not in SQL, not in line
// protocol.
func identifier(s string) bool {
	if s == "" || len(s) > 63 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
