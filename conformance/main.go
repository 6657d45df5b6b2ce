// Command conformance runs the project's own C programs (package examples), and the
// outside world's programs against rocwire, unmodified, from Debian's packages: the test programs of AMD's libraries through the remote
// libamdhip64.so.6 on a worker with a simulated gfx90a (or, with -arch, gfx1100), amd-smi through the remote
// libamd_smi.so.27 on workers with simulated gfx942, llama.cpp with its HIP backend
// and a model that is made here, and the OpenTelemetry Collector (built by its own
// builder) as a receiver of our metrics and traces. Random C programs are compiled
// by clang-19 for this CPU and for the simulated cards, and must have the same results; so must
// operations and what LLVM folds them to when their operands are constants.
//
//	go run ./conformance [-only NAME] [-arch TARGET] [-run REGEXP] [-sample N [-seed S]] [-time-limit D] [-cut KIB] [-tree DIR] [-hip DIR] [-for D]
//	go run ./conformance -rewrite
//
// It fetches the packages into a cache folder once, starts workers of its own
// and prints one line per test program and the sum. Of rocRAND, only tests are
// counted that fail on a GPU which executes nothing (rocrand_gfx90a.tsv); of the others some at random, unless -sample says how many; amd-smi's
// figures are compared with smi-remote's, llama.cpp's tokens with those of its CPU backend. Exit status 1 if something failed.
//
// AMD's own libamdhip64 on the simulated card is the judge of ours: hipcheck compares what both answer to some thousand cases, and fails on a
// difference that is not listed, or on a listed one that is gone (-accept writes the list). It is also what a worker serves with --backend rocm: the suite of
// package hip/hiptest runs there, but for what rocm_not.tsv says does not pass, and why.
//
// What became of each case of AMD's libraries is added to a file, -results. -rewrite adds it to what is kept (runs.tsv), and makes docs/runs.md of that.
//
// With -hip DIR only the C programs are run, with the libamdhip64.so.6 of that folder
// and the cards that it finds: so a library of AMD's is judged by the same programs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/debroot"
	"github.com/rocwire/rocwire/conformance/internal/results"
)

type options struct {
	forms    int
	match    *regexp.Regexp
	only     string
	arch     string // the card of AMD's libraries and of llama.cpp
	tree     string
	bin, lib string
	timeout  time.Duration
	verbose  bool
	hip      string        // the folder of another libamdhip64.so.6 for the C programs
	during   time.Duration // of random-c
	sample   int           // cases of each program; 0 is all, less is what each suite says
	seed     uint64
	limit    time.Duration // for a case, 0 is what each suite says
	results  *results.File
	cut      int    // KiB between two cuts of a suite's connections, at most; 0: none
	accept   bool   // of hipcheck
	keep     string // likewise
}

// part is one kind of program; run tells how much of it failed.
type part struct {
	name string
	run  func(context.Context, *options) (int, error)
}

// parts are our own programs, the suites of others, and what is compared with more care than a test program's word.
var parts = func() []part {
	all := []part{{"hip-c", conformHIPC}}
	for _, s := range suites {
		all = append(all, part{s.name, s.conform})
	}
	return append(all, part{"hsa", conformHSA}, part{"rocm", conformROCm}, part{"hipcheck", conformHIPCheck}, part{"amd-smi", conformAMDSMI}, part{"llama", conformLlama}, part{"otlp", conformOTLP}, part{"random-c", conformRandomC}, part{"folding", conformFolding}, part{"sim-check", conformSimCheck})
}()

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

