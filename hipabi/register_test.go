package hipabi

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// embed registers an image as a program's start does, with a kernel and returns
// the binary's number and the host function that stands for the kernel.
func embed(t *testing.T, image []byte, kernel string) (id uint64, host uintptr) {
	t.Helper()
	keep = append(keep, image)
	id = rw_registerBinary(addr(&image[0]))
	host = addr(out[[16]byte]())
	rw_registerFunction(id, host, cstr(kernel))
	t.Cleanup(func() { rw_unregisterBinary(1, id) })
	return id, host
}

func dims(x, y, z uint32) unsafe.Pointer {
	d := out[hip.Dim3]()
	*d = hip.Dim3{X: x, Y: y, Z: z}
	return ptr(d)
}

func TestEmbeddedKernel(t *testing.T) {
	f := newFake(t, "gfx942", "gfx942")
	_, host := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	if f.loads != 0 {
		t.Fatal("registration loaded the image")
	}
	params, packed := addArgs()
	p := unsafe.Pointer(&params[0])
	for range 3 {
		check(t, rw_hipLaunchKernel(1, host, dims(4, 1, 1), dims(64, 1, 1), p, 0, 0), hip.Success)
	}
	if f.loads != 1 || len(f.launches) != 3 || !bytes.Equal(f.launches[2].Args, packed) {
		t.Fatalf("%d loads, %d launches", f.loads, len(f.launches))
	}
	// Another device needs its own copy.
	check(t, rw_hipLaunchKernel(1<<32|1, host, dims(4, 1, 1), dims(64, 1, 1), p, 0, 0), hip.Success)
	if f.loads != 2 || f.launches[3].Function == f.launches[0].Function {
		t.Errorf("device 1: %d loads, function %d", f.loads, f.launches[3].Function)
	}
	if s := goString(unsafe.Pointer(rw_kernelNameOf(1, host))); s != "vector_add" {
		t.Errorf("the kernel's name is %q", s)
	}
	fn := out[uint64]()
	check(t, rw_hipGetFuncBySymbol(1, ptr(fn), host), hip.Success)
	if *fn != uint64(f.launches[0].Function) {
		t.Errorf("function %d, launched as %d", *fn, f.launches[0].Function)
	}
}

func TestEmbeddedErrors(t *testing.T) {
	newFake(t, "gfx90a:sramecc+:xnack-")
	lines := logTo(t)
	_, other := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	_, missing := embed(t, kernels(t, "gfx90a", "vector_add"), "no_such_kernel")
	_, garbage := embed(t, bytes.Repeat([]byte("garbage!"), 64), "vector_add")
	params, _ := addArgs()
	launch := func(host uintptr) int32 {
		return rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), unsafe.Pointer(&params[0]), 0, 0)
	}
	for range 2 { // the second time from what the first one found
		check(t, launch(other), hip.ErrorNoBinaryForGpu)
		check(t, launch(missing), hip.ErrorInvalidDeviceFunction)
		check(t, launch(garbage), hip.ErrorInvalidImage)
		check(t, launch(addr(out[int]())), hip.ErrorInvalidDeviceFunction)
	}
	got := strings.Join(*lines, "\n")
	if !strings.Contains(got, "gfx90a:sramecc+:xnack-") || !strings.Contains(got, "gfx942") || !strings.Contains(got, "no_such_kernel") {
		t.Errorf("the log does not name targets and kernel:\n%s", got)
	}
	if strings.Count(got, "no binary for") != 1 {
		t.Errorf("the missing binary is not reported once:\n%s", got)
	}
}

func TestUnregister(t *testing.T) {
	f := newFake(t, "gfx942")
	id, host := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	params, _ := addArgs()
	check(t, rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), unsafe.Pointer(&params[0]), 0, 0), hip.Success)
	rw_unregisterBinary(1, id)
	rw_unregisterBinary(1, id)
	if len(f.images) != 0 {
		t.Errorf("%d images stay loaded", len(f.images))
	}
	check(t, rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), unsafe.Pointer(&params[0]), 0, 0), hip.ErrorInvalidDeviceFunction)
}

func TestUnloadedModuleOfEmbedded(t *testing.T) {
	f := newFake(t, "gfx942")
	_, host := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	params, _ := addArgs()
	p := unsafe.Pointer(&params[0])
	check(t, rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), p, 0, 0), hip.Success)
	SetRuntime(f) // as after a reset: nothing is loaded any more
	check(t, rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), p, 0, 0), hip.Success)
	if f.loads != 2 {
		t.Errorf("%d loads, want 2", f.loads)
	}
}

