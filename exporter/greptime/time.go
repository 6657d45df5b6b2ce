package greptime

import (
	"fmt"
	"strings"

	"github.com/GreptimeTeam/greptimedb-ingester-go/table/types"
)

// TimeColumn is the time index of the tables. Those that this package creates have "ts"
// in milliseconds; tables that line protocol created have nanoseconds, in "ts" or, where a
// newer GreptimeDB made them, in "greptime_timestamp", and a row must fit.
type TimeColumn struct {
	Name  string
	Type  types.ColumnType
	Scale int64 // of milliseconds
}

// ParseTime reads NAME:UNIT.
func ParseTime(s string) (TimeColumn, error) {
	name, unit, _ := strings.Cut(s, ":")
	c := TimeColumn{Name: name}
	switch unit {
	case "", "ms":
		c.Type, c.Scale = types.TIMESTAMP_MILLISECOND, 1
	case "us":
		c.Type, c.Scale = types.TIMESTAMP_MICROSECOND, 1_000
	case "ns":
		c.Type, c.Scale = types.TIMESTAMP_NANOSECOND, 1_000_000
	default:
		return c, fmt.Errorf("--greptime-time %q: the unit is not ms, us or ns", s)
	}
	if name == "" || len(name) > 63 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return c, fmt.Errorf("--greptime-time %q: that is no name of a column", s)
	}
	return c, nil
}
