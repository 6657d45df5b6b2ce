package hipabi

import "C"

import (
	"bytes"
	"os"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// library is a code object that no device has yet: it is loaded when it is first
// asked for something, on the device that is the thread's then.
type library struct {
	image []byte
	bad   bool // no code object at all, which it says when it is asked

	mu     sync.Mutex
	module *module
}

// libraries are those that the program has. Their handles are of this process
// alone: devices know the modules in them.
var libraries struct {
	table[uint64, *library]
	mu   sync.Mutex
	last uint64
}

// loaded is the library's module.
func (l *library) loaded(t hip.Thread) (*module, hip.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad {
		return nil, hip.ErrorInvalidImage
	}
	if l.module != nil && modules.module(l.module.handle) == l.module { // its device may have been reset
		return l.module, hip.Success
	}
	m, err := modules.load(t, l.image, nil)
	if err == hip.Success {
		l.module = m
	}
	return m, err
}

// giveLibrary gives the program a library.
func giveLibrary(out unsafe.Pointer, l *library) int32 {
	const first = 1 << 20 // no handle is a small number
	libraries.mu.Lock()
	libraries.last++
	h := first + 16*libraries.last
	libraries.mu.Unlock()
	libraries.put(h, l)
	*(*uint64)(out) = h
	return int32(hip.Success)
}

// rw_hipLibraryLoadData copies the image. Options of a compiler are refused, as by
// AMD's; those of a library change nothing.
//
//export rw_hipLibraryLoadData
func rw_hipLibraryLoadData(thread uint64, out unsafe.Pointer, code uintptr, jit, jitValues unsafe.Pointer, n uint32, options, values unsafe.Pointer, m uint32) int32 {
	if out == nil || code == 0 || n > 0 {
		return int32(hip.ErrorInvalidValue)
	}
	b, e := codeobject.FromPointer(pointer(code))
	if e != nil {
		Log("hipLibraryLoadData: %v", e)
		return giveLibrary(out, &library{bad: true})
	}
	return giveLibrary(out, &library{image: bytes.Clone(b)})
}

//export rw_hipLibraryLoadFromFile
func rw_hipLibraryLoadFromFile(thread uint64, out unsafe.Pointer, name unsafe.Pointer, jit, jitValues unsafe.Pointer, n uint32, options, values unsafe.Pointer, m uint32) int32 {
	if out == nil || name == nil || n > 0 {
		return int32(hip.ErrorInvalidValue)
	}
	b, e := os.ReadFile(goString(name))
	if e != nil {
		Log("hipLibraryLoadFromFile: %v", e)
		return int32(hip.ErrorInvalidValue)
	}
	return giveLibrary(out, &library{image: b})
}

//export rw_hipLibraryUnload
func rw_hipLibraryUnload(thread uint64, h uint64) int32 {
	l, ok := libraries.take(h)
	if !ok {
		return int32(hip.ErrorInvalidHandle)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.module == nil || modules.module(l.module.handle) != l.module {
		return int32(hip.Success)
	}
	return int32(modules.unload(threadOf(thread), l.module.handle))
}

// askLibrary is what every question to a library begins with.
func askLibrary(thread, h uint64, ok bool) (*module, hip.Error) {
	if !ok || h == 0 {
		return nil, hip.ErrorInvalidValue
	}
	l, known := libraries.get(h)
	if !known {
		return nil, hip.ErrorInvalidHandle
	}
	return l.loaded(threadOf(thread))
}

//export rw_hipLibraryGetKernel
func rw_hipLibraryGetKernel(thread uint64, out unsafe.Pointer, h uint64, name unsafe.Pointer) int32 {
	m, err := askLibrary(thread, h, out != nil && name != nil)
	if err != hip.Success {
		return int32(err)
	}
	f, err := m.get(threadOf(thread), goString(name))
	if err == hip.Success {
		*(*hip.Function)(out) = f.handle
	}
	return int32(err)
}

//export rw_hipLibraryGetKernelCount
func rw_hipLibraryGetKernelCount(thread uint64, out unsafe.Pointer, h uint64) int32 {
	m, err := askLibrary(thread, h, out != nil)
	if err == hip.Success {
		*(*uint32)(out) = uint32(len(m.kernels))
	}
	return int32(err)
}
