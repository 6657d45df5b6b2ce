package rocm

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// stub builds testdata/stub.c as a library, with more of the same folder.
func stub(t *testing.T, more ...string) *Runtime {
	t.Helper()
	lib := filepath.Join(t.TempDir(), "libamdhip64.so.6")
	args := append([]string{"-shared", "-fPIC", "-Wall", "-Werror", "-I../hip/include", "-o", lib, "testdata/stub.c"}, more...)
	out, err := exec.Command("gcc", append(args, "-lpthread")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, what string, err hip.Error) {
	t.Helper()
	if err != hip.Success {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestOpen(t *testing.T) {
	if _, err := Open("/nonexistent/libamdhip64.so.6"); !errors.Is(err, ErrNoLibrary) {
		t.Errorf("absent: %v", err)
	}
	if _, err := Open("libm.so.6"); !errors.Is(err, ErrNoLibrary) {
		t.Errorf("a library without HIP: %v", err)
	}
}

// The addresses of a device's registers stay here, and the library is not made to write one where an int fits.
func TestRegisterAddresses(t *testing.T) {
	r := stub(t)
	p, err := r.GetDevicePropertiesR0600(0)
	if must(t, "properties", err); p.HdpMemFlushCntl != 0 || p.HdpRegFlushCntl != 0 {
		t.Errorf("addresses of this process: %#x, %#x", p.HdpMemFlushCntl, p.HdpRegFlushCntl)
	}
	for _, a := range []hip.DeviceAttribute{hip.DeviceAttributeHdpMemFlushCntl, hip.DeviceAttributeHdpRegFlushCntl} {
		v, err := r.DeviceGetAttribute(a, 1)
		if must(t, "attribute", err); v != 0 {
			t.Errorf("attribute %d is %#x", a, v)
		}
		if _, err := r.DeviceGetAttribute(a, 2); err != hip.ErrorInvalidDevice {
			t.Errorf("attribute %d of a device that does not exist: %v", a, err)
		}
	}
	if v, err := r.DeviceGetAttribute(hip.DeviceAttributeWarpSize, 0); err != hip.Success || v != 64 {
		t.Error(v, err)
	}
}

// A call reaches the device that its thread has chosen, from any goroutine.
func TestDevice(t *testing.T) {
	r := stub(t)
	n, err := r.GetDeviceCount()
	if must(t, "count", err); n != 2 {
		t.Fatal(n)
	}
	p, err := r.GetDevicePropertiesR0600(1)
	if must(t, "properties", err); p.WarpSize != 64 || string(p.Name[:8]) != "stub one" || p.TotalGlobalMem != 1<<33 {
		t.Error(p.Name, p.WarpSize)
	}
	for range 50 {
		for d := range int32(2) {
			done := make(chan hip.PointerAttributes)
			go func() {
				th := hip.Thread{Device: d}
				ptr, err := r.Malloc(th, 64)
				if err != hip.Success {
					t.Error(err)
				}
				a, _ := r.PointerGetAttributes(th, ptr)
				r.Free(th, ptr)
				done <- a
			}()
			if a := <-done; a.Device != d || a.Type != hip.MemoryTypeDevice {
				t.Fatalf("device %d, allocated on %d", d, a.Device)
			}
		}
	}
	if _, err := r.Malloc(hip.Thread{Device: 7}, 1); err != hip.ErrorInvalidDevice {
		t.Error(err)
	}
	if _, err := r.Malloc(hip.Thread{}, 1<<41); err != hip.ErrorOutOfMemory {
		t.Error(err)
	}
}

func TestAbsentFunction(t *testing.T) {
	r := stub(t)
	if err := r.DeviceSynchronize(hip.Thread{}); err != hip.ErrorNotSupported {
		t.Error(err)
	}
}

func TestElapsed(t *testing.T) {
	ms, err := stub(t).EventElapsedTime(hip.Thread{}, 100, 103)
	if err != hip.Success || ms != 1.5 {
		t.Error(ms, err)
	}
}

func TestLaunch(t *testing.T) {
	r, th := stub(t), hip.Thread{}
	if _, err := r.ModuleLoadData(th, []byte("no image")); err != hip.ErrorInvalidImage {
		t.Error(err)
	}
	image, err := os.ReadFile("../examples/kernels/gfx942/vector_add.co")
	if err != nil {
		t.Fatal(err)
	}
	m, e := r.ModuleLoadData(th, image)
	must(t, "load", e)
	if _, e := r.ModuleGetFunction(th, m, "absent"); e != hip.ErrorNotFound {
		t.Error(e)
	}
	f, e := r.ModuleGetFunction(th, m, "vector_add")
	must(t, "function", e)
	for name, flags := range map[string]uint32{"plain": 0, "cooperative": hip.LaunchCooperative} {
		const n = 3
		mem, e := r.Malloc(th, 3*4*n)
		must(t, "malloc", e)
		in := [2 * n]float32{1, 2, 3, 10, 20, 30}
		must(t, "copy in", r.Memcpy(th, mem, hip.Ptr(uintptr(unsafe.Pointer(&in))), 8*n, hip.MemcpyHostToDevice))
		args := make([]byte, 28)
		for i := range 3 {
			binary.LittleEndian.PutUint64(args[8*i:], uint64(mem)+uint64(4*n*i))
		}
		args[24] = n
		l := &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args, Flags: flags}
		must(t, name, r.LaunchKernel(th, l))
		var out [n]float32
		must(t, "copy out", r.Memcpy(th, hip.Ptr(uintptr(unsafe.Pointer(&out))), mem+8*n, 4*n, hip.MemcpyDeviceToHost))
		if out != [n]float32{11, 22, 33} {
			t.Errorf("%s: %v", name, out)
		}
		l.Args = nil
		if err := r.LaunchKernel(th, l); err != hip.ErrorInvalidValue {
			t.Errorf("%s without arguments: %v", name, err)
		}
		must(t, "free", r.Free(th, mem))
	}
	must(t, "unload", r.ModuleUnload(th, m))
	if err := r.LaunchKernel(th, &hip.Launch{Function: f}); err != hip.ErrorInvalidHandle {
		t.Errorf("a function of an unloaded module: %v", err)
	}
}
