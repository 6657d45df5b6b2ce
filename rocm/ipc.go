package rocm

import (
	"encoding/binary"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// A library gives other processes only memory that it has placed itself. Memory at
// addresses of a client's choice is physical memory, which can be exported: its
// IPC handles are ours, and say by ipcMark that they are. All others are the
// library's.

// ipcMark stands behind the token in a handle of ours; offset and size follow.
const ipcMark = "rwplaced"

const ipcMemLazyEnablePeerAccess = 1 // hipIpcMemLazyEnablePeerAccess

// manyOpened is how many addresses of such memory may be open at a time, each of which the session remembers.
const manyOpened = 1 << 16

// imports is memory of other processes that was opened by handles of ours.
type imports struct {
	mu     sync.Mutex
	opened map[hip.ShareToken]*imported
}

// imported is such memory, at an address of the library's.
type imported struct {
	token  hip.ShareToken
	base   hip.Ptr
	size   uint64
	handle hip.GenericAllocation
	device int32
	times  map[hip.Ptr]int // that it was opened and not closed, by the address: several allocations of the client can lie in it
}

// ipcHandle is a handle for an address in a region that is placed.
func (r *Runtime) ipcHandle(t hip.Thread, x *region, ptr hip.Ptr) (hip.IpcMemHandle, hip.Error) {
	h, err := r.MemExportToShareableHandle(hip.Thread{ID: t.ID, Device: x.device}, x.handle, hip.MemHandleTypePosixFileDescriptor, 0)
	if err != hip.Success {
		return hip.IpcMemHandle{}, err
	}
	copy(h.Reserved[32:], ipcMark)
	binary.LittleEndian.PutUint64(h.Reserved[40:], uint64(ptr)-x.base)
	binary.LittleEndian.PutUint64(h.Reserved[48:], x.size)
	return h, hip.Success
}

// IpcOpenMemHandle is hipIpcOpenMemHandle. Opened again, memory is at the same
// address until it was closed as often.
func (r *Runtime) IpcOpenMemHandle(t hip.Thread, handle *hip.IpcMemHandle, flags uint32) (hip.Ptr, hip.Error) {
	if handle == nil || string(handle.Reserved[32:40]) != ipcMark {
		return r.ipcOpenMemHandle(t, handle, flags)
	}
	if flags != ipcMemLazyEnablePeerAccess {
		return 0, hip.ErrorInvalidValue
	}
	token := hip.ShareToken(handle.Reserved[:32])
	offset, size := binary.LittleEndian.Uint64(handle.Reserved[40:]), binary.LittleEndian.Uint64(handle.Reserved[48:])
	if r.exported(token) {
		return 0, hip.ErrorInvalidContext
	}
	x := &r.imports
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.opened[token]
	if m == nil {
		var err hip.Error
		if m, err = r.attach(t, handle, token, size); err != hip.Success {
			return 0, err
		}
		if offset < m.size {
			if x.opened == nil {
				x.opened = map[hip.ShareToken]*imported{}
			}
			x.opened[token] = m
		}
	}
	if offset >= m.size {
		if len(m.times) == 0 {
			r.detach(m)
		}
		return 0, hip.ErrorInvalidDevicePointer
	}
	p := m.base + hip.Ptr(offset)
	if len(m.times) == manyOpened && m.times[p] == 0 {
		return 0, hip.ErrorOutOfMemory
	}
	m.times[p]++
	return p, hip.Success
}

// attach maps memory of another process. What its handle says of the size is no
// more than a claim, which the library judges.
func (r *Runtime) attach(t hip.Thread, handle *hip.IpcMemHandle, token hip.ShareToken, size uint64) (*imported, hip.Error) {
	if size == 0 || size%placeUnit != 0 {
		return nil, hip.ErrorInvalidDevicePointer
	}
	access, err := r.reach()
	if err != hip.Success {
		return nil, err
	}
	if t.Device < 0 || int(t.Device) >= len(access) {
		return nil, hip.ErrorInvalidDevice
	}
	m := &imported{token: token, size: size, device: t.Device, times: map[hip.Ptr]int{}}
	if m.handle, err = r.MemImportFromShareableHandle(t, handle, hip.MemHandleTypePosixFileDescriptor); err != hip.Success {
		if err == hip.ErrorInvalidValue {
			err = hip.ErrorInvalidDevicePointer
		}
		return nil, err
	}
	if m.base, err = r.MemAddressReserve(t, size, placeUnit, 0, 0); err == hip.Success {
		if err = r.mapAllocation(t, m.base, size, 0, m.handle, 0); err == hip.Success {
			if err = r.memSetAccess(t, m.base, size, access[t.Device]); err == hip.Success {
				return m, hip.Success
			}
			_ = r.unmapAllocation(t, m.base, size) // the failure that counts is known
		}
		_ = r.addressFree(t, m.base, size)
	}
	_ = r.MemRelease(t, m.handle)
	return nil, hip.ErrorInvalidDevicePointer
}

// detach ends what attach began.
func (r *Runtime) detach(m *imported) (err hip.Error) {
	t := hip.Thread{Device: m.device}
	for _, f := range []func() hip.Error{
		func() hip.Error { return r.unmapAllocation(t, m.base, m.size) },
		func() hip.Error { return r.addressFree(t, m.base, m.size) },
		func() hip.Error { return r.MemRelease(t, m.handle) },
	} {
		if e := f(); err == hip.Success {
			err = e
		}
	}
	return err
}

// IpcCloseMemHandle is hipIpcCloseMemHandle, of an address that was opened. The last one waits for the devices.
func (r *Runtime) IpcCloseMemHandle(t hip.Thread, ptr hip.Ptr) hip.Error {
	x := &r.imports
	x.mu.Lock()
	var m *imported
	for _, y := range x.opened {
		if ptr >= y.base && uint64(ptr-y.base) < y.size {
			m = y
		}
	}
	if m == nil {
		x.mu.Unlock()
		return r.ipcCloseMemHandle(t, ptr)
	}
	if m.times[ptr] == 0 {
		x.mu.Unlock()
		return hip.ErrorInvalidValue
	}
	if m.times[ptr]--; m.times[ptr] == 0 {
		delete(m.times, ptr)
	}
	last := len(m.times) == 0
	if last {
		delete(x.opened, m.token)
	}
	x.mu.Unlock()
	if !last {
		return hip.Success
	}
	n, err := r.GetDeviceCount()
	for d := range n {
		if e := r.DeviceSynchronize(hip.Thread{ID: t.ID, Device: d}); err == hip.Success {
			err = e
		}
	}
	if e := r.detach(m); err == hip.Success {
		err = e
	}
	return err
}
