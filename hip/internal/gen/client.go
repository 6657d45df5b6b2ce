package main

import (
	"fmt"
	"strings"
)

// clientGo emits hipremote's methods of hip.Runtime: encode, call, decode.
func clientGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hipremote\n\nimport (\n\t\"github.com/rocwire/rocwire/hip\"\n\t\"github.com/rocwire/rocwire/hip/hiprpc\"\n\t\"github.com/rocwire/rocwire/wire\"\n)\n")
	for _, m := range t.methods() {
		switch {
		case m.custom("client"):
		case m.Class == "async":
			ty.posted(&o, m)
		default:
			ty.called(&o, m)
		}
	}
	return o.String()
}

// unfit emits the conditions under which a call cannot be encoded.
func (m method) unfit(o *out, fail string) {
	for _, v := range m.in {
		switch {
		case v.form == list:
			o.p("\tif len(%s) > hiprpc.MaxList {\n\t\t%s\n\t}", v.name, fail)
		case v.form == object && !v.param.Nullable:
			o.p("\tif %s == nil {\n\t\t%s\n\t}", v.name, fail)
		}
	}
}

// posted emits a call that is not answered: what is wrong with it and can be seen from here is its own failure, and not a later call's.
func (ty *types) posted(o *out, m method) {
	sig := ty.signature(m, "hip.")
	name := "post" + m.method()
	o.p("// %s is %s.\nfunc (c *Client) %s {\n\tct := c.begin()\n\tcode := c.%s(&ct, %s)\n\tc.end(&ct, hip.%s, code)\n\treturn code\n}\n",
		m.method(), m.Name, sig, name, m.arguments(), m.op())
	o.p("func (c *Client) %s {", strings.Replace(sig, m.method()+"(", name+"(ct *callTime, ", 1))
	m.unfit(o, "return hip.ErrorInvalidValue")
	var body out
	check := func(cond, call string) {
		body.p("\tif %s {\n\t\t%s\n\t}", cond, call)
	}
	for _, streams := range []bool{false, true} { // HIP looks at the stream last
		for _, v := range m.in {
			k := ty.handleKind(v.goT)
			if !ty.posts[v.goT] || (v.goT == "Stream") != streams {
				continue
			}
			if wrong, other := ty.otherwise(m.Function, v.param); other {
				check("code == hip.Success && c.handles.Check(hip."+k+", uint64("+v.name+")) != hip.Success", "code = "+wrong)
			} else {
				check("code == hip.Success", fmt.Sprintf("code = c.handles.Check(hip.%s, uint64(%s))", k, v.name))
			}
		}
	}
	for _, v := range m.in {
		if v.param.Reserved {
			check("code == hip.Success && "+v.name+" != 0", "code = hip.ErrorInvalidValue")
		}
	}
	if w := m.Writes; w != nil {
		at := lower(w.At)
		if w.Bytes != "" {
			check("code == hip.Success", fmt.Sprintf("%s, code = c.writes(l, %s, %s, %d)", at, at, lower(w.Bytes), w.Unit))
		} else {
			check("code == hip.Success", fmt.Sprintf("%s, code = c.writesRows(l, %s, %s, %s, %s)", at, at, lower(w.Pitch), lower(w.Width), lower(w.Height)))
		}
	}
	stream := "hip.StreamNull"
	for _, v := range m.in {
		if v.goT == "Stream" {
			stream = v.name
		}
	}
	o.p("\tl, code := c.posting(t, "+stream+")\n%s\tif code != hip.Success {\n\t\treturn code\n\t}", body.String())
	q := request(m)
	o.p("\tq := %s", q.literal())
	if _, fixed := ty.fixed(q); fixed {
		o.p("\tvar req [hiprpc.%sLen]byte\n\tq.Put(&req)\n\treturn c.send(ct, l, hip.%s, req[:], nil)\n}\n", q.name, m.op())
	} else {
		o.p("\treturn c.send(ct, l, hip.%s, q.Append(nil), nil)\n}\n", m.op())
	}
}

