package main

import (
	"fmt"
	"strings"
)

// constantsGo are the enumerations. The constants keep their C names.
func constantsGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package smiabi\n")
	o.p("// Sizes of the interface's arrays and texts.\nconst (")
	for _, m := range t.Macros {
		o.p("\t%s = %d", m.Name, m.Number)
	}
	o.p(")\n")
	for _, e := range t.Enums {
		o.p("// %s is %s.", goType(e.Name), e.Name)
		o.p("type %s uint%d\n", goType(e.Name), 8*e.Size)
		o.p("const (")
		for _, v := range e.Values {
			o.p("\t%s %s = %d", v.Name, goType(e.Name), v.Number)
		}
		o.p(")\n")
	}
	o.p("// statusNames are the names of the statuses.")
	o.p("var statusNames = map[status]string{")
	seen := map[uint64]bool{}
	for _, v := range t.enums["amdsmi_status_t"].Values {
		if !seen[v.Number] {
			o.p("\t%s: %q,", v.Name, v.Name)
			seen[v.Number] = true
		}
	}
	o.p("}")
	lookup(o, t.enums["amdsmi_fw_block_t"], "fwBlocks", "AMDSMI_FW_ID_", "firmware by the names of package smi", strings.ToLower)
	lookup(o, t.enums["amdsmi_vram_type_t"], "vramTypes", "AMDSMI_VRAM_TYPE_", "kinds of memory by the names of package smi", func(s string) string { return s })
	return o.String()
}

// lookup is a table of an enumeration's values by their names without the prefix.
func lookup(o *out, e *Enum, name, prefix, what string, spell func(string) string) {
	o.p("\n// %s are %s.\nvar %s = map[string]%s{", name, what, name, goType(e.Name))
	for _, v := range e.Values {
		n := strings.TrimPrefix(v.Name, prefix)
		if n != "FIRST" && n != "UNKNOWN" && !strings.HasPrefix(n, "_") {
			o.p("\t%q: %s,", spell(n), v.Name)
		}
	}
	o.p("}")
}

// sizeOf is size and alignment of a table's type.
func (t *Table) sizeOf(typ string) (size, align int) {
	switch typ {
	case "u8", "bool", "char":
		return 1, 1
	case "u16":
		return 2, 2
	case "u32", "i32", "f32":
		return 4, 4
	case "u64", "i64", "processor":
		return 8, 8
	}
	if strings.HasSuffix(typ, "*") {
		return 8, 8
	}
	if e := t.enums[typ]; e != nil {
		return e.Size, e.Size
	}
	s := t.structs[typ]
	return s.Size, s.Align
}

// natural says whether the members of s lie where alignment alone puts them.
func (t *Table) natural(s *Struct) bool {
	at, most := 0, 1
	for _, f := range s.Fields {
		if f.Bits != 0 {
			return false
		}
		size, align := t.sizeOf(f.Type)
		at = (at + align - 1) / align * align
		if f.Offset != at {
			return false
		}
		for _, n := range f.Count {
			size *= n
		}
		at += size
		most = max(most, align)
	}
	return s.Align == most && s.Size == (at+most-1)/most*most
}

// plain says whether s is a Go struct with the same members; otherwise it is a
// number or an array of them.
func (t *Table) plain(s *Struct) bool { return s.Kind == "struct" && t.natural(s) }

func dims(d Dims) string {
	var b strings.Builder
	for _, n := range d {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// typesGo are the structs. Go lays a struct out as C does, so that one can be
// written into the caller's memory as a whole. Unions, bit fields and packed
// structs are numbers.
func typesGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package smiabi\n")
	for _, s := range t.Structs {
		n := goType(s.Name)
		o.p("// %s is %s, %d bytes.", n, s.Name, s.Size)
		switch {
		case t.plain(s):
			o.p("type %s struct {", n)
			for _, f := range s.Fields {
				o.p("\t%s %s%s", camel(f.Name), dims(f.Count), goOf(f.Type))
			}
			o.p("}\n")
		case s.Size == s.Align:
			o.p("type %s uint%d\n", n, 8*s.Size)
		default:
			o.p("type %s [%d]uint%d\n", n, s.Size/s.Align, 8*s.Align)
		}
	}
	return o.String()
}

// layoutsGo gives the test an example of every struct.
func layoutsGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package smiabi\n")
	o.p("// layouts are the Go structs by their C name.")
	o.p("var layouts = map[string]any{")
	for _, s := range t.Structs {
		if t.plain(s) {
			o.p("\t%q: %s{},", s.Name, goType(s.Name))
		} else {
			o.p("\t%q: *new(%s),", s.Name, goType(s.Name))
		}
	}
	o.p("}")
	return o.String()
}
