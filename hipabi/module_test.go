package hipabi

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

func TestModuleErrors(t *testing.T) {
	newFake(t, "gfx90a:sramecc+:xnack-")
	lines := logTo(t)
	m, f := out[uint64](), out[uint64]()
	elf := kernels(t, "gfx90a", "vector_add")
	other := kernels(t, "gfx942", "vector_add")
	cut := append([]byte{}, elf...)
	clear(cut[64:400])
	garbage := bytes.Repeat([]byte("not a code object "), 30)
	keep = append(keep, elf, other, cut, garbage)
	check(t, rw_hipModuleLoadData(1, ptr(m), addr(&other[0])), hip.ErrorNoBinaryForGpu)
	check(t, rw_hipModuleLoadData(1, ptr(m), addr(&cut[0])), hip.ErrorInvalidImage)
	check(t, rw_hipModuleLoadData(1, ptr(m), addr(&garbage[0])), hip.ErrorInvalidImage)
	check(t, rw_hipModuleLoad(1, ptr(m), cstr("/no/such/file.co")), hip.ErrorFileNotFound)
	if got := strings.Join(*lines, "\n"); !strings.Contains(got, "gfx90a:sramecc+:xnack-") || !strings.Contains(got, "gfx942") || !strings.Contains(got, "/no/such/file.co") {
		t.Errorf("the log does not name the causes:\n%s", got)
	}

	path := filepath.Join(t.TempDir(), "k.co")
	if err := os.WriteFile(path, elf, 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, rw_hipModuleLoad(1, ptr(m), cstr(path)), hip.Success)
	check(t, rw_hipModuleGetFunction(1, ptr(f), *m, cstr("no_such_kernel")), hip.ErrorNotFound)
	check(t, rw_hipModuleGetFunction(1, ptr(f), *m, cstr("")), hip.ErrorInvalidValue)
	check(t, rw_hipModuleGetFunction(1, ptr(f), 0, cstr("vector_add")), hip.ErrorNotFound)
	check(t, rw_hipModuleGetFunction(1, ptr(f), *m, cstr("vector_add")), hip.Success)
	again := out[uint64]()
	check(t, rw_hipModuleGetFunction(1, ptr(again), *m, cstr("vector_add")), hip.Success)
	if *f != *again {
		t.Errorf("one kernel has handles %d and %d", *f, *again)
	}
	if s := goString(unsafe.Pointer(rw_kernelName(*f))); s != "vector_add" {
		t.Errorf("the kernel's name is %q", s)
	}
	p, n := out[uintptr](), out[uint64]()
	check(t, rw_hipModuleGetGlobal(1, ptr(p), ptr(n), *m, cstr("no_such_variable")), hip.ErrorNotFound)
	check(t, rw_hipModuleGetGlobal(1, nil, nil, *m, cstr("x")), hip.ErrorInvalidValue)
	check(t, rw_hipModuleUnload(1, *m), hip.Success)
	check(t, rw_hipModuleUnload(1, *m), hip.ErrorNotFound)
	check(t, rw_hipModuleLaunchKernel(1, *f, 1, 1, 1, 1, 1, 1, 0, 0, nil, nil), hip.ErrorInvalidHandle)
}

