package main

import "strings"

// clientGo emits hipremote's methods of hip.Runtime: encode, call, decode.
func clientGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hipremote\n\nimport (\n\t\"github.com/rocwire/rocwire/hip\"\n\t\"github.com/rocwire/rocwire/hip/hiprpc\"\n\t\"github.com/rocwire/rocwire/wire\"\n)\n")
	for _, m := range t.methods() {
		if m.custom("client") {
			continue
		}
		o.p("// %s is %s.\nfunc (c *Client) %s {", m.method(), m.Name, ty.signature(m, "hip."))
		fail := func(code string) string {
			if len(m.out) == 0 {
				return "return " + code
			}
			return "err = " + code + "\n\t\treturn"
		}
		for _, v := range m.in {
			switch {
			case v.form == list:
				o.p("\tif len(%s) > hiprpc.MaxList {\n\t\t%s\n\t}", v.name, fail("hip.ErrorInvalidValue"))
			case v.form == object && !v.param.Nullable:
				o.p("\tif %s == nil {\n\t\t%s\n\t}", v.name, fail("hip.ErrorInvalidValue"))
			}
		}
		q := request(m)
		n, fixed := ty.fixed(q)
		if n > 0 || !fixed {
			o.p("\tq := %s", q.literal())
		}
		if m.Class == "async" {
			if fixed {
				o.p("\tvar req [hiprpc.%sLen]byte\n\tq.Put(&req)\n\treturn c.post(hip.%s, req[:])\n}\n", q.name, m.op())
			} else {
				o.p("\treturn c.post(hip.%s, q.Append(nil))\n}\n", m.op())
			}
			continue
		}
		o.p("\tm := wire.GetMsg()\n\tdefer wire.PutMsg(m)")
		if n > 0 || !fixed {
			o.p("\tm.Req = q.Append(m.Req[:0])")
		} else {
			o.p("\tm.Req = m.Req[:0]")
		}
		call := "call"
		if m.Class == "cached" {
			call = "cachedCall"
		}
		if len(m.out) == 0 {
			o.p("\treturn c.%s(hip.%s, m)\n}\n", call, m.op())
			continue
		}
		o.p("\tif err = c.%s(hip.%s, m); err != hip.Success {\n\t\treturn\n\t}\n\tvar rep hiprpc.%s", call, m.op(), reply(m).name)
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
		o.p("\tif %s {\n\t\terr = c.violation(hip.%s)\n\t\treturn\n\t}\n\treturn %s, hip.Success\n}\n", strings.Join(bad, " || "), m.op(), strings.Join(rs, ", "))
	}
	return o.String()
}
