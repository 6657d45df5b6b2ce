package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Table is smiabi/api.json.
type Table struct {
	Soname    string
	Version   string // of every symbol
	Macros    []Value
	Enums     []*Enum
	Structs   []*Struct // each behind those it is made of
	Functions []*Function

	enums   map[string]*Enum
	structs map[string]*Struct
	written map[string]written // handwritten Go functions
}

// Enum is a C enumeration of Size bytes.
type Enum struct {
	Name   string `json:"-"`
	Size   int
	Values []Value
}

// Value is a named number.
type Value struct {
	Name   string
	Number uint64
}

// UnmarshalJSON reads ["NAME", number].
func (v *Value) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&v.Name, &v.Number}) }

// Struct is a C struct or union. The name of a nested one is OUTER::INNER.
type Struct struct {
	Name        string `json:"-"`
	Kind        string // "struct" or "union"
	Size, Align int
	Fields      []Field
}

// Field is a member. Its type is a scalar ("u8" … "u64", "i32", "i64", "f32",
// "bool", "char"), a handle ("processor"), the name of an enumeration or struct, or
// one of these with stars behind it.
type Field struct {
	Name      string
	Type      string
	Offset    int
	Count     Dims // of an array
	Bits, Bit int  // of a bit field: how many, from which on
}

// Dims are the dimensions of an array, none for a single value.
type Dims []int

// UnmarshalJSON reads a number or a list of them.
func (d *Dims) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]int)(d))
	}
	*d = []int{0}
	return json.Unmarshal(b, &(*d)[0])
}

// Function is an export.
type Function struct {
	Name   string
	Void   bool // returns nothing, otherwise amdsmi_status_t
	NoInit bool // may be called before amdsmi_init
	Params []Param
}

// Param is a parameter; its type is written as a field's, and besides "socket",
// "node" (handles), "event" and "void*".
type Param struct {
	Name string
	Type string
	C    string // the C type where it does not follow from Type
	Opt  bool   // a pointer that may be null
}

func (p Param) pointer() bool { return strings.HasSuffix(p.Type, "*") }

// written is a handwritten function: its file and the first sentence of its comment,
// without its name.
type written struct{ file, says string }

// answered says whether a handwritten Go function stands behind f.
func (t *Table) answered(f *Function) bool { return t.written[goFunc(f.Name)].file != "" }

func readTable(dir string) (*Table, error) {
	b, err := os.ReadFile(filepath.Join(dir, "api.json"))
	if err != nil {
		return nil, err
	}
	var t Table
	var raw struct{ Enums, Structs json.RawMessage }
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("api.json: %w", err)
	}
	t.enums, t.structs = map[string]*Enum{}, map[string]*Struct{}
	enums, err := ordered(raw.Enums, t.enums)
	if err != nil {
		return nil, err
	}
	structs, err := ordered(raw.Structs, t.structs)
	if err != nil {
		return nil, err
	}
	for _, n := range enums {
		t.enums[n].Name = n
		t.Enums = append(t.Enums, t.enums[n])
	}
	for _, n := range structs {
		t.structs[n].Name = n
		t.Structs = append(t.Structs, t.structs[n])
	}
	rest := struct {
		Soname, Version *string
		Macros          *[]Value
		Functions       *[]*Function
	}{&t.Soname, &t.Version, &t.Macros, &t.Functions}
	if err := json.Unmarshal(b, &rest); err != nil {
		return nil, fmt.Errorf("api.json: %w", err)
	}
	t.written, err = handwritten(dir)
	return &t, err
}

// ordered reads a JSON object into m, and returns its keys as they stand.
func ordered[T any](b []byte, m map[string]*T) ([]string, error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("api.json: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var keys []string
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		keys = append(keys, k.(string))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// handwritten lists the functions named amdsmi… and rsmi… in dir's handwritten
// files.
func handwritten(dir string) (map[string]written, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	found := map[string]written{}
	for _, p := range paths {
		base := filepath.Base(p)
		if strings.HasPrefix(base, "zz_") || strings.HasSuffix(base, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "amdsmi") || strings.HasPrefix(f.Name.Name, "rsmi")) {
				says, _, _ := strings.Cut(strings.Join(strings.Fields(f.Doc.Text()), " "), ". ")
				says = strings.TrimSuffix(strings.TrimPrefix(says, f.Name.Name+" "), ".")
				found[f.Name.Name] = written{base, says}
			}
		}
	}
	return found, nil
}
