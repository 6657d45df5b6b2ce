// Command bench measures rocwire next to what the machine can do at best and prints one table. It is run by "make bench", from the root of
// the tree, after the worker and the library are built; rows whose programs are not there are left out with a note.
//
// Every figure is the median of several rounds, and every round measures the floor (bare sockets, memcpy: c/floor.c) right before the
// thing itself, so that a ratio compares like with like on a machine that is not quiet. "ok" and "slow" say whether the ratio keeps the promise. The floor's sockets
// use the same congestion control as ours.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

var (
	rounds = flag.Int("rounds", 5, "rounds per figure")
	calls  = flag.Int("calls", 10000, "calls per round")
	size   = flag.Int("bytes", 256<<20, "size of bulk copies")
	only   = flag.String("only", "", "measure only this group: calls, posts, bulk, shared, tls, links, hip, mem, resume, many, sim, native, llama or hsa")
)

func main() {
	if len(os.Args) >= 3 && os.Args[1] == "serve" { // the other process of the wire rows
		if err := serve(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench serve:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "rocwire-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f, err := buildFloor(dir)
	if err != nil {
		return err
	}
	t := &table{w: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t.w, "measured\tfloor\there\tratio\tpromise\t")
	groups := []struct {
		name string
		run  func(t *table, f *floor, dir string) error
	}{{"calls", wireCalls}, {"posts", wirePosts}, {"bulk", wireBulk}, {"shared", wireShared}, {"tls", wireTLS}, {"links", benchLinks}, {"hip", benchHIP}, {"mem", benchMem}, {"resume", benchResume}, {"many", benchMany}, {"sim", benchSim}, {"native", benchNative}, {"llama", benchLlama}, {"hsa", benchHSA}}
	for _, g := range groups {
		if *only != "" && *only != g.name {
			continue
		}
		if err := g.run(t, f, dir); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return t.w.Flush()
}

// table prints the rows.
type table struct{ w *tabwriter.Writer }

// row prints a figure next to its floor. The ratio is the median of the rounds' own ratios; limit is its promise, at most or (atLeast) at least; 0: none.
func (t *table) row(name string, floor, here []float64, unit func(float64) string, limit float64, atLeast bool) {
	promise := ""
	if limit > 0 {
		r := ratio(floor, here)
		sign, kept := "≤", r <= limit
		if atLeast {
			sign, kept = "≥", r >= limit
		}
		promise = fmt.Sprintf("%s %.2g: %s", sign, limit, verdict(kept))
	}
	t.beside(name, floor, here, unit, promise)
}

// beside is row with any promise.
func (t *table) beside(name string, floor, here []float64, unit func(float64) string, promise string) {
	fmt.Fprintf(t.w, "%s\t%s\t%s\t%.2f\t%s\t\n", name, unit(median(floor)), unit(median(here)), ratio(floor, here), promise)
}

// ratio is the median of the rounds' own ratios.
func ratio(floor, here []float64) float64 {
	ratios := make([]float64, len(here))
	for i := range here {
		ratios[i] = here[i] / floor[i]
	}
	return median(ratios)
}

// plain prints a figure that has no floor; promise may be empty.
func (t *table) plain(name, value, promise string) {
	fmt.Fprintf(t.w, "%s\t\t%s\t\t%s\t\n", name, value, promise)
}

func verdict(kept bool) string {
	if kept {
		return "ok"
	}
	return "slow"
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

func micros(ns float64) string { return fmt.Sprintf("%.1f µs", ns/1e3) }
func rate(bps float64) string  { return fmt.Sprintf("%.2f GB/s", bps/1e9) }

// floor runs the C program that measures what the machine can do.
type floor struct{ path string }

func buildFloor(dir string) (*floor, error) {
	path := filepath.Join(dir, "floor")
	return &floor{path}, compile(path, "bench/c/floor.c")
}

// compile makes a program of C.
func compile(to string, args ...string) error {
	cc := exec.Command("gcc", append([]string{"-O2", "-o", to}, args...)...)
	cc.Stderr = os.Stderr
	if err := cc.Run(); err != nil {
		return fmt.Errorf("compiling %s: %w", filepath.Base(to), err)
	}
	return nil
}

func (f *floor) measure(args ...any) ([2]float64, error) {
	var v [2]float64
	s := make([]string, len(args))
	for i, a := range args {
		s[i] = fmt.Sprint(a)
	}
	b, err := exec.Command(f.path, s...).Output()
	if err == nil {
		if n, _ := fmt.Sscan(string(b), &v[0], &v[1]); n == 0 {
			err = fmt.Errorf("floor %v printed %q", s, b)
		}
	}
	return v, err
}
