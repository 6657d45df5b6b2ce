package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Table is hsaabi/api.json.
type Table struct {
	Soname, Version string
	Enums           []Enum // one without a name are numbers that belong to several
	Types           []Pair // of scalars and of functions that are called back
	Structs         []Struct
	Functions       []Function

	enums, scalars map[string]bool
	structs        map[string]*Struct
	inGo, inC      map[string]bool // the handwritten functions
}

// list reads a JSON array into its parts, of which those at the end may be missing.
func list(b []byte, parts ...any) error { return json.Unmarshal(b, &parts) }

// Pair is a name with its C type. Opt says of a pointer that it may be null.
type Pair struct {
	Name, C string
	Opt     bool
}

// UnmarshalJSON reads ["name", "type", true].
func (p *Pair) UnmarshalJSON(b []byte) error { return list(b, &p.Name, &p.C, &p.Opt) }

func (p Pair) pointer() bool { return strings.HasSuffix(p.C, "*") || strings.Contains(p.C, "(*") }

// Enum is an enumeration.
type Enum struct {
	Name   string
	Values []Value
}

// UnmarshalJSON reads ["name", [values]].
func (e *Enum) UnmarshalJSON(b []byte) error { return list(b, &e.Name, &e.Values) }

// Value is a named number.
type Value struct {
	Name   string
	Number int64
}

// UnmarshalJSON reads ["NAME", number].
func (v *Value) UnmarshalJSON(b []byte) error { return list(b, &v.Name, &v.Number) }

// Struct is a struct of Size bytes.
type Struct struct {
	Name   string
	Size   int
	Fields []Field
}

// UnmarshalJSON reads ["name", size, [fields]].
func (s *Struct) UnmarshalJSON(b []byte) error { return list(b, &s.Name, &s.Size, &s.Fields) }

// handle says that the struct is a 64-bit name of something.
func (s *Struct) handle() bool {
	return s != nil && len(s.Fields) == 1 && s.Fields[0].Name == "handle" && s.Fields[0].C == "uint64_t"
}

// calls says that the struct is a table of functions.
func (s *Struct) calls() bool { return strings.Contains(s.Fields[0].C, "(*)") }

// Field is a member. An array has its size behind its type.
type Field struct {
	Name, C string
	Offset  int
}

// UnmarshalJSON reads ["name", "type", offset].
func (f *Field) UnmarshalJSON(b []byte) error { return list(b, &f.Name, &f.C, &f.Offset) }

// Function is an export.
type Function struct {
	Name, Returns string
	Params        []Pair
}

// UnmarshalJSON reads ["name", "type", [parameters]].
func (f *Function) UnmarshalJSON(b []byte) error { return list(b, &f.Name, &f.Returns, &f.Params) }

func readTable(dir string) (*Table, error) {
	b, err := os.ReadFile(filepath.Join(dir, "api.json"))
	if err != nil {
		return nil, err
	}
	t := &Table{enums: map[string]bool{}, scalars: map[string]bool{}, structs: map[string]*Struct{}}
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("api.json: %w", err)
	}
	for _, e := range t.Enums {
		t.enums[e.Name] = true
	}
	for i := range t.Structs {
		t.structs[t.Structs[i].Name] = &t.Structs[i]
	}
	if t.inGo, err = functionsGo(dir); err != nil {
		return nil, err
	}
	t.inC, err = functionsC(dir)
	return t, err
}

// handwritten are the contents of dir's handwritten files with that ending.
func handwritten(dir, ending string) (map[string][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, p := range paths {
		base := filepath.Base(p)
		if strings.HasPrefix(base, "zz_") || strings.HasSuffix(base, "_test.go") {
			continue
		}
		if files[base], err = os.ReadFile(p); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// functionsGo are the handwritten Go functions named hsa….
func functionsGo(dir string) (map[string]bool, error) {
	files, err := handwritten(dir, ".go")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for name, text := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "hsa") {
				found[f.Name.Name] = true
			}
		}
	}
	return found, nil
}

var definitionC = regexp.MustCompile(`(?m)^[a-z]\w*(?: \w+)* \*?(hsa_\w+)\(`)

// functionsC are the handwritten exports.
func functionsC(dir string) (map[string]bool, error) {
	files, err := handwritten(dir, ".c")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, text := range files {
		for _, m := range definitionC.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
	}
	return found, nil
}