func TestConcurrentFirstLaunch(t *testing.T) {
	f := newFake(t, "gfx942")
	_, host := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	params, _ := addArgs()
	grid, block := dims(1, 1, 1), dims(64, 1, 1)
	var wg sync.WaitGroup
	for i := range uint64(16) {
		wg.Go(func() {
			for range 50 {
				if e := rw_hipLaunchKernel(i+1, host, grid, block, unsafe.Pointer(&params[0]), 0, 0); e != 0 {
					t.Errorf("thread %d: %v", i, hip.Error(e))
				}
			}
		})
	}
	wg.Wait()
	if f.loads != 1 || len(f.names) != 1 || len(f.launches) != 800 {
		t.Errorf("%d loads, %d functions, %d launches", f.loads, len(f.names), len(f.launches))
	}
}

func TestSymbols(t *testing.T) {
	f := newFake(t, "gfx942")
	id, _ := embed(t, kernels(t, "gfx942", "variables"), "globals")
	f.globals["big_table"] = make([]byte, 512)
	host := addr(out[[512]byte]())
	rw_registerVar(id, host, cstr("big_table"), 512)
	gone := addr(out[int]())
	rw_registerVar(id, gone, cstr("no_such_variable"), 4)

	p, n := out[uintptr](), out[uint64]()
	check(t, rw_hipGetSymbolAddress(1, ptr(p), host), hip.Success)
	check(t, rw_hipGetSymbolSize(1, ptr(n), host), hip.Success)
	if *p != addr(&f.globals["big_table"][0]) || *n != 512 {
		t.Errorf("the symbol lies at %#x, %d bytes", *p, *n)
	}
	src, dst := out[[16]byte](), out[[16]byte]()
	copy(src[:], "sixteen bytes...")
	h2d, d2h := int32(hip.MemcpyHostToDevice), int32(hip.MemcpyDeviceToHost)
	check(t, rw_hipMemcpyToSymbol(1, host, addr(src), 16, 496, h2d), hip.Success)
	check(t, rw_hipMemcpyFromSymbol(1, addr(dst), host, 16, 496, d2h), hip.Success)
	if *dst != *src {
		t.Errorf("came back as %q", dst[:])
	}
	check(t, rw_hipMemcpyToSymbol(1, host, addr(src), 16, 497, h2d), hip.ErrorInvalidValue)
	check(t, rw_hipMemcpyToSymbol(1, host, addr(src), 16, ^uint64(0), h2d), hip.ErrorInvalidValue)
	check(t, rw_hipMemcpyToSymbol(1, host, addr(src), 16, 0, d2h), hip.ErrorInvalidMemcpyDirection)
	check(t, rw_hipMemcpyFromSymbol(1, addr(dst), host, 16, 0, h2d), hip.ErrorInvalidMemcpyDirection)
	check(t, rw_hipMemcpyFromSymbol(1, addr(dst), addr(dst), 16, 0, d2h), hip.ErrorInvalidSymbol)
	check(t, rw_hipGetSymbolAddress(1, ptr(p), gone), hip.ErrorInvalidSymbol)
}

func TestManagedVariable(t *testing.T) {
	f := newFake(t, "gfx942")
	id, _ := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	init, pointer_ := out[[8]byte](), out[unsafe.Pointer]()
	copy(init[:], "managed!")
	SetOpener(func() hip.Runtime { return f })
	rw_registerManaged(id, ptr(pointer_), ptr(init), cstr("counter"), 8, 8)
	first := *pointer_
	if first == nil || string(memory(first, 8)) != "managed!" {
		t.Fatal("a managed variable has no memory before the first call")
	}
	copy(memory(first, 8), "changed!")
	p := out[unsafe.Pointer]()
	check(t, rw_hipGetSymbolAddress(1, ptr(p), addr(pointer_)), hip.Success)
	if *p != *pointer_ || *p == first {
		t.Errorf("the variable lies at %p, the program looks at %p (first %p)", *p, *pointer_, first)
	}
	if string(memory(*p, 8)) != "changed!" {
		t.Errorf("its value became %q", memory(*p, 8))
	}
	if f.copies != 1 {
		t.Errorf("%d copies", f.copies)
	}
}

// inPlace is a Runtime whose devices see memory where it lies.
type inPlace struct {
	*fake
	managed map[hip.Ptr]uint64
}

func (f *inPlace) ManageHost(t hip.Thread, p hip.Ptr, n uint64) hip.Error {
	f.managed[p] = n
	return hip.Success
}

