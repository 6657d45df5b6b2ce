package stubgen

import (
	"strings"
	"testing"
)

func TestLibrary(t *testing.T) {
	l := Library{Name: "x", Generator: "a test", Lookup: true, Functions: []Function{{Name: "first"}, {Name: "second", Weak: true}}}
	for _, want := range []string{"#define TABLE " + l.Symbol() + "\n", "JUMP .globl, first, 0\n", "JUMP .weak, second, 1\n"} {
		if !strings.Contains(l.Stubs(l.Jumps()), want) {
			t.Errorf("%q does not stand in:\n%s", want, l.Stubs(l.Jumps()))
		}
	}
	table := l.Table()
	if !strings.Contains(table, "const rw_function "+l.Symbol()+"[] = {\n\tfirst,\n\tsecond,\n}") || !strings.Contains(table, "\"first\",\n\t\t\"second\",") {
		t.Errorf("the table is\n%s", table)
	}
	l.Lookup = false
	if table = l.Table(); !strings.Contains(table, "const rw_function "+l.Symbol()+"[] = {\n\tfirst,\n\tsecond,\n}") || strings.Contains(table, "\"first\"") {
		t.Errorf("without names it is\n%s", table)
	}
}

// A library may have some of the functions, and one under another's name.
func TestJumps(t *testing.T) {
	l := Library{Name: "x", Functions: []Function{{Name: "first"}, {Name: "second", Weak: true}, {Name: "newer"}}}
	s := l.Stubs([]Jump{{"second", "second"}, {"first", "newer"}})
	if strings.Count(s, "JUMP") != 2 || !strings.Contains(s, "JUMP .weak, second, 1\n") || !strings.Contains(s, "JUMP .globl, first, 2\n") {
		t.Error(s)
	}
}

// Libraries of different functions, or of the same in another order, do not fit each
// other.
func TestSymbol(t *testing.T) {
	symbols := map[string]bool{}
	for _, names := range []string{"a b", "b a", "a", "ab", "a b c"} {
		l := Library{Name: "x"}
		for _, n := range strings.Fields(names) {
			l.Functions = append(l.Functions, Function{Name: n})
		}
		symbols[l.Symbol()] = true
	}
	if len(symbols) != 5 {
		t.Errorf("%v", symbols)
	}
}
