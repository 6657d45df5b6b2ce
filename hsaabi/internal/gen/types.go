package main

import "strings"

// constantsGo are the enumerations. The constants keep their C names and fit where they are wanted, but for the statuses.
func constantsGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package hsaabi\n")
	for _, e := range t.Enums {
		typ := ""
		if e.Name == "hsa_status_t" {
			typ = " status"
		}
		if e.Name != "" {
			o.p("// %s.", e.Name)
		}
		o.p("const (")
		for _, v := range e.Values {
			o.p("\t%s%s = %d", v.Name, typ, v.Number)
		}
		o.p(")\n")
	}
	return o.String()
}

// typesGo are the structs. Go lays a struct out as C does, so that one can be written
// into the caller's memory as a whole. Tables of functions are filled in by C.
func typesGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package hsaabi\n")
	for i := range t.Structs {
		s := &t.Structs[i]
		if s.calls() || s.handle() {
			continue
		}
		n := goType(s.Name)
		o.p("// %s is %s, %d bytes.\ntype %s struct {", n, s.Name, s.Size, n)
		for _, f := range s.Fields {
			o.p("\t%s %s", camel(f.Name), t.goOf(f.C))
		}
		o.p("}\n")
	}
	return o.String()
}

// layoutsGo gives the test every struct with its size and the places of its members.
func layoutsGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package hsaabi\n")
	o.p("type layout struct {\n\tv any\n\tsize uintptr\n\tmembers map[string]uintptr\n}\n")
	o.p("// layouts are the structs by their C name.\nvar layouts = map[string]layout{")
	for i := range t.Structs {
		s := &t.Structs[i]
		if s.calls() || s.handle() {
			continue
		}
		o.p("\t%q: {%s{}, %d, map[string]uintptr{", s.Name, goType(s.Name), s.Size)
		for _, f := range s.Fields {
			o.p("\t\t%q: %d,", camel(f.Name), f.Offset)
		}
		o.p("\t}},")
	}
	o.p("}")
	return o.String()
}

// statusC is what hsa_status_string says: the statuses' names in words.
func statusC(t *Table) string {
	o := &out{}
	o.p(bannerC + "#include \"hsa/hsa.h\"\n#include \"status.h\"\n\nconst char *rw_hsa_status_words(hsa_status_t status)\n{\n\tswitch ((int)status) {")
	seen := map[int64]bool{}
	for _, e := range t.Enums {
		for _, v := range e.Values {
			if strings.Contains(v.Name, "_STATUS_") && !seen[v.Number] {
				seen[v.Number] = true
				o.p("\tcase %s:\n\t\treturn %q;", v.Name, v.Name)
			}
		}
	}
	o.p("\tdefault:\n\t\treturn NULL;\n\t}\n}")
	return o.String()
}
