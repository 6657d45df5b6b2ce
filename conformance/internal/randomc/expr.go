package randomc

import (
	"fmt"
	"math/rand/v2"
)

// scope is what an expression may name.
type scope struct {
	vars    map[*typ][]string
	vecs    map[*vectorType][]string
	structs []string
	arrays  bool // the arrays of a kernel
	lanes   bool // id and tid
}

func (g *generator) one(list ...string) string { return list[g.r.IntN(len(list))] }

func pickOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// expr is an expression of a type.
func (g *generator) expr(t *typ, depth int) string {
	if depth <= 0 || g.r.IntN(8) == 0 {
		return g.leaf(t)
	}
	e := func() string { return g.expr(t, depth-1) }
	if t.float {
		return g.floatExpr(t, depth, e)
	}
	return g.intExpr(t, depth, e)
}

func (g *generator) leaf(t *typ) string {
	s := g.scope
	switch k := g.r.IntN(12); {
	case k < 2:
		return constant(g.r, t)
	case k == 2 && len(s.structs) > 0:
		f := fields[g.r.IntN(len(fields))]
		return convert(t, f.t, pickOf(g.r, s.structs)+"."+f.name)
	case k == 3:
		v := vectors[g.r.IntN(len(vectors))]
		if len(s.vecs[v]) > 0 {
			return convert(t, v.elem, fmt.Sprintf("%s.%c", pickOf(g.r, s.vecs[v]), "xyzw"[g.r.IntN(v.n)]))
		}
	case k == 4 && s.arrays:
		switch g.r.IntN(3) {
		case 0:
			return convert(t, u32, fmt.Sprintf("arr[%s & 15]", g.leaf(u32)))
		case 1:
			return convert(t, f32, fmt.Sprintf("farr[%s & 7]", g.leaf(u32)))
		default:
			return convert(t, u8, fmt.Sprintf("barr[%s & 31]", g.leaf(u32)))
		}
	case k == 5 && s.lanes:
		return convert(t, u32, g.one("id", "tid"))
	case k == 6:
		f := all[g.r.IntN(len(all))]
		if len(s.vars[f]) > 0 {
			return convert(t, f, pickOf(g.r, s.vars[f]))
		}
	}
	if len(s.vars[t]) == 0 {
		return constant(g.r, t)
	}
	return pickOf(g.r, s.vars[t])
}

// truth is a condition.
func (g *generator) truth(depth int) string {
	t := all[g.r.IntN(len(all))]
	by := map[bool]string{true: "wide"}[t == bf16]
	c := fmt.Sprintf("(%s(%s) %s %s(%s))", by, g.expr(t, depth-1), g.one("<", ">", "<=", ">=", "==", "!="), by, g.expr(t, depth-1))
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s && %s)", c, g.truth(depth-1))
	case 1:
		return fmt.Sprintf("(%s || %s)", c, g.truth(depth-1))
	case 2:
		return "!" + c
	case 3:
		return fmt.Sprintf("((%s & 3) == 0)", g.leaf(u32))
	}
	return c
}

func (g *generator) any(t *typ, depth int) string { // of another type, converted
	f := all[g.r.IntN(len(all))]
	return convert(t, f, g.expr(f, depth-1))
}

func (g *generator) call(t *typ, depth int) string {
	if g.calls > 3 {
		return g.leaf(t)
	}
	for range 6 {
		if len(g.funcs) == 0 {
			break
		}
		if f := g.funcs[g.r.IntN(len(g.funcs))]; f.result == t {
			g.calls++
			args := ""
			for i, a := range f.args {
				if i > 0 {
					args += ", "
				}
				args += g.expr(a, depth-2)
			}
			return fmt.Sprintf("%s(%s)", f.name, args)
		}
	}
	return g.leaf(t)
}

func (g *generator) floatExpr(t *typ, depth int, e func() string) string {
	T := t.name
	suffix := map[*typ]string{f32: "f", f64: ""}[t]
	wide := t == f32 || t == f64
	switch k := g.r.IntN(16); {
	case k < 6:
		return fmt.Sprintf("(%s)(%s %s %s)", T, e(), g.one("+", "-", "*"), e())
	case k == 6 && wide:
		return fmt.Sprintf("(%s / %s)", e(), e())
	case k == 7 && wide:
		return fmt.Sprintf("__builtin_sqrt%s(%s)", suffix, e())
	case k == 8 && wide:
		return fmt.Sprintf("__builtin_fma%s(%s, %s, %s)", suffix, e(), e(), e())
	case k == 9 && wide:
		return fmt.Sprintf("__builtin_%s%s(%s)", g.one("floor", "ceil", "trunc", "rint", "fabs"), suffix, e())
	case k == 9:
		return fmt.Sprintf("(%s)__builtin_%sf((f32)%s)", T, g.one("floor", "ceil", "trunc", "rint", "fabs", "sqrt"), e())
	case k == 10:
		return fmt.Sprintf("%s_%s(%s, %s)", g.one("min", "max"), T, e(), e())
	case k == 11:
		return fmt.Sprintf("(%s ? %s : %s)", g.truth(depth-1), e(), e())
	case k == 12:
		return fmt.Sprintf("(- %s)", e())
	case k == 13:
		return fmt.Sprintf("from_%s(%s)", T, g.expr(map[int]*typ{16: u16, 32: u32, 64: u64}[t.bits], depth-1))
	case k == 14:
		return g.call(t, depth)
	}
	return g.any(t, depth)
}

