package hiptest

import (
	"time"

	"github.com/rocwire/rocwire/hip"
)

// dead checks that the device's context has ended with an error: whatever
// reaches the device says so from now on.
func (e *env) dead(want hip.Error) {
	e.Helper()
	p, err := e.Malloc(e.th, 4096)
	e.is("Malloc after the fault", err, want)
	if err == hip.Success {
		e.is("Memset after the fault", e.Memset(e.th, p, 0, 1), want)
	}
	e.is("DeviceSynchronize after the fault", e.DeviceSynchronize(e.th), want)
	e.is("StreamSynchronize after the fault", e.StreamSynchronize(e.th, 0), want)
	e.is("Memcpy after the fault", e.Memcpy(e.th, ptr(e.host(8)), ptr(e.host(8)), 8, hip.MemcpyDefault), want)
	// What a device is can be asked all the same.
	if n, err := e.GetDeviceCount(); err != hip.Success || n < 1 {
		e.Errorf("GetDeviceCount after the fault: %d, %v", n, err)
	}
}

var faultTests = []test{
	{"StoreOutOfRange", func(e *env) {
		other := e.another()
		p := e.malloc(4096)
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, p, uint64(1<<40), uint32(1))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
		e.dead(hip.ErrorIllegalAddress)
		other.vectorAdd(1000, 0) // someone else's device works on
	}},
	{"LoadOutOfRange", func(e *env) {
		p, out := e.malloc(4096), e.malloc(4096)
		e.launch(e.kernel("fault", "load_at"), 1, 64, 0, p, ^uint64(0)-1000, out)
		e.is("StreamSynchronize", e.StreamSynchronize(e.th, 0), hip.ErrorIllegalAddress)
		e.dead(hip.ErrorIllegalAddress)
	}},
	{"ScalarLoadOutOfRange", func(e *env) {
		p, out := e.malloc(4096), e.malloc(4096)
		e.launch(e.kernel("fault", "load_uniform_at"), 1, 64, 0, p, uint64(1<<41), out)
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
	}},
	{"OneThreadAstray", func(e *env) {
		p := e.malloc(4 * 1024)
		e.launch(e.kernel("fault", "store_one_astray"), 4, 256, 0, p, uint64(1<<38), uint32(777))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
	}},
	{"UseAfterFree", func(e *env) {
		p := e.malloc(1 << 20)
		f := e.kernel("fault", "store_at")
		e.launch(f, 1, 64, 0, p, uint64(0), uint32(1))
		e.sync()
		e.ok("Free", e.Free(e.th, p))
		e.launch(f, 1, 64, 0, p, uint64(0), uint32(1))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
		e.dead(hip.ErrorIllegalAddress)
	}},
	{"HostAddress", func(e *env) {
		h := e.host(4096) // no memory of the device's
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, ptr(h), uint64(0), uint32(1))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
		for i, v := range h {
			if v != 0 {
				e.Fatalf("the kernel wrote byte %d of ordinary host memory", i)
			}
		}
	}},
	{"NullPointer", func(e *env) {
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, hip.Ptr(0), uint64(0), uint32(1))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
	}},
	{"Trap", func(e *env) {
		f := e.kernel("fault", "trap_if")
		p := e.upload(u32s(0, 0, 0, 0))
		e.launch(f, 1, 64, 0, p, uint32(4))
		e.sync()
		e.write(p, u32s(0, 0, 1, 0))
		e.launch(f, 1, 64, 0, p, uint32(4))
		err := e.DeviceSynchronize(e.th)
		if err != hip.ErrorLaunchFailure && err != hip.ErrorAssert && err != hip.ErrorIllegalState {
			e.Errorf("DeviceSynchronize: %s", err.Name())
		}
		e.dead(err)
	}},
	{"LaterWorkIsDropped", func(e *env) {
		s := e.stream(nonBlocking)
		p := e.malloc(4096)
		v := e.event(0)
		g := e.gate(s)
		e.launch(e.kernel("fault", "store_at"), 1, 64, s, p, uint64(1<<40), uint32(1))
		e.ok("MemsetAsync", e.MemsetAsync(e.th, p, 1, 4096, s))
		e.ok("EventRecord", e.EventRecord(e.th, v, s))
		g.open()
		// Whoever waits comes back, with the error.
		e.is("EventSynchronize", e.EventSynchronize(e.th, v), hip.ErrorIllegalAddress)
		e.is("StreamSynchronize", e.StreamSynchronize(e.th, s), hip.ErrorIllegalAddress)
	}},
	{"OtherKernelsAreStopped", func(e *env) {
		a, b := e.stream(nonBlocking), e.stream(nonBlocking)
		p := e.malloc(4096)
		e.launch(e.kernel("spin", "spin_forever"), 1, 64, a, p)
		e.launch(e.kernel("fault", "store_at"), 1, 64, b, p, uint64(1<<40), uint32(1))
		e.is("StreamSynchronize", e.StreamSynchronize(e.th, a), hip.ErrorIllegalAddress)
	}},
	{"ResetRevives", func(e *env) {
		p := e.malloc(4096)
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, p, uint64(1<<40), uint32(1))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
		e.ok("DeviceReset", e.DeviceReset(e.th))
		e.mods = map[string]hip.Module{}
		e.vectorAdd(1000, 0)
	}},
	{"ResetAgainAndAgain", func(e *env) {
		for range 20 {
			e.mods = map[string]hip.Module{}
			e.launch(e.kernel("fault", "store_at"), 1, 64, 0, e.malloc(4096), uint64(1<<40), uint32(1))
			e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
			e.ok("DeviceReset", e.DeviceReset(e.th))
		}
	}},
	{"ResetForgetsTheFault", func(e *env) {
		// What is under way after the reset does not fail of what was before it, however late that is told.
		e.launch(e.kernel("fault", "store_at"), 1, 64, 0, e.malloc(4096), uint64(1<<40), uint32(1))
		e.is("DeviceSynchronize", e.DeviceSynchronize(e.th), hip.ErrorIllegalAddress)
		e.ok("DeviceReset", e.DeviceReset(e.th))
		s := e.stream(nonBlocking)
		p, h := e.malloc(4096), e.host(4096)
		e.ok("Memset", e.Memset(e.th, p, 7, 4096))
		g := e.gate(s)
		copied := make(chan hip.Error, 1)
		go func() { copied <- e.MemcpyAsync(e.th, ptr(h), p, 4096, hip.MemcpyDeviceToHost, s) }() // may wait: ordinary memory
		time.Sleep(500 * time.Millisecond)
		e.is("StreamQuery", e.StreamQuery(e.th, s), hip.ErrorNotReady)
		g.open()
		e.ok("MemcpyAsync", <-copied)
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if h[0] != 7 || h[4095] != 7 {
			e.Errorf("the copy wrote %d and %d", h[0], h[4095])
		}
		e.vectorAdd(1000, 0)
	}},
	{"EndlessKernelIsStopped", func(e *env) {
		// DeviceReset comes back although a kernel never ends.
		p := e.malloc(4096)
		e.launch(e.kernel("spin", "spin_forever"), 2, 64, 0, p)
		e.is("StreamQuery", e.StreamQuery(e.th, 0), hip.ErrorNotReady)
		done := make(chan hip.Error, 1)
		go func() { done <- e.DeviceReset(e.th) }()
		select {
		case err := <-done:
			e.ok("DeviceReset", err)
		case <-time.After(2 * time.Minute):
			e.Fatal("DeviceReset waits for a kernel that never ends")
		}
	}},
}

