package rocm

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// busyPlaces is the stub with virtual memory and streams that do what they are told when the test says so.
func busyPlaces(t *testing.T) (r *Runtime, told func(), done func(n uint64)) {
	t.Helper()
	r = stub(t, "testdata/stub_vmm.c", "testdata/stub_queue.c")
	reserve(t, r, false)
	told = func() { t.Helper(); must(t, "StreamWriteValue32", r.StreamWriteValue32(thread, early, 8, 1, 0)) }
	done = func(n uint64) { t.Helper(); must(t, "done", r.DeviceSetLimit(thread, 0, n)) }
	t.Cleanup(func() { done(1 << 20) }) // so that the range can be given back
	return r, told, done
}

// leave frees what is at the beginning of the range on a stream that has nothing to do.
func leave(t *testing.T, r *Runtime) {
	t.Helper()
	x := r.placed.find(placeBase)
	must(t, "FreeAsync", r.FreeAsync(thread, placeBase, 0))
	for end := time.Now().Add(5 * time.Second); r.placed.is(x, leaving); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is not freed")
		}
	}
}

// early is one of the program's.
const early hip.Stream = 0x6000

func (r *Runtime) mapped(t *testing.T) uint64 {
	t.Helper()
	free, total, e := r.memGetInfo(thread)
	must(t, "MemGetInfo", e)
	return total - free
}

// Memory is unmapped once no stream has anything to do, and who frees or allocates elsewhere does not wait for that.
func TestUnmapWhenQuiet(t *testing.T) {
	r, told, done := busyPlaces(t)
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 4*mib))
	told()
	leave(t, r)
	must(t, "MallocAt", r.MallocAt(thread, placeBase+8*mib, 2*mib))
	time.Sleep(50 * time.Millisecond)
	if n := r.mapped(t); n != 6*mib {
		t.Errorf("%d MiB while a stream is busy", n/mib)
	}
	if free, total, e := r.MemGetInfo(thread); e != hip.Success || total-free != 2*mib {
		t.Error("what was freed is not free:", total-free, e)
	}
	done(1)
	r.placed.settle()
	if n := r.mapped(t); n != 2*mib {
		t.Errorf("%d MiB when it has nothing to do", n/mib)
	}
	must(t, "Free", r.Free(thread, placeBase+8*mib))
}

// What was freed and is asked for again as it is, is there again; until a stream has come to where it frees it, it is not.
func TestPlaceAgain(t *testing.T) {
	r, told, done := busyPlaces(t)
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 4*mib))
	told()
	leave(t, r)
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 4*mib))
	if n := r.placed.ending(0); n != 0 {
		t.Error("it is still ending:", n)
	}
	must(t, "FreeAsync", r.FreeAsync(thread, placeBase, early))
	again := make(chan hip.Error, 1)
	go func() { again <- r.MallocAt(thread, placeBase, 4*mib) }()
	select {
	case e := <-again:
		t.Error("what a stream has not freed yet is had again:", e)
	case <-time.After(50 * time.Millisecond):
	}
	done(1)
	must(t, "MallocAt", <-again)
	must(t, "Free", r.Free(thread, placeBase))
}

// Nobody waits for good for memory at addresses that cannot be unmapped: what keeps the streams may be waiting for who asks.
func TestPlaceStuck(t *testing.T) {
	r, told, _ := busyPlaces(t)
	must(t, "MallocAt", r.MallocAt(thread, placeBase, 4*mib))
	told()
	leave(t, r)
	is(t, "another size", r.MallocAt(thread, placeBase, 2*mib), hip.ErrorOutOfMemory)
	is(t, "all memory", r.MallocAt(thread, placeBase+64*mib, 64*mib), hip.ErrorOutOfMemory)
	must(t, "elsewhere", r.MallocAt(thread, placeBase+8*mib, 2*mib))
	must(t, "Free", r.Free(thread, placeBase+8*mib))
}
