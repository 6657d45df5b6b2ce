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
	origin *line    // that it was captured on; nil: it was not
	recipe []told   // likewise: the streams of the operations
}

// within is a piece that a graph of a device can use.
func (s *sequence) within(th hip.Thread) *piece {
	for {
		if p := s.any(); p.here(th) {
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
		p, ok := s.operation(s.r.IntN(kinds), th, a, b)
		if !ok || p.op.Type == hip.GraphNodeTypeEmpty {
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
	if g.origin != nil {
		s.captureAgain(g)
		return
	}
	i := s.r.IntN(len(g.ops))
	p := s.another(g.ops[i], g.th)
	s.say("%s, %d: from now on: %s", g.name, i, p.say)
	s.ok("GraphExecUpdate", s.e.GraphExecUpdate(g.th, g.exec, []hip.GraphChange{{Index: uint32(i), Op: p.op}}))
	g.ops[i] = p
}
