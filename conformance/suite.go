package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/debroot"
	"github.com/rocwire/rocwire/conformance/internal/results"
)

// suite is the test programs of one project of others, and what they need.
type suite struct {
	name     string   // as -only has it
	title    string   // as the page has it
	of       string   // the package whose version is the software's
	packages []string // besides those of everySuite; all in the tree before anything runs
	cards    int      // of the worker; 0 is one
	libs     []string // more folders of libraries, in the tree
	env      []string
	root     bool // its programs start others of the tree, so that is their root
	// links are more symbolic links in that root; nil is none.
	links  func(o *options) (map[string]string, error)
	limit  time.Duration // for a case, unless -time-limit says otherwise
	sample int           // cases of each program, unless -sample says otherwise; 0 is all
	note   string        // for the page
	// programs makes the list when the packages are there.
	programs func(o *options) ([]program, error)
}

// program is one test program.
type program struct {
	name string
	test tester
	// of picks those that count; nil is all.
	of func(name string) bool
}

// everySuite is what every program of Debian links.
var everySuite = []string{"libc6", "libstdc++6", "libgcc-s1"}

// conform runs what of the suite is asked for.
func (s *suite) conform(ctx context.Context, o *options) (failed int, err error) {
	if err := fetch(ctx, o, append(slices.Clone(everySuite), append([]string{s.of}, s.packages...)...)); err != nil {
		return 0, err
	}
	version, err := debianVersion(o, s.of)
	if err != nil {
		return 0, err
	}
	programs, err := s.programs(o)
	if err != nil {
		return 0, err
	}
	w, err := startWorker(ctx, o, "--sim-arch", o.arch, "--sim-cards", fmt.Sprint(max(s.cards, 1)))
	if err != nil {
		return 0, err
	}
	defer w.stop()
	h := &host{o: o, w: w, libs: s.libs, env: slices.Clone(s.env), limit: s.limit}
	end, err := h.cutting()
	if err != nil {
		return 0, err
	}
	defer end()
	if s.root {
		leave, err := h.enter(ctx, s.links)
		if errors.Is(err, debroot.ErrNotPermitted) { // the other suites do not suffer for it
			fmt.Printf("%s %s not run: %v\n", s.title, version, err)
			return 1, nil
		}
		if err != nil {
			return 0, err
		}
		defer leave()
	}
	if o.limit > 0 {
		h.limit = o.limit
	}
	began := time.Now()
	total := map[results.Verdict]int{}
	for _, p := range programs {
		r := suiteRun{s: s, p: &p, h: h, version: version}
		n, err := r.run(ctx)
		for v, k := range n {
			total[v] += k
		}
		if err != nil {
			return total[results.Failed] + total[results.Late], err
		}
	}
	if len(total) == 0 {
		return 0, nil
	}
	fmt.Printf("%s %s on %s: %s, %.0f s\n", s.title, version, o.arch, counts(total), time.Since(began).Seconds())
	return total[results.Failed] + total[results.Late] + total[results.NotRun], nil
}

