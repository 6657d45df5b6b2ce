package main

import (
	"fmt"
	"slices"
	"strings"
)

// Wrong is what HIP answers to a wrong argument of a kind, where neither the parameter nor the kind of handle says otherwise.
type Wrong struct {
	Null   string `json:"null"`   // a null pointer, string or function
	Enum   string `json:"enum"`   // a number that is none of the enumeration
	Flags  string `json:"flags"`  // bits that mean nothing
	Device string `json:"device"` // an ordinal that no device has
}

// What a parameter may say instead of an error.
const (
	legal   = "ok"      // the call does not mind
	refused = "refused" // any error: the vendor's library crashes, or its answer depends on chance
	depends = "depends" // on the other arguments too
	nothing = "nothing" // of a length that is 0: there is nothing to do, and the call does not look at the rest
)

// kind is what a parameter is to those who judge it.
type kind int

const (
	integer  kind = iota // of no meaning that is known here
	pointer              // to host memory that the call reads or writes
	cstring              // const char *
	callback             // a function of the program
	userData             // a void * that the call hands on
	address              // of memory that a device may reach, or of a kernel's or variable's twin on the host
	handle
	enum
	ordinal // of a device
	flags
	size
	count // an integer that says how many
	real
	structure // passed by value
)

// addresses are parameters of type void * that name memory which a device can reach; other ones are the caller's own.
var addresses = []string{"ptr", "dst", "src", "dest", "addr", "func", "symbol", "hostfunction"}

var ordinals = []string{"device", "deviceid", "device1", "device2", "dev", "ordinal", "peerdeviceid", "srcdevice", "dstdevice", "srcdeviceid", "dstdeviceid"}

func (ty *types) kind(p Param) kind {
	c := strings.TrimSpace(p.Type)
	r, alias := ty.resolve(c), ty.alias[bare(c)]
	name := strings.ReplaceAll(strings.ToLower(p.Name), "_", "")
	switch {
	case strings.Contains(c, "(*)"), strings.Contains(alias, "(*)"):
		return callback
	case c == "const char *":
		return cstring
	case c == "void *" || c == "const void *" || r == "hipDeviceptr_t":
		if p.Dir == "addr" || r == "hipDeviceptr_t" || name == "f" {
			return address
		}
		if p.Dir == "" {
			for _, a := range addresses {
				if strings.Contains(name, a) {
					return address
				}
			}
			if name == "userdata" {
				return userData
			}
		}
		return pointer
	case ty.wrong[bare(c)] != "" || strings.HasSuffix(alias, "*"):
		return handle
	case strings.HasSuffix(c, "*"):
		return pointer
	case ty.structs[r] != nil:
		return structure
	case ty.enums[r] != nil:
		return enum
	case r == "float":
		return real
	case name == "flags":
		return flags
	case (c == "int" || c == "hipDevice_t") && slices.Contains(ordinals, name):
		return ordinal
	case r == "size_t", r == "uint64_t", r == "unsigned long long":
		return size
	}
	for _, n := range []string{"dim", "count", "num", "levels"} {
		if strings.Contains(name, n) {
			return count
		}
	}
	return integer
}

// codes are what a call is answered with for each thing that can be wrong with one parameter: an error, legal, refused, or nothing where
// that is not known.
type codes struct{ null, wrong, zero, huge string }

func (ty *types) codes(f *Function, p Param) codes {
	c := codes{p.Null, p.Wrong, p.Zero, p.Huge}
	or := func(s *string, d string) {
		if *s == "" {
			*s = d
		}
	}
	if p.Optional || p.Nullable {
		or(&c.null, legal)
	}
	switch ty.kind(p) {
	case pointer, cstring, callback:
		or(&c.null, ty.defaults.Null)
	case userData:
		or(&c.null, legal)
	case handle:
		or(&c.wrong, ty.wrong[bare(p.Type)])
		if bare(p.Type) == "hipStream_t" && f.Destroys != p.Name {
			or(&c.null, legal) // the default stream
		}
		or(&c.null, c.wrong)
	case enum:
		or(&c.wrong, ty.defaults.Enum)
	case ordinal:
		or(&c.wrong, ty.defaults.Device)
	case flags:
		or(&c.wrong, ty.defaults.Flags)
	}
	return c
}

// isError reports whether a code is an error that the table names.
func isError(code string) bool { return strings.HasPrefix(code, "hipError") }

// order is the order in which a call's parameters are judged, by their places: those that the row puts first, then what must not be null,
// then the others.
func (ty *types) order(f *Function) (places []int) {
	add := func(k int) {
		if !slices.Contains(places, k) {
			places = append(places, k)
		}
	}
	for _, n := range f.First {
		add(slices.IndexFunc(f.Params, func(p Param) bool { return p.Name == n }))
	}
	for k, p := range f.Params {
		if slices.Contains([]kind{pointer, cstring, callback}, ty.kind(p)) {
			add(k)
		}
	}
	for k := range f.Params {
		add(k)
	}
	return places
}

