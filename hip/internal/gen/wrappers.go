package main

import (
	"fmt"
	"strings"
)

// pass emits a method that does something first and then has the Runtime behind do the call.
func (ty *types) pass(o *out, m method, receiver, before string) {
	sig := ty.signature(m, "hip.")
	args := m.arguments()
	if m.Go != "" { // the names are the handwritten signature's
		in := m.Go[strings.IndexByte(m.Go, '(')+1:]
		depth, end := 1, 0
		for end = range in {
			if in[end] == '(' {
				depth++
			} else if in[end] == ')' {
				depth--
			}
			if depth == 0 {
				break
			}
		}
		var names []string
		for _, p := range strings.Split(in[:end], ", ") {
			names = append(names, strings.Fields(p)[0])
		}
		args = strings.Join(names, ", ")
	}
	o.p("// %s implements hip.Runtime.\nfunc (%s) %s {", m.method(), receiver, sig)
	if before != "" {
		if len(m.out) > 0 {
			o.p("\tif err = %s; err != hip.Success {\n\t\treturn\n\t}", before)
		} else {
			o.p("\tif err := %s; err != hip.Success {\n\t\treturn err\n\t}", before)
		}
	}
	o.p("\treturn %s.Runtime.%s(%s)\n}\n", receiver[:1], m.method(), args)
}

// captureGo emits what a capture makes of each call, but for those that become nodes or have something of their own to do.
func captureGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hipabi\n\nimport \"github.com/rocwire/rocwire/hip\"\n\nvar _ hip.Runtime = (*captureRuntime)(nil)\n")
	for _, m := range t.methods() {
		before := ""
		switch m.Capture {
		case "node", "own":
			continue
		case "unsafe":
			before = "c.unsafe(t)"
		case "implicit", "refused":
			before = "c." + m.Capture + "()"
		case "stream", "event":
			ask := map[string]string{"stream": "waiting", "event": "asked"}[m.Capture]
			if m.Capture == "event" && m.Waits {
				ask = "awaited"
			}
			before = fmt.Sprintf("c.%s(t, %s)", ask, m.handle(m.Capture))
		}
		ty.pass(&o, m, "c *captureRuntime", before)
	}
	return o.String()
}

// handle is the parameter of m that is a handle of a kind ("stream").
func (m method) handle(kind string) string {
	for _, v := range m.in {
		if strings.EqualFold(v.goT, kind) {
			return v.name
		}
	}
	panic(m.Name + " has no " + kind)
}

// quotaGo emits the calls that no quota has anything to do with.
func quotaGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package quota\n\nimport \"github.com/rocwire/rocwire/hip\"\n\nvar _ hip.Runtime = (*Runtime)(nil)\n")
	for _, m := range t.methods() {
		if m.Quota == "pass" {
			ty.pass(&o, m, "q *Runtime", "")
		}
	}
	return o.String()
}