// called emits a call that waits for its reply.
func (ty *types) called(o *out, m method) {
	sig := ty.signature(m, "hip.")
	if m.custom("client-wrap") { // the handwritten method calls this one
		sig = strings.ToLower(sig[:1]) + sig[1:]
	} else {
		o.p("// %s is %s.", m.method(), m.Name)
	}
	o.p("func (c *Client) %s {", sig)
	if len(m.out) == 0 {
		m.unfit(o, "return hip.ErrorInvalidValue")
	} else {
		m.unfit(o, "err = hip.ErrorInvalidValue\n\t\treturn")
	}
	q := request(m)
	n, fixed := ty.fixed(q)
	if n > 0 || !fixed {
		o.p("\tq := %s", q.literal())
	}
	o.p("\tm := wire.GetMsg()\n\tdefer wire.PutMsg(m)")
	if n > 0 || !fixed {
		o.p("\tm.Req = q.Append(m.Req[:0])")
	} else {
		o.p("\tm.Req = m.Req[:0]")
	}
	call := fmt.Sprintf("c.call(hip.%s, m)", m.op())
	switch {
	case m.Class == "cached":
		call = fmt.Sprintf("c.cachedCall(hip.%s, m)", m.op())
	case m.Syncs == "stream":
		call = fmt.Sprintf("c.callSync(hip.%s, m, come{device: t.Device, stream: %s, what: ofStream})", m.op(), m.handle("stream"))
	case m.Syncs == "device":
		call = fmt.Sprintf("c.callSync(hip.%s, m, come{device: t.Device, what: ofDevice})", m.op())
	case m.Syncs == "event":
		call = fmt.Sprintf("c.callSync(hip.%s, m, come{device: t.Device, event: uint64(%s), what: ofEvent})", m.op(), m.handle("event"))
	}
	if len(m.out) == 0 {
		for _, v := range m.in {
			if v.param.Name == m.Destroys {
				o.p("\treturn c.destroy(t, hip.%s, uint64(%s), func() hip.Error { return %s })\n}\n", ty.handleKind(v.goT), v.name, call)
				return
			}
		}
		o.p("\treturn %s\n}\n", call)
		return
	}
	rep := reply(m)
	o.p("\tif err = %s; err != hip.Success {\n\t\treturn\n\t}\n\tvar rep hiprpc.%s", call, rep.name)
	bad := []string{"!rep.Decode(m.Rep)"}
	var rs []string
	for _, v := range m.out {
		expr := "rep." + v.field()
		if ty.big(v) {
			expr = "&" + expr
		}
		rs = append(rs, expr)
		if v.form == list {
			bad = append(bad, "uint64(len(rep."+v.field()+")) > uint64("+lower(v.param.Count)+")")
		}
	}
	o.p("\tif %s {\n\t\terr = c.violation(hip.%s)\n\t\treturn\n\t}", strings.Join(bad, " || "), m.op())
	ty.made(o, m)
	if m.Learn {
		o.p("\tc.learn%s(&q, &rep)", m.method())
	}
	o.p("\treturn %s, hip.Success\n}\n", strings.Join(rs, ", "))
}

// made emits the client's note of the handles that a call has returned.
func (ty *types) made(o *out, m method) {
	for _, v := range m.out {
		kind := ty.handleKind(v.goT)
		if kind == "" || m.Class == "cached" {
			continue
		}
		device, owner := "0", ""
		if m.thread() {
			device = "t.Device"
		}
		for _, p := range m.in {
			if p.param.Name == m.Of && m.Of != "" {
				owner = fmt.Sprintf("hip.%s, uint64(%s), ", ty.handleKind(p.goT), p.name)
			}
		}
		if owner != "" {
			o.p("\tc.handles.AddOf(hip.%s, uint64(rep.%s), %s%s)", kind, v.field(), owner, device)
		} else {
			o.p("\tc.handles.Add(hip.%s, uint64(rep.%s), %s)", kind, v.field(), device)
		}
	}
}
