package hipabi

import (
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// Graphs of real kernels, executed: a branch for each of two streams, and a
// branch on a second card.
func TestGraphsOnSimulator(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx942"} {
		t.Run(arch, func(t *testing.T) {
			cards(t, arch, 1<<26)
			simulated(t, arch)
		})
	}
}

// cards are two simulated ones behind the exports, until the test ends.
func cards(t *testing.T, arch string, memory uint64) *simgpu.Runtime {
	t.Helper()
	r, err := simgpu.New(simgpu.Options{Arch: arch, Cards: 2, MemoryBytes: memory, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	SetRuntime(r)
	t.Cleanup(func() {
		SetRuntime(hip.Unimplemented{})
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func simulated(t *testing.T, arch string) {
	const n, bytes = 1000, 4 * 1000
	const first, second = uint64(1), uint64(1<<32 | 1) // this thread, with either device
	_, add := loadKernel(t, first, arch, "vector_add", "vector_add")
	_, there := loadKernel(t, second, arch, "vector_add", "vector_add")
	buffer := func(thread uint64) uint64 {
		p := out[uint64]()
		check(t, rw_hipMalloc(thread, ptr(p), bytes), hip.Success)
		check(t, rw_hipMemsetD32(thread, uintptr(*p), 0x3f800000, n), hip.Success) // 1
		return *p
	}
	launch := func(thread, fn, a, b, c, s uint64) {
		t.Helper()
		pa, pb, pc, pn := out[uint64](), out[uint64](), out[uint64](), out[int32]()
		*pa, *pb, *pc, *pn = a, b, c, n
		params := []uintptr{addr(pa), addr(pb), addr(pc), addr(pn)}
		keep = append(keep, params)
		check(t, rw_hipModuleLaunchKernel(thread, fn, (n+63)/64, 1, 1, 64, 1, 1, 0, s, unsafe.Pointer(&params[0]), nil), hip.Success)
	}
	fork := func(thread, from, to uint64) {
		t.Helper()
		e := out[uint64]()
		check(t, rw_hipEventCreateWithFlags(thread, ptr(e), eventDisableTiming), hip.Success)
		check(t, rw_hipEventRecord(thread, *e, from), hip.Success)
		check(t, rw_hipStreamWaitEvent(thread, to, *e, 0), hip.Success)
	}
	a, b, c, far := buffer(first), buffer(first), buffer(first), buffer(second)
	s1, s2, s3 := stream(t, first, 0), stream(t, first, 0), stream(t, second, 0)
	host := out[[n]float32]()

	begin(t, s1)
	launch(first, add, a, a, a, s1) // a doubles
	fork(first, s1, s2)
	fork(first, s1, s3)
	launch(first, add, a, b, b, s2)          // b += a
	launch(first, add, a, c, c, s1)          // c += a
	launch(second, there, far, far, far, s3) // far doubles
	check(t, rw_hipMemcpyAsync(second, uintptr(unsafe.Pointer(host)), uintptr(far), bytes, int32(hip.MemcpyDeviceToHost), s3), hip.Success)
	fork(first, s2, s1)
	fork(second, s3, s1)
	launch(first, add, b, c, c, s1) // c += b
	e := executableOf(t, finish(t, s1, hip.Success))
	*host = [n]float32{}

	wa, wb, wc, wf := float32(1), float32(1), float32(1), float32(1)
	for range 4 {
		check(t, rw_hipGraphLaunch(1, e, s1), hip.Success)
		check(t, rw_hipGraphLaunch(1, e, s2), hip.Success)
		for range 2 {
			wa *= 2
			wb += wa
			wc += wa + wb
			wf *= 2
		}
	}
	check(t, rw_hipStreamSynchronize(1, s2), hip.Success)
	if host[0] != wf || host[n-1] != wf {
		t.Errorf("the second card has %g and %g, want %g", host[0], host[n-1], wf)
	}
	for _, v := range []struct {
		name string
		p    uint64
		want float32
	}{{"a", a, wa}, {"b", b, wb}, {"c", c, wc}} {
		check(t, rw_hipMemcpy(first, uintptr(unsafe.Pointer(host)), uintptr(v.p), bytes, int32(hip.MemcpyDeviceToHost)), hip.Success)
		for i, got := range host {
			if got != v.want {
				t.Fatalf("%s[%d] = %g, want %g", v.name, i, got, v.want)
			}
		}
	}
	check(t, rw_hipGraphExecDestroy(1, e), hip.Success)
}