func (f *inPlace) UnmanageHost(t hip.Thread, p hip.Ptr) hip.Error {
	if f.managed[p] == 0 {
		return hip.ErrorHostMemoryNotRegistered
	}
	delete(f.managed, p)
	return hip.Success
}

// A managed variable has one address from the start to the end, and is managed memory from the first call on. Registering it opens nothing.
func TestManagedVariableStays(t *testing.T) {
	f := &inPlace{fake: newFake(t, "gfx942"), managed: map[hip.Ptr]uint64{}}
	opened := 0
	SetOpener(func() hip.Runtime { opened++; return f })
	id, _ := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	pointer_, late := out[unsafe.Pointer](), out[unsafe.Pointer]()
	rw_registerManaged(id, ptr(pointer_), nil, cstr("counter"), 5000, 8)
	first := *pointer_
	if opened != 0 || first == nil {
		t.Fatalf("opened %d times; the variable is at %p", opened, first)
	}
	copy(memory(first, 8), "changed!")
	count := out[int32]()
	check(t, rw_hipGetDeviceCount(1, ptr(count)), hip.Success)
	if f.managed[hip.Ptr(uintptr(first))] != 5000 {
		t.Error("the first call does not make it managed")
	}
	rw_registerManaged(id, ptr(late), nil, cstr("later"), 100, 8)
	if f.managed[hip.Ptr(uintptr(*late))] != 100 {
		t.Error("a variable of a library that is opened later is not managed")
	}
	p := out[unsafe.Pointer]()
	check(t, rw_hipGetSymbolAddress(1, ptr(p), addr(pointer_)), hip.Success)
	if *p != first || *pointer_ != first {
		t.Errorf("the variable has moved from %p to %p, %p", first, *p, *pointer_)
	}
	check(t, rw_hipDeviceReset(1), hip.Success)
	if *pointer_ != first || string(memory(first, 8)) != "changed!" || len(f.managed) != 2 {
		t.Errorf("after a reset: at %p, %q, %d managed", *pointer_, memory(first, 8), len(f.managed))
	}
	rw_unregisterBinary(1, id)
	if len(f.managed) != 0 || opened != 1 {
		t.Errorf("%d variables are left, opened %d times", len(f.managed), opened)
	}
}

// The first use of HIP may be that of an embedded variable or kernel.
func TestEmbeddedOpens(t *testing.T) {
	f := newFake(t, "gfx942")
	id, host := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	p := out[unsafe.Pointer]()
	rw_registerManaged(id, ptr(p), nil, cstr("counter"), 8, 8)
	SetOpener(func() hip.Runtime { return f })
	params, _ := addArgs()
	check(t, rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), unsafe.Pointer(&params[0]), 0, 0), hip.Success)
	if len(f.launches) != 1 {
		t.Error("no launch")
	}
}

func TestDeviceReset(t *testing.T) {
	f := newFake(t, "gfx942", "gfx942")
	id, host := embed(t, kernels(t, "gfx942", "vector_add"), "vector_add")
	value, init := out[unsafe.Pointer](), out[[8]byte]()
	copy(init[:], "managed!")
	rw_registerManaged(id, ptr(value), ptr(init), cstr("counter"), 8, 8)
	_, fn := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	params, _ := addArgs()
	launch := func() int32 {
		return rw_hipLaunchKernel(1, host, dims(1, 1, 1), dims(64, 1, 1), unsafe.Pointer(&params[0]), 0, uint64(hip.StreamPerThread))
	}
	check(t, launch(), hip.Success)
	check(t, rw_hipDeviceReset(1<<32|1), hip.Success) // another device
	if s := string(memory(*value, 8)); s != "managed!" {
		t.Errorf("the managed variable is %q", s)
	}
	check(t, rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, 0, unsafe.Pointer(&params[0]), nil), hip.Success)
	placed := *value
	check(t, rw_hipDeviceReset(1), hip.Success)
	if s := string(memory(*value, 8)); s != "managed!" || *value == placed {
		t.Errorf("the managed variable is %q", s)
	}
	check(t, rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, 0, unsafe.Pointer(&params[0]), nil), hip.ErrorInvalidHandle)
	before := len(f.launches)
	check(t, launch(), hip.Success)
	again := f.launches[before]
	if again.Function == f.launches[0].Function || again.Stream == f.launches[0].Stream || f.streams[again.Stream].ID != 1 {
		t.Errorf("after the reset: %+v", again)
	}
}
