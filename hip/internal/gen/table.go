package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Table is hip/api.json: the one place where the HIP surface is written down.
type Table struct {
	HIPVersion string      `json:"hip_version"`
	SOName     string      `json:"soname"`
	Macros     [][2]string `json:"macros"`
	Enums      []Enum      `json:"enums"`
	Opaque     []string    `json:"opaque"`
	Typedefs   [][2]string `json:"typedefs"`
	Structs    []Struct    `json:"structs"`
	Functions  []Function  `json:"functions"`
}

// Enum is one C enumeration; Values are [name, number] pairs.
type Enum struct {
	Name       string  `json:"name"`
	Values     [][]any `json:"values"`
	Size       int     `json:"size"`
	Underlying string  `json:"underlying"`
}

// Struct is one C struct or union with its layout in bytes.
type Struct struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Size   int     `json:"size"`
	Align  int     `json:"align"`
	Fields []Field `json:"fields"`
}

// Field is one member. Type is a C type ("char[256]" for arrays), or "struct"
// or "union" with Members for an anonymous aggregate. Bits is the width of a
// bit field.
type Field struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Offset  int     `json:"offset"`
	Size    int     `json:"size"`
	Bits    int     `json:"bits"`
	Members []Field `json:"members"`
}

// Function is one exported symbol.
//
// Class says who answers it:
//
//	c            hipabi, in handwritten C; no prototype is generated for the export
//	local        hipabi, in handwritten Go behind a generated C export
//	cached       the Runtime, once per argument list; the client keeps the answer
//	sync         the Runtime; the caller waits for the reply
//	async        the Runtime; no reply is asked for
//	unsupported  answered hipErrorNotSupported
type Function struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Class      string   `json:"class"`
	Opcode     string   `json:"opcode"`
	Ret        string   `json:"ret"`
	Weak       bool     `json:"weak"`
	Undeclared bool     `json:"undeclared"`
	Deprecated bool     `json:"deprecated"`
	Absent     bool     `json:"absent"` // the vendor's library has no more than its arguments' checks, and answers hipErrorNotSupported
	Thread     *bool    `json:"thread"`
	Waits      bool     `json:"waits"`
	Creates    string   `json:"creates"`
	Destroys   string   `json:"destroys"`
	Custom     []string `json:"custom"`
	Go         string   `json:"go"`
	Params     []Param  `json:"params"`
}

// Param is one C parameter. Dir "out" marks a pointer through which one value
// is returned; Optional says that it may be null.
type Param struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Dir      string `json:"dir"`
	Optional bool   `json:"optional"`
}

// custom reports whether the part ("client", "worker", "export", "rocm") of f
// is written by hand; "rocm-wrap" is a handwritten method around the generated
// call.
func (f *Function) custom(part string) bool {
	for _, c := range f.Custom {
		if c == part {
			return true
		}
	}
	return false
}

// runtime reports whether f is a method of hip.Runtime.
func (f *Function) runtime() bool {
	return f.Class == "cached" || f.Class == "sync" || f.Class == "async"
}

// thread reports whether the method takes the calling thread's state.
func (f *Function) thread() bool { return f.Thread == nil || *f.Thread }

// device is the expression for the device that f is about.
func (f *Function) device() string {
	if f.thread() {
		return "t.Device"
	}
	return "device"
}

// method is the Go name of f.
func (f *Function) method() string {
	if f.Go != "" {
		return f.Go[:strings.IndexByte(f.Go, '(')]
	}
	return strings.TrimPrefix(f.Name, "hip")
}

// op is the name of f's opcode constant.
func (f *Function) op() string { return "Op" + f.method() }

func (f *Function) ins() (ps []Param) {
	for _, p := range f.Params {
		if p.Dir != "out" {
			ps = append(ps, p)
		}
	}
	return ps
}

func (f *Function) outs() (ps []Param) {
	for _, p := range f.Params {
		if p.Dir == "out" {
			ps = append(ps, p)
		}
	}
	return ps
}

func readTable(path string) (*Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t Table
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &t, t.check()
}

// check refuses a table that the outputs could not be made from.
func (t *Table) check() error {
	names, ops := map[string]bool{}, map[string]string{}
	for i := range t.Functions {
		f := &t.Functions[i]
		if names[f.Name] {
			return fmt.Errorf("%s stands twice", f.Name)
		}
		names[f.Name] = true
		switch f.Class {
		case "c", "local", "unsupported":
			if f.Opcode != "" {
				return fmt.Errorf("%s: class %s has no opcode", f.Name, f.Class)
			}
		case "cached", "sync", "async":
			if f.Opcode == "" {
				return fmt.Errorf("%s: no opcode", f.Name)
			}
			if other := ops[f.Opcode]; other != "" {
				return fmt.Errorf("%s and %s share opcode %s", f.Name, other, f.Opcode)
			}
			ops[f.Opcode] = f.Name
		default:
			return fmt.Errorf("%s: unknown class %q", f.Name, f.Class)
		}
		if f.Class == "async" && len(f.outs()) > 0 {
			return fmt.Errorf("%s: an async call returns nothing", f.Name)
		}
	}
	return nil
}
