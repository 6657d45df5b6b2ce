package hipabi

/*
#cgo CFLAGS: -I${SRCDIR}/../hip/include -O2
#include <stdlib.h>
#include "managed.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

// rw_registerManaged gives a managed variable memory at once, unless it has some,
// because host code may use it before the first HIP call. It stays there wherever
// devices can have it at the address where it is.
//
//export rw_registerManaged
func rw_registerManaged(id uint64, ptr, init, name unsafe.Pointer, size uint64, align uint32) {
	v := &variable{name: goString(name), size: size, pointer: ptr, align: align}
	if *(*unsafe.Pointer)(ptr) == nil {
		v.memory = managedMemory(init, size, align)
		*(*unsafe.Pointer)(ptr) = v.memory
	}
	if *(*unsafe.Pointer)(ptr) == nil {
		Log("no memory for the managed variable %s", v.name)
		return
	}
	registered.mu.Lock()
	b := registered.binaries[id]
	if b != nil {
		v.binary = b
		registered.vars[uintptr(ptr)] = v
	}
	registered.mu.Unlock()
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.managed[v.name] = v
	if r := current.Load(); r != nil { // of a library that was opened later
		_ = v.place(*r, hip.Thread{}) // when it is used it is tried again
	}
}

// managing is held while addresses are chosen.
var managing sync.Mutex

// managedMemory is memory with the contents of init, or zero; nil if there is none.
func managedMemory(init unsafe.Pointer, size uint64, align uint32) unsafe.Pointer {
	managing.Lock()
	defer managing.Unlock()
	return C.managed_memory(init, C.uint64_t(size), C.uint64_t(align))
}

// place makes a managed variable memory that devices reach too: where it lies, or
// where the Runtime can have it. Its value stays. Called with the binary's lock.
func (v *variable) place(rt hip.Runtime, t hip.Thread) hip.Error {
	if v.placed != 0 {
		return hip.Success
	}
	host := hip.Ptr(*(*uintptr)(v.pointer))
	if m, ok := rt.(hip.HostManager); ok {
		err := m.ManageHost(t, host, v.size)
		if err == hip.Success {
			v.placed, v.device, v.inPlace = host, t.Device, true
		}
		if err != hip.ErrorMapFailed {
			return err
		}
	}
	p, err := rt.MallocManaged(t, v.size, memAttachGlobal)
	if err != hip.Success {
		return err
	}
	if err = rt.Memcpy(t, p, host, v.size, hip.MemcpyHostToDevice); err != hip.Success {
		rt.Free(t, p)
		return err
	}
	*(*hip.Ptr)(v.pointer) = p // its old memory stays: the program may have the address
	v.placed, v.device, v.inPlace = p, t.Device, false
	return hip.Success
}

// placeManaged makes the variables of all embedded code known to a Runtime that
// was just opened.
func (r *registry) placeManaged(rt hip.Runtime) {
	for _, b := range r.all() {
		b.mu.Lock()
		for _, v := range b.managed {
			_ = v.place(rt, hip.Thread{}) // when it is used it is tried again
		}
		b.mu.Unlock()
	}
}

// displace takes a variable that has moved back into ordinary memory. Called with
// the binary's lock.
func (v *variable) displace() {
	p := managedMemory(*(*unsafe.Pointer)(v.pointer), v.size, v.align)
	if p == nil {
		Log("no memory for the managed variable %s", v.name)
		return
	}
	*(*unsafe.Pointer)(v.pointer) = p
	v.placed, v.memory = 0, p
}

// again makes a variable that lies where it always has known to its device anew.
// Called with the binary's lock.
func (v *variable) again(t hip.Thread) {
	rt := bare()
	if m, ok := rt.(hip.HostManager); ok {
		_ = m.UnmanageHost(t, v.placed) // the reset may have ended it already
	}
	v.placed = 0
	_ = v.place(rt, t) // when it is used it is tried again
}

// drop ends a variable whose code is unloaded. Called with the binary's lock.
func (v *variable) drop(t hip.Thread) {
	if v.placed != 0 {
		rt := bare()
		if !v.inPlace {
			rt.Free(t, v.placed)
			return
		}
		if m, ok := rt.(hip.HostManager); !ok || m.UnmanageHost(t, v.placed) != hip.Success {
			return // a device may still use it
		}
	}
	if v.memory != nil { // the pointer to it may be gone with the code
		C.managed_free(v.memory, C.uint64_t(v.size))
	}
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
