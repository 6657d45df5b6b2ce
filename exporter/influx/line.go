package influx

import (
	"math"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/smi"
)

// line is one row, or nothing if it has no fields. Only servers with the interface of
// InfluxDB 2 know unsigned numbers.
func line(t *rows.Table, r *rows.Row, unsigned bool) string {
	var b strings.Builder
	b.WriteString(t.Name) // which needs no escapes, like the columns' names: package rows sees to it
	i := 0
	for ; i < len(t.Columns) && t.Columns[i].Tag; i++ {
		if v := tagValue(r.Values[i].Text()); v != "" {
			b.WriteString("," + t.Columns[i].Name + "=" + v)
		}
	}
	separator := byte(' ')
	for ; i < len(t.Columns); i++ {
		if r.Values[i].IsNull() {
			continue
		}
		b.WriteByte(separator)
		separator = ','
		b.WriteString(t.Columns[i].Name + "=")
		field(&b, r.Values[i], unsigned)
	}
	if separator == ' ' {
		return ""
	}
	b.WriteByte(' ')
	b.WriteString(strconv.FormatInt(r.Time, 10))
	b.WriteByte('\n')
	return b.String()
}

var tagEscapes = strings.NewReplacer(`\`, `/`, `,`, `\,`, `=`, `\=`, ` `, `\ `)

// tagValue is a text as a tag's value.
func tagValue(s string) string { return tagEscapes.Replace(smi.Printable(s)) }

var stringEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func field(b *strings.Builder, v rows.Value, unsigned bool) {
	switch v.Type() {
	case rows.String:
		b.WriteString(`"` + stringEscapes.Replace(smi.Printable(v.Text())) + `"`)
	case rows.Float:
		b.WriteString(float(v.Float()))
	case rows.Int:
		b.WriteString(strconv.FormatInt(v.Int(), 10) + "i")
	case rows.Uint:
		if unsigned {
			b.WriteString(strconv.FormatUint(v.Uint(), 10) + "u")
		} else {
			b.WriteString(strconv.FormatUint(min(v.Uint(), math.MaxInt64), 10) + "i")
		}
	case rows.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	}
}

// float is a number; without an exponent if it can be, as not every server reads all
// forms of it.
func float(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-15 || a >= 1e18) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
