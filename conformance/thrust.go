package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const thrustTests = "usr/libexec/rocm/librocthrust-tests"

// thrustPrograms are rocThrust's tests, which are made with Thrust's own framework.
func thrustPrograms(o *options) (all []program, err error) {
	files, err := os.ReadDir(filepath.Join(o.tree, thrustTests))
	for _, f := range files {
		all = append(all, program{name: f.Name(), test: thrustProgram(filepath.Join(thrustTests, f.Name()))})
	}
	return all, err
}

func thrustProgram(path string) *each {
	return &each{
		names: func(ctx context.Context, h *host) ([]string, error) {
			out, err := h.command(ctx, path, "--list").Output()
			return thrustNames(string(out)), err
		},
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			return h.command(ctx, path, "--verbose", name)
		},
		judge: judgeThrust,
	}
}

// thrustNames are the lines of the list that are a name.
func thrustNames(out string) (names []string) {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" && !strings.ContainsAny(line, " \t:") {
			names = append(names, line)
		}
	}
	return names
}

var thrustTotals = regexp.MustCompile(`Totals: (\d+) failures, (\d+) known failures, (\d+) errors, and (\d+) passes`)

// judgeThrust reads the sum that a program ends with.
func judgeThrust(out string, err error) (results.Verdict, string) {
	m := thrustTotals.FindStringSubmatch(out)
	if err != nil || m == nil {
		return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
	}
	n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
	switch {
	case n(1) > 0 || n(3) > 0:
		return results.Failed, tail(out, 300)
	case n(4) == 0:
		return results.Skipped, m[0]
	}
	return results.Passed, ""
}
