package worker_test

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
)

// floats is memory of n floats at an address that is not Go's.
func floats(p hip.Ptr, n int) []float32 {
	a := uintptr(p)
	return unsafe.Slice((*float32)(*(*unsafe.Pointer)(unsafe.Pointer(&a))), n)
}

// saxpy launches y = a·x + y over n floats.
func saxpy(rt hip.Runtime, f hip.Function, s hip.Stream, n int, a float32, x, y hip.Ptr) hip.Error {
	return rt.LaunchKernel(main0, &hip.Launch{Function: f, Grid: hip.Dim3{X: uint32(n+63) / 64, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: s,
		Args: args(uint32(n), math.Float32bits(a), x, y)})
}

// TestHostMemoryByArgument: a kernel that is given the address of pinned memory finds what the program wrote there, and the program finds what the
// kernel wrote, whatever it is that tells it that the kernel is done.
func TestHostMemoryByArgument(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	f := kernel(t, c, "saxpy", "saxpy")
	const n = 5000
	h, e := c.HostMalloc(main0, 4*n, 0)
	must(t, "HostMalloc", e)
	d, e := c.Malloc(main0, 4*n)
	must(t, "Malloc", e)
	s, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "stream", e)
	v, e := c.EventCreateWithFlags(main0, 0)
	must(t, "event", e)
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	must(t, "H2D", c.Memcpy(main0, d, hip.Ptr(uintptr(unsafe.Pointer(&ones[0]))), 4*n, hip.MemcpyHostToDevice))
	x := floats(h, n)
	out := make([]float32, 1)
	for round, wait := range []func() hip.Error{
		func() hip.Error { return c.StreamSynchronize(main0, s) },
		func() hip.Error { return c.DeviceSynchronize(main0) },
		func() hip.Error {
			if e := c.EventRecord(main0, v, s); e != hip.Success {
				return e
			}
			return c.EventSynchronize(main0, v)
		},
		func() hip.Error {
			for {
				if e := c.StreamQuery(main0, s); e != hip.ErrorNotReady {
					return e
				}
				runtime.Gosched()
			}
		},
		func() hip.Error {
			return c.MemcpyWithStream(main0, hip.Ptr(uintptr(unsafe.Pointer(&out[0]))), d, 4, hip.MemcpyDeviceToHost, s)
		},
	} {
		for i := range x {
			x[i] = float32(i + round)
		}
		must(t, "launch", saxpy(c, f, s, n, 3, d, h)) // x += 3
		must(t, "wait", wait())
		for i := range x {
			if x[i] != float32(i+round+3) {
				t.Fatalf("round %d: element %d is %v", round, i, x[i])
			}
		}
	}
	must(t, "HostFree", c.HostFree(main0, h))
}

// TestHostMemorySharedPages: both sides write, one the even elements and the other the odd ones; neither undoes the other.
func TestHostMemorySharedPages(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	f := kernel(t, c, "saxpy", "saxpy")
	const n = 3000
	h, e := c.MallocManaged(main0, 8*n, hip.MemAttachGlobal)
	must(t, "MallocManaged", e)
	one, e := c.Malloc(main0, 4*n)
	must(t, "Malloc", e)
	must(t, "MemsetD32", c.MemsetD32(main0, one, 0x3f800000, n))
	x := floats(h, 2*n)
	s, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "stream", e)
	for round := 1; round <= 5; round++ {
		// The device adds 1 to the first half and, in a second launch that finds new host writes, to the middle.
		must(t, "launch", saxpy(c, f, s, n, 1, one, h))
		for i := n + n/2; i < 2*n; i++ { // the program writes what no kernel touches, while one runs
			x[i] = float32(100*round + i)
		}
		must(t, "launch", saxpy(c, f, s, n/2, 1, one, h+4*n))
		must(t, "sync", c.StreamSynchronize(main0, s))
		for i := range 2 * n {
			want := float32(round)
			if i >= n+n/2 {
				want = float32(100*round + i)
			}
			if x[i] != want {
				t.Fatalf("round %d: element %d is %v, want %v", round, i, x[i], want)
			}
		}
	}
	must(t, "Free", c.Free(main0, h))
}

