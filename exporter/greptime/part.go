package greptime

import (
	"fmt"

	"github.com/GreptimeTeam/greptimedb-ingester-go/table"
	"github.com/GreptimeTeam/greptimedb-ingester-go/table/types"

	"github.com/rocwire/rocwire/exporter/rows"
)

// partRows is how many rows one request has at most: some hundred KiB, far below what
// servers and proxies take.
const partRows = 2000

// part is some rows of one table.
type part struct {
	name  string
	rows  int
	table *table.Table
}

var columnTypes = map[rows.Type]types.ColumnType{
	rows.String: types.STRING, rows.Float: types.FLOAT64, rows.Int: types.INT64, rows.Uint: types.UINT64, rows.Bool: types.BOOLEAN,
}

// split makes requests of a batch.
func (c *client) split(b *rows.Batch) (parts []part, err error) {
	for i := range b.Tables {
		t := &b.Tables[i]
		for first := 0; first < len(t.Rows); first += partRows {
			chunk := t.Rows[first:min(first+partRows, len(t.Rows))]
			made, err := c.table(t, chunk)
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", t.Name, err)
			}
			parts = append(parts, part{name: t.Name, rows: len(chunk), table: made})
		}
	}
	return parts, nil
}

func (c *client) table(t *rows.Table, chunk []rows.Row) (*table.Table, error) {
	made, err := table.New(t.Name)
	if err != nil {
		return nil, err
	}
	made.WithSanitate(false) // the names of package rows need no changes
	for _, col := range t.Columns {
		if col.Tag {
			err = made.AddTagColumn(col.Name, columnTypes[col.Type])
		} else {
			err = made.AddFieldColumn(col.Name, columnTypes[col.Type])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := made.AddTimestampColumn(c.time.Name, c.time.Type); err != nil {
		return nil, err
	}
	values := make([]any, len(t.Columns)+1)
	for i := range chunk {
		for k, v := range chunk[i].Values {
			values[k] = value(v)
		}
		values[len(t.Columns)] = chunk[i].Time * c.time.Scale
		if err := made.AddRow(values...); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// value is a cell as the ingester takes it; nil for null.
func value(v rows.Value) any {
	switch v.Type() {
	case rows.String:
		return v.Text()
	case rows.Float:
		return v.Float()
	case rows.Int:
		return v.Int()
	case rows.Uint:
		return v.Uint()
	case rows.Bool:
		return v.Bool()
	}
	return nil
}
