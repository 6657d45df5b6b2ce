package rocm

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// graphStub is the stub with graphs, and what takes the calls about them since it
// was asked last.
func graphStub(t *testing.T, flags ...string) (r *Runtime, calls func() string) {
	t.Helper()
	dir := t.TempDir()
	lib, log := filepath.Join(dir, "libamdhip64.so.6"), filepath.Join(dir, "log")
	args := append([]string{"-shared", "-fPIC", "-Wall", "-Werror", "-I../hip/include", "-o", lib, "testdata/stub.c", "testdata/stub_graph.c", "-lpthread"}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("STUB_GRAPH_LOG", log)
	r, err := Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	return r, func() string {
		b, _ := os.ReadFile(log)
		_ = os.Remove(log)
		return strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", ", ")
	}
}

// graphBench is a graph's surroundings: device memory with three floats, and a
// kernel that makes the third the sum of the first two.
type graphBench struct {
	t    *testing.T
	r    *Runtime
	f    hip.Function
	mem  hip.Ptr
	out  *[4]float32 // of this process
	call func() string
}

func newGraphBench(t *testing.T, flags ...string) *graphBench {
	t.Helper()
	b := &graphBench{t: t, out: new([4]float32)}
	b.r, b.call = graphStub(t, flags...)
	image, err := os.ReadFile("../examples/kernels/gfx942/vector_add.co")
	if err != nil {
		t.Fatal(err)
	}
	m, e := b.r.ModuleLoadData(hip.Thread{}, image)
	must(t, "load", e)
	b.f, e = b.r.ModuleGetFunction(hip.Thread{}, m, "vector_add")
	must(t, "function", e)
	b.mem, e = b.r.Malloc(hip.Thread{}, 64)
	must(t, "malloc", e)
	b.write(1, 2, 0, 0)
	return b
}

func (b *graphBench) write(v ...float32) {
	copy(b.out[:], v)
	must(b.t, "copy in", b.r.Memcpy(hip.Thread{}, b.mem, b.at(), 16, hip.MemcpyHostToDevice))
}

// at is where b.out is: on the heap, where it stays.
func (b *graphBench) at() hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(b.out))) }

// add is the operation mem[k] = mem[i] + mem[j].
func (b *graphBench) add(i, j, k int, after ...uint32) hip.GraphOp {
	args := make([]byte, 28)
	for n, x := range []int{i, j, k} {
		binary.LittleEndian.PutUint64(args[8*n:], uint64(b.mem)+uint64(4*x))
	}
	args[24] = 1
	return hip.GraphOp{Type: hip.GraphNodeTypeKernel, After: after, Kernel: &hip.Launch{Function: b.f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args}}
}

func (b *graphBench) copyOp(dst, src hip.Ptr, kind hip.MemcpyKind, after ...uint32) hip.GraphOp {
	return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, After: after, Copy: &hip.GraphCopy{Dst: dst, Src: src, Width: 16, Height: 1, Depth: 1, Kind: kind}}
}

func (b *graphBench) instantiate(ops ...hip.GraphOp) hip.GraphExec {
	b.t.Helper()
	h, e := b.r.GraphInstantiate(hip.Thread{}, &hip.GraphDesc{Ops: ops})
	must(b.t, "instantiate", e)
	return h
}

func (b *graphBench) launch(h hip.GraphExec) {
	b.t.Helper()
	must(b.t, "launch", b.r.GraphLaunch(hip.Thread{}, h, 0))
}

func (b *graphBench) called(want string) {
	b.t.Helper()
	if got := b.call(); got != want {
		b.t.Errorf("the library was asked for\n%s, want\n%s", got, want)
	}
}

func (b *graphBench) sees(want ...float32) {
	b.t.Helper()
	for i, w := range want {
		if b.out[i] != w {
			b.t.Errorf("%v came back, want %v", b.out, want)
			return
		}
	}
}

// A graph becomes one of the library's, a launch is one call, a change changes one node.
func TestGraph(t *testing.T) {
	b := newGraphBench(t)
	h := b.instantiate(b.add(0, 1, 2), b.add(2, 2, 3, 0), hip.GraphOp{Type: hip.GraphNodeTypeEmpty, After: []uint32{1}}, b.copyOp(b.at(), b.mem, hip.MemcpyDeviceToHost, 1, 2))
	b.called("create 0, add k, add k 0, add e 1, add 1 2, instantiate 0")
	b.launch(h)
	b.called("launch on 0")
	b.sees(1, 2, 3, 6)

	change := func(want hip.Error, cs ...hip.GraphChange) {
		t.Helper()
		if e := b.r.GraphExecUpdate(hip.Thread{}, h, cs); e != want {
			t.Errorf("update: %v, want %v", e, want)
		}
	}
	change(hip.Success, hip.GraphChange{Index: 1, Op: b.add(2, 0, 3)})
	b.called("set k")
	b.launch(h)
	b.sees(1, 2, 3, 4)
	b.call()

	off := b.add(2, 2, 3)
	off.Disabled = true
	change(hip.Success, hip.GraphChange{Index: 1, Op: off})
	b.called("set k, enable 0")
	b.write(5, 5, 0, 0)
	b.launch(h)
	b.sees(5, 5, 10, 0)
	b.call()

	// What the library does not change makes a new graph of the same handle.
	change(hip.Success, hip.GraphChange{Index: 3, Op: b.copyOp(b.at(), b.mem, hip.MemcpyDefault)}, hip.GraphChange{Index: 1, Op: b.add(2, 2, 3)})
	b.called("set 1, create 0, add k, add k 0, add e 1, add 1 2, instantiate 0, end, destroy")
	b.launch(h)
	b.sees(5, 5, 10, 20)
	b.call()

	// All changes are made or none.
	bad := b.add(0, 0, 3)
	bad.Kernel.Args = bad.Kernel.Args[:27]
	change(hip.ErrorInvalidValue, hip.GraphChange{Index: 0, Op: b.add(0, 0, 3)}, hip.GraphChange{Index: 1, Op: bad})
	b.write(1, 2, 0, 0)
	b.launch(h)
	b.sees(1, 2, 3, 6)
	b.call()

	must(t, "destroy", b.r.GraphExecDestroy(hip.Thread{}, h))
	b.called("end, destroy")
	if e := b.r.GraphLaunch(hip.Thread{}, h, 0); e != hip.ErrorInvalidValue {
		t.Errorf("a graph that is gone: %v", e)
	}
}

