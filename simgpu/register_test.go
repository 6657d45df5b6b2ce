package simgpu

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

func TestHostRegister(t *testing.T) {
	r := newRuntime(t, Options{})
	h, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(h)
	base := hip.Ptr(uintptr(unsafe.Pointer(&h[0])))
	p := base + 100 // neither its begin nor its end at a page

	must(t, "HostRegister", r.HostRegister(thread, p, 10_000, 0))
	must(t, "again", r.HostRegister(thread, p, 10_000, 0))
	must(t, "its middle", r.HostRegister(thread, p+99, 10, 0))
	must(t, "elsewhere", r.HostRegister(thread, base+1<<19, 4096, 0))
	must(t, "around that", r.HostRegister(thread, base+1<<19-100, 8192, 0))
	is(t, "HostUnregister of what is part of something else", r.HostUnregister(thread, base+1<<19), hip.ErrorHostMemoryNotRegistered)
	must(t, "HostUnregister", r.HostUnregister(thread, base+1<<19-100))
	must(t, "beside it", r.HostRegister(thread, p+10_000, 100, 2))
	is(t, "nothing", r.HostRegister(thread, p, 0, 0), hip.ErrorInvalidValue)
	is(t, "unknown flags", r.HostRegister(thread, base+1<<19, 10, 1<<20), hip.ErrorInvalidValue)
	is(t, "what wraps", r.HostRegister(thread, p, ^uint64(0), 0), hip.ErrorInvalidValue)
	is(t, "no memory", r.HostRegister(thread, 4096, 10, 0), hip.ErrorInvalidValue)
	is(t, "the first page of all addresses", r.HostRegister(thread, 8, 10, 0), hip.ErrorInvalidValue)
	is(t, "device memory", r.HostRegister(thread, allocate(t, r, 4096), 10, 0), hip.ErrorHostMemoryAlreadyRegistered)
	_, e := r.HostGetFlags(thread, p+10_050)
	is(t, "HostGetFlags", e, hip.ErrorInvalidValue) // HIP has not allocated it
	if m := r.target(p + 10_050); m.flags != 2 {
		t.Errorf("flags %d", m.flags)
	}
	d, e := r.HostGetDevicePointer(thread, p+5, 0)
	if must(t, "HostGetDevicePointer", e); d != p+5 {
		t.Errorf("device pointer %v", d)
	}
	a, e := r.PointerGetAttributes(thread, p+9999)
	if must(t, "PointerGetAttributes", e); a.Type != hip.MemoryTypeHost {
		t.Errorf("%+v", a)
	}

	// A kernel reads one region and writes the last element of it.
	spin := load(t, r, "spin", "spin")
	args := binary.LittleEndian.AppendUint64(nil, uint64(p))
	args = binary.LittleEndian.AppendUint64(args, 0)
	args = binary.LittleEndian.AppendUint32(args, 2500)
	must(t, "LaunchKernel", r.LaunchKernel(thread, &hip.Launch{Function: spin, Grid: hip.Dim3{X: 10, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1}, Args: args}))
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
	last, want := binary.LittleEndian.Uint32(h[100+9996:]), uint32(2499)
	if want = want*2654435761 + 12345; last != want {
		t.Errorf("the last element is %d, want %d", last, want)
	}
	if h[99] != 0 || h[100+10_000] != 0 {
		t.Error("the kernel wrote beside the region")
	}

	// Copies to and from it are asynchronous.
	s, e := r.StreamCreateWithPriority(thread, hip.StreamNonBlocking, 0)
	must(t, "StreamCreate", e)
	open := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(thread, s, func() { <-open }))
	q := allocate(t, r, 10_000)
	must(t, "MemcpyAsync", r.MemcpyAsync(thread, q, p, 10_000, hip.MemcpyHostToDevice, s))
	is(t, "StreamQuery", r.StreamQuery(thread, s), hip.ErrorNotReady)
	close(open)
	must(t, "StreamSynchronize", r.StreamSynchronize(thread, s))
	if b, _ := r.DeviceBytes(q, 10_000); string(b) != string(h[100:10_100]) {
		t.Error("the copy differs")
	}

	must(t, "HostUnregister", r.HostUnregister(thread, p))
	is(t, "HostUnregister again", r.HostUnregister(thread, p), hip.ErrorHostMemoryNotRegistered)
	must(t, "HostUnregister", r.HostUnregister(thread, p+10_000))
	if len(r.registered.list) != 0 {
		t.Error("regions are left")
	}
	start(t, r, load(t, r, "fault", "store_at"), 0, uint64(p), 0, 1)
	is(t, "a kernel after HostUnregister", r.DeviceSynchronize(thread), hip.ErrorIllegalAddress)
}

// TestRegisteredScalarAndAtomic: all ways of access know the regions.
func TestRegisteredScalarAndAtomic(t *testing.T) {
	r := newRuntime(t, Options{})
	h, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(h)
	p := hip.Ptr(uintptr(unsafe.Pointer(&h[0])))
	must(t, "HostRegister", r.HostRegister(thread, p, 4096, 0))
	binary.LittleEndian.PutUint32(h[400:], 4711)
	start(t, r, load(t, r, "fault", "load_uniform_at"), 0, uint64(p), 100, uint64(p)+1024)
	start(t, r, load(t, r, "fault", "atomic_at"), 0, uint64(p), 3)
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
	if v := binary.LittleEndian.Uint32(h[1024+4*63:]); v != 4711 {
		t.Errorf("the last lane loaded %d", v)
	}
	if v := binary.LittleEndian.Uint32(h[12:]); v != 64 {
		t.Errorf("64 lanes counted to %d", v)
	}
}
