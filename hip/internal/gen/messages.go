package main

import (
	"fmt"
	"strconv"
	"strings"
)

// wireOf is how a number travels: its bits and the unsigned type that carries them; or, of a float, how to get at its bits.
func wireOf(goT string) (bits int, signed, float bool) {
	switch goT {
	case "uint64":
		return 64, false, false
	case "int64":
		return 64, true, false
	case "uint32":
		return 32, false, false
	case "uint16":
		return 16, false, false
	case "uint8", "byte":
		return 8, false, false
	case "float32":
		return 32, false, true
	case "int32":
		return 32, true, false
	}
	return 0, false, false
}

// bits is the number of bits of a number type, that of enumerations and handles included.
func (ty *types) bits(goT string) int {
	if b, _, _ := wireOf(goT); b != 0 {
		return b
	}
	if goT == "Ptr" || ty.handleKind(goT) != "" {
		return 64
	}
	return 32 // enumerations
}

// message is the fixed part of a request or a reply.
type message struct {
	name   string
	of     *Function
	thread bool
	values []value
}

// fixed is the length of the encoded message, false if that depends on its values.
func (ty *types) fixed(m message) (n int, ok bool) {
	if m.thread {
		n = 8
	}
	for _, v := range m.values {
		if v.form != scalar {
			return 0, false
		}
		n += ty.bits(v.goT) / 8
	}
	return n, true
}

func request(m method) message {
	return message{m.method() + "Request", m.Function, m.thread(), m.in}
}

func reply(m method) message { return message{m.method() + "Reply", m.Function, false, m.out} }

// generated reports whether the call travels in a message that the table makes.
func (m method) generated() bool { return m.Go == "" && !(m.custom("client") && m.custom("worker")) }

// messagesGo emits the requests and replies of all calls that the table describes completely.
func messagesGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hiprpc\n\nimport (\n\t\"encoding/binary\"\n\t\"math\"\n\n\t\"github.com/rocwire/rocwire/hip\"\n\t\"github.com/rocwire/rocwire/wire\"\n)\n")
	for _, m := range t.methods() {
		if !m.generated() {
			continue
		}
		o.p("// %sRequest asks for %s.", m.method(), m.Name)
		ty.message(&o, request(m))
		if len(m.out) > 0 {
			o.p("// %sReply is what %s returns.", m.method(), m.Name)
			ty.message(&o, reply(m))
		}
	}
	o.p("// StreamOf is the stream that a posted call with one of these messages is on; false if it is on none.\nfunc StreamOf(op uint16, fixed []byte) (hip.Stream, bool) {\n\tswitch op {")
	for _, m := range t.methods() {
		if !m.generated() || m.Class != "async" {
			continue
		}
		for _, v := range m.in {
			if v.goT == "Stream" && v.form == scalar {
				o.p("\tcase hip.%s:\n\t\tvar q %s\n\t\tok := q.Decode(fixed)\n\t\treturn q.%s, ok", m.op(), request(m).name, v.field())
			}
		}
	}
	o.p("\t}\n\treturn 0, false\n}")
	return o.String()
}

// messagesTest emits a list of the messages for their fuzz target.
func messagesTest(t *Table) string {
	var o out
	o.p(banner + "package hiprpc\n\nvar allMessages = []func() message{")
	for _, m := range t.methods() {
		if !m.generated() {
			continue
		}
		o.p("\tfunc() message { return new(%s) },", request(m).name)
		if len(m.out) > 0 {
			o.p("\tfunc() message { return new(%s) },", reply(m).name)
		}
	}
	o.p("}")
	return o.String()
}

func (ty *types) message(o *out, m message) {
	o.p("type %s struct {", m.name)
	if m.thread {
		o.p("\tThread hip.Thread")
	}
	for _, v := range m.values {
		t := v.argument("hip.")
		if v.form == object && !v.param.Nullable {
			t = t[1:]
		}
		o.p("\t%s %s", v.field(), t)
	}
	o.p("}\n")
	if n, ok := ty.fixed(m); ok {
		ty.fixedMessage(o, m, n)
	} else {
		ty.openMessage(o, m)
	}
}

// put is one number of a message of fixed length: where it lies and how it is converted.
func (ty *types) put(expr, goT string, at int) string {
	b, _, float := wireOf(goT)
	if b == 0 {
		b = ty.bits(goT)
	}
	switch {
	case float:
		expr = "math.Float32bits(" + expr + ")"
	case goT != "uint"+strconv.Itoa(b):
		expr = fmt.Sprintf("uint%d(%s)", b, expr)
	}
	if b == 8 {
		return fmt.Sprintf("\ta[%d] = %s", at, expr)
	}
	return fmt.Sprintf("\tbinary.LittleEndian.PutUint%d(a[%d:], %s)", b, at, expr)
}

func (ty *types) get(goT string, at int) string {
	b, _, float := wireOf(goT)
	if b == 0 {
		b = ty.bits(goT)
	}
	expr := fmt.Sprintf("binary.LittleEndian.Uint%d(a[%d:])", b, at)
	if b == 8 {
		expr = fmt.Sprintf("a[%d]", at)
	}
	switch {
	case float:
		return "math.Float32frombits(" + expr + ")"
	case goT != "uint"+strconv.Itoa(b):
		return qualify("hip.", goT) + "(" + expr + ")"
	}
	return expr
}

