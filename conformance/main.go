// Command conformance runs the project's own C programs (package examples), and the
// outside world's programs against rocwire, unmodified, from Debian's packages: the test programs of rocRAND through the remote
// libamdhip64.so.6 on a worker with a simulated gfx90a, amd-smi through the remote
// libamd_smi.so.27 on workers with simulated gfx942, llama.cpp with its HIP backend
// and a model that is made here, and the OpenTelemetry Collector (built by its own
// builder) as a receiver of our metrics and traces.
//
//	go run ./conformance [-only hip-c|rocrand|amd-smi|llama|otlp] [-forms N] [-run REGEXP] [-tree DIR] [-hip DIR]
//
// It fetches the packages into a cache folder once, starts workers of its own
// and prints one line per test program and the sum. Of rocRAND, only tests are
// counted that fail on a GPU which executes nothing (rocrand_gfx90a.tsv); amd-smi's
// figures are compared with smi-remote's, llama.cpp's tokens with those of its CPU backend. Exit status 1 if something failed.
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
)

type options struct {
	forms    int
	match    *regexp.Regexp
	only     string
	tree     string
	bin, lib string
	timeout  time.Duration
	verbose  bool
	hip      string // the folder of another libamdhip64.so.6 for the C programs
}

// part is one kind of program; run tells how much of it failed.
type part struct {
	name string
	run  func(context.Context, *options) (int, error)
}

var parts = []part{{"hip-c", conformHIPC}, {"rocrand", conformRocRAND}, {"amd-smi", conformAMDSMI}, {"llama", conformLlama}, {"otlp", conformOTLP}}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

func main() {
	var o options
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.IntVar(&o.forms, "forms", 100, "run the tests that need at most this many instruction forms")
	run := flag.String("run", "", "of rocrand and llama, run only the tests whose PROGRAM/NAME matches this regular expression")
	flag.StringVar(&o.tree, "tree", filepath.Join(cache, "rocwire", "sid"), "where the Debian packages are unpacked")
	flag.StringVar(&o.bin, "bin", "bin", "the folder of hip-worker")
	flag.StringVar(&o.lib, "lib", "build/lib", "the folder of libamdhip64.so.6")
	flag.DurationVar(&o.timeout, "timeout", time.Hour, "time for one test program")
	flag.StringVar(&o.only, "only", "", "run only this: "+partNames())
	flag.StringVar(&o.hip, "hip", "", "run only the programs in C, with the libamdhip64.so.6 of this folder")
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
	if o.match, err = regexp.Compile(*run); err != nil {
		fmt.Fprintln(os.Stderr, "conformance: -run:", err)
		os.Exit(2)
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
	for _, p := range []*string{&o.bin, &o.lib, &o.tree, &o.hip} {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			return 0, err
		}
	}
	for _, part := range parts {
		if o.only != "" && o.only != part.name {
			continue
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

func conformRocRAND(ctx context.Context, o *options) (failed int, err error) {
	suite, err := readSuite("conformance/rocrand_gfx90a.tsv", o)
	if err != nil {
		return 0, err
	}
	if err := fetch(ctx, o, []string{"librocrand1", "librocrand1-tests", "libc6", "libstdc++6", "libgcc-s1"}); err != nil {
		return 0, err
	}
	w, err := startWorker(ctx, o, "--sim-arch", "gfx90a")
	if err != nil {
		return 0, err
	}
	defer w.stop()
	var passed int
	began := time.Now()
	for _, p := range suite {
		r := p.run(ctx, o, w)
		passed += len(r.passed)
		failed += len(p.tests) - len(r.passed)
		fmt.Printf("%-45s %4d of %4d passed  %6.1f s\n", p.name, len(r.passed), len(p.tests), r.took.Seconds())
		for _, t := range p.tests {
			if why, bad := r.failed[t]; bad {
				fmt.Printf("    FAILED %s: %s\n", t, why)
			}
		}
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
	}
	fmt.Printf("rocRAND on gfx90a, tests that need at most %d instruction forms: %d passed, %d failed, %.0f s\n", o.forms, passed, failed, time.Since(began).Seconds())
	return failed, nil
}
