package worker_test

import (
	"encoding/binary"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker"
)

// kernel loads one of the project's kernels for gfx942.
func kernel(t fataler, rt hip.Runtime, object, name string) hip.Function {
	t.Helper()
	image, err := kernels.Object("gfx942", object)
	if err != nil {
		t.Fatal(err)
	}
	m, e := rt.ModuleLoadData(main0, image)
	if e != hip.Success {
		t.Fatalf("ModuleLoadData: %v", e)
	}
	f, e := rt.ModuleGetFunction(main0, m, name)
	if e != hip.Success {
		t.Fatalf("ModuleGetFunction(%s): %v", name, e)
	}
	return f
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// args packs arguments as they lie in memory.
func args(v ...any) []byte {
	var b []byte
	for _, x := range v {
		switch x := x.(type) {
		case hip.Ptr:
			b = pad(b, 8)
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		case uint64:
			b = pad(b, 8)
			b = binary.LittleEndian.AppendUint64(b, x)
		case uint32:
			b = binary.LittleEndian.AppendUint32(pad(b, 4), x)
		default:
			panic("args")
		}
	}
	return b
}

func pad(b []byte, n int) []byte {
	for len(b)%n != 0 {
		b = append(b, 0)
	}
	return b
}

func launch(rt hip.Runtime, f hip.Function, s hip.Stream, a ...any) hip.Error {
	return rt.LaunchKernel(main0, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: s, Args: args(a...)})
}

// TestFaultHarmsNobodyElse: one session faults; it hears of it, another one does not. AMD's library ends its process then, and so the session.
func TestFaultHarmsNobodyElse(t *testing.T) { onBackends(t, config(), faultHarmsNobodyElse) }

func faultHarmsNobodyElse(t *testing.T, w *worker.Server, rocm bool) {
	want, sessions := hip.ErrorIllegalAddress, 2
	if rocm {
		want, sessions = hip.ErrorLaunchFailure, 1
	}
	bad, good := connect(t, w), connect(t, w)
	p, e := good.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "Memset", good.Memset(main0, p, 5, 4096))
	q, e := bad.Malloc(main0, 4096)
	must(t, "Malloc", e)
	// Where the fault is heard of before the launch returns, that may say so.
	if e := launch(bad, kernel(t, bad, "fault", "store_at"), 0, q, uint64(1<<40), uint32(1)); e != hip.Success && e != want {
		t.Errorf("launch: %v", e)
	}
	if e := bad.DeviceSynchronize(main0); e != want {
		t.Errorf("DeviceSynchronize after the fault: %v", e)
	}
	// The failure is told at once, too: calls that are posted hear of it.
	eventually(t, "a posted call returns the error", func() bool { return bad.MemsetAsync(main0, q, 1, 1, 0) == want })
	b := make([]byte, 4096)
	must(t, "Memcpy", good.Memcpy(main0, at(b), p, 4096, hip.MemcpyDeviceToHost))
	if b[0] != 5 || b[4095] != 5 {
		t.Error("the other session's memory has changed")
	}
	eventually(t, "as many sessions as there should be", func() bool { return len(w.Sessions()) == sessions })
	must(t, "Memset", good.Memset(main0, p, 6, 4096))
}

// TestWaitsLeaveTheLine: a thread that waits for an endless kernel holds up nobody else of its process.
func TestWaitsLeaveTheLine(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	s, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "stream", e)
	p, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "launch", launch(c, kernel(t, c, "spin", "spin_forever"), s, p))
	waiting := make(chan hip.Error, 2)
	go func() { waiting <- c.StreamSynchronize(main0, s) }()
	go func() { waiting <- c.DeviceSynchronize(main0) }()
	other, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "stream", e)
	for i := range 100 {
		q, e := c.MallocAsync(main0, 1<<16, other)
		must(t, "MallocAsync", e)
		must(t, "MemsetAsync", c.MemsetAsync(main0, q, int32(i), 1<<16, other))
		b := make([]byte, 1<<16)
		must(t, "MemcpyWithStream", c.MemcpyWithStream(main0, at(b), q, 1<<16, hip.MemcpyDeviceToHost, other))
		if b[1<<16-1] != byte(i) {
			t.Fatalf("round %d read %d", i, b[1<<16-1])
		}
		must(t, "FreeAsync", c.FreeAsync(main0, q, other))
	}
	if e := c.StreamQuery(main0, s); e != hip.ErrorNotReady {
		t.Errorf("StreamQuery of the endless kernel: %v", e)
	}
	// Closing the session ends what waits, and the kernel with it.
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if e := <-waiting; e != hip.ErrorNotInitialized {
			t.Errorf("a call that waited: %v", e)
		}
	}
}

// TestFailureOfAPostedCall is returned by the next call that may return it, once.
func TestFailureOfAPostedCall(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	f := kernel(t, c, "vector_add", "vector_add")
	p, e := c.Malloc(main0, 4096)
	must(t, "Malloc", e)
	must(t, "launch", launch(c, f, 0, p, p, p, uint32(64)))
	must(t, "sync", c.DeviceSynchronize(main0))
	// The runtime's range above what clients place: this side cannot know that nothing is there.
	bad := hip.Ptr(uint64(p)&^(1<<40-1) + 1<<40 - 1<<20)
	must(t, "MemsetAsync", c.MemsetAsync(main0, bad, 1, 64, 0))
	if e := c.StreamSynchronize(main0, 0); e != hip.ErrorInvalidValue {
		t.Errorf("StreamSynchronize after a posted call failed: %v", e)
	}
	must(t, "StreamSynchronize again", c.StreamSynchronize(main0, 0))
	must(t, "launch", launch(c, f, 0, p, p, p, uint32(64)))
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
}
