package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// magmaTests is where MAGMA's testers are in the tree, a program for each routine, and the script that knows what to give them.
const magmaTests = "usr/lib/x86_64-linux-gnu/libmagma-rocm-test"

// magmaSizes are the rows of matrices; the script's own go up to 4,000.
var magmaSizes = strings.Fields("-n 31 -n 64 -n 100")

// magma is MAGMA's testers as its own script starts them: a case is a tester and its options, for all sizes.
var magma = &each{names: magmaNames, made: true, command: magmaCommand, judge: judgeMAGMA}

// magmaNames has the script start programs that do nothing, and reads what it says it starts.
func magmaNames(ctx context.Context, h *host) ([]string, error) {
	dir, err := os.MkdirTemp("", "rocwire-magma-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	testers, err := filepath.Glob(filepath.Join(h.o.tree, magmaTests, "testing/testing_*"))
	if err != nil {
		return nil, err
	}
	nothing, err := exec.LookPath("true")
	if err != nil {
		return nil, err
	}
	for _, t := range testers {
		if err := os.Symlink(nothing, filepath.Join(dir, filepath.Base(t))); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "python3", append([]string{filepath.Join(h.o.tree, magmaTests, "run_tests.py"), "--batch", "10"},
		strings.Fields("-n 1 --blas --aux --chol --hesv --lu --qr --syev --sygv --geev --svd --batched --vbatched")...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("MAGMA's run_tests.py: %w", err)
	}
	return magmaCases(string(out)), nil
}

// scriptSizes begins the script's own list of sizes, which it gives the testers of zherk's kind whatever it is told: it does not set their nk.
const scriptSizes = " -n 1:20:1 "

// magmaBroken are testers that crash on every machine: they clear a workspace that they have only with --version 2, and the memory set of a null pointer fails.
var magmaBroken = regexp.MustCompile(`^testing_[sdcz]trsm_batched `)

// magmaCases are the testers and options of lines such as "testing_sgemm -l -NN -c -n 1".
func magmaCases(out string) (names []string) {
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		name, sizes := strings.TrimSpace(line), strings.Join(magmaSizes, " ")
		if !strings.HasPrefix(name, "testing_") || magmaBroken.MatchString(name) {
			continue
		}
		without, ours := strings.CutSuffix(name, " -n 1")
		if !ours {
			without, _, ours = strings.Cut(name, scriptSizes)
		}
		if ours {
			name = without + " " + sizes
		} // else the script gives this one a size of its own
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func magmaCommand(ctx context.Context, h *host, name string) *exec.Cmd {
	words := strings.Fields(name)
	return h.command(ctx, filepath.Join(magmaTests, "testing", words[0]), words[1:]...)
}

var (
	magmaOK  = regexp.MustCompile(`\bok *$`)
	magmaBad = regexp.MustCompile(`exit|memory leak|memory mapping error|runtime error|illegal value|[Ee]rror:`)
)

// judgeMAGMA reads the lines of the sizes as MAGMA's script does: they end with ok or failed.
func judgeMAGMA(out string, err error) (results.Verdict, string) {
	ok, failed, bad := 0, 0, 0
	first := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		switch {
		case magmaOK.MatchString(line):
			ok++
			continue
		case strings.Contains(line, "failed"):
			failed++
		case magmaBad.MatchString(line):
			bad++
		default:
			continue
		}
		if first == "" {
			first = line
		}
	}
	switch {
	case failed > 0 || bad > 0:
		return results.Failed, fmt.Sprintf("%d sizes ok, %d failed, %d errors: %s", ok, failed, bad, tail(first, 300))
	case err != nil:
		return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
	case ok == 0:
		return results.Skipped, "it checks nothing: " + tail(out, 100)
	}
	return results.Passed, ""
}
