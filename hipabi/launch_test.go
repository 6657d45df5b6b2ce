package hipabi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// addArgs are the arguments of vector_add as a program passes them.
func addArgs() (params []uintptr, packed []byte) {
	a, b, c, n := out[uint64](), out[uint64](), out[uint64](), out[int32]()
	*a, *b, *c, *n = 0x1000_0000_1000, 0x1000_0000_2000, 0x1000_0000_3000, 77
	params = []uintptr{addr(a), addr(b), addr(c), addr(n)}
	keep = append(keep, params)
	packed = binary.LittleEndian.AppendUint64(nil, *a)
	packed = binary.LittleEndian.AppendUint64(packed, *b)
	packed = binary.LittleEndian.AppendUint64(packed, *c)
	return params, binary.LittleEndian.AppendUint32(packed, 77)
}

func extraOf(b []byte, size uint64) unsafe.Pointer {
	n := out[uint64]()
	*n = size
	keep = append(keep, b)
	e := []uintptr{extraPointer, addr(&b[0]), extraSize, addr(n), extraEnd}
	keep = append(keep, e)
	return unsafe.Pointer(&e[0])
}

func TestLaunchArguments(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx942"} {
		f := newFake(t, arch)
		_, fn := loadKernel(t, 1, arch, "vector_add", "vector_add")
		params, packed := addArgs()

		check(t, rw_hipModuleLaunchKernel(1, fn, 2, 3, 4, 64, 2, 1, 128, 0, unsafe.Pointer(&params[0]), nil), hip.Success)
		check(t, rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, 99, nil, extraOf(packed, uint64(len(packed)))), hip.Success)
		// A longer buffer carries hidden arguments that the runtime fills in itself.
		long := append(append([]byte{}, packed...), make([]byte, 300)...)
		check(t, rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, 1, nil, extraOf(long, uint64(len(long)))), hip.Success)

		if len(f.launches) != 3 {
			t.Fatalf("%d launches", len(f.launches))
		}
		for i, l := range f.launches {
			if !bytes.Equal(l.Args, packed) {
				t.Errorf("launch %d: arguments %x, want %x", i, l.Args, packed)
			}
		}
		l := f.launches[0]
		if l.Grid != (hip.Dim3{X: 2, Y: 3, Z: 4}) || l.Block != (hip.Dim3{X: 64, Y: 2, Z: 1}) || l.SharedMem != 128 || l.GlobalSize != (hip.Dim3{}) {
			t.Errorf("launch %+v", l)
		}
		if f.launches[1].Stream != 99 || f.launches[2].Stream != 0 {
			t.Errorf("streams %d and %d, want 99 and the null stream", f.launches[1].Stream, f.launches[2].Stream)
		}
	}
}

func TestLaunchShape(t *testing.T) {
	f := newFake(t, "gfx942")
	_, fn := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	params, _ := addArgs()
	p := unsafe.Pointer(&params[0])
	check(t, rw_hipExtModuleLaunchKernel(1, fn, 1000, 4, 1, 256, 4, 1, 0, 0, p, nil, 21, 22, 0), hip.Success)
	check(t, rw_hipExtModuleLaunchKernel(1, fn, 1024, 4, 1, 256, 4, 1, 0, 0, p, nil, 0, 0, 0), hip.Success)
	check(t, rw_hipExtModuleLaunchKernel(1, fn, math.MaxUint32, 1, 1, 1, 1, 1, 0, 0, p, nil, 0, 0, 0), hip.Success)
	partial, whole := f.launches[0], f.launches[1]
	if partial.Grid != (hip.Dim3{X: 4, Y: 1, Z: 1}) || partial.GlobalSize != (hip.Dim3{X: 1000, Y: 4, Z: 1}) || partial.Start != 21 || partial.Stop != 22 {
		t.Errorf("partial launch %+v", partial)
	}
	if whole.Grid != (hip.Dim3{X: 4, Y: 1, Z: 1}) || whole.GlobalSize != (hip.Dim3{}) || whole.Start != 0 {
		t.Errorf("whole launch %+v", whole)
	}
	// A grid given in workgroups may not be as wide as one given in threads.
	if wide := f.launches[2]; wide.Grid.X != math.MaxUint32 || wide.GlobalSize != (hip.Dim3{X: math.MaxUint32, Y: 1, Z: 1}) {
		t.Errorf("the widest launch %+v", wide)
	}
}

