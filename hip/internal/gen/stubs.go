package main

import "github.com/rocwire/rocwire/internal/stubgen"

// library is the exports as the jumps of libamdhip64.so.6 need them.
func library(t *Table) stubgen.Library {
	l := stubgen.Library{Name: "hip", Generator: "hip/internal/gen from hip/api.json"}
	for _, f := range t.Functions {
		l.Functions = append(l.Functions, stubgen.Function{Name: f.Name, Weak: f.Weak})
	}
	return l
}

func tableC(t *Table) string { return library(t).Table() }

func stubsS(t *Table) string { return library(t).Stubs() }
