package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
)

// errWrong is a result that is not what it must be to the bit.
var errWrong = errors.New("wrong result")

var main0 = hip.Thread{}

// programs are what clients do. Each checks its results to the bit.
var programs = []struct {
	name string
	run  func(hip.Runtime, *rand.Rand) error
}{{"short", short}, {"vector", vector}, {"matmul", matmul}, {"copies", copies}, {"host functions", hostFunctions}}

func failed(what string, e hip.Error) error {
	if e == hip.Success {
		return nil
	}
	return fmt.Errorf("%s: %v", what, e)
}

func at(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(&b[0]))) }

func short(rt hip.Runtime, _ *rand.Rand) error {
	n, e := rt.GetDeviceCount()
	if e == hip.Success && n != 1 {
		return fmt.Errorf("%w: %d devices", errWrong, n)
	}
	return failed("hipGetDeviceCount", e)
}

// upload makes device memory with the contents of b.
func upload(rt hip.Runtime, b []byte) (hip.Ptr, error) {
	p, e := rt.Malloc(main0, uint64(len(b)))
	if e == hip.Success {
		e = rt.Memcpy(main0, p, at(b), uint64(len(b)), hip.MemcpyHostToDevice)
		runtime.KeepAlive(b)
	}
	return p, failed("hipMalloc and hipMemcpy", e)
}

func compare(rt hip.Runtime, p hip.Ptr, want []byte) error {
	got := make([]byte, len(want))
	e := rt.Memcpy(main0, at(got), p, uint64(len(got)), hip.MemcpyDeviceToHost)
	if e == hip.Success && !bytes.Equal(got, want) {
		return fmt.Errorf("%w: %d bytes", errWrong, len(got))
	}
	return errors.Join(failed("hipMemcpy", e), failed("hipFree", rt.Free(main0, p)))
}

// floats are small whole numbers, whose sums and products are exact in any order.
func floats(rng *rand.Rand, n int) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = float32(rng.IntN(33) - 16)
	}
	return f
}

func encode(f []float32) []byte {
	b := make([]byte, 0, 4*len(f))
	for _, v := range f {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// launch runs a kernel of the tree's with three arrays, of which the last is the result, and compares that.
func launch(rt hip.Runtime, name, kernel string, grid, block hip.Dim3, a, b, want []float32, sizes ...int) error {
	image, err := kernels.Object("gfx942", name)
	if err != nil {
		return err
	}
	m, e := rt.ModuleLoadData(main0, image)
	if e != hip.Success {
		return failed("hipModuleLoadData", e)
	}
	f, e := rt.ModuleGetFunction(main0, m, kernel)
	if e != hip.Success {
		return failed("hipModuleGetFunction", e)
	}
	var args []byte
	var c hip.Ptr
	for _, v := range [][]float32{a, b, make([]float32, len(want))} {
		if c, err = upload(rt, encode(v)); err != nil {
			return err
		}
		args = binary.LittleEndian.AppendUint64(args, uint64(c))
	}
	for _, n := range sizes {
		args = binary.LittleEndian.AppendUint32(args, uint32(n))
	}
	e = rt.LaunchKernel(main0, &hip.Launch{Function: f, Grid: grid, Block: block, Args: args})
	return errors.Join(failed("hipModuleLaunchKernel", e), compare(rt, c, encode(want)), failed("hipModuleUnload", rt.ModuleUnload(main0, m)))
}

func vector(rt hip.Runtime, rng *rand.Rand) error {
	n := 1 + rng.IntN(20000)
	a, b := floats(rng, n), floats(rng, n)
	want := make([]float32, n)
	for i := range want {
		want[i] = a[i] + b[i]
	}
	return launch(rt, "vector_add", "vector_add", hip.Dim3{X: uint32(n+255) / 256, Y: 1, Z: 1}, hip.Dim3{X: 256, Y: 1, Z: 1}, a, b, want, n)
}

func matmul(rt hip.Runtime, rng *rand.Rand) error {
	m, n, k := 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(40)
	a, b := floats(rng, m*k), floats(rng, k*n)
	want := make([]float32, m*n)
	for i := range want {
		for j := range k {
			want[i] += a[i/n*k+j] * b[j*n+i%n]
		}
	}
	return launch(rt, "matmul", "matmul_f32", hip.Dim3{X: uint32(n+15) / 16, Y: uint32(m+15) / 16, Z: 1}, hip.Dim3{X: 16, Y: 16, Z: 1}, a, b, want, m, n, k)
}

// copies goes there, from place to place, and back.
func copies(rt hip.Runtime, rng *rand.Rand) error {
	b := make([]byte, 1+rng.IntN(1<<(4+rng.IntN(17))))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	p, err := upload(rt, b)
	if err != nil {
		return err
	}
	q, e := rt.Malloc(main0, uint64(len(b)))
	if e == hip.Success {
		e = rt.Memcpy(main0, q, p, uint64(len(b)), hip.MemcpyDeviceToDevice)
	}
	if e == hip.Success {
		e = rt.MemsetAsync(main0, p, 0, uint64(len(b)), 0)
	}
	if e != hip.Success {
		return failed("copying on the device", e)
	}
	return errors.Join(compare(rt, q, b), compare(rt, p, make([]byte, len(b))))
}

// hostFunctions run in order, each once, between what is on the stream.
func hostFunctions(rt hip.Runtime, rng *rand.Rand) error {
	s, e := rt.StreamCreateWithPriority(main0, 1, 0)
	if e != hip.Success {
		return failed("hipStreamCreate", e)
	}
	var n, bad atomic.Int64
	count := int64(1 + rng.IntN(8))
	for i := range count {
		e = rt.LaunchHostFunc(main0, s, func() {
			if n.Add(1) != i+1 {
				bad.Store(1)
			}
		})
		if e != hip.Success {
			return failed("hipLaunchHostFunc", e)
		}
	}
	if e = rt.StreamSynchronize(main0, s); e == hip.Success && (n.Load() != count || bad.Load() != 0) {
		return fmt.Errorf("%w: %d of %d host functions ran, or not in order", errWrong, n.Load(), count)
	}
	return errors.Join(failed("hipStreamSynchronize", e), failed("hipStreamDestroy", rt.StreamDestroy(main0, s)))
}
