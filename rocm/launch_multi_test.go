package rocm

import (
	"encoding/binary"
	"os"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// sum is a launch of vector_add and what checks that it ran.
func sum(t *testing.T, r *Runtime, f hip.Function, a, b float32, s hip.Stream, x uint32) (hip.Launch, func(name string)) {
	t.Helper()
	th := hip.Thread{}
	mem, e := r.Malloc(th, 12)
	must(t, "malloc", e)
	in := [3]float32{a, b}
	must(t, "copy in", r.Memcpy(th, mem, hip.Ptr(uintptr(unsafe.Pointer(&in))), 12, hip.MemcpyHostToDevice))
	args := make([]byte, 28)
	for i := range 3 {
		binary.LittleEndian.PutUint64(args[8*i:], uint64(mem)+uint64(4*i))
	}
	args[24] = 1
	l := hip.Launch{Function: f, Grid: hip.Dim3{X: x, Y: 2, Z: 3}, Block: hip.Dim3{X: 64, Y: 4, Z: 1}, Stream: s, Args: args}
	return l, func(name string) {
		t.Helper()
		var out float32
		must(t, "copy out", r.Memcpy(th, hip.Ptr(uintptr(unsafe.Pointer(&out))), mem+8, 4, hip.MemcpyDeviceToHost))
		if out != a+b {
			t.Errorf("%s: %v + %v = %v", name, a, b, out)
		}
		must(t, "free", r.Free(th, mem))
	}
}

func TestLaunchMultiDevice(t *testing.T) {
	r, th := stub(t), hip.Thread{}
	image, err := os.ReadFile("../examples/kernels/gfx942/vector_add.co")
	if err != nil {
		t.Fatal(err)
	}
	m, e := r.ModuleLoadData(th, image)
	must(t, "load", e)
	f, e := r.ModuleGetFunction(th, m, "vector_add")
	must(t, "function", e)
	const noPreSync, s0, s1 = hip.CooperativeLaunchMultiDeviceNoPreSync, 0x6000, 0x6001
	for name, flags := range map[string]uint32{"plain": 0, "cooperative": hip.LaunchCooperative} {
		l0, check0 := sum(t, r, f, 1, 10, s0, 1)
		l1, check1 := sum(t, r, f, 2, 30, s1, 2)
		l0.Flags, l1.Flags = flags, flags
		if flags != 0 {
			l0.SharedMem, l1.SharedMem = 0x500, 0x500
		}
		before, _ := r.DeviceGetLimit(th, 0) // how often the stub was told to wait
		must(t, name, r.LaunchKernelMultiDevice(th, []hip.Launch{l0, l1}, noPreSync))
		if after, _ := r.DeviceGetLimit(th, 0); flags == 0 && after != before+2 {
			t.Errorf("%d streams were waited for, want 2", after-before)
		}
		check0(name)
		check1(name)
	}
	good, _ := sum(t, r, f, 1, 1, s0, 1)
	other, _ := sum(t, r, f, 1, 1, s1, 1)
	other.Flags = hip.LaunchCooperative
	with := func(change func(l *hip.Launch)) []hip.Launch {
		l := good
		change(&l)
		return []hip.Launch{l}
	}
	for name, c := range map[string]struct {
		list  []hip.Launch
		flags uint32
		want  hip.Error
	}{
		"none":            {nil, 0, hip.ErrorInvalidValue},
		"unknown flags":   {[]hip.Launch{good}, 4, hip.ErrorInvalidValue},
		"too many":        {make([]hip.Launch, maxParts+1), 0, hip.ErrorInvalidValue},
		"one device":      {[]hip.Launch{good, good}, 0, hip.ErrorInvalidDevice},
		"both kinds":      {[]hip.Launch{good, other}, 0, hip.ErrorInvalidValue},
		"no threads":      {with(func(l *hip.Launch) { l.Block.Y = 0 }), 0, hip.ErrorInvalidConfiguration},
		"the null stream": {with(func(l *hip.Launch) { l.Stream = 0 }), 0, hip.ErrorInvalidHandle},
		"no stream":       {with(func(l *hip.Launch) { l.Stream = 0x7000 }), 0, hip.ErrorInvalidHandle},
		"no function":     {with(func(l *hip.Launch) { l.Function = 5 }), 0, hip.ErrorInvalidHandle},
		"no arguments":    {with(func(l *hip.Launch) { l.Args = nil }), 0, hip.ErrorInvalidValue},
	} {
		if e := r.LaunchKernelMultiDevice(th, c.list, c.flags); e != c.want {
			t.Errorf("%s: %v, want %v", name, e, c.want)
		}
	}
}
