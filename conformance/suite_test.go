package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

func TestForms(t *testing.T) {
	tests, err := readForms("rocrand_gfx90a.tsv", 100)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range tests {
		n += len(p)
	}
	if n != 859 {
		t.Errorf("%d tests need at most 100 forms, want 859", n)
	}
}

func TestGtestLines(t *testing.T) {
	for line, want := range map[string]caseEnd{
		"[ RUN      ] suite.name":            {name: "suite.name"},
		"[       OK ] suite.name (12 ms)":    {name: "suite.name", verdict: results.Passed},
		"[  SKIPPED ] suite.name (0 ms)":     {name: "suite.name", verdict: results.Skipped},
		"[  FAILED  ] a/b.c/0, where X (1 s": {name: "a/b.c/0", verdict: results.Failed},
		"[==========] 3 tests ran.":          {},
	} {
		what, got := readGtest(line, nil)
		if got != want || (what == nothing) != (want.name == "") || (what == begins) != strings.Contains(line, "RUN") {
			t.Errorf("%q: %v, %+v", line, what, got)
		}
	}
}

func TestGtestNames(t *testing.T) {
	got, err := gtestNames(strings.NewReader("rocX version: 1.0.\nhalf epsilon: 1e-3  .\n\nmanual.\n  vs_cpu\nquick/gemm.\n  f32_1  # GetParam() = { a: 1.\n  f32_2\n  DISABLED_x\nTyped/0.  # TypeParam = int\n  Sum\n"))
	if want := []string{"manual.vs_cpu", "quick/gemm.f32_1", "quick/gemm.f32_2", "Typed/0.Sum"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSample(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("quick/a.%d", i), fmt.Sprintf("nightly/a.%d", i))
	}
	r := suiteRun{s: &suite{sample: 5}, p: &program{name: "p", of: func(c string) bool { return strings.HasPrefix(c, "quick") }},
		h: &host{o: &options{match: regexp.MustCompile(`^p/quick/a\..\d`), sample: -1, seed: 1}}}
	five := r.choose(all)
	if len(five) != 5 || !slices.IsSortedFunc(five, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) }) {
		t.Errorf("%q", five)
	}
	if again := r.choose(all); !slices.Equal(again, five) {
		t.Errorf("the same seed chooses %q and %q", five, again)
	}
	r.h.o.seed = 2
	if again := r.choose(all); slices.Equal(again, five) {
		t.Error("another seed chooses the same")
	}
	if r.h.o.sample = 0; len(r.choose(all)) != 90 {
		t.Errorf("%d cases match, want 90", len(r.choose(all)))
	}
}

// TestLines runs a program that crashes in one case, hangs in another, and does not know a third.
func TestLines(t *testing.T) {
	const script = `for c in "$@"; do
		case $c in nobody) continue;; esac
		echo "[ RUN      ] $c"; echo "about $c"
		case $c in crash) echo "no such thing" >&2; exit 3;; hang) exec sleep 100;; wrong) echo "[  FAILED  ] $c (1 ms)";; *) echo "[       OK ] $c (1 ms)";; esac
	done
	echo "[  FAILED  ] 1 test, listed below:"; echo "[  FAILED  ] wrong"`
	h := &host{o: &options{}}
	l := lines{
		command: func(ctx context.Context, _ *host, cases []string) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh"}, cases...)...)
		},
		most: 4,
		read: func(line string, said []string) (event, caseEnd) {
			what, o := readGtest(line, said)
			if h.limit = time.Hour; o.name == "hang" { // the others may take their time on a busy machine
				h.limit = 100 * time.Millisecond
			}
			return what, o
		},
	}
	got := map[string]string{}
	l.run(t.Context(), h, []string{"a", "crash", "hang", "b", "wrong", "nobody", "c"}, func(o caseEnd) {
		if got[o.name] != "" {
			t.Errorf("%s is reported twice", o.name)
		}
		got[o.name] = string(o.verdict)
		if o.name == "crash" && !strings.Contains(o.why, "about crash no such thing") || o.name == "wrong" && o.why != "about wrong" {
			t.Errorf("%s: %s", o.name, o.why)
		}
	})
	want := map[string]string{"a": "passed", "crash": "failed", "hang": "late", "b": "passed", "wrong": "failed", "nobody": "not run", "c": "passed"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestLinesInOrder has the first case hang, in a program that only says what has ended.
func TestLinesInOrder(t *testing.T) {
	h := &host{o: &options{}, limit: 100 * time.Millisecond}
	l := lines{
		command: func(ctx context.Context, _ *host, cases []string) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", append([]string{"-c", `for c in "$@"; do [ $c = hang ] && exec sleep 100; echo "[       OK ] $c (1 ms)"; done`, "sh"}, cases...)...)
		},
		inOrder: true,
		read:    readGtest,
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := map[string]results.Verdict{}
	l.run(ctx, h, []string{"hang", "a", "b"}, func(o caseEnd) {
		got[o.name] = o.verdict
		h.limit = time.Hour // the others may take their time on a busy machine
	})
	if want := map[string]results.Verdict{"hang": results.Late, "a": results.Passed, "b": results.Passed}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestRunsPage holds the page to the results that are kept.
func TestRunsPage(t *testing.T) {
	page, err := runsPage("runs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../docs/runs.md"); err != nil || !bytes.Equal(got, page) {
		t.Errorf("docs/runs.md is not what go run ./conformance -rewrite makes of conformance/runs.tsv (%v)", err)
	}
}

// TestNoneCounts: a program none of whose cases count has not been run, which is no success.
func TestNoneCounts(t *testing.T) {
	o := &options{match: regexp.MustCompile(""), tree: t.TempDir(), results: results.Open(t.TempDir() + "/results")}
	cases := fakeTester{"_/axpy.blas1/quick_1", "_/axpy.blas1/nightly_1"}
	for begins, want := range map[string]map[results.Verdict]int{"quick_": {results.Passed: 1}, "quick/": {results.NotRun: 1}} {
		programs, err := one("program", cases, begins)(o)
		if err != nil {
			t.Fatal(err)
		}
		r := suiteRun{s: &suite{name: begins[:5]}, p: &programs[0], h: &host{o: o, w: &worker{ended: make(chan struct{})}}}
		if n, err := r.run(t.Context()); err != nil || !maps.Equal(n, want) {
			t.Errorf("%s: %v, %v, want %v", begins, n, err, want)
		}
	}
}

// fakeTester names its cases, and all pass.
type fakeTester []string

func (f fakeTester) list(context.Context, *host) ([]string, error) { return f, nil }

func (f fakeTester) run(_ context.Context, _ *host, cases []string, report func(caseEnd)) {
	for _, c := range cases {
		report(caseEnd{name: c, verdict: results.Passed})
	}
}
