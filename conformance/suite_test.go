package main

import (
	"regexp"
	"testing"
)

func TestSuite(t *testing.T) {
	o := &options{forms: 100, match: regexp.MustCompile("")}
	suite, err := readSuite("rocrand_gfx90a.tsv", o)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range suite {
		n += len(p.tests)
	}
	if n != 859 {
		t.Errorf("%d tests need at most 100 forms, want 859", n)
	}
	o.match = regexp.MustCompile("^test_rocrand_config_dispatch/")
	if suite, err = readSuite("rocrand_gfx90a.tsv", o); err != nil || len(suite) != 1 {
		t.Errorf("%d programs, %v", len(suite), err)
	}
}

func TestGtestLines(t *testing.T) {
	for line, want := range map[string][2]string{
		"[ RUN      ] suite.name":            {"RUN", "suite.name"},
		"[       OK ] suite.name (12 ms)":    {"OK", "suite.name"},
		"[  FAILED  ] a/b.c/0, where X (1 s": {"FAILED", "a/b.c/0"},
		"[==========] 3 tests ran.":          {},
	} {
		m := gtestLine.FindStringSubmatch(line)
		if want[0] == "" {
			if m != nil {
				t.Errorf("%q taken for %v", line, m)
			}
			continue
		}
		if m == nil || m[1] != want[0] || m[2] != want[1] {
			t.Errorf("%q: %v", line, m)
		}
	}
}
