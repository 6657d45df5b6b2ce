// Package kernels holds the project's own kernels: their HIP sources, the code
// objects that clang-19 made of them for gfx90a, gfx942 and gfx1100, and LLVM 21 for gfx950, the same sources
// as a program for the CPU, and launches with random inputs on which both must
// agree. README.md tells how to use it.
package kernels

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Arches lists the processors that clang-19 compiles for, Compiled all that there are objects for.
var (
	Arches   = []string{"gfx90a", "gfx942", "gfx1100"}
	Compiled = append(Arches[:len(Arches):len(Arches)], "gfx950")
)

//go:embed gfx90a/*.co gfx942/*.co gfx950/*.co gfx1100/*.co gfx1100-wave64/*.co
var objects embed.FS

//go:embed *.hip kernel.h cpu/cpu.h cpu/runner.c
var sources embed.FS

// ObjectsEnv names the environment variable with another folder of objects, as
// build.sh writes it, to use instead of those in the tree.
const ObjectsEnv = "ROCWIRE_KERNEL_OBJECTS"

// Wave64 names what is compiled for waves of 64 lanes of gfx1100, at -O2.
const Wave64 = "gfx1100-wave64"

// Object returns the code object (a bare ELF file) of a name, such as "saxpy"
// or "control_O0", for a processor.
func Object(arch, name string) ([]byte, error) {
	file := arch + "/" + name + ".co"
	if dir := os.Getenv(ObjectsEnv); dir != "" {
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	}
	b, err := objects.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("kernels: no object %s", file)
	}
	return b, nil
}

// Objects lists the names of the objects.
func Objects() []string {
	entries, err := objects.ReadDir(Arches[0])
	if err != nil {
		panic(err) // they are part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".co"))
	}
	sort.Strings(names)
	return names
}
