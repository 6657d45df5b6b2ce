package randomc

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Program is a random program: kernels, each with the functions it calls.
type Program struct {
	Seed    uint64
	Kernels []*Kernel
}

// Kernel is one kernel. It is launched with Groups workgroups of Threads work-items, and writes Words results for each.
type Kernel struct {
	Name            string
	Groups, Threads uint32
	Words           int
	text            []*stmt // functions, and the kernel
}

// Atomics of a kernel combine values in cells, one row of them for each operation.
const atomicRows, atomicCells = 10, 8

// stmt is a part of a program: its own lines, statements, perhaps others after a line between, and a last line.
type stmt struct {
	head, mid, tail string
	first, second   []*stmt
	off             bool // left out
	fixed           bool // cannot be left out
}

func (s *stmt) write(b *strings.Builder, depth int) {
	if s.off {
		return
	}
	line := func(t string) {
		if t != "" {
			b.WriteString(strings.Repeat("    ", depth) + t + "\n")
		}
	}
	line(s.head)
	for _, k := range s.first {
		k.write(b, depth+1)
	}
	line(s.mid)
	for _, k := range s.second {
		k.write(b, depth+1)
	}
	line(s.tail)
}

// Source is the program in C.
func (p *Program) Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// seed %d\n%s", p.Seed, prelude())
	for _, k := range p.Kernels {
		for _, s := range k.text {
			s.write(&b, 0)
		}
	}
	return b.String()
}

// function is one that can be called.
type function struct {
	name   string
	result *typ
	args   []*typ
}

type generator struct {
	r     *rand.Rand
	scope *scope
	funcs []*function
	calls int // in the current statement
	// Where a statement stands.
	uniform bool // all lanes of the workgroup execute it
	loops   int
	nest    int
	kernel  bool
}

// Generate makes the program of a seed, of so many kernels.
func Generate(seed uint64, kernels int) *Program {
	p := &Program{Seed: seed}
	for i := range kernels {
		g := &generator{r: rand.New(rand.NewPCG(seed, uint64(i)))}
		p.Kernels = append(p.Kernels, g.makeKernel(i))
	}
	return p
}

func line(format string, a ...any) *stmt { return &stmt{head: fmt.Sprintf(format, a...)} }

func fixed(format string, a ...any) *stmt {
	s := line(format, a...)
	s.fixed = true
	return s
}

func (g *generator) makeKernel(n int) *Kernel {
	k := &Kernel{Name: fmt.Sprintf("k%d", n), Groups: 1 + uint32(g.r.IntN(2)), Threads: 64 << g.r.IntN(2)}
	for i := range 2 + g.r.IntN(3) {
		k.text = append(k.text, g.makeFunction(fmt.Sprintf("f%d_%d", n, i)))
	}
	s := &scope{vars: map[*typ][]string{}, vecs: map[*vectorType][]string{}, arrays: true, lanes: true, structs: []string{"s0", "s1"}}
	g.scope, g.kernel, g.uniform = s, true, true
	body := &stmt{fixed: true, head: fmt.Sprintf("KERNEL %s(const u64 *in, u64 *out, u32 *cells) {", k.Name), tail: "}\nENTRY(" + k.Name + ", const u64 *, u64 *, u32 *)"}
	add := func(s *stmt) { body.first = append(body.first, s) }
	add(fixed("u32 tid = threadIdx.x, id = global_id(x), n0, n1, n2, n3, n4, arr[16], *p;"))
	add(fixed("f32 farr[8]; u8 barr[32]; struct pack s0, s1, sarr[4]; u64 h = in[id];"))
	add(fixed("SHARED u32 lds[%d]; SHARED u64 lds64[%d]; SHARED u32 acc[%d];", k.Threads, k.Threads, atomicRows*atomicCells))
	add(fixed("n0 = n1 = n2 = n3 = n4 = 0; p = &arr[0]; lds[tid] = (u32)(h = mix(h + 1)); lds64[tid] = h = mix(h + 2);"))
	add(fixed("for (u32 i = tid; i < %d; i += %d) acc[i] = i / %d == 1 || i / %d == 4 ? ~0u : 0;", atomicRows*atomicCells, k.Threads, atomicCells, atomicCells))
	add(fixed("for (u32 i = 0; i < 16; i++) arr[i] = (u32)(h = mix(h + 3)) >> (i & 24);"))
	add(fixed("for (u32 i = 0; i < 32; i++) barr[i] = (u8)(h = mix(h + 4)), farr[i & 7] = some_f32(h);"))
	var outs []string
	for _, t := range all {
		for i := range 2 {
			v := fmt.Sprintf("%s_%d", t.name, i)
			init := "(" + t.name + ")(h = mix(h + 5))"
			if t.float {
				init = "some_" + t.name + "(h = mix(h + 6))"
			} else if g.r.IntN(3) == 0 {
				init = "(" + t.name + ")((h = mix(h + 5)) & 63)"
			}
			add(fixed("%s %s = %s;", t.name, v, init))
			s.vars[t] = append(s.vars[t], v)
			outs = append(outs, out(t, v))
		}
	}
	for _, v := range vectors {
		name := "v" + v.name
		add(fixed("%s %s;", v.name, name))
		s.vecs[v] = []string{name}
		for c := range v.n {
			add(fixed("%s.%c = %s;", name, "xyzw"[c], s.vars[v.elem][c&1]))
			outs = append(outs, out(v.elem, fmt.Sprintf("%s.%c", name, "xyzw"[c])))
		}
	}
	for i, name := range []string{"s0", "s1"} {
		for _, f := range fields {
			add(fixed("%s.%s = %s;", name, f.name, s.vars[f.t][i]))
			outs = append(outs, out(f.t, name+"."+f.name))
		}
	}
	add(fixed("sarr[0] = sarr[2] = s0; sarr[1] = sarr[3] = s1;"))
	add(fixed("barrier();"))
	body.first = append(body.first, g.block(20+g.r.IntN(12))...)
	for i := range 16 {
		outs = append(outs, fmt.Sprintf("arr[%d]", i))
	}
	outs = append(outs, "bits_f32(farr[tid & 7])", "barr[tid & 31]", "bits_f64(sarr[tid & 3].d)", "sarr[tid & 3].c", "lds[tid]", "lds64[tid]")
	add(fixed("barrier();"))
	k.Words = len(outs) + 1
	add(fixed("out += (u64)id * %d;", k.Words))
	for i, o := range outs {
		add(&stmt{head: fmt.Sprintf("out[%d] = (u64)(%s);", i, o)})
	}
	add(&stmt{head: fmt.Sprintf("out[%d] = acc[tid %% %d];", len(outs), atomicRows*atomicCells)})
	k.text = append(k.text, body)
	return k
}

