package simgpu

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// brought is the memory of an allocation as another process has it.
func brought(t *testing.T, r *Runtime, p hip.Ptr, n int) (fd int, mem []byte) {
	t.Helper()
	fd, base, size, e := r.Near(thread, p)
	must(t, "Near", e)
	if base != p || size != uint64(n) {
		t.Fatalf("%#x bytes at %#x", size, base)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	mem, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	return fd, mem
}

func word(t *testing.T, r *Runtime, p hip.Ptr) (w [4]byte) {
	t.Helper()
	must(t, "Memcpy", r.Memcpy(thread, hip.Ptr(uintptr(unsafe.Pointer(&w))), p, 4, hip.MemcpyDeviceToHost))
	return w
}

// TestNear: who has an allocation's memory sees what the card does there, and the card what he does; what he cannot do is make it end before its end, and
// when it is freed he has nothing of what comes after it.
func TestNear(t *testing.T) {
	r := newRuntime(t, Options{MemoryBytes: 64 << 20})
	const n = 1 << 20
	p := allocate(t, r, n)
	must(t, "MemsetD32", r.MemsetD32(thread, p, 0x01010101, n/4))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
	fd, mem := brought(t, r, p, n)
	if mem[0] != 1 || mem[n-1] != 1 {
		t.Error("what was there before is gone")
	}
	must(t, "MemsetD32", r.MemsetD32(thread, p, 0x02020202, n/4))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
	if mem[0] != 2 || mem[n-1] != 2 {
		t.Error("what the card writes does not show")
	}
	copy(mem, []byte{3, 4, 5, 6})
	if got := word(t, r, p); got != [4]byte{3, 4, 5, 6} {
		t.Errorf("the card sees %v", got)
	}
	if unix.Ftruncate(fd, 0) == nil || unix.Ftruncate(fd, 2*n) == nil {
		t.Error("the memory has another size now")
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err == nil {
		t.Error("the memory can be made read-only")
	}
	_, again := brought(t, r, p, n)
	if again[0] != 3 {
		t.Error("it is another memory the second time")
	}
	must(t, "Free", r.Free(thread, p))
	if mem[0] != 0 || mem[n-1] != 0 {
		t.Error("memory that was freed is kept")
	}
	for i := range mem {
		mem[i] = 0xee
	}
	q := allocate(t, r, n)
	if got := word(t, r, q); got != [4]byte{} {
		t.Errorf("new memory has %v", got)
	}
	if free, total, _ := r.MemGetInfo(thread); total-free != n {
		t.Errorf("%d bytes in use", total-free)
	}
	if r.shares.near != 0 {
		t.Errorf("%d files are kept", r.shares.near)
	}
}

// TestNearReset: the end of a device's context is the end of its memory.
func TestNearReset(t *testing.T) {
	r := newRuntime(t, Options{MemoryBytes: 64 << 20})
	p := allocate(t, r, 1<<20)
	_, mem := brought(t, r, p, 1<<20)
	mem[5] = 1
	must(t, "DeviceReset", r.DeviceReset(thread))
	if mem[5] != 0 {
		t.Error("memory of before a reset is kept")
	}
	if _, _, _, e := r.Near(thread, p); e != hip.ErrorInvalidValue {
		t.Errorf("Near after a reset: %v", e)
	}
}

// TestNearRefused: there is nothing to have of what is no allocation of this process's own, and none is moved while it is used.
func TestNearRefused(t *testing.T) {
	r := newRuntime(t, Options{MemoryBytes: 64 << 20})
	other := newRuntime(t, Options{MemoryBytes: 64 << 20})
	refused := func(what string, p hip.Ptr, want hip.Error) {
		t.Helper()
		if fd, _, _, e := r.Near(thread, p); e != want || fd >= 0 {
			t.Errorf("%s: %v, want %v", what, e, want)
		}
	}
	refused("nothing", 0, hip.ErrorInvalidValue)
	h, e := r.HostMalloc(thread, 4096, 0)
	must(t, "HostMalloc", e)
	refused("host memory", h, hip.ErrorInvalidValue)
	theirs := allocate(t, other, 1<<20)
	k, e := other.IpcGetMemHandle(thread, theirs)
	must(t, "IpcGetMemHandle", e)
	opened, e := r.IpcOpenMemHandle(thread, &k, 1)
	must(t, "IpcOpenMemHandle", e)
	refused("another process's memory", opened, hip.ErrorInvalidValue)
	p := allocate(t, r, 1<<20)
	k, e = r.IpcGetMemHandle(thread, p)
	must(t, "IpcGetMemHandle", e)
	refused("memory that others have", p, hip.ErrorInvalidValue)
	q := allocate(t, r, 1<<20)
	r.HoldMemory()
	refused("memory that is written to", q, hip.ErrorNotReady)
	r.ReleaseMemory()
	brought(t, r, q, 1<<20)
}

// TestNearThenShared: memory that the program's process has can be shared with others, who see the same, and it stays theirs.
func TestNearThenShared(t *testing.T) {
	r, other := newRuntime(t, Options{MemoryBytes: 64 << 20}), newRuntime(t, Options{MemoryBytes: 64 << 20})
	const n = 1 << 20
	p := allocate(t, r, n)
	_, mem := brought(t, r, p, n)
	k, e := r.IpcGetMemHandle(thread, p)
	must(t, "IpcGetMemHandle", e)
	q, e := other.IpcOpenMemHandle(thread, &k, 1)
	must(t, "IpcOpenMemHandle", e)
	copy(mem, []byte{1, 2, 3, 4})
	if got := word(t, other, q); got != [4]byte{1, 2, 3, 4} {
		t.Errorf("the other process sees %v", got)
	}
	_, again := brought(t, r, p, n)
	if again[0] != 1 {
		t.Error("it is another memory now")
	}
	must(t, "Free", r.Free(thread, p))
	if got := word(t, other, q); got != [4]byte{1, 2, 3, 4} {
		t.Errorf("the other process has lost its memory: %v", got)
	}
}

// TestNearBounded: a session that wants all its memory so is told when it is enough.
func TestNearBounded(t *testing.T) {
	r := newRuntime(t, Options{MemoryBytes: 64 << 20})
	for i := range maxNear + 1 {
		fd, _, _, e := r.Near(thread, allocate(t, r, 4096))
		if i == maxNear {
			is(t, "one more", e, hip.ErrorOutOfMemory)
			break
		}
		must(t, "Near", e)
		_ = unix.Close(fd)
	}
}
