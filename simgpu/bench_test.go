package simgpu

import (
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
)

func benchRuntime(b *testing.B) *Runtime {
	r, err := New(Options{MemoryBytes: 2 << 30})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return r
}

func BenchmarkMallocFree(b *testing.B) {
	r := benchRuntime(b)
	for b.Loop() {
		p, e := r.Malloc(thread, 1<<20)
		if e != hip.Success {
			b.Fatal(e)
		}
		r.Free(thread, p)
	}
}

func BenchmarkStreamQuery(b *testing.B) {
	r := benchRuntime(b)
	for b.Loop() {
		r.StreamQuery(thread, 0)
	}
}

func benchLaunch(b *testing.B, r *Runtime) func() {
	image, err := kernels.Object(DefaultArch, "spin")
	if err != nil {
		b.Fatal(err)
	}
	m, e := r.ModuleLoadData(thread, image)
	if e != hip.Success {
		b.Fatal(e)
	}
	f, _ := r.ModuleGetFunction(thread, m, "spin")
	p, _ := r.Malloc(thread, 4096)
	args := binary.LittleEndian.AppendUint64(nil, uint64(p))
	args = binary.LittleEndian.AppendUint64(args, 0)
	args = binary.LittleEndian.AppendUint32(args, 64)
	l := &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args}
	return func() {
		if e := r.LaunchKernel(thread, l); e != hip.Success {
			b.Fatal(e)
		}
	}
}

// BenchmarkLaunch is the issue of a kernel; they run behind.
func BenchmarkLaunch(b *testing.B) {
	r := benchRuntime(b)
	launch := benchLaunch(b, r)
	for b.Loop() {
		launch()
	}
	r.DeviceSynchronize(thread)
}

func BenchmarkLaunchAndWait(b *testing.B) {
	r := benchRuntime(b)
	launch := benchLaunch(b, r)
	for b.Loop() {
		launch()
		r.DeviceSynchronize(thread)
	}
}

func BenchmarkMemcpy(b *testing.B) {
	r := benchRuntime(b)
	for _, n := range []int{8, 1 << 20, 256 << 20} {
		h, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			b.Fatal(err)
		}
		host := hip.Ptr(uintptr(unsafe.Pointer(&h[0])))
		p, e := r.Malloc(thread, uint64(n))
		if e != hip.Success {
			b.Fatal(e)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if e := r.Memcpy(thread, p, host, uint64(n), hip.MemcpyHostToDevice); e != hip.Success {
					b.Fatal(e)
				}
			}
		})
		r.Free(thread, p)
		_ = unix.Munmap(h)
	}
}
