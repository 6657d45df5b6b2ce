package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// rocrandPrograms are rocRAND's programs with those of their tests that fail on a GPU which executes nothing.
func rocrandPrograms(o *options) ([]program, error) {
	tests, err := readForms("conformance/rocrand_gfx90a.tsv", o.forms)
	if err != nil {
		return nil, err
	}
	var names []string
	for n := range tests {
		names = append(names, n)
	}
	slices.Sort(names)
	all := gtests("usr/libexec/rocm/librocrand1-tests", names...)
	for i, p := range all {
		all[i].of = func(name string) bool { return tests[p.name][name] }
	}
	return all, nil
}

// readForms reads the tests of each program that need at most so many forms of instructions.
func readForms(path string, most int) (map[string]map[string]bool, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tests := map[string]map[string]bool{}
	for i, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		c := strings.Split(l, "\t")
		if len(c) != 3 {
			return nil, fmt.Errorf("%s:%d: %d columns", path, i+1, len(c))
		}
		forms, err := strconv.Atoi(c[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		if forms > most {
			continue
		}
		if tests[c[1]] == nil {
			tests[c[1]] = map[string]bool{}
		}
		tests[c[1]][c[2]] = true
	}
	return tests, nil
}
