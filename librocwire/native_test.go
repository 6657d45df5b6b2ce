package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/rocm"
)

// TestNative: what rocm hands to a library's own graphs does what HIP promises. The library is this one, in this process.
func TestNative(t *testing.T) {
	for _, v := range worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a", "--sim-cards", "2") {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil { // the library is there until the process ends
			t.Fatal(err)
		}
		defer os.Unsetenv(name)
	}
	r, err := rocm.Open(library())
	if err != nil {
		t.Fatal(err)
	}
	hiptest.Run(t, func(*testing.T) hip.Runtime { return r }, "Graphs")
}
