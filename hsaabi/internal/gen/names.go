package main

import "strings"

// initials are the words that Go writes in capitals.
var initials = map[string]bool{"amd": true, "cu": true, "ipc": true, "isa": true, "isas": true, "svm": true, "id": true, "hdp": true}

// camel is a C name as Go writes it, with a small initial.
func camel(c string) string {
	var b strings.Builder
	for i, w := range strings.FieldsFunc(c, func(r rune) bool { return r == '_' }) {
		switch {
		case i == 0 && w == strings.ToUpper(w):
			b.WriteString(strings.ToLower(w))
		case i == 0:
			b.WriteString(strings.ToLower(w[:1]) + w[1:])
		case w == "isas":
			b.WriteString("ISAs")
		case initials[w]:
			b.WriteString(strings.ToUpper(w))
		default:
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	if n := b.String(); n == "type" || n == "range" {
		return n + "_"
	}
	return b.String()
}

// goFunc is the Go function behind an export: hsa_agent_get_info is hsaAgentGetInfo.
func goFunc(c string) string { return camel(c) }

// goType is the Go name of a struct: hsa_amd_pointer_info_t is amdPointerInfo, amd_queue_t amdQueue.
func goType(c string) string {
	return camel(strings.TrimSuffix(strings.TrimPrefix(c, "hsa_"), "_t"))
}

// goScalars are C's scalars in Go.
var goScalars = map[string]string{
	"uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64", "int": "int32", "int32_t": "int32", "int64_t": "int64",
	"size_t": "uint64", "bool": "bool", "char": "byte", "hsa_status_t": "status",
}

// scalar is a C type without its qualifiers and other names, and its Go type if it is
// a number: a handle is one, too.
func (t *Table) scalar(c string) (base, g string) {
	c = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(c, "volatile "), "const "))
	for range 4 {
		for _, p := range t.Types {
			if p.Name == c {
				c = p.C
			}
		}
	}
	switch {
	case goScalars[c] != "":
		return c, goScalars[c]
	case t.enums[c]:
		return c, "uint32"
	case t.structs[c].handle():
		return c, "uint64"
	}
	return c, ""
}

// goOf is a struct's member in Go. A pointer inside of a struct is a number.
func (t *Table) goOf(c string) string {
	base, dim, array := strings.Cut(c, "[")
	if array {
		dim = "[" + dim
	}
	if strings.Contains(base, "*") {
		return dim + "uintptr"
	}
	b, g := t.scalar(base)
	if g == "" {
		g = goType(b)
	}
	return dim + g
}

// declare is C's declaration of a name.
func declare(c, name string) string {
	if at := strings.Index(c, "(*)"); at >= 0 {
		return c[:at+2] + name + c[at+2:]
	}
	if base, dim, array := strings.Cut(c, "["); array {
		return base + " " + name + "[" + dim
	}
	if strings.HasSuffix(c, "*") {
		return c + name
	}
	return c + " " + name
}
