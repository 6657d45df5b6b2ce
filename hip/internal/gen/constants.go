package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

var number = regexp.MustCompile(`^(0x[0-9A-Fa-f]+|[0-9]+)$`)

// constantsGo emits every enumeration but hipError_t, and the numeric macros.
func constantsGo(t *Table) string {
	var o out
	o.p(banner + "package hip\n")
	taken := map[string]bool{}
	for _, e := range t.Enums {
		name := goName(e.Name)
		if e.Name == "" || e.Name == "hipError_t" || strings.HasPrefix(e.Name, "hiprtc") {
			continue
		}
		o.p("// %s is %s.\ntype %s int32\n\nconst (", name, e.Name, name)
		for _, v := range e.Values {
			c, ok := constName(v[0].(string))
			if !ok {
				c = goName(v[0].(string))
			}
			if taken[c] {
				continue
			}
			taken[c] = true
			o.p("\t%s %s = %s", c, name, signed32(v[1]))
		}
		o.p(")\n")
	}
	o.p("// Flag values that HIP defines as macros.\nconst (")
	for _, m := range t.Macros {
		c, ok := constName(m[0])
		if !ok || !number.MatchString(m[1]) || taken[c] {
			continue
		}
		taken[c] = true
		o.p("\t%s = %s", c, m[1])
	}
	o.p(")")
	o.p("\n// HIP's version as the runtime and the driver report it.\nconst (\n\tVersionMajor = %s\n\tVersionMinor = %s\n\tVersionPatch = %s\n)",
		macro(t, "HIP_VERSION_MAJOR"), macro(t, "HIP_VERSION_MINOR"), macro(t, "HIP_VERSION_PATCH"))
	return o.String()
}

func macro(t *Table, name string) string {
	for _, m := range t.Macros {
		if m[0] == name {
			return m[1]
		}
	}
	panic("no macro " + name)
}

// signed32 is an enumerator's number as int32 holds it.
func signed32(v any) string { return fmt.Sprint(int32(int64(v.(float64)))) }

func errorValues(t *Table) (vs [][]any) {
	seen := map[any]bool{}
	for _, e := range t.Enums {
		if e.Name == "hipError_t" {
			for _, v := range e.Values {
				if !seen[v[1]] {
					seen[v[1]] = true
					vs = append(vs, v)
				}
			}
		}
	}
	sort.SliceStable(vs, func(i, j int) bool { return vs[i][1].(float64) < vs[j][1].(float64) })
	return vs
}

// errorText is what hipGetErrorString answers, which programs print: what AMD's
// library says. Of an error that it has no text for it says that it is unknown.
func errorText(name string) string {
	if text, ok := errorTexts[name]; ok {
		return text
	}
	return "unknown error"
}

func errorsGo(t *Table) string {
	var o out
	o.p(banner + "package hip\n\n// The values of hipError_t.\nconst (")
	for _, v := range errorValues(t) {
		c, _ := constName(v[0].(string))
		o.p("\t%s Error = %s", c, signed32(v[1]))
	}
	o.p(")\n\nvar errorNames = map[Error][2]string{")
	for _, v := range errorValues(t) {
		c, _ := constName(v[0].(string))
		o.p("\t%s: {%q, %q},", c, v[0], errorText(v[0].(string)))
	}
	o.p("}")
	return o.String()
}

// errorsC emits the name and text tables that the C exports answer from.
func errorsC(t *Table) string {
	var o out
	o.p(banner + "#include \"hip/hip_runtime_api.h\"\n#include \"thread.h\"\n")
	o.p("const char *rw_error_name(hipError_t e)\n{\n\tswitch ((int)e) {")
	for _, v := range errorValues(t) {
		o.p("\tcase %s: return %q;", signed32(v[1]), v[0])
	}
	o.p("\t}\n\treturn \"hipErrorUnknown\";\n}\n")
	o.p("const char *rw_error_string(hipError_t e)\n{\n\tswitch ((int)e) {")
	for _, v := range errorValues(t) {
		o.p("\tcase %s: return %q;", signed32(v[1]), errorText(v[0].(string)))
	}
	o.p("\t}\n\treturn \"unknown error\";\n}")
	return o.String()
}
