package main

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// suites are the sources of the tests that call functions of the library with arguments that make sense, and look at what they do.
// The generated test of wrong arguments is none of them.
var suites = []string{
	"examples/tests/*.c", "examples/tests/*.h", "examples/tests/*.hip", "examples/hello_hip/*.c", "librocwire/testdata/*.c", "librocwire/testdata/*.hip",
	"hipabi/*_test.go",
}

// conformance is the suite that every hip.Runtime passes.
const conformance = "hip/hiptest/*.go"

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	cCalls   = regexp.MustCompile(`\b(?:rw_)?(\w+)\s*\(`)
	goCalls  = regexp.MustCompile(`\.(\w+)\(`)
)

// called are the names that match in files, outside of comments.
func called(t *testing.T, names *regexp.Regexp, patterns ...string) map[string]bool {
	t.Helper()
	found, files := map[string]bool{}, 0
	for _, p := range patterns {
		paths, err := filepath.Glob(filepath.Join(moduleRoot, p))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasPrefix(filepath.Base(path), "zz_") {
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files++
			for _, m := range names.FindAllSubmatch(comments.ReplaceAll(b, nil), -1) {
				found[string(m[1])] = true
			}
		}
	}
	if files == 0 {
		t.Fatalf("no files in %v", patterns)
	}
	return found
}

// Whoever says that a function works has a test that calls it: of the function itself or, of a method of hip.Runtime whose export is
// generated, in the suite that every Runtime passes. What has only tests of its parts stands in hip/testdata/untested.txt, which is to
// become empty; nothing new goes there.
func TestClaimsAreTested(t *testing.T) {
	table, err := readTable(filepath.Join(moduleRoot, "hip/api.json"))
	if err != nil {
		t.Fatal(err)
	}
	inC, inGo := called(t, cCalls, suites...), called(t, goCalls, conformance)
	untested := map[string]bool{}
	b, err := os.ReadFile(filepath.Join(moduleRoot, "hip/testdata/untested.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range strings.Fields(string(b)) {
		untested[n] = true
	}
	var missing []string
	for i := range table.Functions {
		f := &table.Functions[i]
		if f.unsupported() || f.Undeclared || inC[f.Name] {
			continue
		}
		if f.runtime() && !f.custom("export") && inGo[f.method()] {
			continue
		}
		if !untested[f.Name] {
			missing = append(missing, f.Name)
		}
		delete(untested, f.Name)
	}
	for n := range untested {
		t.Errorf("%s has a test, or does not claim to work: take it out of hip/testdata/untested.txt", n)
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("%d functions claim to work and no test calls them:\n%s", len(missing), strings.Join(missing, "\n"))
	}
}
