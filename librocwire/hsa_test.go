package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// hsaLibrary is the folder that AMD's own runtimes would find HSA in.
func hsaLibrary() string { return filepath.Join(built, "lib", "hsa") }

// TestHSA: a program that writes packets itself, on the simulated card.
func TestHSA(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "hsa")
	build(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-Ihsaabi/include", "librocwire/testdata/hsa.c", "-o", bin,
		filepath.Join(hsaLibrary(), "libhsa-runtime64.so.1"), "-Wl,-rpath,"+hsaLibrary(), "-lpthread")
	for _, arch := range []string{"gfx90a", "gfx942"} {
		var args []string
		for _, name := range []string{"vector_add", "fault", "spin", "variables"} {
			path, err := filepath.Abs(filepath.Join(root, "examples/kernels", arch, name+".co"))
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, path)
		}
		if out := runs(t, []string{"ROCWIRE_SIM_ARCH=" + arch}, bin, args...); !strings.HasSuffix(out, "hsa: ok\n") {
			t.Errorf("%s:\n%s", arch, out)
		}
	}
}
