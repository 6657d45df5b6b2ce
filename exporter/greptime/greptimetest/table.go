package greptimetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gpb "github.com/GreptimeTeam/greptime-proto/go/greptime/v1"
)

// Table is one table.
type Table struct {
	Columns []Column
	Rows    map[string]Row // by key: the time, and the tags in order of the columns
	Again   int            // rows that replaced one with the same key
}

// Column is one column.
type Column struct {
	Name     string
	Type     string // GreptimeDB's name: "FLOAT64"
	Semantic string // "TAG", "FIELD" or "TIMESTAMP"
}

// Row is the values that are not null, by column: string, float64, int64, uint64 or bool.
type Row map[string]any

// Tables is a copy of all tables.
func (s *Server) Tables() map[string]Table {
	s.Lock()
	defer s.Unlock()
	m := map[string]Table{}
	for name, t := range s.tables {
		m[name] = Table{Columns: slices.Clone(t.Columns), Rows: maps.Clone(t.Rows), Again: t.Again}
	}
	return m
}

// Create makes a table as somebody else would have, who had other ideas of its columns.
func (s *Server) Create(name string, columns ...Column) {
	s.Lock()
	defer s.Unlock()
	if s.tables == nil {
		s.tables = map[string]*Table{}
	}
	s.tables[name] = &Table{Columns: columns, Rows: map[string]Row{}}
}

// insert checks a whole request before it keeps anything of it.
func (s *Server) insert(in *gpb.RowInsertRequest) (int, error) {
	columns, err := columnsOf(in.GetRows().GetSchema())
	if err != nil {
		return 0, err
	}
	t := s.tables[in.GetTableName()]
	if t == nil {
		if in.GetTableName() == "" {
			return 0, errors.New("no name")
		}
		t = &Table{Columns: columns, Rows: map[string]Row{}}
	}
	if err := t.accepts(columns); err != nil {
		return 0, err
	}
	rows, keys := []Row{}, []string{}
	for i, r := range in.GetRows().GetRows() {
		row, key, err := rowOf(columns, r)
		if err != nil {
			return 0, fmt.Errorf("row %d: %w", i, err)
		}
		rows, keys = append(rows, row), append(keys, key)
	}
	if len(rows) == 0 {
		return 0, errors.New("no rows")
	}
	if s.tables == nil {
		s.tables = map[string]*Table{}
	}
	s.tables[in.GetTableName()] = t
	for i, key := range keys {
		if _, ok := t.Rows[key]; ok {
			t.Again++
		}
		t.Rows[key] = rows[i]
	}
	return len(rows), nil
}

func columnsOf(schema []*gpb.ColumnSchema) (list []Column, err error) {
	times := 0
	seen := map[string]bool{}
	for _, c := range schema {
		col := Column{Name: c.GetColumnName(), Type: c.GetDatatype().String(), Semantic: c.GetSemanticType().String()}
		if col.Name == "" || seen[col.Name] {
			return nil, fmt.Errorf("column %q", col.Name)
		}
		seen[col.Name] = true
		isTime := strings.HasPrefix(col.Type, "TIMESTAMP_")
		if isTime != (col.Semantic == "TIMESTAMP") {
			return nil, fmt.Errorf("column %s is a %s of type %s", col.Name, col.Semantic, col.Type)
		}
		if isTime {
			times++
		}
		list = append(list, col)
	}
	if times != 1 {
		return nil, fmt.Errorf("%d time columns", times)
	}
	return list, nil
}

// accepts compares columns with the table's: fields may be added, nothing else may change.
func (t *Table) accepts(columns []Column) error {
	keyed := func(list []Column) (keys []Column) {
		for _, c := range list {
			if c.Semantic != "FIELD" {
				keys = append(keys, c)
			}
		}
		return keys
	}
	if want, got := keyed(t.Columns), keyed(columns); !slices.Equal(want, got) {
		return fmt.Errorf("its tags and time are %v, given: %v", want, got)
	}
	for _, c := range columns {
		i := slices.IndexFunc(t.Columns, func(o Column) bool { return o.Name == c.Name })
		if i < 0 {
			t.Columns = append(t.Columns, c)
		} else if t.Columns[i] != c {
			return fmt.Errorf("column %s expect type %s, given: %s", c.Name, t.Columns[i].Type, c.Type)
		}
	}
	return nil
}

func rowOf(columns []Column, r *gpb.Row) (Row, string, error) {
	if len(r.GetValues()) != len(columns) {
		return nil, "", fmt.Errorf("%d values for %d columns", len(r.GetValues()), len(columns))
	}
	row := Row{}
	var key strings.Builder
	for i, c := range columns {
		v, typ := valueOf(r.GetValues()[i])
		if v == nil {
			if c.Semantic == "TIMESTAMP" {
				return nil, "", errors.New("no time")
			}
		} else if typ != c.Type {
			return nil, "", fmt.Errorf("column %s expect type %s, given: %s", c.Name, c.Type, typ)
		} else {
			row[c.Name] = v
		}
		if c.Semantic != "FIELD" {
			fmt.Fprintf(&key, "%v\x00", v)
		}
	}
	return row, key.String(), nil
}

// valueOf is a value and the type it has by itself; nil for null.
func valueOf(v *gpb.Value) (any, string) {
	switch x := v.GetValueData().(type) {
	case *gpb.Value_StringValue:
		return x.StringValue, "STRING"
	case *gpb.Value_F64Value:
		return x.F64Value, "FLOAT64"
	case *gpb.Value_I64Value:
		return x.I64Value, "INT64"
	case *gpb.Value_U64Value:
		return x.U64Value, "UINT64"
	case *gpb.Value_BoolValue:
		return x.BoolValue, "BOOLEAN"
	case *gpb.Value_TimestampMillisecondValue:
		return x.TimestampMillisecondValue, "TIMESTAMP_MILLISECOND"
	case *gpb.Value_TimestampMicrosecondValue:
		return x.TimestampMicrosecondValue, "TIMESTAMP_MICROSECOND"
	case *gpb.Value_TimestampNanosecondValue:
		return x.TimestampNanosecondValue, "TIMESTAMP_NANOSECOND"
	case nil:
		return nil, ""
	}
	return v, fmt.Sprintf("%T", v.GetValueData())
}