// TestHostMemoryByAnother: what a kernel writes after the program has waited for something else is found by the wait that is for the kernel, though nothing
// was asked in between.
func TestHostMemoryByAnother(t *testing.T) {
	const n = 3000
	for _, far := range []bool{false, true} {
		c := connectWith(t, serve(t, cards(1), config()), hipremote.Config{NoShare: far})
		f := kernel(t, c, "saxpy", "saxpy")
		h, e := c.MallocManaged(main0, 4*n, hip.MemAttachGlobal)
		must(t, "MallocManaged", e)
		x := floats(h, n)
		s, e := c.StreamCreateWithPriority(main0, hip.StreamNonBlocking, 0)
		must(t, "stream", e)
		other, e := c.StreamCreateWithPriority(main0, hip.StreamNonBlocking, 0)
		must(t, "stream", e)
		v, e := c.EventCreateWithFlags(main0, 0)
		must(t, "event", e)
		for way, wait := range []func() hip.Error{
			func() hip.Error { return c.StreamSynchronize(main0, s) },
			func() hip.Error { return c.DeviceSynchronize(main0) },
			func() hip.Error { return c.EventSynchronize(main0, v) },
			func() hip.Error {
				p, e := c.Malloc(main0, 1<<20)
				must(t, "Malloc", e)
				must(t, "MemsetAsync", c.MemsetAsync(main0, p, 1, 1<<20, s))
				return c.Free(main0, p)
			},
			func() hip.Error {
				p, e := c.Malloc(main0, 64)
				must(t, "Malloc", e)
				return c.Free(main0, p)
			},
			func() hip.Error {
				p, e := c.HostMalloc(main0, 64, 0)
				must(t, "HostMalloc", e)
				return c.HostFree(main0, p)
			},
		} {
			for i := range x {
				x[i] = float32(i)
			}
			gate := make(chan struct{})
			must(t, "LaunchHostFunc", c.LaunchHostFunc(main0, s, func() { <-gate }))
			must(t, "launch", saxpy(c, f, s, n, 1, h, h)) // twice as much
			must(t, "EventRecord", c.EventRecord(main0, v, s))
			must(t, "wait for another", c.StreamSynchronize(main0, other))
			close(gate)
			must(t, "wait", wait())
			for i := range x {
				if x[i] != float32(2*i) {
					t.Fatalf("far %v, way %d: element %d is %v", far, way, i, x[i])
				}
			}
		}
	}
}

// TestRegisteredMemory: the program's own memory at its device address.
func TestRegisteredMemory(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	f := kernel(t, c, "saxpy", "saxpy")
	const n = 1003 // no whole number of pages or blocks
	x := make([]float32, n)
	p := hip.Ptr(uintptr(unsafe.Pointer(&x[0])))
	must(t, "HostRegister", c.HostRegister(main0, p, 4*n, 0))
	must(t, "HostRegister of a part", c.HostRegister(main0, p+8, 4, 0))
	d, e := c.HostGetDevicePointer(main0, p, 0)
	must(t, "HostGetDevicePointer", e)
	for i := range x {
		x[i] = float32(i)
	}
	must(t, "launch", saxpy(c, f, 0, n, 1, d, d)) // x = x + x
	must(t, "sync", c.DeviceSynchronize(main0))
	for i := range x {
		if x[i] != 2*float32(i) {
			t.Fatalf("element %d is %v", i, x[i])
		}
	}
	// Copies to and from it go through the device's view, in order with kernels.
	q, e := c.Malloc(main0, 4*n)
	must(t, "Malloc", e)
	must(t, "launch", saxpy(c, f, 0, n, 1, d, d))
	must(t, "copy behind a kernel", c.MemcpyAsync(main0, q, p, 4*n, hip.MemcpyDefault, 0))
	back := make([]float32, n)
	must(t, "D2H", c.Memcpy(main0, hip.Ptr(uintptr(unsafe.Pointer(&back[0]))), q, 4*n, hip.MemcpyDeviceToHost))
	for i := range back {
		if back[i] != 4*float32(i) {
			t.Fatalf("element %d of the copy is %v", i, back[i])
		}
	}
	must(t, "HostUnregister", c.HostUnregister(main0, p))
	if e := c.HostUnregister(main0, p); e != hip.ErrorHostMemoryNotRegistered {
		t.Errorf("unregistered twice: %v", e)
	}
	runtime.KeepAlive(x)
}