// faultDeviceTests are about a fault on one of several devices.
var faultDeviceTests = []test{
	{"FaultIsOfOneDevice", func(e *env) {
		n, _ := e.GetDeviceCount()
		if n < 2 {
			return
		}
		other := hip.Thread{Device: n - 1, ID: e.th.ID}
		theirs, err := e.StreamCreateWithPriority(other, 0, 0)
		e.ok("StreamCreate on the other", err)
		before := e.upload(pattern(4096, 3))
		q, err := e.Malloc(other, 4096)
		e.ok("Malloc on the other", err)

		// The other device fails; this one never hears of it.
		m, err := e.ModuleLoadData(other, e.image("fault"))
		e.ok("ModuleLoadData on the other", err)
		f, err := e.ModuleGetFunction(other, m, "store_at")
		e.ok("ModuleGetFunction on the other", err)
		e.ok("LaunchKernel on the other", e.LaunchKernel(other, &hip.Launch{
			Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: theirs, Args: pack(q, uint64(1<<40), uint32(1)),
		}))
		e.is("StreamSynchronize of the other", e.StreamSynchronize(other, theirs), hip.ErrorIllegalAddress)
		e.is("Malloc on the other", func() hip.Error { _, err := e.Malloc(other, 4096); return err }(), hip.ErrorIllegalAddress)

		s, v := e.stream(0), e.event(0)
		add := e.kernel("vector_add", "vector_add")
		x := e.malloc(4096)
		e.launch(add, 4, 256, s, before, before, x, uint32(1024))
		e.ok("EventRecord", e.EventRecord(e.th, v, s))
		e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.ok("StreamQuery", e.StreamQuery(e.th, s))
		e.ok("Memset", e.Memset(e.th, x, 0, 4096))
		e.ok("DeviceSynchronize", e.DeviceSynchronize(e.th))
		e.equal("what was there before", e.download(before, 4096), pattern(4096, 3))
		// A reset of this one leaves the other as dead as it was.
		e.ok("DeviceReset", e.DeviceReset(e.th))
		e.is("DeviceSynchronize of the other", e.DeviceSynchronize(other), hip.ErrorIllegalAddress)
		e.ok("DeviceReset of the other", e.DeviceReset(other))
		e.ok("DeviceSynchronize of the other", e.DeviceSynchronize(other))
		q, err = e.Malloc(other, 4096)
		e.ok("Malloc on the other", err)
		e.ok("Free on the other", e.Free(other, q))
		e.mods = map[string]hip.Module{}
		e.vectorAdd(1000, 0)
	}},
}
