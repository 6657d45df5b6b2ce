package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// target is what a pointer points to, with what was said of it. It is the zero
// target for ordinary host memory.
type target struct {
	base, size uint64
	kind       vmem.Kind
	flags      uint32
	device     int32
	hints      *hints
}

// target finds what ptr points to.
func (r *Runtime) target(ptr hip.Ptr) target {
	if g, ok := r.registered.find(uint64(ptr), 1); ok {
		return target{g.base, g.size, g.kind(), told(g.kind(), g.flags), g.d.id, g.hints}
	}
	if a := r.visible(ptr); a != nil {
		on := a.Card
		if a.Kind == vmem.Virtual { // whoever reserved the addresses
			if m := noteOf(a).reserved.find(uint64(ptr)); m != nil {
				on = m.p.d.id
			}
		}
		return target{a.Base, a.Size, a.Kind, told(a.Kind, a.Flags), on, &noteOf(a).hints}
	}
	return target{}
}

// told is what a program is told of the flags of memory: nothing of those of
// managed memory, as AMD's library has it.
func told(k vmem.Kind, flags uint32) uint32 {
	if k == vmem.Managed {
		return 0
	}
	return flags
}

// PointerGetAttribute is one attribute of what a pointer points to, as a number.
// ErrorInvalidValue: it is none that HIP knows, or memory that nobody told the
// runtime of; ErrorNotSupported: AMD's runtime has no such attribute.
func (r *Runtime) PointerGetAttribute(t hip.Thread, attribute hip.PointerAttribute, ptr hip.Ptr) (uint64, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if ptr == 0 {
		return 0, hip.ErrorInvalidValue
	}
	if e := hip.PointerAttributeKnown(attribute); e != hip.Success {
		return 0, e
	}
	m := r.target(ptr)
	if m.hints == nil {
		if attribute == hip.DrvPointerAttributeAccessFlags {
			return 0, hip.Success
		}
		return 0, hip.ErrorInvalidValue
	}
	switch attribute {
	case hip.DrvPointerAttributeMemoryType:
		if onCard(m.kind) {
			return uint64(hip.MemoryTypeDevice), hip.Success
		}
		return uint64(hip.MemoryTypeHost), hip.Success
	case hip.DrvPointerAttributeDevicePointer:
		return uint64(ptr), hip.Success
	case hip.DrvPointerAttributeHostPointer:
		if onCard(m.kind) {
			return 0, hip.ErrorInvalidValue
		}
		return uint64(ptr), hip.Success
	case hip.DrvPointerAttributeSyncMemops:
		return number(m.hints.syncs.Load()), hip.Success
	case hip.DrvPointerAttributeBufferId:
		if m.hints.id.Load() == 0 {
			m.hints.id.CompareAndSwap(0, r.buffers.Add(1))
		}
		return uint64(m.hints.id.Load()), hip.Success
	case hip.DrvPointerAttributeIsManaged:
		return number(m.kind == vmem.Managed), hip.Success
	case hip.DrvPointerAttributeDeviceOrdinal:
		return uint64(uint32(m.device)), hip.Success
	case hip.DrvPointerAttributeRangeStartAddr:
		return m.base, hip.Success
	case hip.DrvPointerAttributeRangeSize:
		return m.size, hip.Success
	case hip.DrvPointerAttributeMapped:
		return 1, hip.Success
	}
	return uint64(m.flags), hip.Success // DrvPointerAttributeAccessFlags
}

// PointerSetAttribute sets HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0 or 1: whether
// copies and memsets of the memory wait until they are done. No other attribute
// can be set.
func (r *Runtime) PointerSetAttribute(t hip.Thread, value uint64, attribute hip.PointerAttribute, ptr hip.Ptr) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 || attribute != hip.DrvPointerAttributeSyncMemops || value > 1 {
		return hip.ErrorInvalidValue
	}
	m := r.target(ptr)
	if m.hints == nil {
		return hip.ErrorInvalidDevicePointer
	}
	m.hints.syncs.Store(value == 1)
	return hip.Success
}
