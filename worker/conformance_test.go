package worker_test

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// TestConformance: what HIP promises holds through a connection, a session process and the simulated GPU.
func TestConformance(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx942"} {
		t.Run(arch, func(t *testing.T) {
			w := serve(t, simbackend.Options{Arch: arch}, worker.Config{})
			hiptest.Run(t, func(t *testing.T) hip.Runtime { return connect(t, w) })
		})
	}
}
