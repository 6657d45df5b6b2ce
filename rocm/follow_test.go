package rocm

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// happened is what happened, in order.
type happened struct {
	mu   sync.Mutex
	list []string
}

func (h *happened) add(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, what)
}

func (h *happened) is(t *testing.T, when string, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.list, want) {
		t.Errorf("%s: %q, want %q", when, h.list, want)
	}
}

// TestAfter: functions behind what streams were told are called when those have come to them, in their order, before anybody is told that they have,
// whatever the library's own thread for host functions is waiting for.
func TestAfter(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	const s, other = hip.Stream(0x6000), hip.Stream(0x6001) // of both devices
	reach := func(n uint64) { must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, n)) }
	var h happened
	behind := func(s hip.Stream, what string) {
		must(t, "After", r.After(th, s, func(code hip.Error) {
			time.Sleep(20 * time.Millisecond) // long enough for who does not wait for it
			h.add(what)
			must(t, what, code)
		}))
	}
	hold := make(chan struct{})
	held := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(th, s, func() { close(held); <-hold }))
	<-held
	behind(s, "first")
	behind(other, "of another")
	behind(s, "second")
	called := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(hip.Thread{Device: 1}, s, func() { h.add("host"); close(called) })) // which the stub calls at once
	must(t, "StreamSynchronize", r.StreamSynchronize(th, s))                                                       // the stub does not wait
	h.is(t, "nothing was reached")
	reach(1)
	must(t, "StreamSynchronize", r.StreamSynchronize(th, s))
	h.is(t, "one is reached", "first")
	reach(2)
	must(t, "StreamSynchronize", r.StreamSynchronize(th, other))
	h.is(t, "two are", "first", "of another")
	reach(3)
	<-called
	h.is(t, "all are", "first", "of another", "second", "host")
	close(hold)
	if err := r.After(th, 13, func(hip.Error) { t.Error("called") }); err != hip.ErrorInvalidHandle {
		t.Error(err)
	}
}

// TestRegisteredRange: the range of registered memory is what was registered, of which the library says that it begins at null.
func TestRegisteredRange(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	for _, at := range []hip.Ptr{0x30000, 0x10000, 0x20000} {
		must(t, "HostRegister", r.HostRegister(th, at, 0x5000, 0))
	}
	for _, at := range []hip.Ptr{0x20000, 0x24fff} {
		base, size, err := r.MemGetAddressRange(th, at)
		if must(t, "range", err); base != 0x20000 || size != 0x5000 {
			t.Error(at, base, size)
		}
	}
	outside := func(when string, at hip.Ptr) {
		t.Helper()
		if base, _, _ := r.MemGetAddressRange(th, at); base != 0 {
			t.Errorf("%s: %v begins at %v", when, at, base)
		}
	}
	outside("behind", 0x25000)
	outside("before", 0x1ffff)
	must(t, "HostUnregister", r.HostUnregister(th, 0x20000))
	outside("unregistered", 0x20000)
	if err := r.HostRegister(th, 0, 1, 0); err != hip.ErrorInvalidValue {
		t.Error(err)
	}
	outside("never registered", 0)
}
