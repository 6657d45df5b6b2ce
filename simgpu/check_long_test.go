//go:build conformance

package simgpu

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/simgpu/exec"
)

// TestCheckedConformance: the whole suite runs with checks, and they find nothing
// but the memory that one of its kernels uses after it was freed.
func TestCheckedConformance(t *testing.T) {
	for _, arch := range kernels.Arches {
		t.Run(arch, func(t *testing.T) {
			hiptest.Run(t, func(t *testing.T) hip.Runtime {
				return newRuntime(t, Options{Arch: arch, Cards: 2, Check: exec.AllChecks &^ exec.CheckAlign, OnOutput: func(_ bool, text []byte) {
					if strings.Contains(string(text), "sim-check:") && !strings.HasSuffix(t.Name(), "/UseAfterFree") {
						t.Errorf("%s", text)
					}
				}})
			})
		})
	}
}