func counts(n map[results.Verdict]int) string {
	var l []string
	for _, v := range []results.Verdict{results.Passed, results.Failed, results.Late, results.Skipped, results.NotRun} {
		if n[v] > 0 || v == results.Passed || v == results.Failed {
			l = append(l, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(l, ", ")
}

// suiteRun is one program of a suite being run.
type suiteRun struct {
	s       *suite
	p       *program
	h       *host
	version string
}

func (r *suiteRun) run(ctx context.Context) (n map[results.Verdict]int, err error) {
	o := r.h.o
	all, err := r.cases(ctx)
	counted := 0
	for _, c := range all {
		if r.p.of == nil || r.p.of(c) {
			counted++
		}
	}
	if err == nil && counted == 0 {
		err = fmt.Errorf("it names %d, and none is of those that count", len(all))
	}
	if err != nil && ctx.Err() == nil { // the suite's other programs do not suffer for it
		fmt.Printf("%-45s not run: %v\n", r.p.name, err)
		return map[results.Verdict]int{results.NotRun: 1}, o.results.Add(r.line(results.Case{Name: "all of " + r.p.name, Verdict: results.NotRun, Why: "what cases there are: " + err.Error()}))
	}
	chosen := r.choose(all)
	if len(chosen) == 0 {
		return nil, ctx.Err()
	}
	if err := o.results.Add(r.line(results.Case{Cases: counted})); err != nil {
		return nil, err
	}
	n = map[results.Verdict]int{}
	began, ended := time.Now(), 0
	defer every(time.Minute, func() {
		fmt.Fprintf(os.Stderr, "conformance: %s: %d of %d cases have ended after %s\n", r.p.name, ended, len(chosen), time.Since(began).Round(time.Second))
	})()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	r.p.test.run(running, r.h, chosen, func(c caseEnd) {
		if r.h.w.gone() {
			cancel()
			return
		}
		ended++
		c.why = withoutPaths(c.why, o)
		n[c.verdict]++
		if c.verdict == results.Failed || c.verdict == results.Late {
			fmt.Printf("    %s %s: %s\n", strings.ToUpper(string(c.verdict)), c.name, c.why)
		}
		e := o.results.Add(r.line(results.Case{Name: c.name, Verdict: c.verdict, Why: c.why, Seconds: c.took.Seconds(), Limit: r.h.limit.Seconds()}))
		err = errors.Join(err, e)
	})
	fmt.Printf("%-45s %s of %d  %.1f s\n", r.p.name, counts(n), counted, time.Since(began).Seconds())
	if ctx.Err() == nil && r.h.w.gone() {
		err = errors.Join(err, errWorker)
	}
	return n, errors.Join(err, ctx.Err())
}

// withoutPaths is text without the names of this machine's folders.
func withoutPaths(s string, o *options) string {
	return strings.NewReplacer(o.tree, "{tree}", os.TempDir(), "{tmp}").Replace(s)
}

func (r *suiteRun) line(c results.Case) results.Case {
	c.Suite, c.Version, c.Target, c.Program, c.When = r.s.title, r.version, r.h.o.arch, r.p.name, time.Now().UTC().Truncate(time.Second)
	return c
}

// lists is the folder in the tree for what is made here and kept.
const lists = ".lists"

// cases lists the program's cases. It is kept beside the tree: some programs take minutes to say it.
func (r *suiteRun) cases(ctx context.Context) ([]string, error) {
	if m, ok := r.p.test.(interface{ makes() bool }); ok && m.makes() {
		return r.p.test.list(ctx, r.h)
	}
	dir := filepath.Join(r.h.o.tree, lists)
	path := filepath.Join(dir, strings.ReplaceAll(fmt.Sprintf("%s %s %s", r.s.name, r.version, r.p.name), "/", "_"))
	if b, err := os.ReadFile(path); err == nil {
		return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), nil
	}
	all, err := r.p.test.list(ctx, r.h)
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, errors.New("it names none"))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return all, os.WriteFile(path, []byte(strings.Join(all, "\n")+"\n"), 0o644)
}

// choose picks the cases that count and that -run and -sample ask for, in their order.
func (r *suiteRun) choose(all []string) []string {
	o := r.h.o
	var some []string
	for _, c := range all {
		if (r.p.of == nil || r.p.of(c)) && o.match.MatchString(r.p.name+"/"+c) {
			some = append(some, c)
		}
	}
	n := o.sample
	if n < 0 {
		n = r.s.sample
	}
	if n == 0 || n >= len(some) {
		return some
	}
	at := rand.New(rand.NewPCG(o.seed, uint64(len(some)))).Perm(len(some))[:n]
	slices.Sort(at)
	picked := make([]string, n)
	for i, k := range at {
		picked[i] = some[k]
	}
	return picked
}
