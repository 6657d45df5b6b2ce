package hiptest

import (
	"fmt"
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// Capturer is a Runtime whose streams capture, which HIP's do at its C boundary.
type Capturer interface {
	StreamBeginCapture(t hip.Thread, s hip.Stream) hip.Error
	// StreamEndCapture makes an executable graph of what was captured.
	StreamEndCapture(t hip.Thread, s hip.Stream) (hip.GraphExec, hip.Error)
	// StreamEndCaptureUpdate changes one to be what was captured.
	StreamEndCaptureUpdate(t hip.Thread, s hip.Stream, exec hip.GraphExec) hip.Error
}

// told is an operation that a stream was told while it captured.
type told struct {
	st, from *line // from: which one st follows if it has not captured yet
}

// capture makes a graph of what several streams are told.
func (s *sequence) capture(c Capturer) {
	s.e.Helper()
	var can []*line
	for _, st := range s.streams {
		if st.stream != hip.StreamNull {
			can = append(can, st)
		}
	}
	origin := can[s.r.IntN(len(can))]
	g := &plan{name: fmt.Sprintf("graph %d", len(s.plans)), th: origin.th}
	inside := []*line{origin}
	for range 2 + s.r.IntN(6) {
		st := can[s.r.IntN(len(can))]
		op, ok := s.operation(s.r.IntN(kinds), st.th, s.any(), s.any())
		if !ok {
			continue
		}
		g.ops, g.recipe = append(g.ops, op), append(g.recipe, told{st, inside[s.r.IntN(len(inside))]})
		if !slices.Contains(inside, st) {
			inside = append(inside, st)
		}
		for _, x := range op.uses() {
			if !slices.Contains(g.pieces, x) {
				g.pieces = append(g.pieces, x)
			}
		}
	}
	if len(g.ops) == 0 {
		return
	}
	g.origin = origin
	s.record(c, g)
	var err hip.Error
	g.exec, err = c.StreamEndCapture(origin.th, origin.stream)
	s.ok("StreamEndCapture", err)
	s.plans = append(s.plans, g)
}

// uses are the pieces that an operation needs.
func (p *planned) uses() (list []*piece) {
	if p.reads {
		list = append(list, p.a)
	}
	if p.writes && (!p.reads || p.a != p.b) {
		list = append(list, p.b)
	}
	return list
}

// record has the streams of a captured graph capture its operations: those on one piece one after another.
func (s *sequence) record(c Capturer, g *plan) {
	s.e.Helper()
	s.ok("StreamBeginCapture", c.StreamBeginCapture(g.origin.th, g.origin.stream))
	inside, last := []*line{g.origin}, map[*piece]*line{}
	for i := range g.ops {
		op, st := &g.ops[i], g.recipe[i].st
		if !slices.Contains(inside, st) {
			s.follow(g.recipe[i].from, st)
			inside = append(inside, st)
		}
		for _, x := range op.uses() {
			if before := last[x]; before != nil && before != st {
				s.follow(before, st)
			}
			last[x] = st
		}
		s.say("%s, captured on %s: %s", g.name, st.name, op.say)
		op.issue(st)
	}
	for _, st := range inside[1:] {
		s.follow(st, g.origin)
	}
}

// captureAgain captures a graph again, with other bytes of the same pieces or others to write, and updates it.
func (s *sequence) captureAgain(g *plan) {
	s.e.Helper()
	if slices.ContainsFunc(g.ops, func(p planned) bool { return p.kind == copyByPool }) {
		return // a graph that allocates is not changed
	}
	for i := range g.ops {
		if s.r.IntN(2) == 0 {
			g.ops[i] = s.another(g.ops[i], g.recipe[i].st.th)
		}
	}
	c := s.e.Runtime.(Capturer)
	s.record(c, g)
	s.ok("StreamEndCaptureUpdate", c.StreamEndCaptureUpdate(g.origin.th, g.origin.stream, g.exec))
}