func main() {
	debroot.Main()
	var o options
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.IntVar(&o.forms, "forms", 100, "of rocrand, run the tests that need at most this many instruction forms")
	run := flag.String("run", "", "run only the tests whose PROGRAM/NAME matches this regular expression")
	flag.IntVar(&o.sample, "sample", -1, "run this many cases of each program of AMD's libraries, chosen at random; 0 is all, -1 what is usual for the suite")
	flag.Uint64Var(&o.seed, "seed", 1, "which cases -sample chooses, and where random-c and folding begin (0: elsewhere each time)")
	flag.DurationVar(&o.limit, "time-limit", 0, "time for one case of AMD's libraries, after which it is ended and counts as late (default: what is usual for the suite)")
	file := flag.String("results", filepath.Join(cache, "rocwire", "runs.jsonl"), "add to this file what became of each case of AMD's libraries")
	rewrite := flag.Bool("rewrite", false, "run nothing, add the results to conformance/runs.tsv and make docs/runs.md of it")
	flag.StringVar(&o.tree, "tree", filepath.Join(cache, "rocwire", "sid"), "where the Debian packages are unpacked")
	flag.StringVar(&o.bin, "bin", "bin", "the folder of hip-worker")
	flag.StringVar(&o.lib, "lib", "build/lib", "the folder of libamdhip64.so.6")
	flag.DurationVar(&o.timeout, "timeout", time.Hour, "time for one C program, or one run of llama.cpp")
	flag.StringVar(&o.only, "only", "", "run only this: "+partNames())
	flag.StringVar(&o.arch, "arch", libraryArches[0], "the simulated card that AMD's libraries and llama.cpp run on: "+strings.Join(libraryArches, " or "))
	flag.DurationVar(&o.during, "for", 2*time.Minute, "how long random-c and folding go on")
	flag.IntVar(&o.cut, "cut", 0, "cut the connections of AMD's libraries' programs again and again, at a random byte less than this many KiB away; nothing is added to -results")
	flag.StringVar(&o.hip, "hip", "", "run only the programs in C, with the libamdhip64.so.6 of this folder")
	flag.BoolVar(&o.accept, "accept", false, "write what hipcheck saw to the list of known differences and to "+hipcheckPage+", if each has a reason")
	flag.StringVar(&o.keep, "keep", "", "keep in this folder what AMD's library answered to hipcheck, and take it from there the next time")
	flag.BoolVar(&o.verbose, "v", false, "print what the failing tests printed")
	flag.Parse()
	if o.hip != "" {
		if o.only != "" && o.only != "hip-c" {
			fmt.Fprintln(os.Stderr, "conformance: -hip is for the programs in C")
			os.Exit(2)
		}
		o.only = "hip-c"
		if _, err := os.Stat(filepath.Join(o.hip, "libamdhip64.so.6")); err != nil {
			fmt.Fprintln(os.Stderr, "conformance: -hip:", err)
			os.Exit(2)
		}
	}
	if o.only != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == o.only }) {
		fmt.Fprintf(os.Stderr, "conformance: -only %s: there are %s\n", o.only, partNames())
		os.Exit(2)
	}
	if !slices.Contains(libraryArches, o.arch) {
		fmt.Fprintf(os.Stderr, "conformance: -arch %s: AMD's libraries have code for %s\n", o.arch, strings.Join(libraryArches, " and "))
		os.Exit(2)
	}
	if o.match, err = regexp.Compile(*run); err != nil {
		fmt.Fprintln(os.Stderr, "conformance: -run:", err)
		os.Exit(2)
	}
	if o.cut > 0 { // what they show is another thing
		*file = os.DevNull
	}
	o.results = results.Open(*file)
	if *rewrite {
		if err := rewritePage(&o, "docs/runs.md"); err != nil {
			fmt.Fprintln(os.Stderr, "conformance:", err)
			os.Exit(2)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	failed, err := conform(ctx, &o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func conform(ctx context.Context, o *options) (failed int, err error) {
	for _, p := range []*string{&o.bin, &o.lib, &o.tree, &o.hip, &o.keep} {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			return 0, err
		}
	}
	begin := time.Now()
	for i, part := range parts {
		if o.only != "" && o.only != part.name {
			continue
		}
		if o.only == "" { // hours
			fmt.Printf("[%d/%d] %s, %s after the beginning, %d failed so far\n", i+1, len(parts), part.name, time.Since(begin).Round(time.Second), failed)
		}
		n, err := part.run(ctx, o)
		failed += n
		if err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// fetch unpacks packages of Debian into the tree.
func fetch(ctx context.Context, o *options, packages []string) error {
	cmd := exec.CommandContext(ctx, "scripts/fetch_debian.sh", append([]string{o.tree}, packages...)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("fetching Debian's packages: %w", err)
	}
	return nil
}
