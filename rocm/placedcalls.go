package rocm

import (
	"time"

	"github.com/rocwire/rocwire/hip"
)

// What a call means for memory that was placed. Of any other the library decides.
// It is not asked about the range: what it would say of a mapping is not what
// is true of the allocation, and nobody else may change what is mapped there.

// Free is hipFree: it waits for the device.
func (r *Runtime) Free(t hip.Thread, ptr hip.Ptr) hip.Error {
	if !r.placed.has(ptr, 1) {
		if r.frees.is(ptr) {
			return hip.ErrorInvalidValue
		}
		return r.held.free(ptr, func() hip.Error { return r.freeNow(t, ptr) })
	}
	x := r.placed.take(ptr)
	if x == nil {
		return hip.ErrorInvalidValue
	}
	err := r.DeviceSynchronize(hip.Thread{ID: t.ID, Device: x.device})
	go r.giveBack(x)
	return err
}

// FreeAsync is hipFreeAsync. The stream does not wait until the memory is given
// back, which no function that it runs may do.
func (r *Runtime) FreeAsync(t hip.Thread, ptr hip.Ptr, s hip.Stream) hip.Error {
	if !r.placed.has(ptr, 1) {
		return r.held.free(ptr, func() hip.Error { return r.freeInTurn(t, ptr, s) })
	}
	x := r.placed.take(ptr)
	if x == nil {
		return hip.ErrorInvalidValue
	}
	if r.After(t, s, func(hip.Error) { go r.giveBack(x) }) == hip.Success {
		return hip.Success
	}
	err := r.StreamSynchronize(t, s)
	go r.giveBack(x)
	return err
}

// resetPatience is how long a reset waits for memory to be unmapped, which waits
// for the device: if that never ends, it is the reset that ends it.
const resetPatience = 3 * time.Second

// DeviceReset is hipDeviceReset. The library must not find memory that it ends
// mapped at addresses that stay.
func (r *Runtime) DeviceReset(t hip.Thread) hip.Error {
	list, done := r.placed.takeAll(t.Device), make(chan struct{})
	go func() {
		defer close(done)
		for _, x := range list {
			r.release(x)
		}
		r.endAll(t.Device)
	}()
	select {
	case <-done:
	case <-time.After(resetPatience):
	}
	ended := r.held.end(func(_ hip.MemPool, device int32) bool { return device == t.Device })
	r.frees.late.mu.Lock()
	defer r.frees.late.mu.Unlock()
	r.leaving.mu.Lock()
	defer r.leaving.mu.Unlock()
	err := r.deviceReset(t)
	if err == hip.Success {
		r.held.forget(ended)
		r.forgetQueued(t.Device)
		r.nulls.reset(t.Device)
		r.graphs.reset(t.Device)
		r.gates.reset(t.Device)
		r.frees.reset(t.Device)
		r.events.reset(t.Device, ended.own)
		r.leaving.reset(t.Device)
		for _, x := range []*extents{&r.registered, &r.variables} {
			x.drop(func(e extent) bool { return e.device == t.Device })
		}
	} else {
		r.held.restore(ended)
	}
	return err
}

// MemGetInfo is hipMemGetInfo. What was freed and is about to be given back is free.
func (r *Runtime) MemGetInfo(t hip.Thread) (free, total uint64, err hip.Error) {
	ending := r.placed.ending(t.Device)
	free, total, err = r.memGetInfo(t)
	return min(free+ending, total), total, err
}

// MemGetAddressRange is hipMemGetAddressRange.
func (r *Runtime) MemGetAddressRange(t hip.Thread, ptr hip.Ptr) (base hip.Ptr, size uint64, err hip.Error) {
	if e, ok := r.registered.find(ptr); ok {
		return hip.Ptr(e.base), e.size, hip.Success
	}
	if !r.placed.has(ptr, 1) {
		return r.memGetAddressRange(t, ptr)
	}
	x := r.placed.find(ptr)
	if x == nil {
		return 0, 0, hip.ErrorInvalidValue
	}
	return hip.Ptr(x.base), x.size, hip.Success
}

// MemPtrGetInfo is hipMemPtrGetInfo.
func (r *Runtime) MemPtrGetInfo(t hip.Thread, ptr hip.Ptr) (uint64, hip.Error) {
	if !r.placed.has(ptr, 1) {
		return r.memPtrGetInfo(t, ptr)
	}
	_, size, err := r.MemGetAddressRange(t, ptr)
	return size, err
}

// PointerGetAttributes is hipPointerGetAttributes.
func (r *Runtime) PointerGetAttributes(t hip.Thread, ptr hip.Ptr) (hip.PointerAttributes, hip.Error) {
	if !r.placed.has(ptr, 1) {
		a, err := r.pointerGetAttributes(t, ptr)
		if e, ok := r.variables.find(ptr); ok {
			a.Device = e.device
		}
		return a, err
	}
	x := r.placed.find(ptr)
	if x == nil {
		return hip.PointerAttributes{Type: hip.MemoryTypeUnregistered, Device: -2}, hip.Success
	}
	return hip.PointerAttributes{Type: hip.MemoryTypeDevice, Device: x.device, DevicePointer: ptr}, hip.Success
}

// IpcGetMemHandle is hipIpcGetMemHandle.
func (r *Runtime) IpcGetMemHandle(t hip.Thread, ptr hip.Ptr) (hip.IpcMemHandle, hip.Error) {
	if !r.placed.has(ptr, 1) {
		return r.ipcGetMemHandle(t, ptr)
	}
	x := r.placed.find(ptr)
	if x == nil {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	return r.ipcHandle(t, x, ptr)
}

// MemAddressFree is hipMemAddressFree.
func (r *Runtime) MemAddressFree(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	if r.placed.has(ptr, size) {
		return hip.ErrorInvalidValue
	}
	return r.addressFree(t, ptr, size)
}

// MemMap is hipMemMap.
func (r *Runtime) MemMap(t hip.Thread, ptr hip.Ptr, size, offset uint64, h hip.GenericAllocation, flags uint64) hip.Error {
	if r.placed.has(ptr, size) {
		return hip.ErrorInvalidValue
	}
	return r.mapAllocation(t, ptr, size, offset, h, flags)
}

// MemUnmap is hipMemUnmap.
func (r *Runtime) MemUnmap(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	if r.placed.has(ptr, size) {
		return hip.ErrorInvalidValue
	}
	return r.unmapAllocation(t, ptr, size)
}

// MemSetAccess is hipMemSetAccess.
func (r *Runtime) MemSetAccess(t hip.Thread, ptr hip.Ptr, size uint64, desc []hip.MemAccessDesc) hip.Error {
	if r.placed.has(ptr, size) {
		return hip.ErrorInvalidValue
	}
	return r.memSetAccess(t, ptr, size, desc)
}

// MemGetAccess is hipMemGetAccess.
func (r *Runtime) MemGetAccess(t hip.Thread, location *hip.MemLocation, ptr hip.Ptr) (uint64, hip.Error) {
	if r.placed.has(ptr, 1) {
		return 0, hip.ErrorInvalidValue
	}
	return r.memGetAccess(t, location, ptr)
}
