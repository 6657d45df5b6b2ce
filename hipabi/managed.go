package hipabi

/*
#cgo CFLAGS: -I${SRCDIR}/../hip/include -O2
#include "managed.h"
*/
import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// rw_registerManaged gives a managed variable memory at once, unless it has some,
// because host code may use it before the first HIP call.
//
//export rw_registerManaged
func rw_registerManaged(id uint64, ptr, init, name unsafe.Pointer, size uint64, align uint32) {
	if *(*unsafe.Pointer)(ptr) == nil {
		*(*unsafe.Pointer)(ptr) = C.managed_memory(init, C.uint64_t(size), C.uint32_t(align))
	}
	if *(*unsafe.Pointer)(ptr) == nil {
		Log("no memory for the managed variable %s", goString(name))
		return
	}
	registered.mu.Lock()
	defer registered.mu.Unlock()
	b := registered.binaries[id]
	if b == nil {
		return
	}
	v := &variable{binary: b, name: goString(name), size: size, pointer: ptr, align: align}
	registered.vars[uintptr(ptr)] = v
	b.mu.Lock()
	b.managed[v.name] = v
	b.mu.Unlock()
}

// place moves a managed variable to memory that devices reach too. Its value
// stays. Called with the binary's lock.
func (v *variable) place(t hip.Thread) hip.Error {
	if v.placed != 0 {
		return hip.Success
	}
	rt := bare() // also in a capture, which a first use does not disturb
	p, err := rt.MallocManaged(t, v.size, memAttachGlobal)
	if err != hip.Success {
		return err
	}
	host := *(*uintptr)(v.pointer)
	if err = rt.Memcpy(t, p, hip.Ptr(host), v.size, hip.MemcpyHostToDevice); err != hip.Success {
		rt.Free(t, p)
		return err
	}
	*(*uintptr)(v.pointer) = uintptr(p)
	v.placed, v.device = p, t.Device
	return hip.Success
}

// displace is the opposite of place. Called with the binary's lock.
func (v *variable) displace() {
	p := C.managed_memory(*(*unsafe.Pointer)(v.pointer), C.uint64_t(v.size), C.uint32_t(v.align))
	if p == nil {
		Log("no memory for the managed variable %s", v.name)
		return
	}
	*(*unsafe.Pointer)(v.pointer) = p
	v.placed = 0
}

const memAttachGlobal = 1

// managedValue is where the value of a module's managed variable lies.
type managedValue struct {
	at   hip.Ptr
	size uint64 // in bytes
	own  bool   // the module's, not the program's: freed with it
}

// placeManaged gives the managed variable g of a freshly loaded module its
// memory, and tells the module: g itself is the pointer that code reads.
func placeManaged(t hip.Thread, h hip.Module, name string, g *codeobject.Global, managed func(string) (hip.Ptr, bool)) (managedValue, hip.Error) {
	v := managedValue{size: g.Managed.Size}
	rt := bare()
	at, _, err := rt.ModuleGetGlobal(t, h, name)
	if err != hip.Success {
		return v, err
	}
	known := false
	if managed != nil {
		v.at, known = managed(name)
	}
	if !known {
		init, _, err := rt.ModuleGetGlobal(t, h, g.Managed.Name)
		if err != hip.Success {
			return v, err
		}
		if v.at, err = rt.MallocManaged(t, v.size, memAttachGlobal); err != hip.Success {
			return v, err
		}
		v.own = true
		if err = rt.Memcpy(t, v.at, init, v.size, hip.MemcpyDefault); err != hip.Success {
			rt.Free(t, v.at)
			return v, err
		}
	}
	word := C.malloc(8) // copies take their bytes from C's memory
	defer C.free(word)
	*(*hip.Ptr)(word) = v.at
	if err = rt.Memcpy(t, at, hip.Ptr(uintptr(word)), 8, hip.MemcpyHostToDevice); err != hip.Success && v.own {
		rt.Free(t, v.at)
	}
	return v, err
}
