package simgpu

import (
	"errors"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Flags of hipHostMalloc, hipMallocManaged.
const (
	hostCoherent    = 0x40000000
	hostNonCoherent = 0x80000000

	attachGlobal = 1
	attachHost   = 2
)

// hostFlagsValid checks the flags of hipHostMalloc. Those that it does not know it takes, as AMD's library does: they are a later HIP's.
func hostFlagsValid(f uint32) bool {
	return f&(hostCoherent|hostNonCoherent) != hostCoherent|hostNonCoherent
}

// HostMalloc allocates host memory that kernels see at the same address. It
// does not count as card memory.
func (r *Runtime) HostMalloc(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	return r.hostAlloc(t, size, flags, vmem.Host, hostFlagsValid(flags))
}

// MallocManaged allocates memory for host and device; as HostMalloc's it lies
// in the host's memory, where the cards reach it.
func (r *Runtime) MallocManaged(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	return r.hostAlloc(t, size, flags, vmem.Managed, size != 0 && (flags == attachGlobal || flags == attachHost))
}

func (r *Runtime) hostAlloc(t hip.Thread, size uint64, flags uint32, kind vmem.Kind, valid bool) (hip.Ptr, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if !valid {
		return 0, hip.ErrorInvalidValue
	}
	if size == 0 {
		return 0, hip.Success
	}
	if size > hostLimit() {
		return 0, hip.ErrorOutOfMemory
	}
	a, e := d.allocate(size, kind, flags)
	if e != hip.Success {
		return 0, e
	}
	return hip.Ptr(a.Base), hip.Success
}

// hostLimit is the most memory that one host allocation may have: what the
// machine has.
func hostLimit() uint64 { return 4 * defaultMemory() }

// HostMallocAt is HostMalloc at an address of the caller's choice: how a remote
// client's pinned memory gets the same address on both sides. Address and size
// are multiples of hip.Granule.
func (r *Runtime) HostMallocAt(t hip.Thread, addr hip.Ptr, size uint64, flags uint32) hip.Error {
	return r.hostAllocAt(t, addr, size, flags, vmem.Host, hostFlagsValid(flags))
}

// MallocManagedAt is MallocManaged at an address of the caller's choice.
func (r *Runtime) MallocManagedAt(t hip.Thread, addr hip.Ptr, size uint64, flags uint32) hip.Error {
	return r.hostAllocAt(t, addr, size, flags, vmem.Managed, flags == attachGlobal || flags == attachHost)
}

func (r *Runtime) hostAllocAt(t hip.Thread, addr hip.Ptr, size uint64, flags uint32, kind vmem.Kind, valid bool) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if !valid {
		return hip.ErrorInvalidValue
	}
	if size > hostLimit() {
		return hip.ErrorOutOfMemory
	}
	s, e := r.memory()
	if e != hip.Success {
		return e
	}
	a, err := s.AllocAt(uint64(addr), size, vmem.Alloc{Kind: kind, Card: d.id, Flags: flags, Note: &note{d: d}})
	if err != nil {
		r.o.Logf("simgpu: %v", err)
		if errors.Is(err, vmem.ErrNoMemory) {
			return hip.ErrorOutOfMemory
		}
		return hip.ErrorInvalidValue
	}
	d.entered(a)
	return hip.Success
}

// HostFree ends an allocation of HostMalloc.
func (r *Runtime) HostFree(t hip.Thread, ptr hip.Ptr) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.Success
	}
	a := r.allocation(ptr)
	if a == nil || a.Kind != vmem.Host && a.Kind != vmem.Managed || uint64(ptr) != a.Base || !noteOf(a).freed.CompareAndSwap(false, true) {
		return hip.ErrorInvalidValue
	}
	blame(a, callOf("hipHostFree", t))
	for _, d := range r.devices { // every card may use it
		queue.WaitAll(d.queues.All())
	}
	r.release(a)
	return hip.Success
}

// HostGetDevicePointer is where kernels see memory of HostMalloc and
// HostRegister: at the same address.
func (r *Runtime) HostGetDevicePointer(t hip.Thread, ptr hip.Ptr, flags uint32) (hip.Ptr, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if flags != 0 {
		return 0, hip.ErrorInvalidValue
	}
	if a := r.allocation(ptr); a != nil && (a.Kind == vmem.Host || a.Kind == vmem.Managed) {
		return ptr, hip.Success
	}
	if _, ok := r.registered.find(uint64(ptr), 1); ok {
		return ptr, hip.Success
	}
	return 0, hip.ErrorInvalidValue
}

// HostGetFlags is what HostMalloc was told, and 0 of managed memory. ErrorInvalidValue: HIP has not allocated it.
func (r *Runtime) HostGetFlags(t hip.Thread, ptr hip.Ptr) (uint32, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	m := r.target(ptr)
	if m.hints == nil || m.kind != vmem.Managed && (m.kind != vmem.Host || r.allocation(ptr) == nil) {
		return 0, hip.ErrorInvalidValue
	}
	return m.flags, hip.Success
}
