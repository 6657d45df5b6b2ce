package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const rcclTests = "usr/libexec/rocm/librccl1-tests/UnitTests"

// rcclPrograms is RCCL's test program. It links the HIP library of the fifth major version, of which it and RCCL call what the sixth has, too.
func rcclPrograms(o *options) ([]program, error) {
	dir := filepath.Join(o.tree, lists, "hip5")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	link := filepath.Join(dir, "libamdhip64.so.5")
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(o.lib, "libamdhip64.so.6"), link); err != nil {
		return nil, err
	}
	tests := &gtest{path: rcclTests}
	return []program{{name: "UnitTests", test: &each{
		names: tests.list,
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			return h.command(ctx, rcclTests, "--gtest_color=no", "--gtest_filter="+name)
		},
		judge: judgeRCCL,
	}}}, nil
}

var rcclExecuted = regexp.MustCompile(`Total executed cases: (\d+)`)

// judgeRCCL reads one test of it. Where there are too few cards it executes nothing, and says OK.
func judgeRCCL(out string, err error) (results.Verdict, string) {
	out = ansiCodes.ReplaceAllString(out, "")
	n := rcclExecuted.FindStringSubmatch(out)
	switch {
	case err != nil || !strings.Contains(out, "[       OK ]"):
		return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
	case n == nil || n[1] == "0":
		return results.Skipped, "it executes nothing"
	}
	return results.Passed, ""
}
