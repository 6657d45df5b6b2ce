package simgpu

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/advice"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// hints are what a program has said of an allocation, beyond how large it is.
type hints struct {
	advice advice.Memory // of memory that takes some
	id     atomic.Uint32 // tells it from all other memory that there ever was; 0: nobody has asked
	syncs  atomic.Bool   // copies and memsets of it wait: HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
}

// advised says that advice is taken: of managed memory, and of the program's own
// once it is registered. What a card's memory or pinned memory is mapped at is
// nothing that pages move to: the driver refuses it.
func (r *Runtime) advised(m target) bool {
	if m.hints == nil {
		return false
	}
	if m.kind == vmem.Managed {
		return true
	}
	_, own := r.registered.find(m.base, 1)
	return own
}

// hinted is the allocation, or memory of the program's, that holds count bytes at ptr;
// the zero target if none of the runtime's is there. ErrorInvalidValue: they
// reach beyond its end.
func (r *Runtime) hinted(ptr hip.Ptr, count uint64) (target, hip.Error) {
	if ptr == 0 || count == 0 {
		return target{}, hip.ErrorInvalidValue
	}
	var m target
	if a := r.allocation(ptr); a != nil {
		m = r.target(ptr)
	} else if _, ok := r.registered.find(uint64(ptr), 1); ok {
		m = r.target(ptr)
	}
	if m.hints != nil && count > m.base+m.size-uint64(ptr) {
		return target{}, hip.ErrorInvalidValue
	}
	return m, hip.Success
}

// MemAdvise takes advice about memory that pages may move to. All of it lies in the host's
// memory and stays there: the advice is kept for who asks.
func (r *Runtime) MemAdvise(t hip.Thread, ptr hip.Ptr, count uint64, a hip.MemoryAdvise, device int32) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	check := advice.Check(a, device, int32(len(r.devices)))
	if check == hip.ErrorInvalidDevice {
		return check
	}
	m, e := r.hinted(ptr, count)
	if e != hip.Success {
		return e
	}
	if !r.advised(m) || check != hip.Success {
		return hip.ErrorInvalidValue
	}
	m.hints.advice.Advise(uint64(ptr)-m.base, count, a, device)
	return hip.Success
}

// MemPrefetchAsync moves managed memory to a device, or to the host with
// hip.CPUDeviceID, in the stream's turn. It is where all cards reach it already:
// where it was to go is kept.
func (r *Runtime) MemPrefetchAsync(t hip.Thread, ptr hip.Ptr, count uint64, device int32, s hip.Stream) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 || count == 0 {
		return hip.ErrorInvalidValue
	}
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	a, e := r.hinted(ptr, count)
	if e != hip.Success {
		return e
	}
	switch {
	case device != hip.CPUDeviceID && (device < 0 || int(device) >= len(r.devices)):
		return hip.ErrorInvalidDevice
	case a.hints == nil && device != hip.CPUDeviceID: // the cards do not reach memory that they were not told of
		return hip.ErrorNotSupported
	case !r.advised(a):
		return hip.Success // it does not move
	case st.handle == 0 && device != hip.CPUDeviceID:
		st = r.devices[device].null
	}
	st.q.Add(queue.Task{Run: func() { a.hints.advice.Prefetch(uint64(ptr)-a.base, count, device) }})
	return hip.Success
}

// MemRangeGetAttribute is what was said of managed memory, size bytes as HIP has
// them; of other memory only whether host and device see it coherently.
func (r *Runtime) MemRangeGetAttribute(t hip.Thread, size uint64, attribute hip.MemRangeAttribute, ptr hip.Ptr, count uint64) ([]byte, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return nil, e
	}
	defer r.leave()
	a, e := r.hinted(ptr, count)
	if e != hip.Success {
		return nil, e
	}
	switch {
	case a.hints == nil:
		return nil, hip.ErrorInvalidValue
	case r.advised(a):
		return a.hints.advice.Attribute(uint64(ptr)-a.base, count, attribute, size)
	case attribute != hip.MemRangeAttributeCoherencyMode || size != 4:
		return nil, hip.ErrorInvalidValue
	}
	mode := hip.MemRangeCoherencyModeFineGrain
	if a.kind == vmem.Host && a.flags&hostNonCoherent != 0 || a.kind == vmem.Device && a.flags == hip.DeviceMallocDefault {
		mode = hip.MemRangeCoherencyModeCoarseGrain
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(mode)), hip.Success
}

// StreamAttachMemAsync restricts managed memory to a stream, which no card needs:
// the arguments are judged.
func (r *Runtime) StreamAttachMemAsync(t hip.Thread, s hip.Stream, ptr hip.Ptr, length uint64, flags uint32) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.ErrorInvalidValue
	}
	if _, e := r.stream(t, s); e != hip.Success {
		return e
	}
	switch flags {
	case hip.MemAttachGlobal, hip.MemAttachHost:
	case hip.MemAttachSingle:
		if s == hip.StreamNull {
			return hip.ErrorInvalidValue
		}
	default:
		return hip.ErrorInvalidValue
	}
	a, e := r.hinted(ptr, 1)
	if e != hip.Success || a.hints == nil || a.kind != vmem.Device && length != 0 && length != a.size {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}
