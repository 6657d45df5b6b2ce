package main

import "strings"

// headerC is the public header, for programs that are compiled against us, and for
// the exports themselves. Its assertions check every layout where it is compiled.
func headerC(t *Table) string {
	o := &out{}
	o.p(bannerC + `/* The C interface of AMD SMI 27.1 as rocwire's libamd_smi.so.27 serves it. */
#ifndef ROCWIRE_AMD_SMI_AMDSMI_H
#define ROCWIRE_AMD_SMI_AMDSMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#define RW_CHECK(c) static_assert(c, #c)
#else
#define RW_CHECK(c) _Static_assert(c, #c)
#endif
`)
	for _, m := range t.Macros {
		o.p("#define %s %d", m.Name, m.Number)
	}
	o.p("")
	for _, h := range []string{"amdsmi_processor_handle", "amdsmi_socket_handle", "amdsmi_node_handle"} {
		o.p("typedef void *%s;", h)
	}
	o.p("typedef uintptr_t amdsmi_event_handle_t;\n")
	for _, e := range t.Enums {
		o.p("typedef enum {")
		for _, v := range e.Values {
			if v.Number > 1<<31-1 {
				o.p("\t%s = 0x%xU%s,", v.Name, v.Number, map[bool]string{true: "LL"}[v.Number >= 1<<32])
			} else {
				o.p("\t%s = %d,", v.Name, v.Number)
			}
		}
		o.p("} %s;", e.Name)
		o.p("RW_CHECK(sizeof(%s) == %d);\n", e.Name, e.Size)
	}
	for _, s := range t.Structs {
		if s.Name != "timespec" {
			t.structC(o, s)
		}
	}
	for _, f := range t.Functions {
		o.p("%s %s(%s);", cResult(f), f.Name, cParams(f))
	}
	o.p("\n#undef RW_CHECK\n#ifdef __cplusplus\n}\n#endif\n#endif")
	return o.String()
}

func (t *Table) structC(o *out, s *Struct) {
	packed := ""
	if s.Kind == "struct" && !t.natural(s) && s.Fields[0].Bits == 0 {
		packed = " __attribute__((packed))"
	}
	name := cOf(s.Name)
	o.p("typedef %s {", s.Kind)
	for _, f := range s.Fields {
		if s.Kind == "union" && t.structs[f.Type] != nil && t.structs[f.Type].Fields[0].Bits != 0 && f.Name == "bdf" {
			o.p("\tstruct {")
			t.membersC(o, t.structs[f.Type], "\t\t")
			o.p("\t};")
		}
	}
	t.membersC(o, s, "\t")
	o.p("}%s %s;", packed, name)
	o.p("RW_CHECK(sizeof(%s) == %d);", name, s.Size)
	for _, f := range s.Fields {
		if f.Bits == 0 {
			o.p("RW_CHECK(offsetof(%s, %s) == %d);", name, f.Name, f.Offset)
		}
	}
	o.p("")
}

func (t *Table) membersC(o *out, s *Struct, indent string) {
	for _, f := range s.Fields {
		c := cOf(f.Type)
		if !strings.HasSuffix(c, "*") {
			c += " "
		}
		if f.Bits != 0 {
			o.p("%s%s%s : %d;", indent, c, f.Name, f.Bits)
		} else {
			o.p("%s%s%s%s;", indent, c, f.Name, dims(f.Count))
		}
	}
}
