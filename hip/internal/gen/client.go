package main

import (
	"fmt"
	"strconv"
	"strings"
)

// encode emits the appending of one value to e.
func (ty *types) encode(g, expr string) string {
	m, c := ty.wire(g)
	if g == c {
		return fmt.Sprintf("e.%s(%s)", m, expr)
	}
	return fmt.Sprintf("e.%s(%s(%s))", m, c, expr)
}

// value is something of a Go type that is to be encoded.
type value struct{ goType, expr string }

// array emits the encoding of numbers into an array, which stays on the stack: what goes through an Enc does not. False if not all are numbers.
func (ty *types) array(name string, values []value) (body []string, size int, ok bool) {
	for _, v := range values {
		m, c := ty.wire(v.goType)
		bits, expr := m[1:], v.expr
		if v.goType != c {
			expr = c + "(" + expr + ")"
		}
		switch m[0] {
		case 'I':
			expr = "uint" + bits + "(" + expr + ")"
		case 'F':
			expr = "math.Float" + bits + "bits(" + expr + ")"
		case 'S':
			return nil, 0, false
		}
		if bits == "8" {
			body = append(body, fmt.Sprintf("%s[%d] = %s", name, size, expr))
			size++
			continue
		}
		body = append(body, fmt.Sprintf("binary.LittleEndian.PutUint%s(%s[%d:], %s)", bits, name, size, expr))
		n, _ := strconv.Atoi(bits)
		size += n / 8
	}
	return body, size, true
}

// request emits the encoding of a posted call.
func (ty *types) request(f *Function) (body []string, size int) {
	var list []value
	if f.thread() {
		list = []value{{"int32", "t.Device"}, {"uint32", "t.ID"}}
	}
	for _, p := range f.ins() {
		list = append(list, value{ty.param(f, p), lower(p.Name)})
	}
	body, size, ok := ty.array("req", list)
	if !ok {
		panic("gen: " + f.Name + " is async and takes a string")
	}
	return body, size
}

// decode is the expression that takes one value off d.
func (ty *types) decode(g string) string {
	m, c := ty.wire(g)
	if g == c {
		return fmt.Sprintf("d.%s()", m)
	}
	return fmt.Sprintf("%s(d.%s())", qualify("hip.", g), m)
}

// isStruct reports whether the Go type is one that travels as its bytes.
func (ty *types) isStruct(p Param) bool { return ty.structs[ty.resolve(pointee(p.Type))] != nil }

// clientGo emits hipremote's methods of hip.Runtime: encode, call, decode.
func clientGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hipremote\n\nimport (\n\t\"encoding/binary\"\n\n\t\"github.com/rocwire/rocwire/hip\"\n\t\"github.com/rocwire/rocwire/wire\"\n)\n")
	for i := range t.Functions {
		f := &t.Functions[i]
		if !f.runtime() || f.custom("client") {
			continue
		}
		o.p("// %s is %s.\nfunc (c *Client) %s {", f.method(), f.Name, ty.signature(f, "hip."))
		if f.Class == "async" {
			body, size := ty.request(f)
			o.p("\tvar req [%d]byte\n\t%s\n\treturn c.post(hip.%s, req[:])\n}\n", size, strings.Join(body, "\n\t"), f.op())
			continue
		}
		var body []string
		if f.thread() {
			body = append(body, "e.I32(t.Device)", "e.U32(t.ID)")
		}
		for _, p := range f.ins() {
			body = append(body, ty.encode(ty.param(f, p), lower(p.Name)))
		}
		o.p("\tm := wire.GetMsg()\n\tdefer wire.PutMsg(m)\n\te := wire.Enc{B: m.Req[:0]}\n\t%s\n\tm.Req = e.B", strings.Join(body, "\n\t"))
		call := "call"
		if f.Class == "cached" {
			call = "cachedCall"
		}
		if len(f.outs()) == 0 {
			o.p("\treturn c.%s(hip.%s, m)\n}\n", call, f.op())
			continue
		}
		o.p("\tif err = c.%s(hip.%s, m); err != hip.Success {\n\t\treturn\n\t}\n\td := wire.NewDec(m.Rep)", call, f.op())
		for _, p := range f.outs() {
			g, n := ty.result(f, p), lower(p.Name)
			if ty.isStruct(p) {
				if strings.HasPrefix(g, "*") {
					o.p("\t%s = new(%s)\n\tdecodeStruct(&d, %s)", n, qualify("hip.", g[1:]), n)
				} else {
					o.p("\tdecodeStruct(&d, &%s)", n)
				}
				continue
			}
			o.p("\t%s = %s", n, ty.decode(g))
		}
		o.p("\tif d.Bad() {\n\t\terr = c.violation(hip.%s)\n\t}\n\treturn\n}\n", f.op())
	}
	return o.String()
}