// TestRegisteredMemoryStays: what a Go program has registered is not collected before it is unregistered: the client writes there what kernels have
// written, into whatever else the collector would have given the memory to.
func TestRegisteredMemoryStays(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	f := kernel(t, c, "saxpy", "saxpy")
	const n = 1003
	gone := make(chan struct{})
	p := func() hip.Ptr { // which nothing else of the program refers to
		x := new([n]float32)
		x[0] = 1
		runtime.AddCleanup(x, func(gone chan struct{}) { close(gone) }, gone)
		p := hip.Ptr(uintptr(unsafe.Pointer(x)))
		must(t, "HostRegister", c.HostRegister(main0, p, 4*n, 0))
		return p
	}()
	d, e := c.HostGetDevicePointer(main0, p, 0)
	must(t, "HostGetDevicePointer", e)
	for range 3 {
		must(t, "launch", saxpy(c, f, 0, n, 1, d, d))
		must(t, "sync", c.DeviceSynchronize(main0))
		runtime.GC()
	}
	select {
	case <-gone:
		t.Fatal("the memory was collected")
	default:
	}
	if x := floats(p, 1); x[0] != 8 {
		t.Errorf("the kernels have left %v", x[0])
	}
	must(t, "HostUnregister", c.HostUnregister(main0, p))
	eventually(t, "collected", func() bool {
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
}

// TestHostFunctionSeesKernels: a host function finds what kernels before it wrote, and kernels after it find what it wrote.
func TestHostFunctionSeesKernels(t *testing.T) {
	c := connect(t, serve(t, cards(1), config()))
	f := kernel(t, c, "saxpy", "saxpy")
	const n = 100
	h, e := c.HostMalloc(main0, 4*n, 0)
	must(t, "HostMalloc", e)
	x := floats(h, n)
	s, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "stream", e)
	for i := range x {
		x[i] = 1
	}
	var mu sync.Mutex
	var seen float32
	must(t, "launch", saxpy(c, f, s, n, 1, h, h)) // 2
	must(t, "LaunchHostFunc", c.LaunchHostFunc(main0, s, func() {
		mu.Lock()
		defer mu.Unlock()
		seen = x[n-1]
		for i := range x {
			x[i] = 10
		}
	}))
	must(t, "launch", saxpy(c, f, s, n, 1, h, h)) // 20
	must(t, "sync", c.StreamSynchronize(main0, s))
	mu.Lock()
	defer mu.Unlock()
	if seen != 2 || x[0] != 20 || x[n-1] != 20 {
		t.Errorf("the function saw %v, the end is %v and %v", seen, x[0], x[n-1])
	}
}

// TestReset: after a reset the card is empty, what was granted for it is of use again, and pinned memory can be used by kernels as before.
func TestReset(t *testing.T) {
	w := serve(t, cards(1), config())
	c := connect(t, w)
	const n = 100
	h, e := c.HostMalloc(main0, 4*n, 0)
	must(t, "HostMalloc", e)
	x := floats(h, n)
	for round := range 5 {
		f := kernel(t, c, "saxpy", "saxpy")
		m, e := c.MallocManaged(main0, 1<<20, hip.MemAttachGlobal)
		must(t, "MallocManaged", e)
		_, e = c.Malloc(main0, 600<<20) // twice this is more than there is
		must(t, "Malloc", e)
		for i := range x {
			x[i] = 1
		}
		must(t, "launch", saxpy(c, f, 0, n, 1, h, h))
		must(t, "sync", c.DeviceSynchronize(main0))
		if x[n-1] != 2 {
			t.Fatalf("round %d: %v", round, x[n-1])
		}
		must(t, "DeviceReset", c.DeviceReset(main0))
		free, total, e := c.MemGetInfo(main0)
		if must(t, "MemGetInfo", e); free != total {
			t.Errorf("round %d: %d of %d are free after a reset", round, free, total)
		}
		if e := c.Free(main0, m); e != hip.ErrorInvalidValue {
			t.Errorf("managed memory survived the reset: %v", e)
		}
		if e := launch(c, f, 0, h); e == hip.Success {
			t.Error("a function survived the reset")
		}
	}
	other := connect(t, w)
	if _, e := other.Malloc(main0, 900<<20); e != hip.Success {
		t.Errorf("another client, after the resets: %v", e)
	}
}