func (g *generator) intExpr(t *typ, depth int, e func() string) string {
	T, U := t.name, fmt.Sprintf("u%d", t.bits)
	mask := t.bits - 1
	switch k := g.r.IntN(22); {
	case k < 5:
		return fmt.Sprintf("(%s)(%s %s %s)", T, e(), g.one("+", "-", "*", "&", "|", "^"), e())
	case k == 5:
		return fmt.Sprintf("(%s)((%s)%s << (%s & %d))", T, U, e(), g.leaf(u32), mask)
	case k == 6:
		return fmt.Sprintf("(%s)(%s >> (%s & %d))", T, e(), g.leaf(u32), mask)
	case k == 7:
		return fmt.Sprintf("%s_%s(%s, %s)", g.one("div", "mod"), T, e(), e())
	case k == 8:
		return fmt.Sprintf("(%s)%s", T, g.truth(depth))
	case k == 9:
		return fmt.Sprintf("(%s ? %s : %s)", g.truth(depth-1), e(), e())
	case k == 10:
		return fmt.Sprintf("(%s)(%s %s)", T, g.one("~", "-"), e())
	case k == 11:
		return fmt.Sprintf("(%s)__builtin_elementwise_%s(%s, %s)", T, g.one("add_sat", "sub_sat", "min", "max"), e(), e())
	case k == 12: // float's bits
		for _, f := range floats {
			if f.bits == t.bits && (f != bf16 || g.r.IntN(2) == 0) {
				return fmt.Sprintf("(%s)bits_%s(%s)", T, f.name, g.expr(f, depth-1))
			}
		}
	case k == 13:
		return g.call(t, depth)
	case k == 14 && t.bits == 64:
		if t.sign {
			return fmt.Sprintf("(i64)((__int128)%s * %s >> 64)", e(), e())
		}
		return fmt.Sprintf("(u64)((unsigned __int128)%s * %s >> 64)", e(), e())
	case k == 15 && t.bits >= 32:
		ll := map[int]string{32: "", 64: "ll"}[t.bits]
		return fmt.Sprintf("(%s)__builtin_%s%s((%s)%s | %s)", T, g.one("popcount", "clz", "ctz", "parity"), ll, U, e(), g.one("1", "1ull << 20"))
	case k == 16:
		return fmt.Sprintf("(%s)__builtin_bitreverse%d((%s)%s)", T, t.bits, U, e())
	case k == 17:
		return fmt.Sprintf("(%s)__builtin_rotate%s%d((%s)%s, (%s)(%s))", T, g.one("left", "right"), t.bits, U, e(), U, g.leaf(u32))
	case k == 18 && t.bits == 32:
		return g.pattern(t, e)
	case k == 19 && t.bits == 64:
		return fmt.Sprintf("((%[1]s)(%[2]s)%[3]s * (%[1]s)(%[2]s)%[4]s + %[5]s)", T, map[bool]string{true: "i32", false: "u32"}[t.sign], e(), e(), e())
	}
	return g.any(t, depth)
}

// pattern is what a GPU has one instruction for.
func (g *generator) pattern(t *typ, e func() string) string {
	T := t.name
	a, b, c := e(), e(), e()
	list := []string{
		"(%[1]s)((%[2]s & 0xffffff) * (%[3]s & 0xffffff) + %[4]s)",
		"(%[1]s)(((i32)(%[2]s << 8) >> 8) * ((i32)(%[3]s << 8) >> 8) + %[4]s)",
		"(%[1]s)((%[2]s & %[3]s) | (~%[2]s & %[4]s))",
		"(%[1]s)((%[2]s & %[3]s) | %[4]s)",
		"(%[1]s)(%[2]s + %[3]s + %[4]s)",
		"(%[1]s)((%[2]s ^ %[3]s) + %[4]s)",
		"(%[1]s)(((u32)%[2]s << 3) + %[3]s)",
		"(%[1]s)((((u64)(u32)%[2]s << 32) | (u32)%[3]s) >> (%[4]s & 31))",
		"__builtin_elementwise_max(__builtin_elementwise_min(%[2]s, %[3]s), %[4]s)",
		"__builtin_elementwise_max(__builtin_elementwise_max(%[2]s, %[3]s), %[4]s)",
		"(%[1]s)(((u32)%[2]s >> 5 & 0x1ff) | ((u32)%[3]s << 9))",
		"(%[1]s)(((u32)%[2]s & 0xff00) | ((u32)%[3]s >> 24) | ((u32)%[4]s & 0xff) << 24)",
		"(%[1]s)(((u64)(u32)%[2]s * (u32)%[3]s) >> 32)",
		"(%[1]s)(((i64)(i32)%[2]s * (i32)%[3]s) >> 32)",
		"(%[1]s)((i8)(%[2]s >> 8) * (i16)(%[3]s >> 16))",
		"(%[1]s)((u32)(u16)%[2]s * (u16)(%[3]s >> 16) + %[4]s)",
		"(%[1]s)((u8)(%[2]s >> 16) > (u8)%[3]s ? (u8)(%[2]s >> 16) - (u8)%[3]s + %[4]s : (u8)%[3]s - (u8)(%[2]s >> 16) + %[4]s)",
		"(%[1]s)__builtin_bswap32((u32)%[2]s)",
	}
	return fmt.Sprintf(list[g.r.IntN(len(list))], T, a, b, c)
}