// mayBeEmpty reports whether p is a list that may be null if it is empty.
func (f *Function) mayBeEmpty(p Param) bool {
	return p.Count != "" && p.Null == "" && !slices.ContainsFunc(f.Params, func(n Param) bool { return n.Name == p.Count && isError(n.Zero) })
}

// otherwise is the Go name of what a call answers to a handle that is none, and whether it is another than its kind's.
func (ty *types) otherwise(f *Function, p Param) (goName string, other bool) {
	c := ty.codes(f, p)
	if !isError(c.wrong) || c.wrong == ty.wrong[bare(p.Type)] {
		return "", false
	}
	goName, _ = constName(c.wrong)
	return "hip." + goName, true
}

// judged are the checks that the C export makes before it crosses into Go, and the parameters whose null they find. Only what can be seen
// of an argument alone is judged here, and nothing that comes after a parameter which somebody else judges.
func (ty *types) judged(f *Function) (checks []string, found map[string]bool) {
	found = map[string]bool{}
	if f.Late {
		return nil, found
	}
	var conds []string
	code, quiet := "", false
	flush := func() {
		if len(conds) > 0 {
			answer := fmt.Sprintf("%s(%s)", ret(f), code)
			if quiet {
				answer = fmt.Sprintf("rw_quiet(%s, 1)", code)
			}
			checks = append(checks, fmt.Sprintf("\tif (%s)\n\t\treturn %s;", strings.Join(conds, " || "), answer))
			conds = nil
		}
	}
	check := func(p Param, c, cond string) {
		if c == refused {
			c = ty.defaults.Null
		}
		q := slices.Contains(f.Quiet, "null") || slices.Contains(f.Quiet, c) || slices.Contains(f.Quiet, p.Name)
		if c != code || q != quiet {
			flush()
		}
		code, quiet = c, q
		conds = append(conds, cond)
	}
	vacuous := slices.ContainsFunc(f.Params, func(p Param) bool { return p.Zero == nothing })
	others := false // whether somebody else's check comes before the next one
	for _, k := range ty.order(f) {
		p := f.Params[k]
		c := ty.codes(f, p)
		kind := ty.kind(p)
		first := slices.Contains(f.First, p.Name)
		if !others {
			switch {
			case kind == pointer || kind == cstring || kind == callback, (kind == address || kind == handle) && p.Null != "" && !vacuous:
				switch {
				case c.null == legal || c.null == depends:
				case f.mayBeEmpty(p):
					check(p, c.null, "("+p.Count+" && !"+p.Name+")")
				default:
					check(p, c.null, "!"+p.Name)
					found[p.Name] = true
				}
			case (kind == size || kind == count || kind == integer) && isError(c.zero):
				check(p, c.zero, "!"+p.Name)
			}
		}
		if first && (kind == handle || kind == enum || kind == ordinal || kind == flags) {
			others = true
		}
	}
	flush()
	return checks, found
}

// ret is the function of C that an export of f ends with.
func ret(f *Function) string {
	if f.Name == "hipGetDeviceCount" { // it may count none
		return "rw_answer"
	}
	return "rw_return"
}

// checkCodes refuses a row whose codes are none, or say what cannot be.
func (t *Table) checkCodes(ty *types, f *Function) error {
	for _, p := range f.Params {
		k := ty.kind(p)
		for _, c := range []struct {
			key, code string
			kinds     []kind
		}{
			{"null", p.Null, []kind{pointer, cstring, callback, userData, address, handle}},
			{"wrong", p.Wrong, []kind{address, handle, enum, ordinal, flags}},
			{"zero", p.Zero, []kind{size, count, integer}},
			{"huge", p.Huge, []kind{size, count, integer}},
		} {
			switch {
			case c.code == "":
			case !slices.Contains(c.kinds, k):
				return fmt.Errorf("%s: %s has no %q", f.Name, p.Name, c.key)
			case !ty.errors[c.code] && !slices.Contains([]string{legal, refused, depends, nothing}, c.code):
				return fmt.Errorf("%s: %s: %q is no error", f.Name, p.Name, c.code)
			}
		}
	}
	for _, q := range f.Quiet {
		if q != "null" && !ty.errors[q] && !strings.Contains(q, "(") && !slices.ContainsFunc(f.Params, func(p Param) bool { return p.Name == q }) {
			return fmt.Errorf("%s: %q is no error that could be quiet", f.Name, q)
		}
	}
	if f.Late && f.Class != "local" && !f.custom("export") {
		return fmt.Errorf("%s: nobody finds what is null", f.Name)
	}
	for _, n := range f.First {
		if !slices.ContainsFunc(f.Params, func(p Param) bool { return p.Name == n }) {
			return fmt.Errorf("%s: no parameter %s", f.Name, n)
		}
	}
	return nil
}
