package hipabi

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// fake is a Runtime that remembers what it was asked for. Device addresses are
// host addresses: its memory is Go's.
type fake struct {
	hip.Unimplemented
	mu       sync.Mutex
	arch     []string // of each device
	last     uint64   // handle given out
	images   map[hip.Module]int
	names    map[hip.Function]string
	launches []hip.Launch
	globals  map[string][]byte
	streams  map[hip.Stream]hip.Thread
	copies   int
	host     []func()
	loads    int
	heap     map[hip.Ptr][]byte
	flushed  int
}

func newFake(t *testing.T, arch ...string) *fake {
	t.Helper()
	f := &fake{arch: arch, last: 15, images: map[hip.Module]int{}, names: map[hip.Function]string{}, globals: map[string][]byte{},
		streams: map[hip.Stream]hip.Thread{}, heap: map[hip.Ptr][]byte{}}
	SetRuntime(f)
	t.Cleanup(func() { SetRuntime(hip.Unimplemented{}) })
	return f
}

func (f *fake) handle() uint64 { f.last++; return f.last }

func (f *fake) GetDeviceCount() (int32, hip.Error) { return int32(len(f.arch)), hip.Success }

func (f *fake) GetDevicePropertiesR0600(n int32) (*hip.DevicePropR0600, hip.Error) {
	if n < 0 || int(n) >= len(f.arch) {
		return nil, hip.ErrorInvalidDevice
	}
	p := &hip.DevicePropR0600{
		Major: 9, Minor: 4, WarpSize: 64, MaxThreadsPerBlock: 1024, MaxThreadsDim: [3]int32{1024, 1024, 1024},
		MaxThreadsPerMultiProcessor: 2048, MultiProcessorCount: 304, SharedMemPerBlock: 65536, MaxSharedMemoryPerMultiProcessor: 65536,
		TotalGlobalMem: 1 << 30 << n, CooperativeLaunch: 1, PciDomainID: 1, PciBusID: 0xc0 + n, ClockRate: 2100000,
	}
	copy(p.Name[:], "Fake GPU")
	copy(p.GcnArchName[:], f.arch[n])
	p.Uuid.Bytes[0] = 'u'
	return p, hip.Success
}

func (f *fake) ModuleLoadData(t hip.Thread, image []byte) (hip.Module, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loads++
	m := hip.Module(f.handle())
	f.images[m] = len(image)
	return m, hip.Success
}

func (f *fake) ModuleUnload(t hip.Thread, m hip.Module) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.images[m]; !ok {
		return hip.ErrorInvalidHandle
	}
	delete(f.images, m)
	return hip.Success
}

func (f *fake) ModuleGetFunction(t hip.Thread, m hip.Module, name string) (hip.Function, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := hip.Function(f.handle())
	f.names[h] = name
	return h, hip.Success
}

func (f *fake) ModuleGetGlobal(t hip.Thread, m hip.Module, name string) (hip.Ptr, uint64, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.globals[name]
	if b == nil {
		return 0, 0, hip.ErrorNotFound
	}
	return hip.Ptr(uintptr(unsafe.Pointer(&b[0]))), uint64(len(b)), hip.Success
}

func (f *fake) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := *l
	c.Args = append([]byte(nil), l.Args...)
	f.launches = append(f.launches, c)
	return hip.Success
}

func (f *fake) Memcpy(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.copies++
	copy(memory(pointer(uintptr(dst)), n), memory(pointer(uintptr(src)), n))
	return hip.Success
}

func (f *fake) Malloc(t hip.Thread, n uint64) (hip.Ptr, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := make([]byte, max(n, 1))
	p := hip.Ptr(uintptr(unsafe.Pointer(&b[0])))
	f.heap[p] = b
	return p, hip.Success
}

func (f *fake) MallocManaged(t hip.Thread, n uint64, flags uint32) (hip.Ptr, hip.Error) {
	return f.Malloc(t, n)
}

func (f *fake) StreamCreateWithPriority(t hip.Thread, flags uint32, priority int32) (hip.Stream, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := hip.Stream(f.handle())
	f.streams[s] = t
	return s, hip.Success
}

func (f *fake) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.streams, s)
	return hip.Success
}

func (f *fake) LaunchHostFunc(t hip.Thread, s hip.Stream, fn func()) hip.Error {
	f.host = append(f.host, fn)
	return hip.Success
}

func (f *fake) DeviceReset(t hip.Thread) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams, f.images, f.names = map[hip.Stream]hip.Thread{}, map[hip.Module]int{}, map[hip.Function]string{}
	return hip.Success
}

func (f *fake) Flush() error { f.flushed++; return nil }

// kernels is the text of one of the example code objects.
func kernels(t *testing.T, arch, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "examples", "kernels", arch, name+".co"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cstr is a C string in memory that stays where it is.
func cstr(s string) unsafe.Pointer {
	b := append([]byte(s), 0)
	keep = append(keep, b)
	return unsafe.Pointer(&b[0])
}

// keep has what the tests pass by address live on the heap.
var keep []any

// out is a word for a result.
func out[T any]() *T {
	p := new(T)
	keep = append(keep, p)
	return p
}

func ptr[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }
func addr[T any](p *T) uintptr       { return uintptr(unsafe.Pointer(p)) }

// check fails the test unless an export answered want.
func check(t *testing.T, got int32, want hip.Error) {
	t.Helper()
	if hip.Error(got) != want {
		t.Fatalf("got %v, want %v", hip.Error(got), want)
	}
}

// loadKernel loads one of the example kernels and returns its handle.
func loadKernel(t *testing.T, thread uint64, arch, object, name string) (module, function uint64) {
	t.Helper()
	image := kernels(t, arch, object)
	keep = append(keep, image)
	m, f := out[uint64](), out[uint64]()
	check(t, rw_hipModuleLoadData(thread, ptr(m), addr(&image[0])), hip.Success)
	check(t, rw_hipModuleGetFunction(thread, ptr(f), *m, cstr(name)), hip.Success)
	return *m, *f
}