// What becomes of each operation.
func TestGraphForms(t *testing.T) {
	b := newGraphBench(t)
	at := b.mem
	box := func(slice uint64) hip.GraphOp {
		return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{Dst: at + 32, Src: at, DstPitch: 4, SrcPitch: 4, DstSlice: slice, SrcSlice: 8, Width: 2, Height: 2, Depth: 2}}
	}
	set := hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: at, Pitch: 8, Value: 7, Element: 1, Width: 3, Height: 2}}
	cooperative := b.add(0, 1, 2)
	cooperative.Kernel.Flags = hip.LaunchCooperative
	disabled := hip.GraphOp{Type: hip.GraphNodeTypeEventRecord, Event: 5, Disabled: true}
	timed := b.add(0, 1, 2)
	timed.Kernel.Stop = 5
	elsewhere := b.add(0, 1, 2)
	elsewhere.Device = 1
	for want, ops := range map[string][]hip.GraphOp{
		"add e, add e 0":          {{Type: hip.GraphNodeTypeEmpty}, {Type: hip.GraphNodeTypeMemAlloc, After: []uint32{0}}},
		"add 3":                   {box(8)},
		"add k, cooperative":      {cooperative},
		"add e, add e 0, add e 1": {disabled, b.copyOp(0, 0, 0, 0), {Type: hip.GraphNodeTypeMemFree, After: []uint32{1, 0}}},
		"":                        {timed}, // nothing: it is issued
		" ":                       {elsewhere},
		"  ":                      {box(9)},
		"    ":                    {set},
		"      ":                  {b.add(0, 1, 2), b.add(0, 1, 3)}, // side by side
		"add 1":                   {{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{Dst: at, Src: at + 16, Width: 16, Height: 1, Depth: 1, Peer: true}}},
		"   ":                     {{Type: hip.GraphNodeTypeMemFree, Ptr: at}},
		"     ":                   {{Type: hip.GraphNodeTypeHost, Host: func() {}}},
	} {
		if ops[0].Type == hip.GraphNodeTypeEventRecord {
			ops[1].Copy.Width = 0
		}
		b.call()
		h, e := b.r.GraphInstantiate(hip.Thread{}, &hip.GraphDesc{Ops: ops})
		if e != hip.Success {
			t.Fatalf("%s: %v", want, e)
		}
		if want = strings.TrimSpace(want); want != "" {
			want = "create 0, " + want + ", instantiate 0"
		}
		b.called(want)
		b.r.GraphExecDestroy(hip.Thread{}, h)
	}
	h := b.instantiate(box(8))
	b.write(math.Float32frombits(0x0707), 0, 0, 0)
	b.launch(h)
	must(t, "copy out", b.r.Memcpy(hip.Thread{}, b.at(), at+32, 16, hip.MemcpyDeviceToHost))
	if got := math.Float32bits(b.out[0]) & 0xffff; got != 0x0707 {
		t.Errorf("%#x was copied", got)
	}
	b.call()
	if _, e := b.r.GraphInstantiate(hip.Thread{}, &hip.GraphDesc{Ops: []hip.GraphOp{b.add(0, 1, 2), b.copyOp(0, at, hip.MemcpyDefault, 0)}}); e != hip.ErrorInvalidDevicePointer {
		t.Errorf("what the library refuses: %v", e)
	}
	b.called("create 0, add k, destroy")
}

// A library without graphs, or without what one needs, has it issued.
func TestGraphIssued(t *testing.T) {
	for what, flag := range map[string]string{"no graphs": "-DWITHOUT_GRAPHS", "no events": "-DWITHOUT_EVENTS"} {
		b := newGraphBench(t, flag)
		ops := []hip.GraphOp{b.add(0, 1, 2)}
		if what == "no events" {
			ops = append(ops, hip.GraphOp{Type: hip.GraphNodeTypeEventRecord, Event: 7, After: []uint32{0}, Disabled: true})
		}
		h := b.instantiate(ops...)
		b.call()
		b.launch(h)
		if what == "no graphs" {
			b.called("")
		} else {
			b.called("launch on 0") // disabled, it is an empty node
		}
		must(t, "copy out", b.r.Memcpy(hip.Thread{}, b.at(), b.mem, 16, hip.MemcpyDeviceToHost))
		b.sees(1, 2, 3)
		if what == "no events" { // enabled, the graph is issued from now on, and the function it needs is not there
			op := ops[1]
			op.Disabled = false
			must(t, "update", b.r.GraphExecUpdate(hip.Thread{}, h, []hip.GraphChange{{Index: 1, Op: op}}))
			b.called("create 0, add k, destroy, end, destroy")
			if e := b.r.GraphLaunch(hip.Thread{}, h, 0); e != hip.ErrorNotSupported {
				t.Errorf("%s: %v", what, e)
			}
		}
		must(t, "destroy", b.r.GraphExecDestroy(hip.Thread{}, h))
	}
}
