package simgpu

// What HSA has of virtual memory and HIP has not: physical memory as the files that it is, and access of the program's own threads apart
// from the devices'.

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// pinned are the properties of the device's memory.
func (d *device) pinned() *hip.MemAllocationProp {
	return &hip.MemAllocationProp{
		Type: hip.MemAllocationTypePinned, RequestedHandleType: hip.MemHandleTypePosixFileDescriptor,
		Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: d.id},
	}
}

// FileOf is physical memory as a descriptor, the caller's.
func (r *Runtime) FileOf(h hip.GenericAllocation) (int, hip.Error) {
	if _, e := r.enter(hip.Thread{}); e != hip.Success {
		return -1, e
	}
	defer r.leave()
	p, ok := r.physicals.get(h)
	if !ok {
		return -1, hip.ErrorInvalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return -1, hip.ErrorInvalidValue
	}
	return duplicate(p.fd)
}

// AdoptFile is physical memory that another process, or this one, has given a descriptor of; it counts as the device's. The descriptor
// stays the caller's. ErrorInvalidValue: it is no memory file of whole pages.
func (r *Runtime) AdoptFile(device int32, fd int) (h hip.GenericAllocation, size uint64, e hip.Error) {
	d, e := r.enter(hip.Thread{Device: device})
	if e != hip.Success {
		return 0, 0, e
	}
	defer r.leave()
	size, ok := vmem.FileSize(fd)
	if !ok || size > d.meter.Capacity() {
		return 0, 0, hip.ErrorInvalidValue
	}
	own, e := duplicate(fd)
	if e != hip.Success {
		return 0, 0, e
	}
	if vmem.CheckFile(own, size) != nil {
		_ = unix.Close(own)
		return 0, 0, hip.ErrorInvalidValue
	}
	return r.newPhysical(&physical{d: d, prop: *d.pinned(), size: size, fd: own, imported: true}), size, hip.Success
}

// AllowHost says what the program's own threads may do with whole mappings. What a device may do they may always.
func (r *Runtime) AllowHost(ptr hip.Ptr, size uint64, flags hip.MemAccessFlags) hip.Error {
	if _, e := r.enter(hip.Thread{}); e != hip.Success {
		return e
	}
	defer r.leave()
	v := r.lockMapped(ptr, size)
	if v == nil {
		return hip.ErrorInvalidValue
	}
	defer v.mu.Unlock()
	for _, m := range v.over(uint64(ptr), size) {
		if e := r.protect(m, m.access, flags); e != hip.Success {
			return e
		}
	}
	return hip.Success
}

// Share makes the device memory that begins at ptr available to other processes under a token, or says under which one it is.
func (r *Runtime) Share(ptr hip.Ptr) (hip.ShareToken, hip.Error) {
	if _, e := r.enter(hip.Thread{}); e != hip.Success {
		return hip.ShareToken{}, e
	}
	defer r.leave()
	if a := r.allocation(ptr); a == nil || a.Base != uint64(ptr) {
		return hip.ShareToken{}, hip.ErrorInvalidValue
	}
	k, e := r.export(ptr)
	return k.token, e
}

// SharedFile is the device memory that ptr lies in as a descriptor, the caller's, and where in it ptr is.
func (r *Runtime) SharedFile(ptr hip.Ptr) (fd int, offset uint64, e hip.Error) {
	if _, e := r.enter(hip.Thread{}); e != hip.Success {
		return -1, 0, e
	}
	defer r.leave()
	k, e := r.export(ptr)
	if e != hip.Success {
		return -1, 0, e
	}
	s, _, e := r.fetch(k.token, sharedMemory)
	return s.FD, k.offset, e
}

// Attach is the memory that was shared under a token, by another process or this one, at an address of its own, whole pages of the device's that has it.
func (r *Runtime) Attach(t hip.Thread, token hip.ShareToken) (p hip.Ptr, size uint64, device int32, e hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, 0, 0, e
	}
	defer r.leave()
	a, e := r.attach(d, ticket{token: token})
	if e != hip.Success {
		return 0, 0, 0, e
	}
	noteOf(a).opened = &opened{token: token, a: a, times: 1}
	return hip.Ptr(a.Base), a.Size, noteOf(a).d.id, hip.Success
}

// Detach ends Attach, after everything the devices were told to do is done.
func (r *Runtime) Detach(ptr hip.Ptr) hip.Error {
	if _, e := r.enter(hip.Thread{}); e != hip.Success {
		return e
	}
	defer r.leave()
	a := r.allocation(ptr)
	if a == nil || a.Base != uint64(ptr) || noteOf(a).opened == nil || !noteOf(a).freed.CompareAndSwap(false, true) {
		return hip.ErrorInvalidValue
	}
	r.drain()
	r.release(a)
	return hip.Success
}

// Overlaps says whether any of the addresses [from, to) are the runtime's to give: allocated, reserved or free.
func (r *Runtime) Overlaps(from, to uint64) bool {
	s := r.space.Load()
	return s != nil && from < s.Base()+s.Size() && s.Base() < to
}
