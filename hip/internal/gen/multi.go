package main

import "strings"

// multiStructs are the structs with numbers of devices or handles in them, and what makes them a worker's own.
var multiStructs = map[string]string{
	"MemLocation": "location", "MemPoolProps": "poolProps", "MemAllocationProp": "allocationProp", "MemAccessDesc": "accessDescs",
	"ResourceDesc": "resource", "DrvResourceDesc": "drvResource",
}

// multiAddresses are the handles that kernels are given: addresses of device memory.
var multiAddresses = map[string]bool{"TextureObject": true, "SurfaceObject": true}

// multiGo emits hipmulti's methods: they find out from the arguments which worker a call is for, and make arguments and results its own. Where
// a row says "multi" among its custom parts the method is written by hand, and so it is where the signature is.
func multiGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hipmulti\n\nimport \"github.com/rocwire/rocwire/hip\"\n")
	for _, m := range t.methods() {
		if m.custom("multi") || m.Go != "" {
			continue
		}
		ty.route(&o, m)
	}
	return o.String()
}

// device reports whether a value is the number of a device.
func (v value) device() bool {
	return v.form == scalar && v.goT == "int32" && strings.Contains(strings.ToLower(v.name), "device")
}

func (ty *types) route(o *out, m method) {
	o.p("// %s is %s.\nfunc (r *Runtime) %s {\n\tc := r.call()", m.method(), m.Name, ty.signature(m, "hip."))
	stream := false
	for _, v := range m.in {
		if k := ty.handleKind(v.goT); k != "" && v.form == scalar && !multiAddresses[v.goT] {
			if code, ok := constName(v.param.Wrong); ok {
				o.p("\t%s = hip.%s(c.handleOr(hip.%s, uint64(%s), hip.%s))", v.name, v.goT, k, v.name, code)
			} else {
				o.p("\t%s = hip.%s(c.handle(hip.%s, uint64(%s)))", v.name, v.goT, k, v.name)
			}
			stream = stream || v.goT == "Stream"
		}
	}
	for _, v := range m.in {
		switch {
		case v.form != scalar || stream: // a stream is where a call runs, whatever it touches
		case v.goT == "Ptr":
			o.p("\tc.address(%s)", v.name)
		case multiAddresses[v.goT]:
			o.p("\tc.address(hip.Ptr(%s))", v.name)
		}
	}
	for _, v := range m.in {
		switch {
		case v.device():
			o.p("\t%s = c.device(%s)", v.name, v.name)
		case (v.form == object || v.form == list) && multiStructs[v.goT] != "":
			o.p("\t%s = c.%s(%s)", v.name, multiStructs[v.goT], v.name)
		case (v.form == object || v.form == list) && ty.personal(v.goT):
			panic(m.Name + ": say in multiStructs how a " + v.goT + " is made a worker's own")
		}
	}
	find, args := "c.any()", m.arguments()
	if m.thread() {
		find = "c.of(&t)"
	}
	if len(m.out) == 0 {
		o.p("\tw, err := %s\n\tif err != hip.Success {\n\t\treturn err\n\t}\n\treturn w.%s(%s)\n}\n", find, m.method(), args)
		return
	}
	var names []string
	for _, v := range m.out {
		names = append(names, v.name)
	}
	o.p("\tw, err := %s\n\tif err != hip.Success {\n\t\treturn\n\t}\n\tif %s, err = w.%s(%s); err != hip.Success {\n\t\treturn\n\t}",
		find, strings.Join(names, ", "), m.method(), args)
	judged := false
	for _, v := range m.out {
		line := ""
		switch {
		case v.form == scalar && multiAddresses[v.goT]:
			line = "c.claim(hip.Ptr(" + v.name + "))"
		case v.form == scalar && ty.handleKind(v.goT) != "":
			line = v.name + " = hip." + v.goT + "(c.made(uint64(" + v.name + ")))"
		case v.form == scalar && v.goT == "Ptr":
			line = "c.claim(" + v.name + ")"
		case v.device():
			line = v.name + " = c.number(" + v.name + ")"
		case v.form == object && multiStructs[v.goT] != "":
			amp := "&"
			if ty.big(v) {
				amp = ""
			}
			line = "c." + multiStructs[v.goT] + "Out(" + amp + v.name + ")"
		case (v.form == object || v.form == list) && ty.personal(v.goT):
			panic(m.Name + ": say in multiStructs how a " + v.goT + " is made the program's own")
		}
		if line != "" {
			o.p("\t%s", line)
			judged = true
		}
	}
	if judged {
		o.p("\terr = c.err")
	}
	o.p("\treturn\n}\n")
}

// personal reports whether a struct has handles or places in it, which differ between workers.
func (ty *types) personal(goT string) bool {
	for _, s := range ty.structs {
		if goName(s.Name) == goT {
			return ty.personalFields(s.Fields)
		}
	}
	return false
}

func (ty *types) personalFields(fields []Field) bool {
	for _, f := range fields {
		elem, _ := array(f.Type)
		if ty.handle(elem) != "" || bare(elem) == "hipMemLocation" || ty.personalFields(f.Members) {
			return true
		}
		if s := ty.structs[ty.resolve(elem)]; s != nil && ty.personalFields(s.Fields) {
			return true
		}
	}
	return false
}
