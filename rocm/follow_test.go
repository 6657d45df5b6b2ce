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

// TestAfter: functions behind what streams were told are called when those have come to them, in their order, before anybody is told that they have.
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
	behind(s, "first")
	behind(other, "of another")
	behind(s, "second")
	called := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(hip.Thread{Device: 1}, s, func() { h.add("host"); close(called) }))
	must(t, "StreamSynchronize", r.StreamSynchronize(th, s)) // the stub does not wait
	h.is(t, "nothing was reached")
	reach(1)
	must(t, "StreamSynchronize", r.StreamSynchronize(th, s))
	h.is(t, "one is reached", "first")
	reach(2)
	must(t, "StreamSynchronize", r.StreamSynchronize(th, other))
	h.is(t, "two are", "first", "of another")
	reach(3)
	must(t, "StreamSynchronize", r.StreamSynchronize(th, s))
	h.is(t, "three are", "first", "of another", "second")
	reach(4)
	<-called
	h.is(t, "all are", "first", "of another", "second", "host")
	if err := r.After(th, 13, func(hip.Error) { t.Error("called") }); err != hip.ErrorInvalidHandle {
		t.Error(err)
	}
}

// TestHostFuncs: functions of the host run side by side on different streams, one after the other on one; a stream waits for its own, and who waits
// for another stream does not.
func TestHostFuncs(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	const s, other = hip.Stream(0x6000), hip.Stream(0x6001)
	must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, 1<<20)) // all is reached at once
	for round := range 2 {
		var h happened
		began, hold, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
		must(t, "LaunchHostFunc", r.LaunchHostFunc(th, s, func() { h.add("first"); close(began); <-hold }))
		must(t, "LaunchHostFunc", r.LaunchHostFunc(th, s, func() { h.add("second"); close(second) }))
		<-began
		is(t, "the stream of the first", r.StreamQuery(th, s), hip.ErrorNotReady)
		for range 3 { // which wait for nobody
			called := make(chan struct{})
			must(t, "LaunchHostFunc", r.LaunchHostFunc(th, other, func() { h.add("other"); close(called) }))
			<-called
			must(t, "StreamSynchronize", r.StreamSynchronize(th, other))
		}
		h.is(t, "one runs", "first", "other", "other", "other")
		close(hold)
		<-second
		for end := time.Now().Add(time.Minute); r.StreamQuery(th, s) != hip.Success; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the stream waits for ever")
			}
		}
		h.is(t, "all have", "first", "other", "other", "other", "second")
		if round == 0 { // another word, because the device does not know the first one any more
			must(t, "DeviceReset", r.DeviceReset(th))
		}
	}
	is(t, "no stream", r.LaunchHostFunc(th, 13, func() { t.Error("called") }), hip.ErrorInvalidHandle)
}

// TestEventAskedAbout: an event that one thread waits for can be asked about by others.
func TestEventAskedAbout(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	e, err := r.EventCreateWithFlags(th, hip.EventDisableTiming)
	must(t, "EventCreateWithFlags", err)
	must(t, "EventRecord", r.EventRecord(th, e, 0x6000))
	waited := make(chan hip.Error, 1)
	go func() { waited <- r.EventSynchronize(th, e) }()
	for range 50 {
		time.Sleep(time.Millisecond)
		is(t, "EventQuery", r.EventQuery(th, e), hip.ErrorNotReady)
	}
	must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, 1))
	must(t, "EventSynchronize", <-waited)
	is(t, "EventQuery", r.EventQuery(th, e), hip.Success)
}

