package quota

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

const mib = 1 << 20

// simulated is a runtime with one simulated card and a session's limit on it.
func simulated(t *testing.T, limit uint64) *Runtime {
	t.Helper()
	r, err := simgpu.New(simgpu.Options{MemoryBytes: 1 << 30, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	q := New(r, nil)
	q.SetLimits(0, Limits{Memory: limit})
	t.Cleanup(func() { q.Close(); r.Close() })
	return q
}

func ok[T any](t *testing.T, what string) func(T, hip.Error) T {
	return func(v T, e hip.Error) T {
		t.Helper()
		if e != hip.Success {
			t.Fatalf("%s: %v", what, e)
		}
		return v
	}
}

func is(t *testing.T, what string, e, want hip.Error) {
	t.Helper()
	if e != want {
		t.Errorf("%s: %v, want %v", what, e, want)
	}
}

func (q *Runtime) settledOf(index int32) uint64 {
	q.settle(q.device(index))
	return q.heldOf(index)
}

// TestPools: what a pool keeps after a free counts until the pool gives it back, which it does rather than that something is refused.
func TestPools(t *testing.T) {
	q := simulated(t, 64*mib)
	device := hip.MemLocation{Type: hip.MemLocationTypeDevice}
	props := &hip.MemPoolProps{AllocType: hip.MemAllocationTypePinned, Location: device}
	pool := ok[hip.MemPool](t, "MemPoolCreate")(q.MemPoolCreate(thread, props))
	is(t, "MemPoolSetAttribute", q.MemPoolSetAttribute(thread, pool, hip.MemPoolAttrReleaseThreshold, ^uint64(0)), hip.Success)
	own := ok[hip.MemPool](t, "DeviceGetDefaultMemPool")(q.DeviceGetDefaultMemPool(0))
	is(t, "MemPoolSetAttribute", q.MemPoolSetAttribute(thread, own, hip.MemPoolAttrReleaseThreshold, ^uint64(0)), hip.Success)

	for name, alloc := range map[string]func(uint64) (hip.Ptr, hip.Error){
		"own pool": func(n uint64) (hip.Ptr, hip.Error) { return q.MallocAsync(thread, n, 0) },
		"pool":     func(n uint64) (hip.Ptr, hip.Error) { return q.MallocFromPoolAsync(thread, n, pool, 0) },
	} {
		before := q.settledOf(0)
		a := ok[hip.Ptr](t, name)(alloc(40 * mib))
		if _, e := alloc(40 * mib); e != hip.ErrorOutOfMemory {
			t.Errorf("%s: beyond the limit: %v", name, e)
		}
		is(t, "FreeAsync", q.FreeAsync(thread, a, 0), hip.Success)
		is(t, "StreamSynchronize", q.StreamSynchronize(thread, 0), hip.Success)
		if n := q.settledOf(0); n != before+40*mib {
			t.Errorf("%s: the session holds %d MiB when the pool keeps 40", name, (n-before)/mib)
		}
		b := ok[hip.Ptr](t, name+" again")(alloc(16)) // this stream gets the whole block again
		if n := q.settledOf(0); b == a && n != before+40*mib {
			t.Errorf("%s: 40 MiB that were given out for 16 bytes count as %d", name, n-before)
		}
		is(t, "FreeAsync", q.FreeAsync(thread, b, 0), hip.Success)
		is(t, "StreamSynchronize", q.StreamSynchronize(thread, 0), hip.Success)
		c := ok[hip.Ptr](t, "Malloc when the pool keeps memory")(q.Malloc(thread, 50*mib))
		if n := q.settledOf(0); n != 50*mib {
			t.Errorf("%s: the session holds %d bytes, not 50 MiB", name, n)
		}
		is(t, "Free", q.Free(thread, c), hip.Success)
	}

	// A pool that is gone, and what it gave out.
	a := ok[hip.Ptr](t, "MallocFromPoolAsync")(q.MallocFromPoolAsync(thread, 40*mib, pool, 0))
	is(t, "MemPoolDestroy", q.MemPoolDestroy(thread, pool), hip.Success)
	if _, e := q.Malloc(thread, 40*mib); e != hip.ErrorOutOfMemory {
		t.Errorf("beside 40 MiB of a pool that was destroyed: %v", e)
	}
	is(t, "FreeAsync", q.FreeAsync(thread, a, 0), hip.Success)
	is(t, "DeviceSynchronize", q.DeviceSynchronize(thread), hip.Success)
	for i := range 2000 { // each is a page at least
		p, e := q.MallocAsync(thread, 1, 0)
		if e == hip.Success && p == 0 {
			t.Fatalf("%d", i)
		}
	}
	if n := q.settledOf(0); n < 2000*hip.Granule {
		t.Errorf("2000 pages count as %d bytes", n)
	}
	is(t, "DeviceReset", q.DeviceReset(thread), hip.Success)
	if n := q.settledOf(0); n != 0 {
		t.Errorf("after a reset the session holds %d bytes", n)
	}
}

// TestImports: memory of another session counts as if it had been allocated, once however often it is opened, and as long as it is held.
func TestImports(t *testing.T) {
	a, b := simulated(t, 64*mib), simulated(t, 64*mib)
	p := ok[hip.Ptr](t, "Malloc")(a.Malloc(thread, 48*mib))
	h := ok[hip.IpcMemHandle](t, "IpcGetMemHandle")(a.IpcGetMemHandle(thread, p))
	taken := ok[hip.Ptr](t, "Malloc")(b.Malloc(thread, 32*mib))
	_, e := b.IpcOpenMemHandle(thread, &h, 1)
	is(t, "opened beyond the limit", e, hip.ErrorOutOfMemory)
	if n := b.heldOf(0); n != 32*mib {
		t.Errorf("after that the session holds %d bytes", n)
	}
	is(t, "Free", b.Free(thread, taken), hip.Success)
	q := ok[hip.Ptr](t, "IpcOpenMemHandle")(b.IpcOpenMemHandle(thread, &h, 1))
	ok[hip.Ptr](t, "IpcOpenMemHandle")(b.IpcOpenMemHandle(thread, &h, 1))
	is(t, "Free of the exporter", a.Free(thread, p), hip.Success)
	if n, m := a.heldOf(0), b.heldOf(0); n != 0 || m != 48*mib {
		t.Errorf("the exporter holds %d bytes, the importer %d", n, m)
	}
	_, e = b.Malloc(thread, 32*mib)
	is(t, "beside what was opened", e, hip.ErrorOutOfMemory)
	is(t, "IpcCloseMemHandle", b.IpcCloseMemHandle(thread, q), hip.Success)
	if n := b.heldOf(0); n != 48*mib {
		t.Errorf("closed once of twice: %d bytes", n)
	}
	is(t, "IpcCloseMemHandle", b.IpcCloseMemHandle(thread, q), hip.Success)
	if n := b.heldOf(0); n != 0 {
		t.Errorf("closed: %d bytes", n)
	}

	// Physical memory, which counts where it is mapped.
	prop := &hip.MemAllocationProp{
		Type: hip.MemAllocationTypePinned, RequestedHandleType: hip.MemHandleTypePosixFileDescriptor,
		Location: hip.MemLocation{Type: hip.MemLocationTypeDevice},
	}
	g := ok[hip.GenericAllocation](t, "MemCreate")(a.MemCreate(thread, 48*mib, prop, 0))
	h = ok[hip.IpcMemHandle](t, "MemExportToShareableHandle")(a.MemExportToShareableHandle(thread, g, hip.MemHandleTypePosixFileDescriptor, 0))
	i := ok[hip.GenericAllocation](t, "MemImportFromShareableHandle")(b.MemImportFromShareableHandle(thread, &h, hip.MemHandleTypePosixFileDescriptor))
	at := ok[hip.Ptr](t, "MemAddressReserve")(b.MemAddressReserve(thread, 48*mib, 0, 0, 0))
	taken = ok[hip.Ptr](t, "Malloc")(b.Malloc(thread, 32*mib))
	is(t, "mapped beyond the limit", b.MemMap(thread, at, 48*mib, 0, i, 0), hip.ErrorOutOfMemory)
	is(t, "Free", b.Free(thread, taken), hip.Success)
	is(t, "MemMap", b.MemMap(thread, at, 48*mib, 0, i, 0), hip.Success)
	is(t, "MemRelease", b.MemRelease(thread, i), hip.Success)
	if n := b.heldOf(0); n != 48*mib {
		t.Errorf("mapped and released: %d bytes", n)
	}
	is(t, "MemUnmap", b.MemUnmap(thread, at, 48*mib), hip.Success)
	if n := b.heldOf(0); n != 0 {
		t.Errorf("unmapped: %d bytes", n)
	}

	// Memory of a pool.
	pool := ok[hip.MemPool](t, "MemPoolCreate")(a.MemPoolCreate(thread, &hip.MemPoolProps{AllocType: hip.MemAllocationTypePinned, Location: prop.Location}))
	own := ok[hip.MemPool](t, "DeviceGetDefaultMemPool")(b.DeviceGetDefaultMemPool(0))
	is(t, "MemRelease", a.MemRelease(thread, g), hip.Success)
	p = ok[hip.Ptr](t, "MallocFromPoolAsync")(a.MallocFromPoolAsync(thread, 48*mib, pool, 0))
	x := ok[hip.MemPoolPtrExportData](t, "MemPoolExportPointer")(a.MemPoolExportPointer(thread, p))
	taken = ok[hip.Ptr](t, "Malloc")(b.Malloc(thread, 32*mib))
	_, e = b.MemPoolImportPointer(thread, own, &x)
	is(t, "imported beyond the limit", e, hip.ErrorOutOfMemory)
	is(t, "Free", b.Free(thread, taken), hip.Success)
	p = ok[hip.Ptr](t, "MemPoolImportPointer")(b.MemPoolImportPointer(thread, own, &x))
	if n := b.settledOf(0); n != 48*mib {
		t.Errorf("imported into a pool: %d bytes", n)
	}
	is(t, "FreeAsync", b.FreeAsync(thread, p, 0), hip.Success)
	is(t, "DeviceSynchronize", b.DeviceSynchronize(thread), hip.Success)
	if n := b.settledOf(0); n != 0 {
		t.Errorf("freed: %d bytes", n)
	}
}
