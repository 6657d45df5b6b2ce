package hiptest

import (
	"fmt"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// plan is an executable graph of a sequence, and what a launch of it does.
type plan struct {
	name   string
	exec   hip.GraphExec
	th     hip.Thread // of its device
	ops    []planned
	pieces []*piece // that any operation uses
	last   *line    // that it was launched on; nil: it was not
}

// What operations there are. A kernel is as often as the others together.
const (
	setMemory = iota
	copyMemory
	copyFromProgram
	copyToProgram
	callProgram
	addMemory
	kinds = 2 * addMemory
)

// planned is an operation of a graph, and what it does to the model when its turn comes.
type planned struct {
	kind int
	a, b *piece
	op   hip.GraphOp
	say  string
	do   func()
	got  []byte    // memory that HIP knows nothing of, if it copies there
	want []float32 // what is there afterwards
}

// operation makes up one of a kind on two pieces; false if it cannot be of that kind.
func (s *sequence) operation(kind int, th hip.Thread, a, b *piece) (p planned, ok bool) {
	x, y, n := s.part(a, b)
	to, from, size := b.at+hip.Ptr(4*y), a.at+hip.Ptr(4*x), uint64(4*n)
	switch kind {
	case setMemory:
		v := float32(s.r.IntN(100))
		p = planned{op: hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: to, Value: u32At(f32s([]float32{v}), 0), Element: 4, Width: uint64(n), Height: 1}},
			say: fmt.Sprintf("%s+%d, %d floats = %v", b.name, y, n, v)}
		p.do = func() {
			for i := range n {
				b.want[y+i] = v
			}
		}
	case copyMemory:
		if a == b {
			return p, false
		}
		p = planned{op: copyOp(to, from, size, hip.MemcpyDefault), say: fmt.Sprintf("%s+%d = %s+%d, %d floats", b.name, y, a.name, x, n)}
		p.do = func() { copy(b.want[y:][:n], a.want[x:]) }
	case copyFromProgram:
		h, v := s.e.host(int(size)), make([]float32, n)
		copy(h, s.values(v))
		p = planned{op: copyOp(to, ptr(h), size, hip.MemcpyHostToDevice), say: fmt.Sprintf("%d floats to %s+%d", n, b.name, y)}
		p.do = func() { copy(b.want[y:], v) }
	case copyToProgram:
		h, v := s.e.host(int(size)), make([]float32, n)
		p = planned{op: copyOp(ptr(h), from, size, hip.MemcpyDeviceToHost), say: fmt.Sprintf("%d floats from %s+%d", n, a.name, x), got: h, want: v}
		p.do = func() { copy(v, a.want[x:]) }
	case callProgram:
		if b.mem == nil {
			return p, false
		}
		v := make([]float32, n)
		bytes := s.values(v)
		p = planned{op: hip.GraphOp{Type: hip.GraphNodeTypeHost, Host: func() { copy(b.mem[4*y:], bytes) }}, say: fmt.Sprintf("the program writes %s+%d, %d floats", b.name, y, n)}
		p.do = func() { copy(b.want[y:], v) }
	case addMemory:
		if a == b {
			y, to = x, from
		}
		p = planned{op: hip.GraphOp{Type: hip.GraphNodeTypeKernel, Kernel: s.saxpy(th, n, from, to)}, say: fmt.Sprintf("%s+%d += %s+%d, %d floats", b.name, y, a.name, x, n)}
		p.do = func() {
			for i := range n {
				b.want[y+i] += a.want[x+i]
			}
		}
	}
	p.kind, p.a, p.b, p.op.Device = kind, a, b, th.Device
	return p, true
}

// within is a piece that a graph of a device can use.
func (s *sequence) within(th hip.Thread) *piece {
	for {
		if p := s.any(); p.device < 0 || p.device == th.Device {
			return p
		}
	}
}

// plan makes a graph: operations on one piece come one after another, others side by side.
func (s *sequence) plan() {
	th := s.streams[s.r.IntN(len(s.streams))].th
	g := &plan{name: fmt.Sprintf("graph %d", len(s.plans)), th: th}
	desc := hip.GraphDesc{Device: th.Device}
	last := map[*piece]uint32{} // operation that used it
	for range 2 + s.r.IntN(6) {
		a, b := s.within(th), s.within(th)
		p, ok := s.operation(min(s.r.IntN(kinds), addMemory), th, a, b)
		if !ok {
			continue
		}
		for _, x := range []*piece{a, b} {
			if before, ok := last[x]; ok && int(before) < len(g.ops) && !slices.Contains(p.op.After, before) {
				p.op.After = append(p.op.After, before)
			}
			last[x] = uint32(len(g.ops))
			if !slices.Contains(g.pieces, x) {
				g.pieces = append(g.pieces, x)
			}
		}
		s.say("%s, %d: after %v: %s", g.name, len(g.ops), p.op.After, p.say)
		g.ops, desc.Ops = append(g.ops, p), append(desc.Ops, p.op)
	}
	var err hip.Error
	g.exec, err = s.e.GraphInstantiate(th, &desc)
	s.ok("GraphInstantiate", err)
	s.plans = append(s.plans, g)
}

// launch launches a graph on a stream of its device.
func (s *sequence) launch(g *plan, st *line) {
	s.e.Helper()
	for _, p := range g.pieces {
		s.use(p, st)
	}
	if g.last != nil {
		s.behind(g.last, st) // it is launched again once it is done
	}
	g.last = st
	s.say("%s: %s", st.name, g.name)
	s.ok("GraphLaunch", s.e.GraphLaunch(st.th, g.exec, st.stream))
	for _, p := range g.ops {
		p.do()
		if p.got == nil {
			continue
		}
		for _, o := range s.streams { // what an earlier launch brought is not there any more
			o.later = slices.DeleteFunc(o.later, func(l landing) bool { return &l.got[0] == &p.got[0] })
		}
		st.later = append(st.later, landing{p.got, slices.Clone(p.want)})
	}
	for _, p := range g.pieces {
		s.exact(p, st)
	}
}

// change gives an operation of a graph other bytes of its pieces, or others to write, in launches from now on.
func (s *sequence) change(g *plan) {
	s.e.Helper()
	if len(g.ops) == 0 {
		return
	}
	i := s.r.IntN(len(g.ops))
	p, _ := s.operation(g.ops[i].kind, g.th, g.ops[i].a, g.ops[i].b)
	s.say("%s, %d: from now on: %s", g.name, i, p.say)
	s.ok("GraphExecUpdate", s.e.GraphExecUpdate(g.th, g.exec, []hip.GraphChange{{Index: uint32(i), Op: p.op}}))
	g.ops[i] = p
}