func TestFunctionAttributes(t *testing.T) {
	newFake(t, "gfx942")
	_, add := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	_, reduce := loadKernel(t, 1, "gfx942", "reduce", "reduce_sum_f32")
	_, scratch := loadKernel(t, 1, "gfx942", "scratch", firstKernel(t, "scratch"))
	get := func(fn uint64, a hip.FunctionAttribute) int32 {
		t.Helper()
		v := out[int32]()
		check(t, rw_hipFuncGetAttribute(1, ptr(v), int32(a), fn), hip.Success)
		return *v
	}
	for _, c := range []struct {
		name string
		fn   uint64
		a    hip.FunctionAttribute
		want int32
	}{
		{"LDS of vector_add", add, hip.DrvFuncAttributeSharedSizeBytes, 0},
		{"LDS of reduce", reduce, hip.DrvFuncAttributeSharedSizeBytes, 1024},
		{"LDS left to reduce", reduce, hip.DrvFuncAttributeMaxDynamicSharedSizeBytes, 65536 - 1024},
		{"threads of reduce", reduce, hip.DrvFuncAttributeMaxThreadsPerBlock, 256},
		{"threads of vector_add", add, hip.DrvFuncAttributeMaxThreadsPerBlock, 1024},
		{"scratch of vector_add", add, hip.DrvFuncAttributeLocalSizeBytes, 0},
		{"version", add, hip.DrvFuncAttributeBinaryVersion, 94},
	} {
		if got := get(c.fn, c.a); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if get(scratch, hip.DrvFuncAttributeLocalSizeBytes) == 0 {
		t.Error("a kernel that spills has no scratch")
	}
	if n := get(add, hip.DrvFuncAttributeNumRegs); n <= 0 || n > 512 {
		t.Errorf("%d registers", n)
	}
	v := out[int32]()
	check(t, rw_hipFuncGetAttribute(1, ptr(v), 10, add), hip.ErrorInvalidValue)
	check(t, rw_hipFuncGetAttribute(1, nil, 0, add), hip.ErrorInvalidValue)
	check(t, rw_hipFuncGetAttribute(1, ptr(v), 0, 3), hip.ErrorInvalidHandle)

	dynamic := int32(hip.FuncAttributeMaxDynamicSharedMemorySize)
	check(t, rw_hipFuncSetAttribute(1, uintptr(reduce), dynamic, 65536), hip.ErrorInvalidValue)
	check(t, rw_hipFuncSetAttribute(1, uintptr(reduce), dynamic, 4096), hip.Success)
	for a := range int32(11) {
		if a != dynamic {
			check(t, rw_hipFuncSetAttribute(1, uintptr(reduce), a, 64), hip.Success)
		}
	}
	for _, a := range []int32{-1, 11} {
		check(t, rw_hipFuncSetAttribute(1, uintptr(reduce), a, 0), hip.ErrorInvalidValue)
		check(t, rw_hipFuncSetAttribute(1, addr(v), a, 0), hip.ErrorInvalidValue)
		check(t, rw_hipFuncSetAttribute(1, 0, a, 0), hip.ErrorInvalidDeviceFunction)
	}
	check(t, rw_hipFuncSetAttribute(1, addr(v), dynamic, 0), hip.ErrorInvalidDeviceFunction)
	attrs := out[hip.FuncAttributes]()
	check(t, rw_hipFuncGetAttributes(1, ptr(attrs), addr(v)), hip.ErrorInvalidSymbol)
	check(t, rw_hipFuncGetAttributes(1, ptr(attrs), 0), hip.ErrorInvalidDeviceFunction)
	check(t, rw_hipFuncGetAttributes(1, ptr(attrs), uintptr(reduce)), hip.Success)
	if attrs.SharedSizeBytes != 1024 || attrs.MaxThreadsPerBlock != 256 || attrs.MaxDynamicSharedSizeBytes != 4096 || attrs.BinaryVersion != 94 {
		t.Errorf("%+v", *attrs)
	}
}

func firstKernel(t *testing.T, object string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "examples", "kernels", object+".hip"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "\nENTRY(")
	if !ok {
		t.Fatalf("%s.hip has no kernel", object)
	}
	name, _, _ := strings.Cut(rest, ",")
	return name
}

