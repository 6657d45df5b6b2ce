package main

import "strings"

// headerC is the header for programs that are compiled against us, and for the exports
// themselves. Its assertions check every layout where it is compiled.
func headerC(t *Table) string {
	o := &out{}
	o.p(bannerC + `/* The C interface of HSA as rocwire's libhsa-runtime64.so.1 serves it: what AMD's
 * headers of ROCr 6.4 call hsa.h, hsa_ext_amd.h, hsa_ext_image.h, hsa_ven_amd_loader.h,
 * amd_hsa_queue.h and amd_hsa_signal.h. */
#ifndef ROCWIRE_HSA_HSA_H
#define ROCWIRE_HSA_HSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define RW_CHECK(c) static_assert(c, #c)
#else
#define RW_CHECK(c) _Static_assert(c, #c)
#endif
`)
	for _, e := range t.Enums {
		o.p("%senum {", map[bool]string{true: "typedef "}[e.Name != ""])
		for _, v := range e.Values {
			if v.Number > 1<<31-1 {
				o.p("\t%s = 0x%xU,", v.Name, v.Number)
			} else {
				o.p("\t%s = %d,", v.Name, v.Number)
			}
		}
		o.p("} %s;\n", e.Name)
	}
	for _, p := range t.Types {
		if !p.pointer() && !strings.HasPrefix(p.C, "hsa_") {
			o.p("typedef %s;", declare(p.C, p.Name))
		}
	}
	o.p("")
	for i := range t.Structs {
		if s := &t.Structs[i]; !s.calls() {
			structC(o, s)
		}
	}
	for _, p := range t.Types {
		if p.pointer() || strings.HasPrefix(p.C, "hsa_") {
			o.p("typedef %s;", declare(p.C, p.Name))
		}
	}
	o.p("")
	for i := range t.Structs {
		if s := &t.Structs[i]; s.calls() {
			structC(o, s)
		}
	}
	for i := range t.Functions {
		o.p("%s;", prototype(&t.Functions[i]))
	}
	o.p("\n#undef RW_CHECK\n#ifdef __cplusplus\n}\n#endif\n#endif")
	return o.String()
}

func structC(o *out, s *Struct) {
	o.p("typedef struct {")
	for _, f := range s.Fields {
		o.p("\t%s;", declare(f.C, f.Name))
	}
	o.p("} %s;", s.Name)
	o.p("RW_CHECK(sizeof(%s) == %d);", s.Name, s.Size)
	for _, f := range s.Fields {
		o.p("RW_CHECK(offsetof(%s, %s) == %d);", s.Name, f.Name, f.Offset)
	}
	o.p("")
}

func prototype(f *Function) string {
	var ps []string
	for _, p := range f.Params {
		ps = append(ps, declare(p.C, p.Name))
	}
	if len(ps) == 0 {
		ps = []string{"void"}
	}
	return declare(f.Returns, f.Name) + "(" + strings.Join(ps, ", ") + ")"
}