func TestLaunchErrors(t *testing.T) {
	f := newFake(t, "gfx942")
	lines := logTo(t)
	_, add := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	_, bounded := loadKernel(t, 1, "gfx942", "reduce", "reduce_sum_f32") // at most 256 threads, 1 KiB of LDS
	params, packed := addArgs()
	p := unsafe.Pointer(&params[0])
	hole := []uintptr{params[0], 0, params[2], params[3]}
	wrong := []uintptr{77, 0, extraEnd}
	endless := []uintptr{extraPointer, params[0], extraPointer, params[0], extraPointer, params[0], extraPointer, params[0]}
	keep = append(keep, hole, wrong, endless)
	for _, c := range []struct {
		name       string
		fn         uint64
		grid       [3]uint32
		block      [3]uint32
		shared     uint32
		params, ex unsafe.Pointer
		want       hip.Error
	}{
		{"no function", 0, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, p, nil, hip.ErrorInvalidHandle},
		{"not a function", 12345, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, p, nil, hip.ErrorInvalidHandle},
		{"no grid", add, [3]uint32{1, 0, 1}, [3]uint32{1, 1, 1}, 0, p, nil, hip.ErrorInvalidValue},
		{"no block", add, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 0}, 0, p, nil, hip.ErrorInvalidValue},
		{"too many threads", add, [3]uint32{1, 1, 1}, [3]uint32{1025, 1, 1}, 0, p, nil, hip.ErrorInvalidValue},
		{"too many threads in all", add, [3]uint32{1, 1, 1}, [3]uint32{32, 32, 2}, 0, p, nil, hip.ErrorInvalidValue},
		{"threads that overflow", add, [3]uint32{1, 1, 1}, [3]uint32{1 << 31, 1 << 31, 4}, 0, p, nil, hip.ErrorInvalidValue},
		{"too many threads for the kernel", bounded, [3]uint32{1, 1, 1}, [3]uint32{512, 1, 1}, 0, p, nil, hip.ErrorLaunchFailure},
		{"a grid of more than 2^32 threads", add, [3]uint32{1 << 24, 1, 1}, [3]uint32{1024, 1, 1}, 0, p, nil, hip.ErrorInvalidConfiguration},
		{"a grid that is too wide", add, [3]uint32{1 << 31, 1, 1}, [3]uint32{1, 1, 1}, 0, p, nil, hip.ErrorInvalidValue},
		{"a grid that is too tall", add, [3]uint32{1, 1<<16 + 1, 1}, [3]uint32{1, 1, 1}, 0, p, nil, hip.ErrorInvalidValue},
		{"a grid that is too deep", add, [3]uint32{1, 1, 1<<16 + 1}, [3]uint32{1, 1, 1}, 0, p, nil, hip.ErrorInvalidValue},
		{"too much LDS", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 65537, p, nil, hip.ErrorInvalidValue},
		{"too much LDS beside the kernel's own", bounded, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 65536, p, nil, hip.ErrorInvalidValue},
		{"both forms of arguments", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, p, extraOf(packed, 28), hip.ErrorInvalidValue},
		{"no arguments", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, nil, nil, hip.ErrorInvalidValue},
		{"an empty buffer", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, nil, extraOf(packed, 0), hip.ErrorInvalidValue},
		{"a huge buffer", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, nil, extraOf(packed, 1<<40), hip.ErrorInvalidValue},
		{"a null argument", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, unsafe.Pointer(&hole[0]), nil, hip.ErrorInvalidValue},
		{"an unknown marker", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, nil, unsafe.Pointer(&wrong[0]), hip.ErrorInvalidValue},
		{"a list without an end", add, [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, 0, nil, unsafe.Pointer(&endless[0]), hip.ErrorInvalidValue},
	} {
		got := rw_hipModuleLaunchKernel(1, c.fn, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], c.shared, 0, c.params, c.ex)
		if hip.Error(got) != c.want {
			t.Errorf("%s: %v, want %v", c.name, hip.Error(got), c.want)
		}
	}
	if len(f.launches) != 0 {
		t.Errorf("%d launches went through", len(f.launches))
	}
	if got := strings.Join(*lines, "\n"); !strings.Contains(got, "vector_add: a workgroup of 1025 x 1 x 1") || !strings.Contains(got, "65537 bytes of LDS") {
		t.Errorf("the log does not name the causes:\n%s", got)
	}
}

func TestCooperativeLaunch(t *testing.T) {
	f := newFake(t, "gfx942")
	_, fn := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	params, _ := addArgs()
	p := unsafe.Pointer(&params[0])
	most := uint32(2048 / 256 * 304)
	check(t, rw_hipModuleLaunchCooperativeKernel(1, fn, most, 1, 1, 256, 1, 1, 0, 0, p), hip.Success)
	check(t, rw_hipModuleLaunchCooperativeKernel(1, fn, most+1, 1, 1, 256, 1, 1, 0, 0, p), hip.ErrorCooperativeLaunchTooLarge)
	if len(f.launches) != 1 || f.launches[0].Flags != hip.LaunchCooperative {
		t.Errorf("launches %+v", f.launches)
	}
}

// A launch's arguments must not cost an allocation.
func TestLaunchDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector makes pools forget; the count below means nothing under it")
		return
	}
	newFake(t, "gfx942")
	SetRuntime(quiet{runtime()})
	_, fn := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	params, _ := addArgs()
	n := testing.AllocsPerRun(200, func() {
		rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, 0, unsafe.Pointer(&params[0]), nil)
	})
	if n != 0 {
		t.Errorf("%v allocations for a launch", n)
	}
}

// quiet launches without remembering.
type quiet struct{ hip.Runtime }

func (quiet) LaunchKernel(hip.Thread, *hip.Launch) hip.Error { return hip.Success }

// logTo collects what is logged.
func logTo(t *testing.T) *[]string {
	var lines []string
	before := Log
	Log = func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	t.Cleanup(func() { Log = before })
	return &lines
}

func BenchmarkLaunch(b *testing.B) {
	SetRuntime(quiet{&fake{arch: []string{"gfx942"}, last: 15, images: map[hip.Module]int{}, names: map[hip.Function]string{}}})
	var t testing.T
	_, fn := loadKernel(&t, 1, "gfx942", "vector_add", "vector_add")
	params, _ := addArgs()
	b.ReportAllocs()
	for b.Loop() {
		rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, 0, unsafe.Pointer(&params[0]), nil)
	}
}
