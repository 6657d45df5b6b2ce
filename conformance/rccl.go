package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const rcclTests = "usr/libexec/rocm/librccl1-tests/UnitTests"

// hip5 is where the library of HIP 5 lies for RCCL: in front of ours, in a folder of the tree.
const hip5 = lists + "/hip5"

// rcclPrograms is RCCL's test program, which with RCCL links the HIP library of the fifth major version.
func rcclPrograms(o *options) ([]program, error) {
	if err := buildHIP5(o); err != nil {
		return nil, err
	}
	tests := &gtest{path: rcclTests}
	return []program{{name: "UnitTests", test: &each{
		names: tests.list,
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			cmd := h.command(ctx, rcclTests, "--gtest_color=no", "--gtest_filter="+name)
			if !slices.Contains(rcclWhole, name) {
				cmd.Env = append(cmd.Env, "UT_REDOPS=sum", "UT_DATATYPES=ncclFloat32,ncclInt8")
			}
			return cmd
		},
		judge: judgeRCCL,
	}}}, nil
}

// rcclWhole are the cases without sums of these two types, which would execute nothing.
var rcclWhole = []string{"AllGather.ManagedMem", "AllToAll.ManagedMem", "Broadcast.ManagedMem", "Gather.ManagedMem", "Reduce.ManagedMem", "Reduce.OutOfPlace",
	"ReduceScatter.ManagedMem", "ReduceScatter.OutOfPlace", "Scatter.ManagedMem"}

// buildHIP5 builds libamdhip64.so.5. Of what RCCL and its tests call two functions have other values in HIP 5, and testdata/hip5.c is these;
// all others are found in our library, which it needs.
func buildHIP5(o *options) error {
	dir := filepath.Join(o.tree, hip5)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	to := filepath.Join(dir, "libamdhip64.so.5")
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	out, err := exec.Command("cc", "-O2", "-Wall", "-fPIC", "-shared", "-Ihip/include", "conformance/testdata/hip5.c", "-o", to, "-Wl,-soname,libamdhip64.so.5,--version-script=conformance/testdata/hip5.map",
		"-Wl,--allow-shlib-undefined,--no-as-needed", filepath.Join(o.lib, "libamdhip64.so.6")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("conformance/testdata/hip5.c: %w\n%s", err, out)
	}
	return nil
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