// results emits the reply with a call's results v0, v1, ….
func (ty *types) results(f *Function) string {
	var body out
	var list []value
	structs := false
	for k, p := range f.outs() {
		list = append(list, value{ty.result(f, p), fmt.Sprintf("v%d", k)})
		structs = structs || ty.isStruct(p)
	}
	if !structs {
		if lines, size, ok := ty.array("rep", list); ok {
			body.p("\tvar rep [%d]byte\n\t%s\n\ts.reply(r, hip.Success, rep[:])", size, strings.Join(lines, "\n\t"))
			return strings.TrimSuffix(body.String(), "\n")
		}
	}
	body.p("\tvar e wire.Enc")
	for k, p := range f.outs() {
		switch g, expr := list[k].goType, list[k].expr; {
		case ty.isStruct(p) && strings.HasPrefix(g, "*"):
			body.p("\tencodeStruct(&e, %s)", expr)
		case ty.isStruct(p):
			body.p("\tencodeStruct(&e, &%s)", expr)
		default:
			body.p("\t%s", ty.encode(g, expr))
		}
	}
	body.p("\ts.reply(r, hip.Success, e.B)")
	return strings.TrimSuffix(body.String(), "\n")
}

var kinds = map[string]string{"Stream": "kindStream", "Event": "kindEvent", "Module": "kindModule", "Function": "kindFunction", "MemPool": "kindMemPool"}

// dispatchGo emits the worker's side: decode, check every handle, call, reply.
func dispatchGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package worker\n\nimport (\n\t\"encoding/binary\"\n\t\"math\"\n\n\t\"github.com/rocwire/rocwire/hip\"\n\t\"github.com/rocwire/rocwire/wire\"\n)\n")
	o.p("// dispatch executes one request; false if its opcode is not ours.\nfunc (s *session) dispatch(r *wire.Request) bool {\n\tswitch r.Op {")
	for i := range t.Functions {
		if f := &t.Functions[i]; f.runtime() {
			o.p("\tcase hip.%s:\n\t\ts.do%s(r)", f.op(), f.method())
		}
	}
	o.p("\tdefault:\n\t\treturn false\n\t}\n\treturn true\n}\n")
	for i := range t.Functions {
		f := &t.Functions[i]
		if !f.runtime() || f.custom("worker") {
			continue
		}
		o.p("func (s *session) do%s(r *wire.Request) {\n\td := wire.NewDec(r.Fixed)", f.method())
		var args []string
		if f.thread() {
			o.p("\tt := hip.Thread{Device: d.I32(), ID: d.U32()}")
			args = append(args, "t")
		}
		for _, p := range f.ins() {
			g := ty.param(f, p)
			o.p("\t%s := %s", lower(p.Name), ty.decode(g))
			args = append(args, lower(p.Name))
		}
		o.p("\tif d.Bad() {\n\t\ts.malformed(r)\n\t\treturn\n\t}")
		for _, p := range f.ins() {
			if k := kinds[ty.param(f, p)]; k != "" {
				o.p("\tif err := s.handles.check(%s, uint64(%s)); err != hip.Success {\n\t\ts.reply(r, err, nil)\n\t\treturn\n\t}", k, lower(p.Name))
			}
		}
		var body out
		var vs []string
		for k := range f.outs() {
			vs = append(vs, fmt.Sprintf("v%d", k))
		}
		body.p("\t%s := s.rt.%s(%s)", strings.Join(append(vs, "err"), ", "), f.method(), strings.Join(args, ", "))
		if f.Destroys != "" {
			last := f.ins()[len(f.ins())-1]
			body.p("\tif err == hip.Success {\n\t\ts.handles.remove(%s, uint64(%s))\n\t}", kinds[ty.param(f, last)], lower(last.Name))
		}
		if len(f.outs()) == 0 {
			body.p("\ts.reply(r, err, nil)")
		} else {
			body.p("\tif err != hip.Success {\n\t\ts.reply(r, err, nil)\n\t\treturn\n\t}")
			if k := kinds[ty.result(f, f.outs()[0])]; k != "" {
				body.p("\ts.handles.add(%s, uint64(v0), %s)", k, f.device())
			}
			body.p("%s", ty.results(f))
		}
		if f.Waits {
			o.p("\ts.wait(r, func(r *wire.Request) {\n%s\t})\n}\n", body.String())
		} else {
			o.p("%s}\n", body.String())
		}
	}
	return o.String()
}