func (ty *types) fixedMessage(o *out, m message, n int) {
	type part struct {
		field, goT string
		at         int
	}
	var parts []part
	at := 0
	if m.thread {
		parts, at = append(parts, part{"Thread.Device", "int32", 0}, part{"Thread.ID", "uint32", 4}), 8
	}
	for _, v := range m.values {
		parts = append(parts, part{v.field(), v.goT, at})
		at += ty.bits(v.goT) / 8
	}
	o.p("// %sLen is the length of an encoded %s.\nconst %sLen = %d\n", m.name, m.name, m.name, n)
	o.p("// Put encodes q.\nfunc (q *%s) Put(a *[%sLen]byte) {", m.name, m.name)
	for _, p := range parts {
		o.p("%s", ty.put("q."+p.field, p.goT, p.at))
	}
	o.p("}\n\n// Append encodes q. It does without an Enc so that b may be on the caller's stack.\nfunc (q *%s) Append(b []byte) []byte {\n\tvar a [%sLen]byte\n\tq.Put(&a)\n\treturn append(b, a[:]...)\n}\n", m.name, m.name)
	o.p("// Decode reads what Append wrote; false if b is anything else.\nfunc (q *%s) Decode(b []byte) bool {\n\tif len(b) != %sLen {\n\t\treturn false\n\t}", m.name, m.name)
	if len(parts) > 0 {
		o.p("\ta := (*[%sLen]byte)(b)", m.name)
	}
	for _, p := range parts {
		o.p("\tq.%s = %s", p.field, ty.get(p.goT, p.at))
	}
	o.p("\treturn true\n}\n")
}

func (ty *types) openMessage(o *out, m message) {
	o.p("// Append encodes q.\nfunc (q *%s) Append(b []byte) []byte {\n\te := wire.Enc{B: b}", m.name)
	if m.thread {
		o.p("\te.I32(q.Thread.Device)\n\te.U32(q.Thread.ID)")
	}
	for _, v := range m.values {
		f := "q." + v.field()
		switch {
		case v.form == text:
			o.p("\te.Str(%s)", f)
		case v.form == list:
			o.p("\tappendList(&e, %s)", f)
		case v.form == object && v.param.Nullable:
			o.p("\te.Bool(%s != nil)\n\tif %s != nil {\n\t\tappendStruct(&e, %s)\n\t}", f, f, f)
		case v.form == object:
			o.p("\tappendStruct(&e, &%s)", f)
		default:
			o.p("\t%s", ty.encode(v.goT, f))
		}
	}
	o.p("\treturn e.B\n}\n")
	o.p("// Decode reads what Append wrote; false if b is anything else. Nothing of q lies in b.\nfunc (q *%s) Decode(b []byte) bool {\n\td := wire.NewDec(b)", m.name)
	if m.thread {
		o.p("\tq.Thread = hip.Thread{Device: d.I32(), ID: d.U32()}")
	}
	for _, v := range m.values {
		f := "q." + v.field()
		g := qualify("hip.", v.goT)
		switch {
		case v.form == text:
			o.p("\t%s = d.Str()", f)
		case v.form == list:
			o.p("\t%s = takeList[%s](&d)", f, g)
		case v.form == object && v.param.Nullable:
			o.p("\tif %s = nil; d.Bool() {\n\t\t%s = new(%s)\n\t\ttakeStruct(&d, %s)\n\t}", f, f, g, f)
		case v.form == object:
			o.p("\ttakeStruct(&d, &%s)", f)
		default:
			o.p("\t%s = %s", f, ty.decode(v.goT))
		}
	}
	o.p("\treturn d.Done()\n}\n")
}

// codec is the codec's method for a number and the Go type that it takes.
func (ty *types) codec(goT string) (method, carrier string) {
	b, signed, float := wireOf(goT)
	switch {
	case float:
		return "F32", "float32"
	case b == 0 && ty.bits(goT) == 64:
		return "U64", "uint64"
	case b == 0:
		return "I32", "int32"
	case signed:
		return fmt.Sprintf("I%d", b), fmt.Sprintf("int%d", b)
	}
	return fmt.Sprintf("U%d", b), fmt.Sprintf("uint%d", b)
}

func (ty *types) encode(goT, expr string) string {
	m, c := ty.codec(goT)
	if c != goT {
		expr = c + "(" + expr + ")"
	}
	return fmt.Sprintf("e.%s(%s)", m, expr)
}

func (ty *types) decode(goT string) string {
	m, c := ty.codec(goT)
	if c == goT {
		return fmt.Sprintf("d.%s()", m)
	}
	return fmt.Sprintf("%s(d.%s())", qualify("hip.", goT), m)
}

// literal is a message made of a method's parameters.
func (m message) literal() string {
	var fs []string
	if m.thread {
		fs = append(fs, "Thread: t")
	}
	for _, v := range m.values {
		expr := v.name
		if v.form == object && !v.param.Nullable {
			expr = "*" + expr
		}
		fs = append(fs, v.field()+": "+expr)
	}
	return "hiprpc." + m.name + "{" + strings.Join(fs, ", ") + "}"
}
