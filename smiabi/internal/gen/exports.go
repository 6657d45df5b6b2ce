package main

import "strings"

// passed is a parameter's Go type where C hands it over.
func passed(t *Table, p Param) string {
	switch {
	case p.pointer():
		return "unsafe.Pointer"
	case t.enums[p.Type] != nil:
		if t.enums[p.Type].Size == 8 {
			return "uint64"
		}
		return "uint32"
	case p.Type == "amdsmi_bdf_t":
		return "uint64"
	case goScalars[p.Type] == "handle":
		return "uintptr"
	}
	return goScalars[p.Type]
}

// value is a parameter as the handwritten function gets it.
func value(t *Table, p Param) string {
	switch {
	case p.Type == "void*":
		return local(p)
	case strings.HasSuffix(p.Type, "**"):
		return "(*unsafe.Pointer)(" + local(p) + ")"
	case p.pointer():
		return "(*" + goOf(strings.TrimSuffix(p.Type, "*")) + ")(" + local(p) + ")"
	case t.enums[p.Type] != nil, p.Type == "amdsmi_bdf_t":
		return goType(p.Type) + "(" + local(p) + ")"
	case goScalars[p.Type] == "handle":
		return "handle(" + local(p) + ")"
	}
	return local(p)
}

// local is a parameter's name in Go, where a C name may be a keyword or a type.
func local(p Param) string { return "p_" + p.Name }

// exportsGo is the Go side of the exports that are answered: it looks the
// processor up and calls the handwritten function.
func exportsGo(t *Table) string {
	o := &out{}
	o.p(bannerGo + "package smiabi\n\nimport \"C\"\n\nimport \"unsafe\"\n")
	for _, f := range t.Functions {
		if !t.answered(f) {
			continue
		}
		var params, args []string
		var cards []string
		for _, p := range f.Params {
			params = append(params, local(p)+" "+passed(t, p))
			if p.Type == "processor" {
				cards = append(cards, p.Name)
				args = append(args, "c"+p.Name)
				continue
			}
			args = append(args, value(t, p))
		}
		o.p("//export rw_%s", f.Name)
		if f.Void {
			o.p("func rw_%s(%s) { %s(%s) }\n", f.Name, strings.Join(params, ", "), goFunc(f.Name), strings.Join(args, ", "))
			continue
		}
		o.p("func rw_%s(%s) (result uint32) {", f.Name, strings.Join(params, ", "))
		o.p("\tdefer trap(%q, &result)", f.Name)
		if f.NoInit {
			o.p("\treturn uint32(%s(%s))\n}\n", goFunc(f.Name), strings.Join(args, ", "))
			continue
		}
		o.p("\tc, ok := begin()\n\tif !ok {\n\t\treturn uint32(AMDSMI_STATUS_NOT_INIT)\n\t}\n\tdefer c.end()")
		for _, h := range cards {
			o.p("\tc%s, st := c.card(handle(p_%s))", h, h)
			o.p("\tif st != AMDSMI_STATUS_SUCCESS {\n\t\treturn uint32(st)\n\t}")
		}
		if len(cards) == 0 {
			args = append([]string{"c"}, args...)
		}
		o.p("\treturn uint32(%s(%s))\n}\n", goFunc(f.Name), strings.Join(args, ", "))
	}
	return o.String()
}

func cParams(f *Function) string {
	if len(f.Params) == 0 {
		return "void"
	}
	var ps []string
	for _, p := range f.Params {
		c := p.C
		if c == "" {
			c = cOf(p.Type)
		}
		ps = append(ps, c+" "+p.Name)
	}
	return strings.Join(ps, ", ")
}

func cResult(f *Function) string {
	if f.Void {
		return "void"
	}
	return "amdsmi_status_t"
}

// exportsC are the exports: they refuse what needs amdsmi_init before it was
// called, and null pointers, and cross into Go once if there is an answer.
func exportsC(t *Table) string {
	o := &out{}
	o.p(bannerC + "#include \"amd_smi/amdsmi.h\"\n#include \"ready.h\"\n#include \"_cgo_export.h\"\n")
	for _, f := range t.Functions {
		o.p("%s %s(%s)\n{", cResult(f), f.Name, cParams(f))
		if !f.NoInit {
			o.p("\tif (!rw_smi_ready())\n\t\treturn AMDSMI_STATUS_NOT_INIT;")
		}
		var nulls, args []string
		used := map[string]bool{}
		for _, p := range f.Params {
			if (p.pointer() && !p.Opt) || p.Type == "processor" {
				nulls = append(nulls, "!"+p.Name)
				used[p.Name] = true
			}
			switch {
			case p.pointer():
				args = append(args, "(void *)"+p.Name)
			case goScalars[p.Type] == "handle":
				args = append(args, "(uintptr_t)"+p.Name)
			case p.Type == "amdsmi_bdf_t":
				args = append(args, p.Name+".as_uint")
			default:
				args = append(args, p.Name)
			}
		}
		if len(nulls) > 0 {
			o.p("\tif (%s)\n\t\treturn AMDSMI_STATUS_INVAL;", strings.Join(nulls, " || "))
		}
		if f.NoInit && t.answered(f) {
			o.p("\tif (rw_smi_gone())\n\t\treturn%s;", map[bool]string{false: " AMDSMI_STATUS_INIT_ERROR"}[f.Void])
		}
		switch {
		case t.answered(f) && f.Void:
			o.p("\trw_%s(%s);", f.Name, strings.Join(args, ", "))
		case t.answered(f):
			o.p("\treturn rw_%s(%s);", f.Name, strings.Join(args, ", "))
		default:
			for _, p := range f.Params {
				if !used[p.Name] {
					o.p("\t(void)%s;", p.Name)
				}
			}
			if !f.Void {
				o.p("\treturn AMDSMI_STATUS_NOT_SUPPORTED;")
			}
		}
		o.p("}\n")
	}
	return o.String()
}

// versionMap is the linker's version script.
func versionMap(t *Table) string {
	o := &out{}
	o.p("%s%s {\nglobal:", bannerC, t.Version)
	for _, f := range t.Functions {
		o.p("\t%s;", f.Name)
	}
	o.p("local:\n\t*;\n};")
	return o.String()
}
