package randomc

import "fmt"

// block is some statements.
func (g *generator) block(n int) []*stmt {
	var list []*stmt
	for range n {
		g.calls = 0
		list = append(list, g.stmt())
	}
	return list
}

// inside is a block deeper in; diverges says that not all lanes execute it.
func (g *generator) inside(n int, diverges bool) []*stmt {
	uniform := g.uniform
	g.uniform = uniform && !diverges
	g.nest++
	list := g.block(1 + g.r.IntN(n))
	g.nest--
	g.uniform = uniform
	return list
}

func (g *generator) stmt() *stmt {
	k := g.r.IntN(30)
	if g.nest > 2 && k >= 8 && k < 16 {
		k = g.r.IntN(8)
	}
	switch {
	case k < 8:
		return g.assign()
	case k < 11:
		s := &stmt{head: fmt.Sprintf("if (%s) {", g.truth(2)), first: g.inside(3, true), tail: "}"}
		if g.r.IntN(2) == 0 {
			s.mid = "} else {"
			s.second = g.inside(3, true)
		}
		return s
	case k < 14 && g.loops < 3:
		return g.loop()
	case k < 16:
		return g.choice()
	case k < 18:
		return g.vector()
	case k < 20:
		return g.structure()
	case g.kernel && k < 24:
		return g.array()
	case g.kernel && k < 26:
		return g.atomic()
	case g.kernel && g.uniform:
		return g.exchange()
	}
	return g.assign()
}

func (g *generator) assign() *stmt {
	for {
		t := all[g.r.IntN(len(all))]
		if len(g.scope.vars[t]) == 0 {
			continue
		}
		return line("%s = %s;", pickOf(g.r, g.scope.vars[t]), g.expr(t, 3))
	}
}

// loop is a loop of few rounds: as many for all lanes, or not, with ways out in the middle.
func (g *generator) loop() *stmt {
	n := fmt.Sprintf("n%d", g.loops)
	same := g.r.IntN(3) == 0
	g.loops++
	defer func() { g.loops-- }()
	var s *stmt
	switch {
	case same:
		s = &stmt{head: fmt.Sprintf("for (%[1]s = 0; %[1]s < %[2]d; %[1]s++) {", n, 1+g.r.IntN(5)), first: g.inside(3, false), tail: "}"}
	case g.r.IntN(2) == 0:
		s = &stmt{head: fmt.Sprintf("for (%[1]s = (u32)%[2]s & 7; %[1]s > 0; %[1]s--) {", n, g.expr(u32, 1)), first: g.inside(3, true), tail: "}"}
	default:
		s = &stmt{head: fmt.Sprintf("%s = 0; while (%s++ < 6 && %s) {", n, n, g.truth(2)), first: g.inside(3, true), tail: "}"}
	}
	if !same && g.r.IntN(2) == 0 {
		out := line("if (%s) %s;", g.truth(1), g.one("break", "continue"))
		at := g.r.IntN(len(s.first) + 1)
		s.first = append(s.first[:at:at], append([]*stmt{out}, s.first[at:]...)...)
	}
	return s
}

// choice is a switch; some of its cases go on into the next.
func (g *generator) choice() *stmt {
	s := &stmt{head: fmt.Sprintf("switch (%s & 7) {", g.expr(u32, 1)), tail: "}"}
	for c := range 3 + g.r.IntN(4) {
		end := "break;"
		if g.r.IntN(4) == 0 {
			end = ""
		}
		s.first = append(s.first, &stmt{head: fmt.Sprintf("case %d:", c), first: g.inside(2, true), tail: end})
	}
	s.first = append(s.first, &stmt{head: "default:", first: g.inside(2, true), tail: "break;"})
	return s
}

func (g *generator) vector() *stmt {
	for range 20 {
		v := vectors[g.r.IntN(len(vectors))]
		if len(g.scope.vecs[v]) == 0 {
			continue
		}
		d := pickOf(g.r, g.scope.vecs[v])
		a := func() string {
			x := pickOf(g.r, g.scope.vecs[v])
			switch g.r.IntN(4) {
			case 0:
				return fmt.Sprintf("(%s)(%s)", v.name, g.expr(v.elem, 1)) // all alike
			case 1:
				order := map[int][]string{2: {"yx", "xx", "yy"}, 4: {"wzyx", "yxwz", "zzxx", "xyxy", "yzwx"}}[v.n]
				return x + "." + pickOf(g.r, order)
			}
			return x
		}
		switch k := g.r.IntN(6); {
		case k == 0:
			return line("%s.%c = %s;", d, "xyzw"[g.r.IntN(v.n)], g.expr(v.elem, 2))
		case k == 1:
			return line("%s[%s & %d] = %s;", d, g.leaf(u32), v.n-1, g.expr(v.elem, 1))
		case v.elem.float:
			op := g.one("+", "-", "*")
			if v.elem != f16 {
				op = g.one("+", "-", "*", "/")
			}
			return line("%s = %s %s %s;", d, a(), op, a())
		case k == 2:
			return line("%s = __builtin_elementwise_%s(%s, %s);", d, g.one("add_sat", "sub_sat", "min", "max"), a(), a())
		case k == 3:
			return line("%s = %s %s (%s & (%s)%d);", d, a(), g.one("<<", ">>"), a(), v.name, v.elem.bits-1)
		default:
			return line("%s = %s %s %s;", d, a(), g.one("+", "-", "*", "&", "|", "^"), a())
		}
	}
	return g.assign()
}