// Expected values: waves of a SIMD by registers (512 of each lane, in granules
// of 8; 800 scalar ones in granules of 16), by LDS (64 KiB),
// by wave slots (8).
func TestOccupancy(t *testing.T) {
	d := &device{}
	d.prop.WarpSize, d.prop.MaxThreadsPerMultiProcessor, d.prop.MaxThreadsPerBlock = 64, 2048, 1024
	d.prop.SharedMemPerBlock, d.prop.MaxSharedMemoryPerMultiProcessor, d.prop.MultiProcessorCount = 65536, 65536, 100
	for _, c := range []struct {
		granules uint32 // of vector registers, minus one, as the descriptor says it
		sgprs    uint32
		static   uint32
		threads  uint32
		dynamic  uint64
		want     uint64
	}{
		{0, 16, 0, 64, 0, 32},       // slots: 4 SIMDs of 8 waves
		{7, 16, 0, 64, 0, 32},       // 64 registers: 8 waves
		{8, 16, 0, 64, 0, 28},       // 72 registers: 7 waves
		{63, 16, 0, 64, 0, 4},       // 512: one wave each
		{31, 16, 0, 256, 0, 2},      // 256: 2 waves each, 8 in all, 4 a workgroup
		{63, 16, 0, 1024, 0, 0},     // 16 waves do not fit 4
		{0, 102, 0, 64, 0, 28},      // 112 scalar registers: 7 waves
		{0, 16, 1024, 256, 0, 8},    // slots before LDS
		{0, 16, 1024, 64, 0, 32},    // 32 KiB of LDS
		{0, 16, 1025, 64, 1023, 32}, // 2 KiB each
		{0, 16, 16384, 64, 1, 3},    // a byte more than a quarter
		{0, 16, 2000, 64, 0, 32},    // no granules: AMD's runtime counts bytes
		{0, 16, 2049, 64, 0, 31},
		{0, 16, 65536, 64, 0, 1},
		{0, 16, 0, 65, 0, 16},
		{0, 16, 0, 1, 0, 32},
	} {
		f := kernelWith(c.granules, c.sgprs, c.static)
		if got := f.blocksPerCU(d, c.threads, c.dynamic); got != c.want {
			t.Errorf("%+v: %d workgroups", c, got)
		}
	}
	if n, b := kernelWith(0, 16, 0).bestBlock(d, 0, 0); n != 1024 || b != 200 {
		t.Errorf("best workgroup %d, grid %d", n, b)
	}
	if n, b := kernelWith(0, 16, 0).bestBlock(d, 0, 200); n != 128 || b != 1600 {
		t.Errorf("best workgroup of at most 200: %d, grid %d", n, b)
	}
	if n, b := kernelWith(63, 16, 0).bestBlock(d, 0, 0); n != 256 || b != 100 {
		t.Errorf("best workgroup of a kernel with 512 registers: %d, grid %d", n, b)
	}
	if n, b := kernelWith(0, 16, 0).bestBlock(d, 40000, 0); n != 1024 || b != 100 {
		t.Errorf("best workgroup with much LDS: %d, grid %d", n, b)
	}
}

func TestOccupancyExports(t *testing.T) {
	newFake(t, "gfx942")
	_, fn := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	n, g, b := out[int32](), out[int32](), out[int32]()
	check(t, rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(1, ptr(n), fn, 256, 0), hip.Success)
	if *n != 8 {
		t.Errorf("%d workgroups of 256", *n)
	}
	check(t, rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(1, ptr(n), fn, 4096, 0), hip.Success)
	if *n != 0 {
		t.Errorf("%d workgroups of 4096", *n)
	}
	for _, threads := range []int32{0, -1} {
		*n = 99
		check(t, rw_hipOccupancyMaxActiveBlocksPerMultiprocessor(1, ptr(n), uintptr(fn), threads, 0), hip.ErrorInvalidValue)
		if *n != 0 {
			t.Errorf("%d workgroups of %d", *n, threads)
		}
	}
	check(t, rw_hipModuleOccupancyMaxPotentialBlockSize(1, ptr(g), ptr(b), fn, 1<<20, 256), hip.Success)
	if *b != 256 || *g != 0 {
		t.Errorf("workgroup of %d, grid of %d that do not fit", *b, *g)
	}
	check(t, rw_hipModuleOccupancyMaxPotentialBlockSize(1, ptr(g), ptr(b), fn, 0, 0), hip.Success)
	if *b != 1024 || *g != 608 {
		t.Errorf("workgroup of %d, grid of %d", *b, *g)
	}
	check(t, rw_hipModuleOccupancyMaxPotentialBlockSize(1, nil, ptr(b), fn, 0, 0), hip.ErrorInvalidValue)
}
