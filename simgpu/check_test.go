package simgpu

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/examples/bugs"
	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
	"github.com/rocwire/rocwire/simgpu/exec"
)

// heard is what kernels have written.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) take(_ bool, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// bugRun runs a kernel of package bugs in a runtime and returns what was said.
// before may do something with the input, and give another one.
func bugRun(t *testing.T, o Options, name string, k bugs.Kernel, before func(r *Runtime, in hip.Ptr) hip.Ptr) (said string, e hip.Error) {
	t.Helper()
	h := &heard{}
	o.OnOutput = h.take
	r := newRuntime(t, o)
	th := hip.Thread{ID: 7}
	m, e := r.ModuleLoadData(th, bugs.Object(o.Arch))
	must(t, "ModuleLoadData", e)
	f, e := r.ModuleGetFunction(th, m, name)
	must(t, "ModuleGetFunction", e)
	in, e := r.Malloc(th, 1024)
	must(t, "Malloc", e)
	out, e := r.Malloc(th, 1024)
	must(t, "Malloc", e)
	must(t, "Memset", r.Memset(th, in, 1, 1024))
	if before != nil {
		in = before(r, in)
	}
	args := binary.LittleEndian.AppendUint64(nil, uint64(in))
	args = binary.LittleEndian.AppendUint64(args, uint64(out))
	args = binary.LittleEndian.AppendUint32(args, k.N)
	args = binary.LittleEndian.AppendUint32(args, 8)
	must(t, "LaunchKernel", r.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: k.Threads, Y: 1, Z: 1}, Args: args}))
	e = r.DeviceSynchronize(th)
	return h.String(), e
}

// TestCheckFindsBugs runs kernels with a bug each, and the same without it.
func TestCheckFindsBugs(t *testing.T) {
	for _, arch := range kernels.Arches {
		for _, k := range bugs.Kernels {
			t.Run(arch+"/"+k.Name, func(t *testing.T) {
				t.Parallel()
				o := Options{Arch: arch, Check: exec.AllChecks}
				said, e := bugRun(t, o, k.Name, k, nil)
				must(t, "DeviceSynchronize", e)
				if n := strings.Count(said, "sim-check:"); n != k.Reports {
					t.Errorf("%d reports, %d are right:\n%s", n, k.Reports, said)
				}
				for _, want := range []string{"sim-check: " + k.Check + ": ", k.Says, fmt.Sprintf("kernel %s at bugs.hip:%d\n", k.Name, k.Line), "workgroup (0,0,0), wave "} {
					if !strings.Contains(said, want) {
						t.Errorf("it does not say %q:\n%s", want, said)
					}
				}
				if said, e = bugRun(t, o, k.Name+"_right", k, nil); e != hip.Success || said != "" {
					t.Errorf("without the bug: %v\n%s", e, said)
				}
				o.Check = exec.AllChecks &^ exec.ParseCheck(k.Check)
				if said, _ = bugRun(t, o, k.Name, k, nil); said != "" {
					t.Errorf("by other checks:\n%s", said)
				}
				o.Check, o.CheckFatal = exec.AllChecks, true
				if _, e = bugRun(t, o, k.Name, k, nil); e == hip.Success {
					t.Error("a finding is to be fatal, and is not")
				}
			})
		}
	}
}

// TestCheckNamesWhoFreed: an access to memory that was freed says by whom.
func TestCheckNamesWhoFreed(t *testing.T) {
	k := bugs.Kernel{Name: "bounds_right", Threads: 64, N: 64}
	var ptr hip.Ptr
	var faulted string
	o := Options{Arch: DefaultArch, Check: exec.CheckBounds, OnAsyncError: func(_ int32, _ hip.Stream, _ hip.Error, detail string) { faulted = detail }}
	said, e := bugRun(t, o, k.Name, k, func(r *Runtime, in hip.Ptr) hip.Ptr {
		ptr = in
		must(t, "Free", r.Free(hip.Thread{ID: 9}, in))
		return in
	})
	is(t, "DeviceSynchronize", e, hip.ErrorIllegalAddress)
	want := fmt.Sprintf("0 bytes into what was device memory of 1024 bytes at %v, freed by hipFree of thread 9", ptr)
	for _, words := range []string{want, "bugs.hip:98"} {
		if !strings.Contains(said, words) || !strings.Contains(faulted, words) {
			t.Errorf("want %q, the check says:\n%s\nand the fault: %s", words, said, faulted)
		}
	}
}

// TestCheckKnowsPools: memory that a pool keeps is not the program's any more.
func TestCheckKnowsPools(t *testing.T) {
	k := bugs.Kernel{Name: "bounds_right", Threads: 64, N: 64}
	th := hip.Thread{ID: 3}
	want := ""
	said, e := bugRun(t, Options{Arch: DefaultArch, Check: exec.CheckBounds}, k.Name, k, func(r *Runtime, in hip.Ptr) hip.Ptr {
		must(t, "Free", r.Free(th, in))
		p, e := r.MallocAsync(th, 1024, hip.StreamNull)
		must(t, "MallocAsync", e)
		must(t, "FreeAsync", r.FreeAsync(th, p, hip.StreamNull))
		again, e := r.MallocAsync(th, 1024, hip.StreamNull) // the same, and in use
		must(t, "MallocAsync", e)
		if again != p {
			t.Errorf("the pool gives %v, not %v, which was freed", again, p)
		}
		must(t, "FreeAsync", r.FreeAsync(th, again, hip.StreamNull))
		want = fmt.Sprintf("0 bytes into the device memory of 1024 bytes at %v, freed by hipFreeAsync of thread 3 on stream 0x0", p)
		return p
	})
	must(t, "DeviceSynchronize", e)
	if !strings.Contains(said, want) {
		t.Errorf("want %q:\n%s", want, said)
	}
}

// TestCheckImages: checks find nothing in what the suite does with images, nor in loads that go where others are still to come.
func TestCheckImages(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx1100"} {
		t.Run(arch, func(t *testing.T) {
			hiptest.Run(t, func(t *testing.T) hip.Runtime {
				return newRuntime(t, Options{Arch: arch, Cards: 2, Check: exec.AllChecks, OnOutput: func(_ bool, text []byte) {
					if strings.Contains(string(text), "sim-check:") {
						t.Errorf("%s", text)
					}
				}})
			}, "Images", "ImageFormats")
		})
	}
}
