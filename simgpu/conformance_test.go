package simgpu

import (
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
)

func TestConformance(t *testing.T) {
	for _, arch := range kernels.Arches {
		t.Run(arch, func(t *testing.T) {
			var groups []string // all
			if testing.Short() && arch != DefaultArch {
				groups = []string{"Launch"}
			}
			hiptest.Run(t, func(t *testing.T) hip.Runtime { return newRuntime(t, Options{Arch: arch, Cards: 2}) }, groups...)
		})
	}
}

func TestOutput(t *testing.T) {
	for _, arch := range kernels.Arches {
		t.Run(arch, func(t *testing.T) {
			hiptest.RunOutput(t, func(t *testing.T, output func(bool, []byte)) hip.Runtime {
				return newRuntime(t, Options{Arch: arch, OnOutput: output})
			})
		})
	}
}

// newRuntime is a runtime whose log goes to the test's.
func newRuntime(t *testing.T, o Options) *Runtime {
	t.Helper()
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 1 << 30
	}
	if o.Logf == nil {
		o.Logf = t.Logf
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
