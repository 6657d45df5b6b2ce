package exec

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// buildCPUs compiles the project's kernels for the CPU, by lanes of a wave.
func buildCPUs(t *testing.T) map[int]*kernels.CPU {
	t.Helper()
	cpus := map[int]*kernels.CPU{}
	for _, lanes := range []int{32, 64} {
		cpu, err := kernels.BuildCPU(t.TempDir(), lanes)
		if err != nil {
			t.Fatal(err)
		}
		cpus[lanes] = cpu
	}
	return cpus
}

// TestKernels runs the project's kernels, as clang compiled them at several
// levels of optimisation for all targets, on random inputs and compares with
// the same sources on the CPU. In short, only those as they are usually compiled.
func TestKernels(t *testing.T) {
	cpus := buildCPUs(t)
	for _, c := range kernels.Cases(11) {
		if testing.Short() && (strings.Contains(c.Object, "_O0") || strings.Contains(c.Object, "_O1")) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			wants := map[int]*kernels.Result{}
			for lanes, cpu := range cpus {
				want, err := cpu.Run(c)
				if err != nil {
					t.Fatal(err)
				}
				wants[lanes] = want
			}
			targets := gcn.Archs()
			if !strings.Contains(c.Object, "_O") {
				targets = append(targets, gcn.GFX1100.Wave64())
			}
			for _, arch := range targets {
				got, _, err := runCase(t, arch, c, 2)
				if err != nil {
					t.Errorf("%s, waves of %d: %v", arch, arch.WaveSize(), err)
					continue
				}
				if err := c.Diff(wants[arch.WaveSize()], got); err != nil {
					t.Errorf("%s, waves of %d: %v", arch, arch.WaveSize(), err)
				}
			}
		})
	}
}
