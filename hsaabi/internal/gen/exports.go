package main

import (
	"strings"

	"github.com/rocwire/rocwire/internal/stubgen"
)

// early are the functions that may be called before hsa_init.
var early = map[string]bool{"hsa_init": true, "hsa_status_string": true}

// local is a parameter's name in Go, where a C name may be a keyword or a type.
func local(p Pair) string { return "p_" + p.Name }

// passed is a parameter's Go type where C hands it over.
func (t *Table) passed(p Pair) string {
	if _, g := t.scalar(p.C); g != "" && !p.pointer() {
		return g
	}
	return "unsafe.Pointer"
}

// value is a parameter as the handwritten function gets it: pointers to numbers and structs by their type, others as they are.
func (t *Table) value(p Pair) string {
	switch {
	case !p.pointer() || strings.Contains(p.C, "("):
		return local(p)
	case strings.HasSuffix(p.C, "**"):
		return "(*unsafe.Pointer)(" + local(p) + ")"
	}
	base, g := t.scalar(strings.TrimSpace(strings.TrimSuffix(p.C, "*")))
	if base == "void" || base == "char" {
		return local(p)
	}
	if g == "" {
		g = goType(base)
	}
	return "(*" + g + ")(" + local(p) + ")"
}

// exportsGo is the Go side of the exports that are answered there.
func exportsGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package hsaabi\n\nimport \"C\"\n\nimport \"unsafe\"\n")
	for i := range t.Functions {
		f := &t.Functions[i]
		if !t.inGo[goFunc(f.Name)] {
			continue
		}
		var params, args []string
		for _, p := range f.Params {
			params = append(params, local(p)+" "+t.passed(p))
			args = append(args, t.value(p))
		}
		o.p("//export rw_%s\nfunc rw_%s(%s) (result uint32) {\n\tdefer trap(%q, &result)", f.Name, f.Name, strings.Join(params, ", "), f.Name)
		o.p("\treturn uint32(%s(%s))\n}\n", goFunc(f.Name), strings.Join(args, ", "))
	}
	return o.String()
}

// exportsC are the exports that handwritten C does not have: they refuse what needs hsa_init before it was called, and null pointers, and cross into
// Go once if there is an answer.
func exportsC(t *Table) string {
	o := &out{}
	o.p(bannerC + "#include \"hsa/hsa.h\"\n#include \"ready.h\"\n#include \"_cgo_export.h\"\n")
	for i := range t.Functions {
		f := &t.Functions[i]
		if t.inC[f.Name] || f.Returns != "hsa_status_t" {
			continue
		}
		o.p("%s\n{", prototype(f))
		if !early[f.Name] {
			o.p("\tif (!rw_hsa_ready())\n\t\treturn HSA_STATUS_ERROR_NOT_INITIALIZED;")
		}
		var nulls, args, unused []string
		for _, p := range f.Params {
			_, g := t.scalar(p.C)
			switch {
			case p.pointer():
				args = append(args, "(void *)"+p.Name)
			case t.structs[p.C].handle():
				args = append(args, p.Name+".handle")
			case g == "":
				args = append(args, "?")
			default:
				args = append(args, p.Name)
			}
			if p.pointer() && !p.Opt {
				nulls = append(nulls, "!"+p.Name)
			} else {
				unused = append(unused, p.Name)
			}
		}
		if len(nulls) > 0 {
			o.p("\tif (%s)\n\t\treturn HSA_STATUS_ERROR_INVALID_ARGUMENT;", strings.Join(nulls, " || "))
		}
		if t.inGo[goFunc(f.Name)] {
			o.p("\treturn rw_%s(%s);\n}\n", f.Name, strings.Join(args, ", "))
			continue
		}
		for _, n := range unused {
			o.p("\t(void)%s;", n)
		}
		o.p("\treturn HSA_STATUS_ERROR;\n}\n")
	}
	return o.String()
}

// versionMap is the linker's version script.
func versionMap(t *Table) string {
	o := &out{}
	o.p("%s%s {\nglobal:", bannerC, t.Version)
	o.p("\t_amdgpu_r_debug;")
	for _, f := range t.Functions {
		o.p("\t%s;", f.Name)
	}
	o.p("local:\n\t*;\n};")
	return o.String()
}

func library(t *Table) stubgen.Library {
	l := stubgen.Library{Name: "hsa", Generator: "hsaabi/internal/gen from hsaabi/api.json"}
	for _, f := range t.Functions {
		l.Functions = append(l.Functions, stubgen.Function{Name: f.Name})
	}
	return l
}

func tableC(t *Table) string { return library(t).Table() }

func stubsS(t *Table) string { return library(t).Stubs(library(t).Jumps()) }
