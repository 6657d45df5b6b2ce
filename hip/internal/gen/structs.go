package main

import (
	"fmt"
	"strings"
)

// structsGo emits every struct with the layout that C gives it. An anonymous
// union, and a union as a whole, is an array of words that holds its widest
// member: Go code that needs a member reads it from there.
func structsGo(t *Table) string {
	var o out
	ty := t.types()
	o.p(banner + "package hip\n")
	for i := range t.Structs {
		s := &t.Structs[i]
		name := goName(s.Name)
		o.p("// %s is %s, %d bytes.", name, s.Name, s.Size)
		if s.Kind == "union" {
			o.p("type %s [%d]%s\n", name, s.Size/s.Align, word(s.Align))
			continue
		}
		o.p("type %s struct {", name)
		at, bits := 0, false
		for _, f := range s.Fields {
			if f.Bits > 0 {
				if !bits {
					o.p("\tBits uint32 // %s and the bits after it", f.Name)
					bits, at = true, f.Offset+4
				}
				continue
			}
			g, align := ty.member(f)
			if pad := f.Offset - roundUp(at, align); pad > 0 {
				o.p("\t_ [%d]byte", pad)
			}
			o.p("\t%s %s", fieldName(f), g)
			at = f.Offset + f.Size
		}
		if pad := s.Size - roundUp(at, s.Align); pad > 0 {
			o.p("\t_ [%d]byte", pad)
		}
		o.p("}\n")
	}
	return o.String()
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

func word(align int) string { return fmt.Sprintf("uint%d", align*8) }

func fieldName(f Field) string {
	if f.Name == "" {
		return "Anon"
	}
	n := ""
	for _, p := range strings.Split(f.Name, "_") {
		n += upper(p)
	}
	return n
}

// member is the Go type of a struct's member and its alignment.
func (ty *types) member(f Field) (string, int) {
	if len(f.Members) > 0 {
		align := ty.align(f)
		return fmt.Sprintf("[%d]%s", f.Size/align, word(align)), align
	}
	elem, n := array(f.Type)
	g := ty.goType(elem)
	if g == "" {
		panic(fmt.Sprintf("member %s: no Go type for %q", f.Name, f.Type))
	}
	size := f.Size
	if n > 0 {
		size /= n
		g = fmt.Sprintf("[%d]%s", n, g)
	}
	if s := ty.structs[ty.resolve(elem)]; s != nil {
		return g, s.Align
	}
	return g, size
}

func (ty *types) align(f Field) int {
	if len(f.Members) == 0 {
		_, a := ty.member(f)
		return a
	}
	max := 1
	for _, m := range f.Members {
		if a := ty.align(m); a > max {
			max = a
		}
	}
	return max
}