// out is a value as bits.
func out(t *typ, x string) string {
	if t.float {
		return fmt.Sprintf("bits_%s(%s)", t.name, x)
	}
	return x
}

// makeFunction makes a function that kernels and later functions call; one in three calls itself.
func (g *generator) makeFunction(name string) *stmt {
	f := &function{name: name, result: all[g.r.IntN(len(all))]}
	s := &scope{vars: map[*typ][]string{}, vecs: map[*vectorType][]string{}, structs: []string{"s0"}}
	g.scope, g.kernel, g.uniform = s, false, false
	recursive := g.r.IntN(3) == 0
	if recursive {
		f.args = append(f.args, u32)
	}
	for range 1 + g.r.IntN(5) {
		f.args = append(f.args, all[g.r.IntN(len(all))])
	}
	params := ""
	for i, a := range f.args {
		if i > 0 {
			params += ", "
		}
		params += fmt.Sprintf("%s a%d", a.name, i)
		if i > 0 || !recursive {
			s.vars[a] = append(s.vars[a], fmt.Sprintf("a%d", i))
		}
	}
	body := &stmt{fixed: true, head: fmt.Sprintf("NOINLINE %s %s(%s) {", f.result.name, name, params), tail: "}"}
	add := func(s *stmt) { body.first = append(body.first, s) }
	add(fixed("u32 n0 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0; struct pack s0 = {0};"))
	for i := range 4 {
		t := all[g.r.IntN(len(all))]
		v := fmt.Sprintf("b%d", i)
		init := fixed("%s %s = %s;", t.name, v, g.expr(t, 1))
		add(init)
		s.vars[t] = append(s.vars[t], v)
	}
	if recursive {
		add(fixed("a0 &= 3;"))
	}
	body.first = append(body.first, g.block(3+g.r.IntN(5))...)
	if recursive {
		args := "a0 - 1"
		for _, a := range f.args[1:] {
			args += ", " + g.expr(a, 1)
		}
		add(&stmt{head: "if (a0 > 0) {", first: []*stmt{line("s0.c += (u32)%s;", convert(u32, f.result, fmt.Sprintf("%s(%s)", name, args)))}, tail: "}"})
	}
	add(fixed("return %s;", convert(f.result, u32, "s0.c")))
	if len(s.vars[f.result]) > 0 {
		body.first[len(body.first)-1] = fixed("return (%s)(%s + %s);", f.result.name, pickOf(g.r, s.vars[f.result]), convert(f.result, u32, "s0.c"))
	}
	g.funcs = append(g.funcs, f)
	return body
}
