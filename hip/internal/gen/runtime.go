package main

import "strings"

// signature is f as a method of hip.Runtime; q qualifies the types ("hip.").
func (ty *types) signature(f *Function, q string) string {
	if f.Go != "" {
		if q == "" {
			return f.Go
		}
		r := f.Go
		for _, n := range []string{"Thread", "Stream", "Module,", "Launch)", "Error"} {
			r = strings.ReplaceAll(r, " "+n, " "+q+n)
			r = strings.ReplaceAll(r, "*"+n, "*"+q+n)
			r = strings.ReplaceAll(r, "("+n, "("+q+n)
		}
		return r
	}
	var ps []string
	if f.thread() {
		ps = append(ps, "t "+q+"Thread")
	}
	for _, p := range f.ins() {
		ps = append(ps, lower(p.Name)+" "+qualify(q, ty.param(f, p)))
	}
	var rs []string
	for _, p := range f.outs() {
		rs = append(rs, lower(p.Name)+" "+qualify(q, ty.result(f, p)))
	}
	rs = append(rs, "err "+q+"Error")
	ret := "(" + strings.Join(rs, ", ") + ")"
	if len(rs) == 1 {
		ret = q + "Error"
	}
	return f.method() + "(" + strings.Join(ps, ", ") + ") " + ret
}

func qualify(q, g string) string {
	star := ""
	if strings.HasPrefix(g, "*") {
		star, g = "*", g[1:]
	}
	if g[0] >= 'A' && g[0] <= 'Z' {
		return star + q + g
	}
	return star + g
}

// param is the Go type of an input: "const char *" is a string.
func (ty *types) param(f *Function, p Param) string {
	if p.Type == "const char *" {
		return "string"
	}
	g := ty.goType(p.Type)
	if g == "" {
		panic(f.Name + ": no Go type for " + p.Type)
	}
	return g
}

// result is the Go type behind an output pointer; big structs stay pointers.
func (ty *types) result(f *Function, p Param) string {
	e := pointee(p.Type)
	if strings.HasSuffix(e, "*") {
		return "Ptr"
	}
	g := ty.goType(e)
	if g == "" || g == "Ptr" && e == "void" {
		panic(f.Name + ": no Go type behind " + p.Type)
	}
	if s := ty.structs[ty.resolve(e)]; s != nil && s.Size > 64 {
		return "*" + g
	}
	return g
}

func runtimeGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hip\n")
	o.p("// Runtime is what a HIP runtime can do: one method per HIP function that reaches\n// a device. All methods are safe for concurrent use. Host addresses are addresses\n// of the process that calls; results are undefined unless the Error is Success.\ntype Runtime interface {")
	for i := range t.Functions {
		if f := &t.Functions[i]; f.runtime() {
			o.p("\t%s // %s", ty.signature(f, ""), f.Name)
		}
	}
	o.p("}\n\n// Unimplemented answers ErrorNotSupported to everything. Embed it, so that a\n// Runtime that lacks a new method says so instead of not compiling.\ntype Unimplemented struct{}\n\nvar _ Runtime = Unimplemented{}\n")
	for i := range t.Functions {
		f := &t.Functions[i]
		if !f.runtime() {
			continue
		}
		sig := ty.signature(f, "")
		o.p("func (Unimplemented) %s {", sig)
		if f.Go != "" {
			if strings.Contains(f.Go, "(Module,") {
				o.p("\treturn 0, ErrorNotSupported\n}\n")
			} else {
				o.p("\treturn ErrorNotSupported\n}\n")
			}
			continue
		}
		if len(f.outs()) == 0 {
			o.p("\treturn ErrorNotSupported\n}\n")
		} else {
			o.p("\terr = ErrorNotSupported\n\treturn\n}\n")
		}
	}
	return o.String()
}

func opsGo(t *Table) string {
	var o out
	o.p(banner + "package hip\n\n// Opcodes of the calls on the wire.\nconst (")
	for i := range t.Functions {
		if f := &t.Functions[i]; f.runtime() {
			o.p("\t%s uint16 = %s", f.op(), f.Opcode)
		}
	}
	o.p(")\n\nvar opNames = map[uint16]string{")
	for i := range t.Functions {
		if f := &t.Functions[i]; f.runtime() {
			o.p("\t%s: %q,", f.op(), f.Name)
		}
	}
	o.p("}")
	return o.String()
}
