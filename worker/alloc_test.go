//go:build !race

package worker

import (
	"math"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/simgpu"
)

// instant is a runtime whose calls do nothing: what is left is the way to it.
type instant struct{ hip.Unimplemented }

func (instant) GetDeviceCount() (int32, hip.Error) { return 1, hip.Success }

func (instant) MemsetD32Async(hip.Thread, hip.Ptr, int32, uint64, hip.Stream) hip.Error {
	return hip.Success
}

func (instant) EventCreateWithFlags(hip.Thread, uint32) (hip.Event, hip.Error) {
	return 77, hip.Success
}

func (instant) EventRecord(hip.Thread, hip.Event, hip.Stream) hip.Error { return hip.Success }
func (instant) StreamWaitEvent(hip.Thread, hip.Stream, hip.Event, uint32) hip.Error {
	return hip.Success
}
func (instant) LaunchKernel(hip.Thread, *hip.Launch) hip.Error { return hip.Success }
func (instant) StreamQuery(hip.Thread, hip.Stream) hip.Error   { return hip.Success }

// stray is how many allocations in a hundred calls are the reports' that are made meanwhile, and no call's.
const stray = 10

// allocations is how many there are in a hundred calls and one that waits for them: the least of many times, as on a busy machine reports are made in
// some of them, and a call that allocates does so every time.
func allocations(t *testing.T, c *hipremote.Client, call func() hip.Error) float64 {
	t.Helper()
	var th hip.Thread
	batch := func() {
		for range 100 {
			if e := call(); e != hip.Success {
				t.Fatal(e)
			}
		}
		if e := c.StreamQuery(th, hip.StreamNull); e != hip.Success && e != hip.ErrorNotReady {
			t.Fatal(e)
		}
	}
	least := math.Inf(1)
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, batch))
	}
	return least
}

// TestPostedCallsDoNotAllocate: neither in the client nor on the way to the runtime.
func TestPostedCallsDoNotAllocate(t *testing.T) {
	c := pair(t, instant{}).Client
	var th hip.Thread
	ev, e := c.EventCreateWithFlags(th, 0)
	if e != hip.Success {
		t.Fatal(e)
	}
	launch := &hip.Launch{Function: 5, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: make([]byte, 40)}
	for name, call := range map[string]func() hip.Error{
		"memset": func() hip.Error { return c.MemsetD32Async(th, 0x1000, 7, 1, hip.StreamNull) },
		"record": func() hip.Error { return c.EventRecord(th, ev, hip.StreamNull) },
		"wait":   func() hip.Error { return c.StreamWaitEvent(th, hip.StreamNull, ev, 0) },
		"launch": func() hip.Error { return c.LaunchKernel(th, launch) },
	} {
		if n := allocations(t, c, call); n >= stray {
			t.Errorf("%s: %v allocations in 100 calls", name, n)
		}
	}
}

// word is host memory that stays where it is.
var word uint32

// TestSmallCallsDoNotAllocate: all the way to the memory of the simulated GPU and back.
func TestSmallCallsDoNotAllocate(t *testing.T) {
	rt, err := simgpu.New(simgpu.Options{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	c := pair(t, rt).Client
	var th hip.Thread
	p, e := c.Malloc(th, 4096)
	if e != hip.Success {
		t.Fatal(e)
	}
	host := hip.Ptr(uintptr(unsafe.Pointer(&word)))
	for name, call := range map[string]func() hip.Error{
		"memset": func() hip.Error { return c.MemsetD32Async(th, p+8, 0x01020304, 2, hip.StreamNull) },
		"write":  func() hip.Error { return c.Memcpy(th, p, host, 4, hip.MemcpyHostToDevice) },
		"read":   func() hip.Error { return c.Memcpy(th, host, p+8, 4, hip.MemcpyDeviceToHost) },
		"query":  func() hip.Error { return c.StreamQuery(th, hip.StreamNull) },
	} {
		if n := allocations(t, c, call); n >= stray {
			t.Errorf("%s: %v allocations in 100 calls", name, n)
		}
	}
	if e := c.Memcpy(th, host, p+12, 4, hip.MemcpyDeviceToHost); e != hip.Success || word != 0x01020304 {
		t.Errorf("read %#x, %v", word, e)
	}
}
