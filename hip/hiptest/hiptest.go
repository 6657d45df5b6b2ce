// Package hiptest is a conformance suite for hip.Runtime: what HIP promises its
// callers, as tests that any implementation with a working device must pass,
// whether it simulates, drives a card or asks a worker on another machine.
//
//	func TestConformance(t *testing.T) {
//		hiptest.Run(t, func(t *testing.T) hip.Runtime { … })
//	}
//
// The suite uses the project's own kernels. It asserts no times.
package hiptest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
)

// Run runs the suite. open makes a runtime that is fresh (nothing allocated, no
// fault) and registers its own cleanup with t; it is called once or several
// times per test, and the runtimes may live side by side. Of the groups of tests
// it runs those that are named, all if none is.
func Run(t *testing.T, open func(t *testing.T) hip.Runtime, groups ...string) {
	for _, g := range groupsOfTests {
		if len(groups) > 0 && !slices.Contains(groups, g.name) {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.tests {
				t.Run(c.name, func(t *testing.T) { c.run(newEnv(t, open)) })
			}
		})
	}
}

// Names are the names of all tests, Group/Test, those of a group one after another.
func Names() (list []string) {
	for _, g := range groupsOfTests {
		for _, c := range g.tests {
			list = append(list, g.name+"/"+c.name)
		}
	}
	return list
}

// groupsOfTests are the suite.
var groupsOfTests = []struct {
	name  string
	tests []test
}{
	{"Devices", deviceTests},
	{"Memory", memoryTests},
	{"HostMemory", slices.Concat(hostMemoryTests, hostWriteTests)},
	{"Copy", copyTests},
	{"Copy3D", copy3DTests},
	{"Images", imageTests},
	{"ImageFormats", imageFormatTests},
	{"Memset", memsetTests},
	{"Waiting", waitingTests},
	{"Streams", streamTests},
	{"Events", eventTests},
	{"MemOps", memOpTests},
	{"Pointers", pointerTests},
	{"Modules", moduleTests},
	{"Launch", launchTests},
	{"Cooperative", cooperativeTests},
	{"Faults", faultTests},
	{"FaultsOfDevices", faultDeviceTests},
	{"Threads", threadTests},
	{"Sequences", sequenceTests},
	{"Graphs", graphTests},
	{"Pools", poolTests},
	{"Virtual", virtualTests},
	{"IPC", ipcTests},
}

type test struct {
	name string
	run  func(e *env)
}

// env is one test's runtime and its helpers, which end the test when HIP says
// an error.
type env struct {
	*testing.T
	hip.Runtime
	open func(t *testing.T) hip.Runtime
	arch string
	th   hip.Thread
	mods map[string]hip.Module
}

func newEnv(t *testing.T, open func(t *testing.T) hip.Runtime) *env {
	return (&env{T: t, open: open}).another()
}

// another is an env with a runtime of its own in the same test.
func (e *env) another() *env {
	e.Helper()
	n := &env{T: e.T, open: e.open, Runtime: e.open(e.T), th: hip.Thread{ID: 1}, mods: map[string]hip.Module{}}
	p, err := n.GetDevicePropertiesR0600(0)
	n.ok("GetDeviceProperties", err)
	n.arch, _, _ = strings.Cut(text(p.GcnArchName[:]), ":")
	return n
}

func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// ok ends the test unless err is Success.
func (e *env) ok(what string, err hip.Error) {
	e.Helper()
	if err != hip.Success {
		e.Fatalf("%s: %v", what, err)
	}
}

// is notes an error that is not the expected one.
func (e *env) is(what string, got, want hip.Error) {
	e.Helper()
	if got != want {
		e.Errorf("%s: %s, want %s", what, got.Name(), want.Name())
	}
}

func (e *env) malloc(n uint64) hip.Ptr {
	e.Helper()
	p, err := e.Malloc(e.th, n)
	if err != hip.Success || p == 0 {
		free, total, _ := e.MemGetInfo(e.th)
		e.Fatalf("Malloc(%d) = %v, %v; %d free of %d", n, p, err, free, total)
	}
	return p
}

func (e *env) stream(flags uint32) hip.Stream {
	e.Helper()
	s, err := e.StreamCreateWithPriority(e.th, flags, 0)
	e.ok("StreamCreate", err)
	return s
}

func (e *env) event(flags uint32) hip.Event {
	e.Helper()
	v, err := e.EventCreateWithFlags(e.th, flags)
	e.ok("EventCreate", err)
	return v
}

// host is memory of this process whose address does not change.
func (e *env) host(n int) []byte {
	e.Helper()
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}

// pinned is memory of HostMalloc.
func (e *env) pinned(n int) []byte {
	e.Helper()
	p, err := e.HostMalloc(e.th, uint64(n), 0)
	e.ok("HostMalloc", err)
	e.Cleanup(func() { e.HostFree(e.th, p) })
	return hostBytes(p, n)
}

