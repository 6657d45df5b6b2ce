package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// writeCSV writes a slice of structs as RFC 4180 says. The columns follow from the
// type alone, so they are the same for every card: each plain figure under its JSON
// name, nested ones with dots. A list of texts or numbers is one cell with
// semicolons; of the lists in picked, the members named there have columns; other
// lists of structs are left to JSON.
func writeCSV(w io.Writer, rows any, header bool) error {
	v := reflect.ValueOf(rows)
	columns := columnsOf(v.Type().Elem(), "", func(v reflect.Value) reflect.Value { return v })
	seen := map[string]bool{}
	columns = slices.DeleteFunc(columns, func(c csvColumn) bool { // an embedded struct's, hidden by another as in JSON
		again := seen[c.name]
		seen[c.name] = true
		return again
	})
	cw := csv.NewWriter(w)
	cw.UseCRLF = true
	cells := make([]string, len(columns))
	if header {
		for i, c := range columns {
			cells[i] = c.name
		}
		if err := cw.Write(cells); err != nil {
			return err
		}
	}
	for i := range v.Len() {
		for j, c := range columns {
			cells[j] = cell(c.get(v.Index(i)))
		}
		if err := cw.Write(cells); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// csvColumn is one figure of a row.
type csvColumn struct {
	name string
	get  getter
}

// getter finds a part of a row; the zero Value if the row has not got it.
type getter func(row reflect.Value) reflect.Value

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
)

// columnsOf lists the figures of a type that lies at get in a row.
func columnsOf(t reflect.Type, name string, get getter) []csvColumn {
	switch {
	case t.Implements(marshaler), t.Implements(textMarshaler):
		return []csvColumn{{name, get}}
	case t.Kind() == reflect.Pointer:
		return columnsOf(t.Elem(), name, func(row reflect.Value) reflect.Value {
			if v := get(row); v.IsValid() && !v.IsNil() {
				return v.Elem()
			}
			return reflect.Value{}
		})
	case t.Kind() == reflect.Struct:
		return fieldColumns(t, name, "", get)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return pickedColumns(t.Elem(), name, get)
	case t.Kind() == reflect.Map || t.Kind() == reflect.Interface:
		return nil
	}
	return []csvColumn{{name, get}}
}

// fieldColumns lists the fields of a struct, but for those in without.
func fieldColumns(t reflect.Type, prefix, without string, get getter) (all []csvColumn) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			name = prefix
		case !f.IsExported() || name == "-" || name == "" || strings.Contains(without, " "+name+" "):
			continue
		case prefix != "":
			name = prefix + "." + name
		}
		all = append(all, columnsOf(f.Type, name, func(row reflect.Value) reflect.Value {
			v := get(row)
			if !v.IsValid() || options == "omitempty" && v.Field(i).IsZero() { // JSON has not got it
				return reflect.Value{}
			}
			return v.Field(i)
		})...)
	}
	return all
}

// picked says for lists of structs which members have columns: those whose field key
// has one of the values, the first of each.
var picked = map[reflect.Type]struct {
	key    string
	values []string
}{
	reflect.TypeFor[smi.Clock]():       {"domain", []string{smi.ClockGFX, smi.ClockMem, smi.ClockSOC, smi.ClockDF, smi.ClockVideo, smi.ClockData}},
	reflect.TypeFor[smi.Temperature](): {"sensor", []string{smi.SensorEdge, smi.SensorHotspot, smi.SensorMem}},
	reflect.TypeFor[smi.Violation](): {"kind", []string{
		smi.ViolationProcHot, smi.ViolationPower, smi.ViolationSocketThermal, smi.ViolationVRThermal, smi.ViolationHBMThermal,
	}},
	reflect.TypeFor[smi.Fan](): {"index", []string{"0"}},
}

func pickedColumns(t reflect.Type, name string, get getter) (all []csvColumn) {
	pick := picked[t]
	at := -1
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == pick.key && pick.key != "" {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	for _, value := range pick.values {
		all = append(all, fieldColumns(t, name+"."+value, " index "+pick.key+" ", func(row reflect.Value) reflect.Value {
			list := get(row)
			for i := 0; list.IsValid() && i < list.Len(); i++ {
				if cell(list.Index(i).Field(at)) == value {
					return list.Index(i)
				}
			}
			return reflect.Value{}
		})...)
	}
	return all
}

// cell is a figure as JSON writes it, without quotes; what is not available is empty.
func cell(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	if v.Kind() == reflect.Slice {
		var parts []string
		for i := range v.Len() {
			parts = append(parts, cell(v.Index(i)))
		}
		return strings.Join(parts, ";")
	}
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && z.IsZero() {
		return "" // a time that is not known
	}
	b, err := json.Marshal(v.Interface())
	if err != nil || string(b) == "null" {
		return ""
	}
	if b[0] == '"' {
		var s string
		if json.Unmarshal(b, &s) == nil {
			return text.Clean(s)
		}
	}
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && strings.ContainsAny(string(b), "eE") {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return string(b)
}
