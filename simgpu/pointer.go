package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// PointerGetAttributes says what a pointer points to: an allocation, or host
// memory that no one told the runtime of (MemoryTypeUnregistered).
func (r *Runtime) PointerGetAttributes(t hip.Thread, ptr hip.Ptr) (hip.PointerAttributes, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return hip.PointerAttributes{}, e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.PointerAttributes{}, hip.ErrorInvalidValue
	}
	var a *vmem.Alloc
	if s := r.space.Load(); s != nil {
		a = s.Lookup(uint64(ptr)) // module memory is device memory too
		if a != nil && (a.Kind == vmem.Runtime || a.Kind == vmem.Image) {
			a = nil
		}
	}
	if g, ok := r.registered.find(uint64(ptr), 1); ok {
		p := hip.PointerAttributes{Type: hip.MemoryTypeHost, Device: g.d.id, DevicePointer: ptr, HostPointer: ptr, AllocationFlags: told(g.kind(), g.flags)}
		if g.managed {
			p.Type, p.IsManaged = hip.MemoryTypeManaged, 1
		}
		return p, hip.Success
	}
	if a == nil {
		return hip.PointerAttributes{Type: hip.MemoryTypeUnregistered, Device: hip.InvalidDeviceID}, hip.Success
	}
	if a.Kind == vmem.Virtual {
		m := noteOf(a).reserved.find(uint64(ptr))
		if m == nil {
			return hip.PointerAttributes{}, hip.ErrorInvalidValue
		}
		return hip.PointerAttributes{Type: hip.MemoryTypeDevice, Device: m.p.d.id, DevicePointer: ptr}, hip.Success
	}
	p := hip.PointerAttributes{Type: hip.MemoryTypeDevice, Device: a.Card, DevicePointer: ptr, AllocationFlags: told(a.Kind, a.Flags)}
	switch a.Kind {
	case vmem.Host:
		p.Type, p.HostPointer = hip.MemoryTypeHost, ptr
	case vmem.Managed:
		p.Type, p.HostPointer, p.IsManaged = hip.MemoryTypeManaged, ptr, 1
	}
	return p, hip.Success
}

// MemGetAddressRange is the allocation that a pointer points into.
func (r *Runtime) MemGetAddressRange(t hip.Thread, ptr hip.Ptr) (base hip.Ptr, size uint64, e hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, 0, e
	}
	defer r.leave()
	a := r.visible(ptr)
	if a == nil {
		return 0, 0, hip.ErrorNotFound
	}
	at, size, ok := extent(a, ptr)
	if !ok {
		return 0, 0, hip.ErrorNotFound
	}
	return hip.Ptr(at), size, hip.Success
}

// MemPtrGetInfo is the size of the allocation that a pointer points into.
func (r *Runtime) MemPtrGetInfo(t hip.Thread, ptr hip.Ptr) (uint64, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if ptr == 0 {
		return 0, hip.ErrorInvalidValue
	}
	a := r.visible(ptr)
	if a == nil {
		return 0, hip.ErrorInvalidValue
	}
	_, size, ok := extent(a, ptr)
	if !ok {
		return 0, hip.ErrorInvalidValue
	}
	return size, hip.Success
}

// extent is the memory at ptr inside an allocation: all of it, or what is mapped
// there of reserved addresses, if anything is.
func extent(a *vmem.Alloc, ptr hip.Ptr) (base, size uint64, ok bool) {
	if a.Kind != vmem.Virtual {
		return a.Base, a.Size, true
	}
	m := noteOf(a).reserved.find(uint64(ptr))
	if m == nil {
		return 0, 0, false
	}
	return m.base, m.size, true
}

// visible is what ptr points into, the memory of modules included: their
// variables may be read and written by address.
func (r *Runtime) visible(ptr hip.Ptr) *vmem.Alloc {
	s := r.space.Load()
	if s == nil {
		return nil
	}
	a := s.Lookup(uint64(ptr))
	if a == nil || a.Kind == vmem.Runtime || a.Kind == vmem.Image {
		return nil
	}
	return a
}
