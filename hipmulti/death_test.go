package hipmulti

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// TestDeath: a worker that ends in the middle of work takes its own devices with it and nobody else's.
func TestDeath(t *testing.T) {
	a, b := serve(t, 1), serve(t, 1)
	r := join(t, nil, a, b)
	add := adder(t, r, 0)
	x := upload(t, r, 0, floats(t, 1, 2, 3))
	y := alloc(t, r, 1, 4096)
	host, code := r.HostMalloc(on(1), 4096, 0)
	must(t, "HostMalloc", code)
	mine, code := r.HostMalloc(on(0), 4096, 0)
	must(t, "HostMalloc", code)

	// Device 0 waits for device 1, which stands still when its worker ends.
	s0, s1, e := stream(t, r, 0), stream(t, r, 1), event(t, r, 1)
	gate(t, r, 1, s1)
	must(t, "EventRecord", r.EventRecord(on(1), e, s1))
	must(t, "StreamWaitEvent", r.StreamWaitEvent(on(0), s0, e, 0))
	b.Close()
	done := make(chan hip.Error, 1)
	go func() { done <- r.StreamSynchronize(on(0), s0) }()
	select {
	case code := <-done:
		is(t, "a stream that waits for what never comes", code, hip.ErrorNotInitialized)
	case <-time.After(time.Minute):
		t.Fatal("a stream waits for a worker that is gone")
	}

	_, code = r.Malloc(on(1), 4096)
	is(t, "Malloc of the dead", code, hip.ErrorNotInitialized)
	is(t, "StreamSynchronize of the dead", r.StreamSynchronize(on(0), s1), hip.ErrorNotInitialized)
	is(t, "a copy from the dead", r.Memcpy(on(0), x, y, 8, hip.MemcpyDefault), hip.ErrorNotInitialized)
	is(t, "a copy to the dead", r.Memcpy(on(0), y, x, 8, hip.MemcpyDefault), hip.ErrorNotInitialized)

	if n, code := r.GetDeviceCount(); code != hip.Success || n != 2 {
		t.Errorf("%d devices, %v", n, code)
	}
	must(t, "LaunchKernel on the living", add(s0, x, x, x, 3))
	must(t, "StreamSynchronize of the living", r.StreamSynchronize(on(0), s0))
	if got := download(t, r, 0, x, 12); string(got) != string(floats(t, 2, 4, 6)) {
		t.Errorf("%x", got)
	}
	copy(hostBytes(host, 12), floats(t, 5, 6, 7)) // memory of this process, whoever allocated it
	must(t, "LaunchKernel with the dead's host memory", add(s0, host, host, x, 3))
	must(t, "StreamSynchronize of the living", r.StreamSynchronize(on(0), s0))
	if got := download(t, r, 0, x, 12); string(got) != string(floats(t, 10, 12, 14)) {
		t.Errorf("%x", got)
	}
	must(t, "HostFree", r.HostFree(on(0), mine))
	p, code := r.HostMalloc(on(0), 4096, 0)
	must(t, "HostMalloc on the living", code)
	must(t, "HostFree", r.HostFree(on(0), p))
	must(t, "DeviceReset of the living", r.DeviceReset(on(0)))
}

// TestAbsent: without one of its workers a program does not begin, since the numbers of its devices depend on it.
func TestAbsent(t *testing.T) {
	a, b := serve(t, 1), serve(t, 1)
	b.Close()
	r := join(t, nil, a, b)
	n, code := r.GetDeviceCount()
	is(t, "GetDeviceCount", code, hip.ErrorNotInitialized)
	if n != 0 {
		t.Errorf("%d devices", n)
	}
}
