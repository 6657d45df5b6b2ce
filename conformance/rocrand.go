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

// readForms are the tests of each program that need at most so many forms of instructions.
func readForms(path string, most int) (map[string]map[string]bool, error) {
	all, err := formsOf(path, most)
	if err != nil {
		return nil, err
	}
	tests := map[string]map[string]bool{}
	for _, t := range all {
		if tests[t.program] == nil {
			tests[t.program] = map[string]bool{}
		}
		tests[t.program][t.test] = true
	}
	return tests, nil
}

// formTest is a test of rocRAND's.
type formTest struct{ program, test string }

// formsOf reads the tests that need at most so many forms of instructions, fewest first.
func formsOf(path string, most int) ([]formTest, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var tests []formTest
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
		if forms <= most {
			tests = append(tests, formTest{c[1], c[2]})
		}
	}
	return tests, nil
}
