package hipabi

import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// registered is what the program's own code has registered: clang makes every
// program do so before main, for the code it embedded. Nothing is loaded until
// it is used.
var registered registry

type registry struct {
	mu       sync.RWMutex
	last     uint64
	binaries map[uint64]*embedded
	stubs    table[uintptr, *stub] // by host function
	vars     map[uintptr]*variable
}

// embedded is one image.
type embedded struct {
	id    uint64
	image uintptr // in the program

	mu      sync.Mutex
	loaded  map[int32]*imageLoad // by device
	managed map[string]*variable // read under mu
}

// imageLoad is how loading an image for a device ended.
type imageLoad struct {
	module *module
	err    hip.Error
}

// stub is the host function that stands for a kernel.
type stub struct {
	binary *embedded
	name   string
	device [4]atomic.Pointer[function] // the kernel on the first devices, once known
}

// variable is a device variable that a host variable stands for.
type variable struct {
	binary  *embedded
	name    string
	size    uint64
	pointer unsafe.Pointer // of a managed variable: the program's pointer to it
	align   uint32
	memory  unsafe.Pointer // of a managed variable: what it has from the start, if that is ours
	placed  hip.Ptr        // of a managed variable: where it lies, once a device is in use
	inPlace bool           // where it always has
	device  int32          // whose context it was placed in
}

// module loads the image for the thread's device, if it is not loaded.
func (b *embedded) module(t hip.Thread) (*module, hip.Error) {
	runtime() // opened before the lock is taken: opening resets what is loaded
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.loaded[t.Device]; l != nil {
		return l.module, l.err
	}
	image, e := codeobject.FromPointer(pointer(b.image))
	if e != nil {
		Log("an embedded fat binary: %v", e)
		b.loaded[t.Device] = &imageLoad{err: hip.ErrorInvalidImage}
		return nil, hip.ErrorInvalidImage
	}
	for _, v := range b.managed {
		if err := v.place(bare(), t); err != hip.Success {
			Log("no memory for the managed variable %s: %v", v.name, err)
			return nil, err
		}
	}
	m, err := modules.load(t, image, func(name string) (hip.Ptr, bool) {
		v := b.managed[name]
		if v == nil {
			return 0, false
		}
		return v.placed, true
	})
	// What can change is tried again; the image cannot.
	if err == hip.Success || err == hip.ErrorInvalidImage || err == hip.ErrorNoBinaryForGpu {
		b.loaded[t.Device] = &imageLoad{module: m, err: err}
	}
	return m, err
}

// function is the kernel that a host function stands for, on the thread's
// device: ErrorInvalidDeviceFunction if it stands for none.
func (r *registry) function(t hip.Thread, fn uintptr) (*function, hip.Error) {
	s, ok := r.stubs.get(fn)
	if !ok {
		return nil, hip.ErrorInvalidDeviceFunction
	}
	cached := uint32(t.Device) < uint32(len(s.device))
	if cached {
		if f := s.device[t.Device].Load(); f != nil && !f.gone.Load() {
			return f, hip.Success
		}
	}
	m, err := s.binary.module(t)
	if err != hip.Success {
		return nil, err
	}
	f, err := m.get(t, s.name)
	if err == hip.ErrorNotFound {
		Log("the embedded code for device %d has no kernel %q", t.Device, s.name)
		return nil, hip.ErrorInvalidDeviceFunction
	}
	if err == hip.Success {
		f.host.CompareAndSwap(0, fn)
		if cached {
			s.device[t.Device].Store(f)
		}
	}
	return f, err
}

// reset forgets what was loaded with an earlier Runtime.
func (r *registry) reset() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.stubs.values() {
		for i := range s.device {
			s.device[i].Store(nil)
		}
	}
	for _, b := range r.binaries {
		b.mu.Lock()
		b.loaded = map[int32]*imageLoad{}
		for _, v := range b.managed {
			if v.inPlace {
				v.placed = 0
			}
		}
		b.mu.Unlock()
	}
}

//export rw_registerBinary
func rw_registerBinary(image uintptr) uint64 {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	registered.last++
	b := &embedded{id: registered.last, image: image, loaded: map[int32]*imageLoad{}, managed: map[string]*variable{}}
	if registered.binaries == nil {
		registered.binaries = map[uint64]*embedded{}
		registered.vars = map[uintptr]*variable{}
	}
	registered.binaries[b.id] = b
	return b.id
}

//export rw_unregisterBinary
func rw_unregisterBinary(thread, id uint64) {
	r := &registered
	r.mu.Lock()
	b := r.binaries[id]
	if b == nil {
		r.mu.Unlock()
		return
	}
	delete(r.binaries, id)
	r.stubs.deleteFunc(func(_ uintptr, s *stub) bool { return s.binary == b })
	for k, v := range r.vars {
		if v.binary == b {
			delete(r.vars, k)
		}
	}
	r.mu.Unlock()
	if ending.Load() {
		return // the process ends, and with it everything it holds
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := threadOf(thread)
	for dev, l := range b.loaded {
		if l.module != nil {
			modules.unload(hip.Thread{Device: dev, ID: t.ID}, l.module.handle)
		}
	}
	b.loaded = map[int32]*imageLoad{}
	for _, v := range b.managed {
		v.drop(hip.Thread{Device: v.device, ID: t.ID})
	}
	clear(b.managed)
}

//export rw_registerFunction
func rw_registerFunction(id uint64, host uintptr, name unsafe.Pointer) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	if b := registered.binaries[id]; b != nil {
		registered.stubs.put(host, &stub{binary: b, name: goString(name)})
	}
}

//export rw_registerVar
func rw_registerVar(id uint64, host uintptr, name unsafe.Pointer, size uint64) {
	registered.mu.Lock()
	defer registered.mu.Unlock()
	if b := registered.binaries[id]; b != nil {
		registered.vars[host] = &variable{binary: b, name: goString(name), size: size}
	}
}

//export rw_kernelNameOf
func rw_kernelNameOf(thread uint64, fn uintptr) *C.char {
	if f, err := registered.function(threadOf(thread), fn); err == hip.Success {
		return f.cName()
	}
	return nil
}
