package simgpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

var thread = hip.Thread{ID: 1}

// must ends the test unless e is Success.
func must(t *testing.T, what string, e hip.Error) {
	t.Helper()
	if e != hip.Success {
		t.Fatalf("%s: %v", what, e)
	}
}

func is(t *testing.T, what string, got, want hip.Error) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got.Name(), want.Name())
	}
}

func load(t *testing.T, r *Runtime, object, name string) hip.Function {
	t.Helper()
	image, err := kernels.Object(r.product.target.Processor, object)
	if err != nil {
		t.Fatal(err)
	}
	m, e := r.ModuleLoadData(thread, image)
	must(t, "ModuleLoadData", e)
	f, e := r.ModuleGetFunction(thread, m, name)
	must(t, "ModuleGetFunction", e)
	return f
}

func start(t *testing.T, r *Runtime, f hip.Function, s hip.Stream, args ...uint64) {
	t.Helper()
	var b []byte
	for _, a := range args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	must(t, "LaunchKernel", r.LaunchKernel(thread, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1},
		Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Stream: s, Args: b}))
}

func allocate(t *testing.T, r *Runtime, n uint64) hip.Ptr {
	t.Helper()
	p, e := r.Malloc(thread, n)
	must(t, "Malloc", e)
	return p
}

// log collects what a runtime says.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) printf(format string, args ...any) {
	l.mu.Lock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	l.mu.Unlock()
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Arch: "gfx1030"}, {Cards: -1}, {Cards: MaxCards + 1}, {MemoryBytes: 4096}, {MemoryBytes: 1 << 50},
		{Visible: []int{1}}, {Cards: 2, Visible: []int{0, 0}}, {Visible: []int{-1}},
	} {
		if r, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("New(%+v) = %v, %v", o, r, err)
		}
		if _, err := NewSource(o); !errors.Is(err, ErrOptions) {
			t.Errorf("NewSource(%+v): %v", o, err)
		}
	}
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, _ := r.GetDeviceCount(); n != 1 || r.Segment().Capacity(0) != defaultMemory() {
		t.Errorf("%d cards, %d bytes", n, r.Segment().Capacity(0))
	}
}

