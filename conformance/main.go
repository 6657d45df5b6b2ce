// Command conformance runs the outside world's programs against rocwire: test
// programs of Debian's ROCm packages, unmodified, through the remote
// libamdhip64.so.6 on a worker with a simulated gfx90a.
//
//	go run ./conformance [-forms N] [-run REGEXP] [-tree DIR]
//
// It fetches the packages into a cache folder once, starts a worker of its own
// and prints one line per test program and the sum. Only tests are counted that
// fail on a GPU which executes nothing (rocrand_gfx90a.tsv). Exit status 1 if
// one of them failed.
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
	"time"
)

type options struct {
	forms    int
	match    *regexp.Regexp
	tree     string
	bin, lib string
	timeout  time.Duration
	verbose  bool
}

func main() {
	var o options
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.IntVar(&o.forms, "forms", 100, "run the tests that need at most this many instruction forms")
	run := flag.String("run", "", "run only the tests whose PROGRAM/NAME matches this regular expression")
	flag.StringVar(&o.tree, "tree", filepath.Join(cache, "rocwire", "sid"), "where the Debian packages are unpacked")
	flag.StringVar(&o.bin, "bin", "bin", "the folder of hip-worker")
	flag.StringVar(&o.lib, "lib", "build/lib", "the folder of libamdhip64.so.6")
	flag.DurationVar(&o.timeout, "timeout", time.Hour, "time for one test program")
	flag.BoolVar(&o.verbose, "v", false, "print what the failing tests printed")
	flag.Parse()
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
	for _, p := range []*string{&o.bin, &o.lib, &o.tree} {
		if *p, err = filepath.Abs(*p); err != nil {
			return 0, err
		}
	}
	suite, err := readSuite("conformance/rocrand_gfx90a.tsv", o)
	if err != nil {
		return 0, err
	}
	fetch := exec.CommandContext(ctx, "scripts/fetch_debian.sh", o.tree, "librocrand1", "librocrand1-tests", "libc6", "libstdc++6", "libgcc-s1")
	fetch.Stdout, fetch.Stderr = os.Stderr, os.Stderr
	if err := fetch.Run(); err != nil {
		return 0, fmt.Errorf("fetching Debian's packages: %w", err)
	}
	w, err := startWorker(ctx, o)
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
