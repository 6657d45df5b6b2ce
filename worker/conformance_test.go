package worker_test

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// TestConformance: what HIP promises holds through a connection, a session process and the simulated GPU.
func TestConformance(t *testing.T) {
	for arch, cards := range map[string]int{"gfx90a": 1, "gfx942": 2} { // a session that has one device goes shorter ways
		t.Run(arch, func(t *testing.T) {
			w := serve(t, simbackend.Options{Arch: arch, Cards: cards}, worker.Config{})
			var groups []string // all
			if testing.Short() && cards == 1 {
				groups = []string{"Copy", "Streams", "Sequences"}
			}
			hiptest.Run(t, func(t *testing.T) hip.Runtime { return connect(t, w) }, groups...)
		})
	}
}

// TestConformanceNear: it holds where the client has mapped all device memory that it can, and copies every byte itself.
func TestConformanceNear(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	var groups []string // all
	if testing.Short() {
		groups = []string{"HostMemory", "Copy", "Memset", "Streams", "Sequences"}
	}
	hiptest.Run(t, func(t *testing.T) hip.Runtime { return connectWith(t, w, hipremote.Config{Near: true}) }, groups...)
}

// TestConformanceFar: it holds where all goes through a socket, as from another machine.
func TestConformanceFar(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	groups := []string{"HostMemory", "Copy", "Copy3D", "Memset", "Waiting", "Streams", "Events", "Sequences", "Graphs"}
	if testing.Short() {
		groups = []string{"HostMemory", "Copy", "Sequences"}
	}
	hiptest.Run(t, func(t *testing.T) hip.Runtime { return connectWith(t, w, hipremote.Config{NoShare: true}) }, groups...)
}

// TestOutput: kernels' text is with the client before a call returns that waited for the kernel.
func TestOutput(t *testing.T) {
	for arch, cards := range map[string]int{"gfx90a": 1, "gfx942": 2} {
		t.Run(arch, func(t *testing.T) {
			w := serve(t, simbackend.Options{Arch: arch, Cards: cards}, worker.Config{})
			hiptest.RunOutput(t, func(t *testing.T, output func(bool, []byte)) hip.Runtime {
				return connectWith(t, w, hipremote.Config{Output: output})
			})
		})
	}
}

// TestConformanceNoRange: it holds where the client could reserve no range of device addresses, so that the worker places all memory.
func TestConformanceNoRange(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	groups := []string{"Memory", "Copy", "Copy3D", "Memset", "Pointers", "Modules", "Graphs", "Virtual", "IPC"}
	if testing.Short() {
		groups = []string{"Copy", "Virtual"}
	}
	for name, cfg := range map[string]hipremote.Config{"shared": {NoReserve: true}, "far": {NoReserve: true, NoShare: true}} {
		t.Run(name, func(t *testing.T) {
			hiptest.Run(t, func(t *testing.T) hip.Runtime { return connectWith(t, w, cfg) }, groups...)
		})
	}
}
