package hipabi

import (
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

func TestDeviceQueries(t *testing.T) {
	newFake(t, "gfx90a:sramecc+:xnack-", "gfx942")
	n, s, size := out[int32](), out[[64]byte](), out[uint64]()
	check(t, rw_hipDeviceGet(1, ptr(n), 1), hip.Success)
	check(t, rw_hipDeviceGet(1, ptr(n), 2), hip.ErrorInvalidDevice)
	check(t, rw_hipDeviceGet(1, ptr(n), -1), hip.ErrorInvalidDevice)

	check(t, rw_hipDeviceGetName(1, ptr(s), 64, 0), hip.Success)
	if cString(s[:]) != "Fake GPU" {
		t.Errorf("name %q", s)
	}
	*s = [64]byte{4: 'x', 5: 'y'}
	check(t, rw_hipDeviceGetName(1, ptr(s), 5, 0), hip.Success)
	if string(s[:6]) != "Fake\x00y" {
		t.Errorf("a short buffer got %q", s[:6])
	}
	check(t, rw_hipDeviceGetName(1, ptr(s), 0, 0), hip.ErrorInvalidValue)
	check(t, rw_hipDeviceGetName(1, ptr(s), 9, 7), hip.ErrorInvalidDevice)

	check(t, rw_hipDeviceTotalMem(1, ptr(size), 1), hip.Success)
	if *size != 2<<30 {
		t.Errorf("%d bytes of memory", *size)
	}
	major, minor := out[int32](), out[int32]()
	check(t, rw_hipDeviceComputeCapability(1, ptr(major), ptr(minor), 0), hip.Success)
	if *major != 9 || *minor != 4 {
		t.Errorf("capability %d.%d", *major, *minor)
	}

	check(t, rw_hipDeviceGetPCIBusId(1, ptr(s), 64, 1), hip.Success)
	if cString(s[:]) != "0001:c1:00.0" {
		t.Errorf("PCI address %q", cString(s[:]))
	}
	check(t, rw_hipDeviceGetByPCIBusId(1, ptr(n), unsafe.Pointer(s)), hip.Success)
	if *n != 1 {
		t.Errorf("device %d has the address of device 1", *n)
	}
	for _, bad := range []string{"", "0000:c1:00.0", "device", "0001"} {
		check(t, rw_hipDeviceGetByPCIBusId(1, ptr(n), cstr(bad)), hip.ErrorInvalidValue)
	}
}

func TestOldProperties(t *testing.T) {
	newFake(t, "gfx90a:sramecc+:xnack-")
	p := out[hip.DevicePropR0000]()
	check(t, rw_hipGetDeviceProperties(1, ptr(p), 0), hip.Success)
	if cString(p.Name[:]) != "Fake GPU" || p.GcnArch != 910 || p.WarpSize != 64 || p.MultiProcessorCount != 304 ||
		p.MaxThreadsDim != [3]int32{1024, 1024, 1024} || p.TotalGlobalMem != 1<<30 || cString(p.GcnArchName[:]) != "gfx90a:sramecc+:xnack-" {
		t.Errorf("%+v", p)
	}
}

func TestArchNumber(t *testing.T) {
	for name, want := range map[string]int32{"gfx90a": 910, "gfx942": 942, "gfx906:xnack-": 906, "gfx1030": 1030, "gfx1201": 1201, "gfx": 0, "": 0, "gfxzzz": 0} {
		if got := archNumber(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

func TestChooseDevice(t *testing.T) {
	newFake(t, "gfx942", "gfx942", "gfx942") // with 1, 2 and 4 GiB
	n, p, o := out[int32](), out[hip.DevicePropR0600](), out[hip.DevicePropR0000]()
	for _, c := range []struct {
		memory uint64
		want   int32
	}{{0, 0}, {1 << 30, 0}, {3 << 29, 1}, {4 << 30, 2}, {5 << 30, 0}} {
		p.TotalGlobalMem, p.Major, o.TotalGlobalMem = c.memory, 9, c.memory
		check(t, rw_hipChooseDeviceR0600(1, ptr(n), ptr(p)), hip.Success)
		if *n != c.want {
			t.Errorf("%d bytes: device %d, want %d", c.memory, *n, c.want)
		}
		check(t, rw_hipChooseDevice(1, ptr(n), ptr(o)), hip.Success)
		if *n != c.want {
			t.Errorf("%d bytes, old layout: device %d, want %d", c.memory, *n, c.want)
		}
	}
}

func TestNoDevice(t *testing.T) {
	newFake(t)
	check(t, rw_hipInit(1, 0), hip.ErrorNoDevice)
	check(t, rw_hipInit(1, 1), hip.ErrorInvalidValue)
	check(t, rw_hipDeviceGet(1, ptr(out[int32]()), 0), hip.ErrorInvalidDevice)
}

func TestSettings(t *testing.T) {
	newFake(t, "gfx942")
	v := out[int32]()
	check(t, rw_hipDeviceGetCacheConfig(1, ptr(v)), hip.Success)
	check(t, rw_hipDeviceSetCacheConfig(1, 3), hip.Success)
	check(t, rw_hipDeviceSetCacheConfig(1, 4), hip.ErrorInvalidValue)
	check(t, rw_hipDeviceSetSharedMemConfig(1, -1), hip.ErrorInvalidValue)
	flags := func(when string, want uint32) {
		t.Helper()
		v := out[uint32]()
		check(t, rw_hipGetDeviceFlags(1, ptr(v)), hip.Success)
		if *v != want {
			t.Errorf("%s the device's flags are %#x, not %#x", when, *v, want)
		}
	}
	deviceFlags.Clear()
	flags("at first", 1)
	check(t, rw_hipSetDeviceFlags(1, 4|8), hip.Success)
	check(t, rw_hipSetDeviceFlags(1, 1|2), hip.ErrorInvalidValue)
	check(t, rw_hipSetDeviceFlags(1, 1<<20), hip.ErrorInvalidValue)
	flags("of those set", 4)
	rw_ctxFlags(0, 2|8)
	flags("of a context", 2|8)
	check(t, rw_hipDeviceReset(1), hip.Success)
	flags("after a reset", 1)
}

func TestMallocPitch(t *testing.T) {
	f := newFake(t, "gfx942")
	p, pitch := out[hip.Ptr](), out[uint64]()
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), 1000, 3), hip.Success)
	if *pitch != 1024 || len(f.heap[*p]) != 3072 {
		t.Errorf("pitch %d, %d bytes", *pitch, len(f.heap[*p]))
	}
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), 0, 3), hip.Success)
	if *p != 0 {
		t.Error("no bytes have an address")
	}
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), ^uint64(0), 1), hip.ErrorInvalidValue)
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), 1<<40, 1<<40), hip.ErrorOutOfMemory)
	check(t, rw_hipMemAllocPitch(1, ptr(p), ptr(pitch), 16, 1, 3), hip.ErrorInvalidValue)
}
