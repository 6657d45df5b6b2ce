package main

import (
	"fmt"
	"strings"
)

// form is how a value of a method looks in Go and travels.
type form int

const (
	scalar form = iota // T: integers, floats, enumerations, addresses, handles
	text               // string
	object             // *T: a struct that is copied in or out
	list               // []T, with its length
)

// value is a parameter or result of a method of hip.Runtime.
type value struct {
	name  string // as Go writes a parameter
	goT   string // T of its form, not qualified
	form  form
	param Param
}

// field is the value's name in a message.
func (v value) field() string { return upper(strings.TrimSuffix(v.name, "_")) }

// method is a function of the table as a method of hip.Runtime.
type method struct {
	*Function
	in, out []value
}

// methods are all of them, in the table's order.
func (t *Table) methods() (ms []method) {
	ty := t.types()
	for i := range t.Functions {
		if f := &t.Functions[i]; f.runtime() {
			ms = append(ms, ty.method(f))
		}
	}
	return ms
}

func (ty *types) method(f *Function) method {
	m := method{Function: f}
	if f.Go != "" {
		return m // its values are the handwritten signature's
	}
	lengths := map[string]bool{} // counts of lists that are passed in, which a slice has
	for _, p := range f.Params {
		if p.Count != "" && p.Dir == "in" {
			lengths[p.Count] = true
		}
	}
	for _, p := range f.Params {
		switch {
		case lengths[p.Name]:
		case p.Dir == "out":
			m.out = append(m.out, ty.value(f, p))
		default:
			m.in = append(m.in, ty.value(f, p))
		}
	}
	return m
}

// value classifies a parameter. It panics where the table does not say what a pointer is: an address that nobody meant to be one must not
// reach the other side.
func (ty *types) value(f *Function, p Param) value {
	v := value{name: lower(p.Name), param: p}
	c := strings.TrimSpace(p.Type)
	pointer := strings.HasSuffix(c, "*") && ty.handle(c) == ""
	switch {
	case c == "const char *":
		v.form, v.goT = text, "string"
		return v
	case p.Dir == "addr":
		v.goT = "Ptr"
		return v
	case pointer && p.Dir == "":
		panic(fmt.Sprintf("%s: say with dir what the pointer %s is: in, out or addr", f.Name, p.Name))
	case p.As != "":
		v.goT = p.As
	case pointer && strings.HasSuffix(pointee(c), "*"):
		v.goT = "Ptr"
	case pointer:
		v.goT = ty.goType(pointee(c))
	default:
		v.goT = ty.goType(c)
	}
	if v.goT == "" {
		panic(fmt.Sprintf("%s: no Go type for %s %s", f.Name, c, p.Name))
	}
	switch {
	case p.Count != "":
		v.form = list
	case ty.sizes[v.goT] != 0:
		v.form = object
	}
	return v
}

// argument is the Go type of a value that is passed in.
func (v value) argument(q string) string {
	switch v.form {
	case object:
		return "*" + qualify(q, v.goT)
	case list:
		return "[]" + qualify(q, v.goT)
	}
	return qualify(q, v.goT)
}

// result is the Go type of a value that is returned: big structs by their address.
func (ty *types) result(v value, q string) string {
	if v.form == object && ty.sizes[v.goT] <= 64 {
		return qualify(q, v.goT)
	}
	return v.argument(q)
}

// big reports whether a result is returned by its address.
func (ty *types) big(v value) bool { return v.form == object && ty.sizes[v.goT] > 64 }

func qualify(q, g string) string {
	if g[0] >= 'A' && g[0] <= 'Z' {
		return q + g
	}
	return g
}

// signature is m as a method of hip.Runtime; q qualifies the types ("hip.").
func (ty *types) signature(m method, q string) string {
	if m.Go != "" {
		if q == "" {
			return m.Go
		}
		r := m.Go
		for _, n := range []string{"Thread", "Stream", "Module,", "Launch", "Error", "GraphDesc", "GraphExec", "GraphChange"} {
			for _, before := range []string{" ", "*", "(", "]"} {
				r = strings.ReplaceAll(r, before+n, before+q+n)
			}
		}
		return strings.TrimPrefix(r, q)
	}
	var ps []string
	if m.thread() {
		ps = append(ps, "t "+q+"Thread")
	}
	for _, v := range m.in {
		ps = append(ps, v.name+" "+v.argument(q))
	}
	var rs []string
	for _, v := range m.out {
		rs = append(rs, v.name+" "+ty.result(v, q))
	}
	rs = append(rs, "err "+q+"Error")
	ret := "(" + strings.Join(rs, ", ") + ")"
	if len(rs) == 1 {
		ret = q + "Error"
	}
	return m.method() + "(" + strings.Join(ps, ", ") + ") " + ret
}

// arguments are the names that a call of m passes on.
func (m method) arguments() string {
	var as []string
	if m.thread() {
		as = append(as, "t")
	}
	for _, v := range m.in {
		as = append(as, v.name)
	}
	return strings.Join(as, ", ")
}
