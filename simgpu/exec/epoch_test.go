package exec

import "testing"

func TestEpochs(t *testing.T) {
	var e epochs
	a, b := e.join(), e.join()
	a.begin()
	first := e.advance()
	b.begin()
	if e.begun(first) {
		t.Error("a began before")
	}
	a.end()
	if !e.begun(first) {
		t.Error("a has ended, b began after")
	}
	a.begin()
	second := e.advance()
	if e.begun(second) || !e.begun(first) {
		t.Error("both began before the second, none before the first")
	}
	a.end()
	b.end()
	if !e.begun(second) {
		t.Error("both have ended")
	}
	b.begin()
	third := e.advance()
	b.end()
	b.leave()
	a.leave()
	if !e.begun(third) || len(e.turns) != 0 {
		t.Errorf("%d are left", len(e.turns))
	}
}
