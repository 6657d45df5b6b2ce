package main

import "github.com/rocwire/rocwire/internal/stubgen"

// in reports whether a library exports f: the next major version's, or this one's.
func (f *Function) in(next bool) bool { return f.Only == "" || (f.Only == "next") == next }

// own are what the small libraries do themselves, before anything is opened: librocwire/stubs/hip.c.
var own = map[string]bool{
	"__hipRegisterFatBinary": true, "__hipUnregisterFatBinary": true, "__hipRegisterFunction": true, "__hipRegisterVar": true,
	"__hipRegisterManagedVar": true, "__hipRegisterTexture": true, "__hipRegisterSurface": true,
	"hipGetErrorName": true, "hipGetErrorString": true,
}

// library is all functions that the jumps of the libraries lead to.
func library(t *Table) stubgen.Library {
	l := stubgen.Library{Name: "hip", Lookup: true, Generator: "hip/internal/gen from hip/api.json"}
	for _, f := range t.Functions {
		l.Functions = append(l.Functions, stubgen.Function{Name: f.Name, Weak: f.Weak, Own: own[f.Name]})
	}
	seen := map[string]bool{"": true}
	for _, f := range t.Functions {
		if !seen[f.Changed] {
			seen[f.Changed] = true
			l.Functions = append(l.Functions, stubgen.Function{Name: f.Changed})
		}
	}
	return l
}

// jumps are the exports of one of the two libraries, with the functions they lead to.
func jumps(t *Table, next bool) (list []stubgen.Jump) {
	for i := range t.Functions {
		f := &t.Functions[i]
		if !f.in(next) {
			continue
		}
		j := stubgen.Jump{Name: f.Name, To: f.Name}
		if next && f.Changed != "" {
			j.To = f.Changed
		}
		list = append(list, j)
	}
	return list
}

func tableC(t *Table) string { return library(t).Table() }

func stubsS(t *Table) string { return library(t).Stubs(jumps(t, false)) }

func nextStubsS(t *Table) string { return library(t).Stubs(jumps(t, true)) }
