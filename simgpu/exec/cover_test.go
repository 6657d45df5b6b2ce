package exec

import (
	"debug/elf"
	goflag "flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// covered are the operations that tests of this package execute and know the results
// of: from a model of the test's own, or from a compiler. That the interpreter and the
// translator agree does not count, see machine.blind.
var covered sync.Map

// covers takes note of the instructions of a program.
func covers(arch gcn.Arch, code []uint32) {
	b := bytesOf(code)
	for at := 0; at < len(b); {
		in, err := gcn.Decode(arch, b, at)
		if err != nil {
			return
		}
		covered.Store(in.Op.String(), true)
		if in.Dual != nil {
			covered.Store(in.Dual.Op.String(), true)
		}
		at += int(in.Len)
	}
}

// coverKernels takes note of the compiled kernels, which TestKernels compares
// with the same sources on the CPU.
func coverKernels() error {
	for _, arch := range gcn.Archs() {
		files, err := filepath.Glob(filepath.Join("..", "..", "examples", "kernels", arch.String(), "*.co"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no compiled kernels: %v", err)
		}
		for _, name := range files {
			f, err := elf.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			text, err := f.Section(".text").Data()
			if err != nil {
				return err
			}
			covers(arch, wordsOf(text))
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a case throws away what a machine is: registers, the LDS, code
	os.Exit(coverage(m.Run()))
}

// coverage looks, when all tests have been run, whether there is an instruction whose
// results none of them knows. It returns what the process ends with.
func coverage(code int) int {
	all := !testing.Short()
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.bench"} {
		all = all && goflag.Lookup(name).Value.String() == ""
	}
	if code != 0 || !all {
		return code
	}
	if err := coverKernels(); err != nil {
		fmt.Println("FAIL:", err)
		return 1
	}
	missing := map[string]bool{}
	for _, arch := range gcn.Archs() {
		for _, info := range gcn.Ops(arch) {
			if _, ok := covered.Load(info.Op.String()); !ok && Executable(arch, info) {
				missing[info.Name] = true
			}
		}
	}
	if len(missing) > 0 {
		fmt.Printf("FAIL: no test knows the results of %d instructions: %v\n", len(missing), slices.Sorted(maps.Keys(missing)))
		return 1
	}
	return 0
}