func TestProperties(t *testing.T) {
	for arch, want := range map[string]struct {
		name, gcn    string
		units, clock int32
		minor        int32
		lds          uint64
	}{
		"gfx90a": {"AMD Instinct MI210 (simulated)", "gfx90a:sramecc+:xnack-", 104, 1700000, 0, 64 << 10},
		"gfx942": {"AMD Instinct MI300X (simulated)", "gfx942:sramecc+:xnack-", 304, 2100000, 4, 64 << 10},
		"gfx950": {"AMD Instinct MI350X (simulated)", "gfx950:sramecc+:xnack-", 256, 2200000, 5, 160 << 10},
	} {
		r := newRuntime(t, Options{Arch: arch, MemoryBytes: 3 << 30, Cards: 2})
		p, e := r.GetDevicePropertiesR0600(1)
		must(t, "GetDeviceProperties", e)
		str := func(b []byte) string { return strings.TrimRight(string(b), "\x00") }
		if str(p.Name[:]) != want.name || str(p.GcnArchName[:]) != want.gcn || p.MultiProcessorCount != want.units ||
			p.ClockRate != want.clock || p.Major != 9 || p.Minor != want.minor || p.TotalGlobalMem != 3<<30 {
			t.Errorf("%s: %q %q %d units, %d kHz, %d.%d, %d bytes", arch, str(p.Name[:]), str(p.GcnArchName[:]), p.MultiProcessorCount, p.ClockRate, p.Major, p.Minor, p.TotalGlobalMem)
		}
		if p.WarpSize != 64 || p.SharedMemPerBlock != want.lds || p.MaxThreadsPerBlock != 1024 || p.Arch.Bits&archDoubles == 0 {
			t.Errorf("%s: %+v", arch, p)
		}
		// Who has no image instructions has no textures of any size.
		sizes := []int32{p.MaxTexture1D, p.MaxTexture1DLinear, p.MaxTexture2D[0], p.MaxTexture3D[2], p.MaxTexture2DLayered[2], p.MaxSurface1D, p.MaxSurface2D[1], p.MaxSurface3D[0]}
		for i, n := range sizes {
			if (n > 0) != (arch == "gfx90a") {
				t.Errorf("%s: size %d of textures and surfaces is %d", arch, i, n)
			}
		}
		o, _ := r.GetDevicePropertiesR0600(0)
		if o.Uuid == p.Uuid || o.PciBusID == p.PciBusID {
			t.Error("two cards have the same identity")
		}
		// Every attribute that has a name and is not a marker has an answer.
		for a := hip.DeviceAttribute(0); a <= hip.DeviceAttributeMemoryPoolSupportedHandleTypes; a++ {
			switch a {
			case hip.DeviceAttributeUnused1, hip.DeviceAttributeUnused2, hip.DeviceAttributeLuid:
				continue
			}
			if _, e := r.DeviceGetAttribute(a, 0); e != hip.Success {
				t.Errorf("attribute %d: %v", a, e)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	seg, err := CreateSegment(Options{Cards: 3, MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	r := newRuntime(t, Options{Segment: seg, Visible: []int{2, 0}})
	if n, _ := r.GetDeviceCount(); n != 2 {
		t.Errorf("%d devices", n)
	}
	_, e := r.Malloc(hip.Thread{Device: 0}, 1<<20)
	must(t, "Malloc", e)
	if seg.Used(2) != 1<<20 || seg.Used(0) != 0 {
		t.Errorf("used %d, %d, %d", seg.Used(0), seg.Used(1), seg.Used(2))
	}
	_, e = r.Malloc(hip.Thread{Device: 2}, 1<<20)
	is(t, "Malloc on a card that is not visible", e, hip.ErrorInvalidDevice)
	r.Close()
}

func TestSessionsShareCapacity(t *testing.T) {
	seg, err := CreateSegment(Options{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	a, b := newRuntime(t, Options{Segment: seg}), newRuntime(t, Options{Segment: seg})
	p := allocate(t, a, 48<<20)
	_, e := b.Malloc(thread, 32<<20)
	is(t, "Malloc of what another session has", e, hip.ErrorOutOfMemory)
	if free, total, _ := b.MemGetInfo(thread); free != 16<<20 || total != 64<<20 {
		t.Errorf("free %d of %d", free, total)
	}
	_, e = b.HostMalloc(thread, 128<<20, 0)
	is(t, "host memory does not count", e, hip.Success)
	must(t, "Free", a.Free(thread, p))
	allocate(t, b, 64<<20)
	b.Close()
	if seg.Used(0) != 0 {
		t.Errorf("%d bytes used by a closed session", seg.Used(0))
	}
	a.Close()
}

func TestPlacer(t *testing.T) {
	const base, size = 0x5000_0000_0000, 1 << 34 // the race detector has 0x2000… and 0x3000…
	own := hip.Span{Base: base + size/2, Size: size / 4}
	r := newRuntime(t, Options{MemoryBytes: 64 << 20})
	reserve := func(all, own hip.Span) hip.Error {
		got, e := r.ReserveRange(all, own, true)
		if e == hip.Success && got != all {
			t.Errorf("reserved %v of %v", got, all)
		}
		return e
	}
	is(t, "a range that is not aligned", reserve(hip.Span{Base: base + 1, Size: size}, hip.Span{}), hip.ErrorInvalidValue)
	is(t, "no range", reserve(hip.Span{Size: size}, hip.Span{}), hip.ErrorInvalidValue)
	is(t, "a range that wraps", reserve(hip.Span{Base: ^uint64(0) &^ 0xfff, Size: size}, hip.Span{}), hip.ErrorInvalidValue)
	taken, err := vmem.Reserve(base+size/2, 1<<20, vmem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	is(t, "a range that is taken", reserve(hip.Span{Base: base, Size: size}, own), hip.ErrorInvalidValue)
	taken.Close()
	must(t, "ReserveRange", reserve(hip.Span{Base: base, Size: size}, own))
	is(t, "ReserveRange again", reserve(hip.Span{Base: base, Size: size}, own), hip.ErrorInvalidValue)

	is(t, "MallocAt without a grant", r.MallocAt(thread, base, 4096), hip.ErrorInvalidValue)
	n, e := r.Grant(thread, 10<<20+1, 0)
	must(t, "Grant", e)
	if n != 10<<20+4096 {
		t.Errorf("granted %d", n)
	}
	free, _, _ := r.MemGetInfo(thread)
	if free != 64<<20 {
		t.Errorf("free %d with an unused grant", free)
	}
	must(t, "MallocAt", r.MallocAt(thread, base, 8<<20))
	is(t, "MallocAt of a place that is taken", r.MallocAt(thread, base+4096, 4096), hip.ErrorInvalidValue)
	is(t, "MallocAt outside", r.MallocAt(thread, base-4096, 4096), hip.ErrorInvalidValue)
	is(t, "MallocAt not aligned", r.MallocAt(thread, base+16<<20+1, 4096), hip.ErrorInvalidValue)
	is(t, "MallocAt of a part of a page", r.MallocAt(thread, base+16<<20, 100), hip.ErrorInvalidValue)
	is(t, "MallocAt of more than was granted", r.MallocAt(thread, base+16<<20, 4<<20), hip.ErrorInvalidValue)
	must(t, "MallocAt", r.MallocAt(thread, base+16<<20, 2<<20))
	if free, _, _ = r.MemGetInfo(thread); free != 54<<20 {
		t.Errorf("free %d", free)
	}
	must(t, "Memset", r.Memset(thread, base, 1, 8<<20))
	is(t, "Memset of two allocations", r.Memset(thread, base, 1, 8<<20+1), hip.ErrorInvalidValue)

	// What is freed is granted again.
	must(t, "Free", r.Free(thread, base))
	must(t, "MallocAt", r.MallocAt(thread, base+32<<20, 8<<20))
	b, ok := r.DeviceBytes(base+32<<20, 8<<20)
	if !ok || b[0] != 0 || b[8<<20-1] != 0 {
		t.Error("new memory is not zero")
	}
	must(t, "Return", r.Return(thread, 4096))
	is(t, "Return of more than there is", r.Return(thread, 4096), hip.ErrorInvalidValue)
	_, e = r.Grant(thread, 1<<40, 54<<20+1)
	is(t, "Grant of no less than there is not", e, hip.ErrorOutOfMemory)
	if n, e = r.Grant(thread, 1<<40, 54<<20); e != hip.Success || n != 54<<20 {
		t.Errorf("Grant of too much: %d, %v", n, e)
	}
	n, e = r.Grant(thread, 4096, 0)
	if is(t, "Grant when nothing is left", e, hip.ErrorOutOfMemory); n != 0 {
		t.Errorf("granted %d", n)
	}
	must(t, "Return", r.Return(thread, 54<<20))

	// The runtime's own allocations stay out of the way.
	p := allocate(t, r, 1<<20)
	if !own.Contains(uint64(p), 1<<20) {
		t.Errorf("Malloc at %v", p)
	}
	must(t, "HostMallocAt", r.HostMallocAt(thread, base+64<<20, 1<<20, 0))
	a, e := r.PointerGetAttributes(thread, base+64<<20)
	if must(t, "PointerGetAttributes", e); a.Type != hip.MemoryTypeHost {
		t.Errorf("%+v", a)
	}
	must(t, "HostFree", r.HostFree(thread, base+64<<20))
	must(t, "MallocManagedAt", r.MallocManagedAt(thread, base+64<<20, 1<<20, 1))
	must(t, "Free", r.Free(thread, base+64<<20))
}

// TestFaultIsTold: the log and the hook name kernel, address and instruction.
func TestFaultIsTold(t *testing.T) {
	for _, arch := range kernels.Arches {
		t.Run(arch, func(t *testing.T) {
			var l log
			type async struct {
				s      hip.Stream
				e      hip.Error
				detail string
			}
			told := make(chan async, 10)
			r := newRuntime(t, Options{Arch: arch, Logf: l.printf, OnAsyncError: func(_ int32, s hip.Stream, e hip.Error, d string) { told <- async{s, e, d} }})
			s, e := r.StreamCreateWithPriority(thread, hip.StreamNonBlocking, 0)
			must(t, "StreamCreate", e)
			p := allocate(t, r, 1<<16)
			f := load(t, r, "fault", "store_at")
			must(t, "Free", r.Free(thread, p))
			start(t, r, f, s, uint64(p), 0, 1)
			is(t, "StreamSynchronize", r.StreamSynchronize(thread, s), hip.ErrorIllegalAddress)
			a := <-told
			if a.s != s || a.e != hip.ErrorIllegalAddress {
				t.Errorf("told of stream %d, %v", a.s, a.e)
			}
			for _, text := range []string{a.detail, l.String()} {
				for _, want := range []string{"store_at", p.String(), map[bool]string{false: "store_dword", true: "store_b32"}[arch == "gfx1100"], "pc 0x"} {
					if !strings.Contains(text, want) {
						t.Errorf("%q does not say %q", text, want)
					}
				}
			}
			if len(told) != 0 {
				t.Error("told more than once")
			}
		})
	}
}

// TestFaultToldFirst: no call answers with a fault that nobody was told of yet.
func TestFaultToldFirst(t *testing.T) {
	said := false // without a lock: what was told before is known
	r := newRuntime(t, Options{OnAsyncError: func(int32, hip.Stream, hip.Error, string) {
		time.Sleep(20 * time.Millisecond)
		said = true
	}})
	f := load(t, r, "fault", "store_at")
	p := allocate(t, r, 1<<16)
	must(t, "Free", r.Free(thread, p))
	start(t, r, f, hip.StreamNull, uint64(p), 0, 1)
	e := hip.ErrorNotReady
	for e == hip.ErrorNotReady {
		e = r.StreamQuery(thread, hip.StreamNull)
	}
	is(t, "a call after the fault", e, hip.ErrorIllegalAddress)
	if !said {
		t.Error("a call answers with the fault before it was told")
	}
}

func TestNoBinaryNamesTargets(t *testing.T) {
	var l log
	r := newRuntime(t, Options{Arch: "gfx942", Logf: l.printf})
	image, err := kernels.Object("gfx90a", "saxpy")
	if err != nil {
		t.Fatal(err)
	}
	_, e := r.ModuleLoadData(thread, image)
	is(t, "ModuleLoadData", e, hip.ErrorNoBinaryForGpu)
	if s := l.String(); !strings.Contains(s, "gfx942") || !strings.Contains(s, "gfx90a") {
		t.Errorf("the log says %q", s)
	}
}

// TestCloseStopsKernels: Close comes back although kernels and host functions
// never end, and whoever waits comes back too.
func TestCloseStopsKernels(t *testing.T) {
	r := newRuntime(t, Options{Cards: 2})
	p := allocate(t, r, 4096)
	f := load(t, r, "spin", "spin_forever")
	for range 3 {
		s, e := r.StreamCreateWithPriority(thread, hip.StreamNonBlocking, 0)
		must(t, "StreamCreate", e)
		start(t, r, f, s, uint64(p))
	}
	never := make(chan struct{})
	defer close(never)
	must(t, "LaunchHostFunc", r.LaunchHostFunc(thread, 0, func() { <-never }))
	waits := make(chan hip.Error, 1)
	go func() { waits <- r.DeviceSynchronize(thread) }()
	done := make(chan error, 1)
	go func() { done <- r.Close() }()
	for range 2 {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case e := <-waits:
			is(t, "DeviceSynchronize", e, hip.ErrorDeinitialized)
		case <-time.After(2 * time.Minute):
			t.Fatal("Close waits for what never ends")
		}
	}
	_, e := r.Malloc(thread, 1)
	is(t, "Malloc after Close", e, hip.ErrorDeinitialized)
	is(t, "DeviceSynchronize after Close", r.DeviceSynchronize(thread), hip.ErrorDeinitialized)
	is(t, "DeviceReset after Close", r.DeviceReset(thread), hip.ErrorDeinitialized)
	if err := r.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestCloseDuringCalls closes runtimes in the middle of everything.
func TestCloseDuringCalls(t *testing.T) {
	for range 20 {
		r, err := New(Options{MemoryBytes: 1 << 28})
		if err != nil {
			t.Fatal(err)
		}
		f := load(t, r, "vector_add", "vector_add")
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				th := hip.Thread{ID: uint32(i)}
				for {
					p, e := r.Malloc(th, 1<<16)
					if e != hip.Success {
						return
					}
					args := make([]byte, 28)
					for k := range 3 {
						binary.LittleEndian.PutUint64(args[8*k:], uint64(p))
					}
					args[25] = 16
					r.MemsetAsync(th, p, 1, 1<<16, 0)
					r.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 16, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1}, Args: args})
					r.FreeAsync(th, p, 0)
					r.MemGetInfo(th)
					r.StreamQuery(th, 0)
				}
			})
		}
		time.Sleep(time.Millisecond)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

func TestCopyInAndOut(t *testing.T) {
	r := newRuntime(t, Options{})
	p := allocate(t, r, 1<<20)
	s, e := r.StreamCreateWithPriority(thread, 0, 0)
	must(t, "StreamCreate", e)
	open := make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(thread, s, func() { <-open }))
	in, out := make([]byte, 1<<20), make([]byte, 1<<20)
	for i := range in {
		in[i] = byte(i * 3)
	}
	done := make(chan hip.Error, 2)
	must(t, "CopyIn", r.CopyIn(thread, p, in, s, func(e hip.Error) { done <- e }))
	must(t, "CopyOut", r.CopyOut(thread, out, p, s, false, func(e hip.Error) { done <- e }))
	if len(done) != 0 {
		t.Error("copied out of turn")
	}
	close(open)
	is(t, "CopyIn's end", <-done, hip.Success)
	is(t, "CopyOut's end", <-done, hip.Success)
	if string(in) != string(out) {
		t.Error("what came back differs")
	}
	is(t, "too long", r.CopyIn(thread, p+1, in, s, nil), hip.ErrorInvalidValue)
	is(t, "no device memory", r.CopyOut(thread, out, hip.Ptr(uintptr(unsafe.Pointer(&in[0]))), s, false, nil), hip.ErrorInvalidValue)

	// A dead device says so to those who wait for a copy.
	open = make(chan struct{})
	must(t, "LaunchHostFunc", r.LaunchHostFunc(thread, s, func() { <-open }))
	start(t, r, load(t, r, "fault", "store_at"), s, uint64(p), 1<<40, 1)
	must(t, "CopyIn", r.CopyIn(thread, p, in, s, func(e hip.Error) { done <- e }))
	close(open)
	is(t, "CopyIn after a fault", <-done, hip.ErrorIllegalAddress)
}

func TestBadHostAddress(t *testing.T) {
	r := newRuntime(t, Options{})
	p := allocate(t, r, 1<<20)
	s, err := vmem.ReserveAny(1<<30, vmem.Options{}) // addresses without memory
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bad := hip.Ptr(s.Base())
	is(t, "Memcpy from it", r.Memcpy(thread, p, bad, 1<<20, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
	is(t, "Memcpy to it", r.Memcpy(thread, bad, p, 1<<20, hip.MemcpyDeviceToHost), hip.ErrorInvalidValue)
	is(t, "MemcpyAsync from it", r.MemcpyAsync(thread, p, bad, 100, hip.MemcpyHostToDevice, 0), hip.ErrorInvalidValue)
	must(t, "DeviceSynchronize", r.DeviceSynchronize(thread))
}

func TestManyAllocationsKeepWorking(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := newRuntime(t, Options{})
	var all []hip.Ptr
	for range 60_000 { // more than a process may have mappings
		all = append(all, allocate(t, r, 100))
	}
	for _, p := range all[:100] {
		must(t, "Memset", r.Memset(thread, p, 7, 100))
	}
	for _, p := range all {
		must(t, "Free", r.Free(thread, p))
	}
	if free, total, _ := r.MemGetInfo(thread); free != total {
		t.Errorf("free %d of %d", free, total)
	}
}
