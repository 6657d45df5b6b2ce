package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

const starpuExamples = "usr/lib/x86_64-linux-gnu/starpu/examples"

// starpuPackages are StarPU's examples, and what the library is linked with.
var starpuPackages = []string{"starpu-examples", "libhwloc15", "libudev1", "libxnvctrl0", "libpciaccess0", "ocl-icd-libopencl1", "libcap2", "libltdl7", "libgomp1", "libnuma1",
	"libfxt2t64", "libpapi7.2", "libglpk40", "libcolamd3", "libamd3", "libsuitesparseconfig7", "libgmp10", "zlib1g"}

// andCPU is behind the names of examples that have tasks which no card can execute.
const andCPU = " and a CPU"

// starpuPrograms are the examples that have kernels for HIP. They compare what these make with what is right.
func starpuPrograms(o *options) ([]program, error) {
	dir := filepath.Join(o.tree, starpuExamples)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		if has, err := hasKernels(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		} else if !has {
			continue
		}
		name := f.Name()
		if strings.HasPrefix(name, "fmultiple_") {
			name += andCPU
		}
		names = append(names, name)
	}
	return []program{{name: "examples", test: &each{
		names: func(context.Context, *host) ([]string, error) { return names, nil },
		made:  true,
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			name, both := strings.CutSuffix(name, andCPU)
			cmd := h.command(ctx, filepath.Join(starpuExamples, name))
			cmd.Env = append(cmd.Env, fmt.Sprintf("STARPU_NCPU=%d", map[bool]int{true: 1}[both]))
			return cmd
		},
		judge: judgeStarPU,
	}}}, nil
}

// hasKernels reports whether a file is a program that registers kernels with HIP.
func hasKernels(path string) (bool, error) {
	f, err := elf.Open(path)
	if e := (*elf.FormatError)(nil); errors.As(err, &e) { // a script
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	return slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return s.Name == "__hipRegisterFatBinary" }), err
}

// judgeStarPU reads the exit status: 77 is that there is nothing here to execute it.
func judgeStarPU(out string, err error) (results.Verdict, string) {
	var status *exec.ExitError
	switch {
	case err == nil:
		return results.Passed, ""
	case errors.As(err, &status) && status.ExitCode() == 77:
		return results.Skipped, tail(out, 200)
	}
	return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
}