// apart is memory of this process at an address that another process most likely has free, too.
func (e *env) apart(n int) []byte {
	e.Helper()
	for at := uintptr(0x7d0000000000); at < 0x7e0000000000; at += 1 << 30 {
		if e.mapAt(at, n, unix.MAP_FIXED_NOREPLACE) {
			b := hostBytes(hip.Ptr(at), n)
			e.Cleanup(func() { _ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(n)) })
			return b
		}
	}
	e.Fatal("no addresses are free")
	return nil
}

// renew gives memory of apart back and gets new at the same place.
func (e *env) renew(b []byte) {
	e.Helper()
	if !e.mapAt(uintptr(ptr(b)), len(b), unix.MAP_FIXED) {
		e.Fatal("no memory")
	}
}

func (e *env) mapAt(at uintptr, n, how int) bool {
	p, err := unix.MmapPtr(-1, 0, *(*unsafe.Pointer)(unsafe.Pointer(&at)), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|how)
	return err == nil && uintptr(p) == at
}

func ptr(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// upload is new device memory with these contents.
func (e *env) upload(b []byte) hip.Ptr {
	e.Helper()
	p := e.malloc(uint64(len(b)))
	e.write(p, b)
	return p
}

func (e *env) write(p hip.Ptr, b []byte) {
	e.Helper()
	h := e.host(len(b))
	copy(h, b)
	e.ok("Memcpy to device", e.Memcpy(e.th, p, ptr(h), uint64(len(b)), hip.MemcpyHostToDevice))
}

// download is what device memory holds, after the null stream's turn.
func (e *env) download(p hip.Ptr, n int) []byte {
	e.Helper()
	h := e.host(n)
	e.ok("Memcpy to host", e.Memcpy(e.th, ptr(h), p, uint64(n), hip.MemcpyDeviceToHost))
	return bytes.Clone(h)
}

func (e *env) sync() {
	e.Helper()
	e.ok("DeviceSynchronize", e.DeviceSynchronize(e.th))
}

// gate holds a stream up until it is opened: a host function that waits. It
// waits until the stream has got there.
type gate struct {
	open func()
}

func (e *env) gate(s hip.Stream) gate {
	e.Helper()
	began, end := make(chan struct{}), make(chan struct{})
	e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, s, func() {
		close(began)
		<-end
	}))
	select {
	case <-began:
	case <-time.After(time.Minute):
		e.Fatal("the stream never called the host function")
	}
	g := gate{sync.OnceFunc(func() { close(end) })}
	e.Cleanup(g.open)
	return g
}

// image is the code object of a name for the device.
func (e *env) image(name string) []byte {
	e.Helper()
	b, err := kernels.Object(e.arch, name)
	if err != nil {
		e.Fatal(err)
	}
	return b
}

func (e *env) module(name string) hip.Module {
	e.Helper()
	if m, ok := e.mods[name]; ok {
		return m
	}
	m, err := e.ModuleLoadData(e.th, e.image(name))
	e.ok("ModuleLoadData "+name, err)
	e.mods[name] = m
	return m
}

func (e *env) kernel(module, name string) hip.Function {
	e.Helper()
	f, err := e.ModuleGetFunction(e.th, e.module(module), name)
	e.ok("ModuleGetFunction "+name, err)
	return f
}

// launch queues a one-dimensional kernel.
func (e *env) launch(f hip.Function, groups, block uint32, s hip.Stream, args ...any) {
	e.Helper()
	e.ok("LaunchKernel", e.LaunchKernel(e.th, &hip.Launch{
		Function: f, Grid: hip.Dim3{X: groups, Y: 1, Z: 1}, Block: hip.Dim3{X: block, Y: 1, Z: 1}, Stream: s, Args: pack(args...),
	}))
}

// pack lays arguments out as they lie in memory: pointers and 32- and 64-bit
// values, each aligned to its size.
func pack(args ...any) []byte {
	var b []byte
	le := binary.LittleEndian
	align := func(n int) {
		for len(b)%n != 0 {
			b = append(b, 0)
		}
	}
	for _, a := range args {
		switch v := a.(type) {
		case hip.Ptr:
			align(8)
			b = le.AppendUint64(b, uint64(v))
		case uint64:
			align(8)
			b = le.AppendUint64(b, v)
		case uint32:
			align(4)
			b = le.AppendUint32(b, v)
		case int32:
			align(4)
			b = le.AppendUint32(b, uint32(v))
		case float32:
			align(4)
			b = le.AppendUint32(b, math.Float32bits(v))
		default:
			panic("hiptest: argument type")
		}
	}
	return b
}

func u32s(v ...uint32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func f32s(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func u32At(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// pattern is n bytes that differ by position and seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7) ^ byte(i>>8) ^ seed
	}
	return b
}

func (e *env) equal(what string, got, want []byte) {
	e.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			e.Fatalf("%s: %d bytes, byte %d differs from the %d expected ones", what, len(got), i, len(want))
		}
	}
	e.Fatalf("%s: %d bytes, want %d", what, len(got), len(want))
}

// invalid is a pointer, or handle, that nothing has.
const invalid = 0xdead0000
