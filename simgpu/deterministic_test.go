package simgpu

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/examples/bugs"
	"github.com/rocwire/rocwire/hip"
)

// TestSameBitsEveryTime adds up floats by atomic operations of many workgroups, twice:
// the sum has the same bits, and events tell the same time.
func TestSameBitsEveryTime(t *testing.T) {
	const n = 64 << 10
	var input []byte
	x := uint32(1)
	for range n {
		x = x*1664525 + 1013904223
		input = binary.LittleEndian.AppendUint32(input, math.Float32bits(float32(x>>8)/1e3))
	}
	run := func() (sum [4]byte, ms float32) {
		r := newRuntime(t, Options{Arch: "gfx90a", Deterministic: true, Workers: 4})
		th := hip.Thread{}
		m, e := r.ModuleLoadData(th, bugs.Object("gfx90a"))
		must(t, "ModuleLoadData", e)
		f, e := r.ModuleGetFunction(th, m, "float_sum")
		must(t, "ModuleGetFunction", e)
		in, e := r.Malloc(th, n*4)
		must(t, "Malloc", e)
		out, e := r.Malloc(th, 4)
		must(t, "Malloc", e)
		must(t, "Memcpy", r.Memcpy(th, in, hip.Ptr(uintptr(unsafe.Pointer(&input[0]))), n*4, hip.MemcpyHostToDevice))
		must(t, "Memset", r.Memset(th, out, 0, 4))
		var events [2]hip.Event
		for i := range events {
			events[i], e = r.EventCreateWithFlags(th, 0)
			must(t, "EventCreate", e)
		}
		args := binary.LittleEndian.AppendUint64(nil, uint64(in))
		args = binary.LittleEndian.AppendUint64(args, uint64(out))
		args = binary.LittleEndian.AppendUint32(args, n)
		must(t, "EventRecord", r.EventRecord(th, events[0], hip.StreamNull))
		must(t, "LaunchKernel", r.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: n / 256, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1}, Args: args}))
		must(t, "EventRecord", r.EventRecord(th, events[1], hip.StreamNull))
		must(t, "EventSynchronize", r.EventSynchronize(th, events[1]))
		must(t, "Memcpy", r.Memcpy(th, hip.Ptr(uintptr(unsafe.Pointer(&sum))), out, 4, hip.MemcpyDeviceToHost))
		ms, e = r.EventElapsedTime(th, events[0], events[1])
		must(t, "EventElapsedTime", e)
		return sum, ms
	}
	sum, ms := run()
	if ms <= 0 {
		t.Errorf("the kernel took %v ms", ms)
	}
	for range 4 {
		again, took := run()
		if !bytes.Equal(sum[:], again[:]) || took != ms {
			t.Fatalf("% x in %v ms, and then % x in %v ms", sum, ms, again, took)
		}
	}
}
