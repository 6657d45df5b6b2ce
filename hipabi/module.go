package hipabi

import "C"

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// module is a loaded code object.
type module struct {
	handle  hip.Module
	device  *device
	kernels map[string]*codeobject.Kernel
	managed map[string]managedValue // managed variables, by name

	mu        sync.Mutex
	gone      bool                 // unloaded
	functions map[string]*function // those that were asked for
}

var modules moduleTable

// moduleTable finds modules and functions by the handles a program has.
type moduleTable struct {
	modules   table[hip.Module, *module]
	functions table[hip.Function, *function]
}

func (t *moduleTable) reset() {
	t.modules.clear()
	t.functions.clear()
}

// module is nil for a handle that is none.
func (t *moduleTable) module(h hip.Module) *module {
	m, _ := t.modules.get(h)
	return m
}

// function is nil for a handle that is none.
func (t *moduleTable) function(h hip.Function) *function {
	f, _ := t.functions.get(h)
	return f
}

// load loads the code object of image that suits the thread's device. managed
// says where a managed variable that the program registered lies; others are
// allocated here.
func (t *moduleTable) load(th hip.Thread, image []byte, managed func(name string) (hip.Ptr, bool)) (*module, hip.Error) {
	d, err := devices.get(th.Device)
	if err != hip.Success {
		return nil, err
	}
	elf, e := codeobject.Select(image, d.target)
	if e != nil {
		Log("hipModuleLoadData: %v", e)
		if errors.Is(e, codeobject.ErrNoBinary) {
			return nil, hip.ErrorNoBinaryForGpu
		}
		return nil, hip.ErrorInvalidImage
	}
	object, e := codeobject.Parse(elf)
	if e != nil {
		Log("hipModuleLoadData: %v", e)
		return nil, hip.ErrorInvalidImage
	}
	rt := runtime()
	h, err := rt.ModuleLoadData(th, elf)
	if err != hip.Success {
		return nil, err
	}
	// The object refers to the program's memory: only what is copied is kept.
	m := &module{handle: h, device: d, kernels: object.Kernels, managed: map[string]managedValue{}, functions: map[string]*function{}}
	for name, g := range object.Globals {
		if g.Managed == nil {
			continue
		}
		v, err := placeManaged(th, h, name, g, managed)
		if err != hip.Success {
			m.release(th)
			return nil, err
		}
		m.managed[name] = v
	}
	t.modules.put(h, m)
	return m, hip.Success
}

func (t *moduleTable) unload(th hip.Thread, h hip.Module) hip.Error {
	m, ok := t.modules.take(h)
	if !ok {
		return hip.ErrorNotFound
	}
	m.forget()
	return m.release(th)
}

// forget ends the module's functions; it gives out no more.
func (m *module) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone = true
	for _, f := range m.functions {
		modules.functions.take(f.handle)
		f.gone.Store(true)
	}
}

// release gives back what the module holds.
func (m *module) release(th hip.Thread) hip.Error {
	err := runtime().ModuleUnload(th, m.handle)
	for _, v := range m.managed {
		if v.own {
			runtime().Free(th, v.at)
		}
	}
	return err
}

// get returns the module's kernel of a name: ErrorNotFound if it has none.
func (m *module) get(th hip.Thread, name string) (*function, hip.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return nil, hip.ErrorNotFound
	}
	if f := m.functions[name]; f != nil {
		return f, hip.Success
	}
	k := m.kernels[name]
	if k == nil {
		if debug() {
			Log("hipModuleGetFunction: the module has no kernel %q", name)
		}
		return nil, hip.ErrorNotFound
	}
	h, err := runtime().ModuleGetFunction(th, m.handle, name)
	if err != hip.Success {
		return nil, err
	}
	f := newFunction(h, m, k)
	m.functions[name] = f
	modules.functions.put(h, f)
	return f, hip.Success
}

//export rw_hipModuleLoad
func rw_hipModuleLoad(thread uint64, out unsafe.Pointer, name unsafe.Pointer) int32 {
	path := goString(name)
	if path == "" {
		return int32(hip.ErrorInvalidValue)
	}
	image, e := os.ReadFile(path)
	if e != nil {
		Log("hipModuleLoad: %v", e)
		if errors.Is(e, fs.ErrNotExist) {
			return int32(hip.ErrorFileNotFound)
		}
		return int32(hip.ErrorInvalidValue)
	}
	return loadTo(thread, out, image)
}

//export rw_hipModuleLoadData
func rw_hipModuleLoadData(thread uint64, out unsafe.Pointer, image uintptr) int32 {
	b, e := codeobject.FromPointer(pointer(image))
	if e != nil {
		Log("hipModuleLoadData: %v", e)
		return int32(hip.ErrorInvalidImage)
	}
	return loadTo(thread, out, b)
}

// The options of hipModuleLoadDataEx steer a compiler; code objects are compiled.
//
//export rw_hipModuleLoadDataEx
func rw_hipModuleLoadDataEx(thread uint64, out unsafe.Pointer, image uintptr, n uint32, options, values unsafe.Pointer) int32 {
	return rw_hipModuleLoadData(thread, out, image)
}

func loadTo(thread uint64, out unsafe.Pointer, image []byte) int32 {
	m, err := modules.load(threadOf(thread), image, nil)
	if err != hip.Success {
		return int32(err)
	}
	*(*hip.Module)(out) = m.handle
	return int32(hip.Success)
}

//export rw_hipModuleUnload
func rw_hipModuleUnload(thread uint64, h uint64) int32 {
	err := modules.unload(threadOf(thread), hip.Module(h))
	if err == hip.Success {
		forgetReferences(hip.Module(h))
	}
	return int32(err)
}

//export rw_hipModuleGetFunction
func rw_hipModuleGetFunction(thread uint64, out unsafe.Pointer, h uint64, name unsafe.Pointer) int32 {
	if *(*byte)(name) == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	m := modules.module(hip.Module(h))
	if m == nil {
		return int32(hip.ErrorNotFound)
	}
	f, err := m.get(threadOf(thread), goString(name))
	if err != hip.Success {
		return int32(err)
	}
	*(*hip.Function)(out) = f.handle
	return int32(hip.Success)
}

//export rw_hipModuleGetGlobal
func rw_hipModuleGetGlobal(thread uint64, dptr, size unsafe.Pointer, h uint64, name unsafe.Pointer) int32 {
	if dptr == nil && size == nil || *(*byte)(name) == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	m := modules.module(hip.Module(h))
	if m == nil {
		return int32(hip.ErrorNotFound)
	}
	var p hip.Ptr
	var n uint64
	if v, ok := m.managed[goString(name)]; ok {
		p, n = v.at, v.size
	} else {
		var err hip.Error
		if p, n, err = runtime().ModuleGetGlobal(threadOf(thread), m.handle, goString(name)); err != hip.Success {
			return int32(err)
		}
	}
	if dptr != nil {
		*(*hip.Ptr)(dptr) = p
	}
	if size != nil {
		*(*uint64)(size) = n
	}
	return int32(hip.Success)
}
