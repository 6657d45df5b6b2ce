package main

import "strings"

func runtimeGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hip\n")
	o.p("// Runtime is what a HIP runtime can do: one method per HIP function that reaches\n// a device. All methods are safe for concurrent use. Host addresses are addresses\n// of the process that calls; results are undefined unless the Error is Success.\ntype Runtime interface {")
	for _, m := range t.methods() {
		o.p("\t%s // %s", ty.signature(m, ""), m.Name)
	}
	o.p("}\n\n// Unimplemented answers ErrorNotSupported to everything. Embed it, so that a\n// Runtime that lacks a new method says so instead of not compiling.\ntype Unimplemented struct{}\n\nvar _ Runtime = Unimplemented{}\n")
	for _, m := range t.methods() {
		o.p("func (Unimplemented) %s {", ty.signature(m, ""))
		switch {
		case strings.Contains(m.Go, ") (Module,"), strings.Contains(m.Go, ") (GraphExec,"):
			o.p("\treturn 0, ErrorNotSupported\n}\n")
		case len(m.out) == 0:
			o.p("\treturn ErrorNotSupported\n}\n")
		default:
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
	o.p(")\n\n// opTraits is what is true of each call.\nvar opTraits = [1 << 13]Traits{")
	for i := range t.Functions {
		f := &t.Functions[i]
		if !f.runtime() {
			continue
		}
		var ts []string
		if f.Errors || f.Class == "async" {
			ts = append(ts, "ReturnsErrors")
		}
		if f.Syncs != "" {
			ts = append(ts, "Synchronizes")
		}
		if f.Copies != "" {
			ts = append(ts, "Copies"+upper(f.Copies))
		}
		if len(ts) > 0 {
			o.p("\t%s: %s,", f.op(), strings.Join(ts, " | "))
		}
	}
	o.p("}\n\nvar opNames = map[uint16]string{")
	for i := range t.Functions {
		if f := &t.Functions[i]; f.runtime() {
			o.p("\t%s: %q,", f.op(), f.Name)
		}
	}
	o.p("}")
	return o.String()
}
