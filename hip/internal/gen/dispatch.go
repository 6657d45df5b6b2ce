package main

import (
	"fmt"
	"strings"
)

// dispatchGo emits the worker's side: decode, check the device and every handle, call, reply.
func dispatchGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package worker\n\nimport (\n\t\"github.com/rocwire/rocwire/hip\"\n\t\"github.com/rocwire/rocwire/hip/hiprpc\"\n\t\"github.com/rocwire/rocwire/wire\"\n)\n")
	o.p("// dispatch executes one request; false if its opcode is not ours.\nfunc (s *session) dispatch(r *wire.Request) bool {\n\tswitch r.Op {")
	for _, m := range t.methods() {
		o.p("\tcase hip.%s:\n\t\ts.do%s(r)", m.op(), m.method())
	}
	o.p("\tdefault:\n\t\treturn false\n\t}\n\treturn true\n}\n")
	for _, m := range t.methods() {
		if !m.custom("worker") {
			ty.dispatch(&o, m)
		}
	}
	return o.String()
}

func (ty *types) dispatch(o *out, m method) {
	o.p("func (s *session) do%s(r *wire.Request) {\n\tvar q hiprpc.%s\n\tif !q.Decode(r.Fixed) {\n\t\ts.malformed(r)\n\t\treturn\n\t}", m.method(), request(m).name)
	var checks []string
	check := func(expr string) { checks = append(checks, "!s.checked(r, "+expr+")") }
	device := "0"
	if m.thread() {
		device = "q.Thread.Device"
		check("s.device(" + device + ")")
	}
	var args []string
	if m.thread() {
		args = append(args, "q.Thread")
	}
	ended, ending, owner := "", "ending", ""
	for _, v := range m.in {
		field := "q." + v.field()
		arg := field
		if v.form == object && !v.param.Nullable {
			arg = "&" + arg
		}
		args = append(args, arg)
		switch {
		case ty.handleKind(v.goT) != "" && v.param.Name == m.Destroys:
			ended = fmt.Sprintf("hip.%s, uint64(%s)", ty.handleKind(v.goT), field)
			if v.param.Nullable {
				ending = "endingAny"
			} else if wrong, other := ty.otherwise(m.Function, v.param); other {
				ending, ended = "endingAs", ended+", "+wrong
			}
		case ty.handleKind(v.goT) != "":
			if wrong, other := ty.otherwise(m.Function, v.param); other {
				check(fmt.Sprintf("s.handles.checkAs(hip.%s, uint64(%s), %s)", ty.handleKind(v.goT), field, wrong))
			} else {
				check(fmt.Sprintf("s.handles.check(hip.%s, uint64(%s))", ty.handleKind(v.goT), field))
			}
			if v.param.Name == m.Of {
				owner = fmt.Sprintf("hip.%s, uint64(%s)", ty.handleKind(v.goT), field)
			}
		case v.param.Check != "":
			check(fmt.Sprintf("s.%s(%s)", v.param.Check, arg))
		case !m.thread() && strings.HasPrefix(strings.ToLower(v.param.Name), "device"):
			device = field
		}
	}
	for _, v := range m.out {
		if v.form == list {
			checks = append(checks, fmt.Sprintf("!s.listed(r, uint64(q.%s))", upper(lower(v.param.Count))))
		}
		if k := ty.handleKind(v.goT); k != "" {
			checks = append(checks, fmt.Sprintf("!s.room(r, hip.%s)", k))
		}
	}
	if len(checks) > 0 {
		o.p("\tif %s {\n\t\treturn\n\t}", strings.Join(checks, " || "))
	}
	if ended != "" {
		o.p("\tend, ok := s.%s(r, %s)\n\tif !ok {\n\t\treturn\n\t}", ending, ended)
	}
	var body out
	var vs, fs []string
	for k, v := range m.out {
		vs = append(vs, fmt.Sprintf("v%d", k))
		expr := vs[k]
		if ty.big(v) {
			expr = "*" + expr
		}
		fs = append(fs, v.field()+": "+expr)
	}
	body.p("\t%s := s.rt.%s(%s)", strings.Join(append(vs, "err"), ", "), m.method(), strings.Join(args, ", "))
	if ended != "" {
		body.p("\tif err != hip.Success {\n\t\ts.restore(end)\n\t}")
	}
	if len(m.out) == 0 {
		body.p("\ts.reply(r, err, nil)")
	} else {
		body.p("\tif err != hip.Success {\n\t\ts.reply(r, err, nil)\n\t\treturn\n\t}")
		for k, v := range m.out {
			switch kind := ty.handleKind(v.goT); {
			case kind == "":
			case owner != "":
				body.p("\ts.handles.AddOf(hip.%s, uint64(%s), %s, %s)", kind, vs[k], owner, device)
			default:
				body.p("\ts.handles.Add(hip.%s, uint64(%s), %s)", kind, vs[k], device)
			}
		}
		rep := reply(m)
		body.p("\trep := hiprpc.%s{%s}", rep.name, strings.Join(fs, ", "))
		if _, fixed := ty.fixed(rep); fixed {
			body.p("\tvar b [hiprpc.%sLen]byte\n\trep.Put(&b)\n\ts.reply(r, hip.Success, b[:])", rep.name)
		} else {
			body.p("\ts.reply(r, hip.Success, rep.Append(nil))")
		}
	}
	if m.Waits {
		o.p("\ts.mayWait(r, func(r *wire.Request) {\n%s\t})\n}\n", body.String())
	} else {
		o.p("%s}\n", body.String())
	}
}
