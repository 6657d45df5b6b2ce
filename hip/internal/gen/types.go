package main

import (
	"fmt"
	"strconv"
	"strings"
)

// goScalars are the C types that the wire and Go carry as one number.
var goScalars = map[string]string{
	"size_t": "uint64", "unsigned int": "uint32", "uint32_t": "uint32", "int": "int32", "float": "float32",
	"unsigned short": "uint16", "unsigned char": "uint8", "uint16_t": "uint16", "uint8_t": "uint8",
	"unsigned long long": "uint64", "uint64_t": "uint64", "hipDevice_t": "int32", "hipDeviceptr_t": "Ptr",
	"char": "byte", "long long": "int64", "unsigned long": "uint64", "hipDeviceAttribute_t": "DeviceAttribute",
}

// goName is a C name as the hip package writes it.
func goName(c string) string {
	switch c {
	case "hipDeviceAttribute_t":
		return "DeviceAttribute"
	case "hipPointerAttribute_t":
		return "PointerAttributes"
	case "hipError_t":
		return "Error"
	case "hipDeviceProp_tR0600", "hipDeviceProp_tR0000":
		return "DeviceProp" + c[len("hipDeviceProp_t"):]
	case "dim3":
		return "Dim3"
	case "hipMipmappedArray":
		return "MipmappedArrayInfo" // MipmappedArray is the handle
	}
	n := c
	prefix := ""
	if strings.HasPrefix(c, "HIP") { // the driver API's twin of a runtime type
		prefix = "Drv"
	}
	for _, s := range []string{"_t", "_st"} {
		n = strings.TrimSuffix(n, s)
	}
	for _, p := range []string{"hip_", "hip", "HIP_", "HIP"} {
		if strings.HasPrefix(n, p) && len(n) > len(p) {
			n = n[len(p):]
			break
		}
	}
	if strings.Contains(n, "_") {
		var b strings.Builder
		for _, part := range strings.Split(n, "_") {
			if part == strings.ToUpper(part) {
				part = strings.ToLower(part)
			}
			b.WriteString(upper(part))
		}
		n = b.String()
	}
	return prefix + upper(n)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// constName is the Go name of an enumerator; ok is false for one whose name
// does not begin with hip.
func constName(c string) (string, bool) {
	switch {
	case c == "hipSuccess":
		return "Success", true
	case strings.HasPrefix(c, "hip"):
		return upper(c[3:]), true
	}
	return "", false
}

// lower is a C parameter name as a Go one.
func lower(s string) string {
	parts := strings.Split(s, "_")
	for i, p := range parts {
		if i > 0 {
			parts[i] = upper(p)
		}
	}
	s = strings.Join(parts, "")
	s = strings.ToLower(s[:1]) + s[1:]
	switch s {
	case "type", "func", "map", "range", "t", "m", "c", "d", "e", "s", "r":
		return s + "_"
	}
	return s
}

// types answers questions about C types of one table.
type types struct {
	enums   map[string]*Enum
	structs map[string]*Struct
	alias   map[string]string
	handles map[string]string // C type to Go type
	kinds   map[string]bool   // Go types of handles
	posts   map[string]bool   // Go types of handles that clients check
	sizes   map[string]int    // of structs, by Go type
	wrong   map[string]string // C type of a handle to what HIP answers to one that is none
	errors  map[string]bool   // the names of errors

	defaults Wrong
}

func (t *Table) types() *types {
	ty := &types{map[string]*Enum{}, map[string]*Struct{}, map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}, map[string]int{},
		map[string]string{}, map[string]bool{}, t.Wrong}
	for i := range t.Enums {
		ty.enums[t.Enums[i].Name] = &t.Enums[i]
		if t.Enums[i].Name == "hipError_t" {
			for _, v := range t.Enums[i].Values {
				ty.errors[v[0].(string)] = true
			}
		}
	}
	for i := range t.Structs {
		s := &t.Structs[i]
		ty.structs[s.Name] = s
		ty.sizes[goName(s.Name)] = s.Size
	}
	for _, a := range t.Typedefs {
		ty.alias[a[0]] = a[1]
	}
	for _, h := range t.Handles {
		ty.kinds[h.Go], ty.posts[h.Go] = true, h.Posted
		for _, c := range h.C {
			ty.handles[c] = h.Go
			ty.wrong[c] = h.Wrong
		}
	}
	for _, o := range t.Objects {
		ty.wrong[o.C] = o.Wrong
	}
	return ty
}

// handle is the Go type of a C handle, "" if it is none.
func (ty *types) handle(c string) string { return ty.handles[bare(c)] }

// handleKind is the kind of a Go type as package hip calls it, "" if it is no handle.
func (ty *types) handleKind(goT string) string {
	if ty.kinds[goT] {
		return "Handle" + goT
	}
	return ""
}

func bare(c string) string {
	c = strings.TrimSpace(c)
	for _, p := range []string{"const ", "struct ", "enum ", "union "} {
		c = strings.TrimPrefix(c, p)
	}
	return c
}

// goType is the Go type of a C value; "" if there is none.
func (ty *types) goType(c string) string {
	if strings.HasSuffix(strings.TrimSpace(c), "*") {
		return "Ptr"
	}
	c = bare(c)
	if g := ty.handles[c]; g != "" {
		return g
	}
	if g := goScalars[c]; g != "" {
		return g
	}
	if ty.enums[c] != nil || ty.structs[c] != nil {
		return goName(c)
	}
	if a := ty.alias[c]; a != "" {
		return ty.goType(a)
	}
	if strings.Contains(c, "(*)") {
		return "Ptr"
	}
	return ""
}

// resolve follows typedefs to a struct, enum or scalar.
func (ty *types) resolve(c string) string {
	c = bare(c)
	if ty.handles[c] != "" || goScalars[c] != "" || ty.enums[c] != nil || ty.structs[c] != nil {
		return c
	}
	if a := ty.alias[c]; a != "" {
		return ty.resolve(a)
	}
	return c
}

// pointee is what a C pointer type points to.
func pointee(c string) string {
	c = strings.TrimSpace(c)
	return bare(strings.TrimSpace(strings.TrimSuffix(c, "*")))
}

// array splits "char[256]"; n is 0 if c is no array.
func array(c string) (elem string, n int) {
	i := strings.IndexByte(c, '[')
	if i < 0 {
		return c, 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(c[i+1:], "]"))
	if err != nil {
		panic(fmt.Sprintf("array type %q", c))
	}
	return strings.TrimSpace(c[:i]), n
}
