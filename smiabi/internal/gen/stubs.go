package main

import "github.com/rocwire/rocwire/internal/stubgen"

// library is the exports as the jumps of libamd_smi.so.27 need them.
func library(t *Table) stubgen.Library {
	l := stubgen.Library{Name: "smi", Generator: "smiabi/internal/gen from smiabi/api.json"}
	for _, f := range t.Functions {
		l.Functions = append(l.Functions, stubgen.Function{Name: f.Name})
	}
	return l
}

func tableC(t *Table) string { return library(t).Table() }

func stubsS(t *Table) string { return library(t).Stubs(library(t).Jumps()) }
