package simgpu

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/examples/bugs"
	"github.com/rocwire/rocwire/hip"
)

// TestProfileTold: a runtime that is asked to says which kernels it executed, when it is asked again only what is new.
func TestProfileTold(t *testing.T) {
	var mu sync.Mutex
	var told []string
	r := newRuntime(t, Options{Arch: "gfx90a", Profile: true, Logf: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprintf(format, args...))
	}})
	r.TellProfile()
	if len(told) != 0 {
		t.Errorf("it tells of nothing: %q", told)
	}
	th := hip.Thread{}
	m, e := r.ModuleLoadData(th, bugs.Object("gfx90a"))
	must(t, "ModuleLoadData", e)
	f, e := r.ModuleGetFunction(th, m, "float_sum")
	must(t, "ModuleGetFunction", e)
	in, e := r.Malloc(th, 256)
	must(t, "Malloc", e)
	args := binary.LittleEndian.AppendUint64(nil, uint64(in))
	args = append(binary.LittleEndian.AppendUint64(args, uint64(in)), 8, 0, 0, 0)
	must(t, "LaunchKernel", r.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 8, Y: 1, Z: 1}, Args: args}))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(th))
	r.TellProfile()
	r.TellProfile()
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 1 || !strings.Contains(told[0], "float_sum") || !strings.Contains(told[0], "functions for") {
		t.Errorf("it tells %q", told)
	}
}