func (g *generator) structure() *stmt {
	f := fields[g.r.IntN(len(fields))]
	s := pickOf(g.r, g.scope.structs)
	if g.kernel {
		switch g.r.IntN(4) {
		case 0:
			return line("sarr[%s & 3] = %s;", g.leaf(u32), s)
		case 1:
			return line("%s = sarr[%s & 3];", s, g.expr(u32, 1))
		case 2:
			return line("sarr[%s & 3].%s = %s;", g.leaf(u32), f.name, g.expr(f.t, 2))
		}
	}
	return line("%s.%s = %s;", s, f.name, g.expr(f.t, 2))
}

// array changes an array in scratch, or by a pointer that may point to scratch, the LDS or device memory.
func (g *generator) array() *stmt {
	switch g.r.IntN(6) {
	case 0:
		return line("farr[%s & 7] = %s;", g.expr(u32, 1), g.expr(f32, 2))
	case 1:
		return line("barr[%s & 31] = %s;", g.expr(u32, 1), g.expr(u8, 2))
	case 2:
		return line("p = %s ? &arr[%s & 15] : &lds[tid];", g.truth(1), g.leaf(u32))
	case 3:
		return line("*p %s= %s;", g.one("", "+", "^"), g.expr(u32, 2))
	case 4:
		return line("lds64[tid] %s= %s;", g.one("", "+", "^"), g.expr(u64, 2))
	}
	return line("arr[%s & 15] = %s;", g.expr(u32, 1), g.expr(u32, 2))
}

// atomic combines values of many lanes, or exchanges one of the lane's own.
func (g *generator) atomic() *stmt {
	// Each row is combined by one operation only, so the order does not show.
	rows := []string{"add", "and", "or", "xor", "min", "max", "sub"}
	switch row := g.r.IntN(len(rows) + 4); row {
	case 7:
		return line("%s = atomic_add(&lds[tid], %s);", pickOf(g.r, g.scope.vars[u32]), g.expr(u32, 1))
	case 8:
		return line("%s = atomic_swap(&lds64[tid], %s);", pickOf(g.r, g.scope.vars[u64]), g.expr(u64, 1))
	case 9:
		return line("%s = atomic_max(&lds[tid], %s);", pickOf(g.r, g.scope.vars[u32]), g.expr(u32, 1))
	case 10:
		return line("{ u32 was = %s; if (atomic_cas(&lds[tid], &was, %s)) %s += was; }", g.expr(u32, 1), g.expr(u32, 1), pickOf(g.r, g.scope.vars[u32]))
	default:
		where := "acc"
		if g.r.IntN(2) == 0 {
			where = "cells"
		}
		return line("atomic_%s(&%s[%d + (%s & %d)], %s);", rows[row], where, row*atomicCells, g.leaf(u32), atomicCells-1, g.expr(u32, 2))
	}
}

// exchange passes values between lanes; all of them are here.
func (g *generator) exchange() *stmt {
	d := pickOf(g.r, g.scope.vars[u32])
	x := pickOf(g.r, g.scope.vars[u32])
	switch g.r.IntN(9) {
	case 0:
		return line("barrier(); %s = lds[(tid ^ %d) %% blockDim.x]; barrier();", d, 1+g.r.IntN(63))
	case 1:
		return line("barrier(); %s = lds64[(tid + %d) %% blockDim.x]; barrier();", pickOf(g.r, g.scope.vars[u64]), g.r.IntN(64))
	case 2:
		return line("%s = lane_gather(%s, %s & 63);", d, x, g.leaf(u32))
	case 3:
		return line("%s = (u32)(ballot(%s) >> (lane_id() & 31));", d, g.truth(1))
	case 4:
		return line("%s = lane_swizzle(%s, %d);", d, x, g.r.IntN(32))
	case 5:
		return line("%s = lane_row_shr(%s, %d);", d, x, 1+g.r.IntN(15))
	case 6:
		return line("%s = lane_quad(%s, %d, %d, %d, %d);", d, x, g.r.IntN(4), g.r.IntN(4), g.r.IntN(4), g.r.IntN(4))
	case 7:
		return line("%s = lane_read(%s, %d);", d, x, g.r.IntN(64))
	}
	return line("%s = lane_xor(%s, %d);", d, x, 1+g.r.IntN(63))
}