// TestFreedAgain: a free of memory whose free before is not reached waits for nothing. It is made once the stream has come there, and only once.
func TestFreedAgain(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	const s = hip.Stream(0x6000)
	reach := func(n uint64) { must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, n)) }
	take := func() (hip.Ptr, hip.Error) { return r.MallocAsync(th, 64, s) }
	p, err := take()
	must(t, "MallocAsync", err)
	must(t, "FreeAsync", r.FreeAsync(th, p, s))
	is(t, "a free of what is freed", r.FreeAsync(th, p, s), hip.ErrorInvalidValue)
	p, err = take()
	must(t, "MallocAsync of what was freed", err)
	must(t, "FreeAsync before the first is reached", r.FreeAsync(th, p, s))
	is(t, "FreeAsync of what will be given back", r.FreeAsync(th, p, s), hip.ErrorInvalidValue)
	is(t, "Free of that", r.Free(th, p), hip.ErrorInvalidValue)
	_, err = take()
	is(t, "MallocAsync of what is not given back as long as the stream is held up", err, hip.ErrorOutOfMemory)
	got := make(chan hip.Error)
	go func() {
		_, err := take()
		got <- err
	}()
	time.Sleep(5 * time.Millisecond)
	reach(1 << 20)
	must(t, "MallocAsync that waits until it is given back", <-got)
	must(t, "FreeAsync of what is reached", r.FreeAsync(th, p, s))
	p, err = take()
	must(t, "MallocAsync at once", err)
	must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, 0))
	must(t, "FreeAsync before it is reached", r.FreeAsync(th, p, s))
	must(t, "DeviceReset", r.DeviceReset(th))
	_, err = take()
	must(t, "MallocAsync after a reset", err)
	reach(1 << 20)
	time.Sleep(20 * time.Millisecond) // what was to be given back later ended with the reset
	if _, err = take(); err != hip.ErrorOutOfMemory {
		t.Errorf("memory was freed that the program has: %v", err)
	}
}

// TestFreedElsewhere: memory that another stream frees than the one that got it goes back once that stream has come there.
func TestFreedElsewhere(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	const s, other = hip.Stream(0x6000), hip.Stream(0x6010)
	p, err := r.MallocAsync(th, 64, s)
	must(t, "MallocAsync", err)
	must(t, "FreeAsync", r.FreeAsync(th, p, other))
	is(t, "FreeAsync of what will be given back", r.FreeAsync(th, p, s), hip.ErrorInvalidValue)
	time.Sleep(20 * time.Millisecond)
	if _, err = r.MallocAsync(th, 64, s); err != hip.ErrorOutOfMemory {
		t.Errorf("it is had again before the stream that frees it has come there: %v", err)
	}
	behind, err := r.EventCreateWithFlags(th, hip.EventDisableTiming)
	must(t, "EventCreate", err)
	must(t, "EventRecord", r.EventRecord(th, behind, other))
	must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, 1<<20))
	must(t, "EventSynchronize", r.EventSynchronize(th, behind))
	if r.frees.late.some() {
		t.Error("who has waited for what is behind the free does not find it done")
	}
	_, err = r.MallocAsync(th, 64, s)
	must(t, "MallocAsync of what is given back", err)
	must(t, "FreeAsync where it was got", r.FreeAsync(th, p, s))
}

// TestDestroyedLate: a stream that has still something to do is destroyed once it is done, and nobody waits for that.
func TestDestroyedLate(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	const s, idle = hip.Stream(0x6000), hip.Stream(0x6001)
	destroyed := func() uint64 {
		n, err := r.DeviceGetLimit(th, 0)
		must(t, "DeviceGetLimit", err)
		return n
	}
	must(t, "StreamDestroy of an idle one", r.StreamDestroy(th, idle))
	if n := destroyed(); n != 1 {
		t.Fatalf("%d streams were destroyed", n)
	}
	over := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(th, s, func() { <-over }))
	must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, 1)) // it comes to the function
	must(t, "StreamDestroy", r.StreamDestroy(th, s))
	if n := destroyed(); n != 1 {
		t.Errorf("%d streams were destroyed", n)
	}
	close(over)
	must(t, "DeviceSetLimit", r.DeviceSetLimit(th, 0, 1<<20))
	for range 1000 {
		if destroyed() == 2 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("it is never destroyed")
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
