package smiabi

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// Every Go struct lies in memory as the table says C's does. The table's own numbers
// are checked by the C compiler, which reads the header made from it.
func TestLayouts(t *testing.T) {
	b, err := os.ReadFile("api.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Structs map[string]struct {
			Kind        string
			Size, Align uintptr
			Fields      []struct {
				Name   string
				Offset uintptr
				Bits   int
			}
		}
	}
	if err := json.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Structs) < 96 || len(table.Structs) != len(layouts) {
		t.Errorf("the table has %d structs, Go %d", len(table.Structs), len(layouts))
	}
	fields := 0
	for name, s := range table.Structs {
		typ := reflect.TypeOf(layouts[name])
		if typ == nil {
			t.Errorf("%s: missing", name)
			continue
		}
		if typ.Size() != s.Size || uintptr(typ.Align()) != s.Align {
			t.Errorf("%s: %d bytes aligned to %d, want %d and %d", name, typ.Size(), typ.Align(), s.Size, s.Align)
		}
		if typ.Kind() != reflect.Struct {
			continue
		}
		if typ.NumField() != len(s.Fields) {
			t.Errorf("%s: %d fields, want %d", name, typ.NumField(), len(s.Fields))
			continue
		}
		for i, f := range s.Fields {
			fields++
			if got := typ.Field(i).Offset; got != f.Offset {
				t.Errorf("%s.%s: at %d, want %d", name, f.Name, got, f.Offset)
			}
		}
	}
	if fields < 600 {
		t.Errorf("only %d fields were compared", fields)
	}
}
