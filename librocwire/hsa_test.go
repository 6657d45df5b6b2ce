package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// hsaLibrary is the folder that AMD's own runtimes would find HSA in.
func hsaLibrary() string { return filepath.Join(built, "lib", "hsa") }

// buildHSA compiles a program of testdata that uses HSA itself.
func buildHSA(t *testing.T, name string) (bin string) {
	bin = filepath.Join(t.TempDir(), name)
	build(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-Ihsaabi/include", "librocwire/testdata/"+name+".c", "-o", bin,
		filepath.Join(hsaLibrary(), "libhsa-runtime64.so.1"), "-Wl,-rpath,"+hsaLibrary(), "-lpthread")
	return bin
}

// TestHSAMemory: virtual memory, and what processes share.
func TestHSAMemory(t *testing.T) {
	for name, says := range map[string]string{"hsa_memory": "hsa memory: ok\n", "hsa_ipc": "hsa ipc: ok\n"} {
		if out := runs(t, nil, buildHSA(t, name)); !strings.HasSuffix(out, says) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// TestHSAImages: images and samplers on the card that has them, and the answers of one that has none.
func TestHSAImages(t *testing.T) {
	bin := buildHSA(t, "hsa_images")
	texture, err := filepath.Abs(filepath.Join(root, "examples/kernels/gfx90a/texture.co"))
	if err != nil {
		t.Fatal(err)
	}
	for arch, args := range map[string][]string{"gfx90a": {texture}, "gfx942": nil} {
		if out := runs(t, []string{"ROCWIRE_SIM_ARCH=" + arch}, bin, args...); !strings.HasSuffix(out, "hsa images: ok\n") {
			t.Errorf("%s:\n%s", arch, out)
		}
	}
}

// TestHSA: a program that writes packets itself, on the simulated card.
func TestHSA(t *testing.T) {
	bin := buildHSA(t, "hsa")
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
