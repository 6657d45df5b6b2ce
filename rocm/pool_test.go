package rocm

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// What pools hold of each device is known while they are there, and afterwards what was not freed; a pool that is gone is not asked about.
func TestPoolsHold(t *testing.T) {
	lib := filepath.Join(t.TempDir(), "libamdhip64.so.6")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-I../hip/include", "-o", lib, "testdata/stub.c", "testdata/stub_pool.c", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	holds := func(what string, zero, one uint64) {
		t.Helper()
		if a, b := r.PoolsHold(0), r.PoolsHold(1); a != zero<<12 || b != one<<12 {
			t.Errorf("%s: the pools hold %d and %d pages, want %d and %d", what, a>>12, b>>12, zero, one)
		}
	}
	th := hip.Thread{}
	alloc := func(size uint64, pool hip.MemPool) hip.Ptr {
		t.Helper()
		p, e := r.MallocFromPoolAsync(th, size, pool, 0)
		must(t, "MallocFromPoolAsync", e)
		return p
	}
	create := func(device int32) hip.MemPool {
		t.Helper()
		pool, e := r.MemPoolCreate(th, &hip.MemPoolProps{Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: device}})
		must(t, "MemPoolCreate", e)
		return pool
	}
	holds("at first", 0, 0)
	own, e := r.DeviceGetDefaultMemPool(1)
	must(t, "DeviceGetDefaultMemPool", e)
	a, b := create(0), create(1)
	for pool, want := range map[hip.MemPool]int32{own: 1, a: 0, b: 1} {
		if d, ok := r.PoolDevice(pool); !ok || d != want {
			t.Errorf("pool %#x is of device %d, %v", pool, d, ok)
		}
	}
	if _, ok := r.PoolDevice(0x1234); ok {
		t.Error("a pool that is none has a device")
	}
	p, q, s := alloc(10, own), alloc(4097, a), alloc(4096, b)
	holds("in use", 2, 2)
	must(t, "FreeAsync", r.FreeAsync(th, q, 0))
	holds("freed, and kept", 2, 2)
	r.TrimPools(1)
	holds("another device's trimmed", 2, 2)
	r.TrimPools(0)
	holds("trimmed", 0, 2)
	must(t, "MemPoolDestroy", r.MemPoolDestroy(th, b))
	holds("destroyed, in use", 0, 2)
	if _, ok := r.PoolDevice(b); ok {
		t.Error("a pool that is gone has a device")
	}
	r.TrimPools(1)
	if e := r.FreeAsync(th, s, 0x7000); e == hip.Success {
		t.Error("freed on a stream that is none")
	}
	holds("not freed after all", 0, 2)
	must(t, "FreeAsync", r.FreeAsync(th, s, 0))
	holds("freed after its pool", 0, 1)
	if e := r.MemPoolDestroy(th, own); e == hip.Success {
		t.Error("a device's own pool was destroyed")
	}
	must(t, "FreeAsync", r.FreeAsync(th, p, 0))
	r.TrimPools(1)
	c := create(0)
	alloc(1, c)
	holds("a new pool", 1, 0)
	must(t, "DeviceReset", r.DeviceReset(th))
	holds("reset", 0, 0)

	// What programs set of following events they read, and the library, which ends the process at memory of a pool that follows, does not hear of it.
	follows := func(what string, pool hip.MemPool, want uint64) {
		t.Helper()
		if v, e := r.MemPoolGetAttribute(th, pool, hip.MemPoolReuseFollowEventDependencies); e != hip.Success || v != want {
			t.Errorf("%s: following events is %d, %v, want %d", what, v, e, want)
		}
	}
	set := func(pool hip.MemPool, v uint64) {
		t.Helper()
		must(t, "MemPoolSetAttribute", r.MemPoolSetAttribute(th, pool, hip.MemPoolReuseFollowEventDependencies, v))
		alloc(1, pool)
	}
	first, e := r.DeviceGetDefaultMemPool(0)
	must(t, "DeviceGetDefaultMemPool", e)
	d := create(0)
	for pool, what := range map[hip.MemPool]string{first: "the first device's own", own: "the other's", d: "a program's"} {
		follows(what, pool, 1)
		set(pool, 0)
		follows(what+" when it was switched off", pool, 0)
		set(pool, 1)
		follows(what+" when it was switched on", pool, 1)
		set(pool, 0)
	}
	must(t, "DeviceReset", r.DeviceReset(th))
	alloc(1, first)
	follows("the own of the device that was reset", first, 1)
	follows("the other's then", own, 0)
}
