package simgpu

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// note is what the runtime remembers of an allocation.
type note struct {
	d      *device
	placed bool        // its capacity came from a grant and goes back there
	freed  atomic.Bool // FreeAsync was called, or Free is under way

	block    atomic.Pointer[poolBlock] // of a pool, nil if it is not of one
	reserved *reservation              // of addresses alone
	imported bool                      // another process's memory
	opened   *opened                   // by IpcOpenMemHandle; set before anyone knows the address
	file     file                      // by which others have it; shares.mu
	hints    hints
	freer    atomic.Pointer[string] // the call that ends it, see blame
}

func noteOf(a *vmem.Alloc) *note { return a.Note.(*note) }

// onCard reports whether the allocation counts as card memory.
func onCard(k vmem.Kind) bool {
	return k == vmem.Device || k == vmem.Code || k == vmem.Image || k == vmem.Virtual
}

// allocate takes capacity and address space. ErrorOutOfMemory if either is
// missing.
func (d *device) allocate(size uint64, kind vmem.Kind, flags uint32) (*vmem.Alloc, hip.Error) {
	s, e := d.r.memory()
	if e != hip.Success {
		return nil, e
	}
	pages := vmem.RoundUp(size)
	if pages > s.Size() || onCard(kind) && !d.take(pages) {
		return nil, hip.ErrorOutOfMemory
	}
	a, err := s.Alloc(size, vmem.Alloc{Kind: kind, Card: d.id, Flags: flags, Note: &note{d: d}})
	if err != nil {
		if onCard(kind) {
			d.meter.Give(pages)
		}
		d.r.o.Logf("simgpu: %d bytes of %v: %v", size, kind, err)
		return nil, hip.ErrorOutOfMemory
	}
	d.entered(a)
	return a, hip.Success
}

// entered accounts host memory that kernels see now.
func (d *device) entered(a *vmem.Alloc) {
	if a.Kind == vmem.Host || a.Kind == vmem.Managed {
		d.meter.TakeHost(a.Pages())
	}
}

// release ends an allocation and gives back what it took.
func (r *Runtime) release(a *vmem.Alloc) bool {
	n := noteOf(a)
	n.freed.Store(true)
	if !r.space.Load().Free(a) {
		return false
	}
	by := ""
	if p := n.freer.Load(); p != nil {
		by = *p
	}
	r.freed.add(freed{a.Base, a.Size, a.Kind, by})
	r.unshare(n)
	if n.block.Load() != nil {
		n.d.pooled.Add(-a.Pages())
	}
	switch {
	case n.imported:
		n.d.takeImport(-vmem.RoundUp(a.Size))
	case n.placed:
		n.d.mu.Lock()
		n.d.granted += a.Pages()
		n.d.mu.Unlock()
	case onCard(a.Kind):
		n.d.meter.Give(a.Pages())
	case a.Kind != vmem.Runtime:
		n.d.meter.GiveHost(a.Pages())
	}
	return true
}

// Malloc allocates card memory. Nothing, and success, for no bytes.
func (r *Runtime) Malloc(t hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if size == 0 {
		return 0, hip.Success
	}
	a, e := d.allocate(size, vmem.Device, 0)
	if e != hip.Success {
		return 0, e
	}
	return hip.Ptr(a.Base), hip.Success
}

// ExtMallocWithFlags allocates card memory, whatever else its flags ask for: all
// of it is coherent here. Signal memory, eight bytes, is the host's.
func (r *Runtime) ExtMallocWithFlags(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	kind := vmem.Device
	switch flags {
	case hip.DeviceMallocDefault, hip.DeviceMallocFinegrained, hip.DeviceMallocUncached, hip.DeviceMallocContiguous:
	case hip.MallocSignalMemory:
		if size != 8 {
			return 0, hip.ErrorInvalidValue
		}
		kind = vmem.Host
	default:
		return 0, hip.ErrorInvalidValue
	}
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if size == 0 {
		return 0, hip.Success
	}
	a, e := d.allocate(size, kind, flags)
	if e != hip.Success {
		return 0, e
	}
	return hip.Ptr(a.Base), hip.Success
}

// Free ends an allocation of Malloc, MallocAsync, MallocAt, MallocManaged or
// HostMalloc, after everything its device was told to do is done.
func (r *Runtime) Free(t hip.Thread, ptr hip.Ptr) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.Success
	}
	a := r.allocation(ptr)
	if a == nil || uint64(ptr) != a.Base || a.Kind == vmem.Virtual || noteOf(a).opened != nil {
		return hip.ErrorInvalidValue
	}
	if b := noteOf(a).block.Load(); b != nil {
		blame(a, callOf("hipFree", t))
		queue.WaitAll(noteOf(a).d.queues.All())
		if !b.p.put(b, nil) {
			return hip.ErrorInvalidValue
		}
		b.p.waited()
		return hip.Success
	}
	if !noteOf(a).freed.CompareAndSwap(false, true) {
		return hip.ErrorInvalidValue
	}
	blame(a, callOf("hipFree", t))
	if a.Kind == vmem.Device {
		queue.WaitAll(noteOf(a).d.queues.All())
	} else { // every card may use it
		r.drain()
	}
	if !r.release(a) {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// FreeNow ends an allocation of Malloc or HostMalloc as the driver does and Free
// does not: it waits for nothing, and what still uses the memory faults.
func (r *Runtime) FreeNow(t hip.Thread, ptr hip.Ptr) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	a := r.allocation(ptr)
	if a == nil || uint64(ptr) != a.Base || a.Kind == vmem.Virtual || noteOf(a).opened != nil || noteOf(a).block.Load() != nil ||
		!noteOf(a).freed.CompareAndSwap(false, true) {
		return hip.ErrorInvalidValue
	}
	blame(a, callOf("the driver", t))
	if !r.release(a) {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// freeAsync is FreeAsync on a stream that was found.
func (r *Runtime) freeAsync(t hip.Thread, ptr hip.Ptr, st *stream) hip.Error {
	a := r.allocation(ptr)
	if a == nil || uint64(ptr) != a.Base || a.Kind == vmem.Virtual || noteOf(a).opened != nil {
		return hip.ErrorInvalidValue
	}
	blame(a, fmt.Sprintf("hipFreeAsync of thread %d on stream %#x", t.ID, uint64(st.handle)))
	if b := noteOf(a).block.Load(); b != nil {
		if !b.p.put(b, st) {
			return hip.ErrorInvalidValue
		}
		return hip.Success
	}
	if !noteOf(a).freed.CompareAndSwap(false, true) {
		return hip.ErrorInvalidValue
	}
	st.q.Add(queue.Task{Always: true, Run: func() { r.release(a) }})
	return hip.Success
}

// drain waits until the devices have done everything they were told.
func (r *Runtime) drain() {
	for _, d := range r.devices {
		queue.WaitAll(d.queues.All())
	}
}

// allocation is what ptr points into, as far as it is a program's, nil for none.
func (r *Runtime) allocation(ptr hip.Ptr) *vmem.Alloc {
	s := r.space.Load()
	if s == nil {
		return nil
	}
	a := s.Lookup(uint64(ptr))
	if a == nil || a.Kind == vmem.Code || a.Kind == vmem.Image || a.Kind == vmem.Runtime {
		return nil
	}
	return a
}

// MemGetInfo counts what was granted and is not in use as free.
func (r *Runtime) MemGetInfo(t hip.Thread) (free, total uint64, e hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, 0, e
	}
	defer r.leave()
	d.mu.Lock()
	granted := d.granted
	d.mu.Unlock()
	total = d.meter.Capacity()
	return min(d.meter.Free()+granted, total), total, hip.Success
}

// ReserveRange chooses where device addresses lie, before the first allocation.
// The runtime places what it allocates itself (Malloc, HostMalloc, modules) in
// own, reservations in the last half of it; a caller that uses MallocAt stays out
// of it. It is all of the range or nothing.
func (r *Runtime) ReserveRange(all, own hip.Span, _ bool) (hip.Span, hip.Error) {
	if _, e := r.enterAny(0); e != hip.Success {
		return hip.Span{}, e
	}
	defer r.leave()
	r.spaceMu.Lock()
	defer r.spaceMu.Unlock()
	if r.space.Load() != nil {
		return hip.Span{}, hip.ErrorInvalidValue
	}
	vs, err := vmem.Reserve(all.Base, all.Size, vmem.Options{Own: own.Base, OwnSize: own.Size, VirtualPart: virtualPart})
	if err != nil {
		r.o.Logf("simgpu: %v", err)
		return hip.Span{}, hip.ErrorInvalidValue
	}
	_, e := r.adopt(vs, true)
	return all, e
}

// Unit is that of pages: what is granted is placed in as small pieces.
func (r *Runtime) Unit() uint64 { return hip.Granule }

// virtualPart of its own addresses are for reservations: one in so many bytes.
const virtualPart = 2

// Grant takes capacity from the card for MallocAt, as much of size as there is, and nothing if that is less than least.
func (r *Runtime) Grant(t hip.Thread, size, least uint64) (uint64, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	size = vmem.RoundUp(size)
	for {
		if size == 0 || size < least {
			return 0, hip.ErrorOutOfMemory
		}
		if d.take(size) {
			break
		}
		size = min(d.meter.Free()&^(hip.Granule-1), size-hip.Granule)
	}
	d.mu.Lock()
	d.granted += size
	d.mu.Unlock()
	return size, hip.Success
}

// Return gives granted capacity back.
func (r *Runtime) Return(t hip.Thread, size uint64) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	d.mu.Lock()
	defer d.mu.Unlock()
	if size > d.granted || size%hip.Granule != 0 {
		return hip.ErrorInvalidValue
	}
	d.granted -= size
	d.meter.Give(size)
	return hip.Success
}

// MallocAt allocates out of what was granted; freeing it adds to the grant
// again. ErrorInvalidValue: the place is taken, outside the range or not
// aligned, or more than was granted.
func (r *Runtime) MallocAt(t hip.Thread, addr hip.Ptr, size uint64) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	s, e := r.memory()
	if e != hip.Success {
		return e
	}
	d.mu.Lock()
	if size > d.granted {
		d.mu.Unlock()
		return hip.ErrorInvalidValue
	}
	d.granted -= size
	d.mu.Unlock()
	_, err := s.AllocAt(uint64(addr), size, vmem.Alloc{Kind: vmem.Device, Card: d.id, Note: &note{d: d, placed: true}})
	if err == nil {
		return hip.Success
	}
	d.mu.Lock()
	d.granted += size
	d.mu.Unlock()
	r.o.Logf("simgpu: %v", err)
	if errors.Is(err, vmem.ErrNoMemory) {
		return hip.ErrorOutOfMemory
	}
	return hip.ErrorInvalidValue
}

// DeviceBytes is device memory as this process sees it. It is valid until it is
// freed; nothing orders access to it with what streams do. See Reaches and
// HoldMemory for who may use it how.
func (r *Runtime) DeviceBytes(ptr hip.Ptr, n uint64) ([]byte, bool) {
	a, unknown, e := r.locate(ptr, n) // variables of modules too, and what is registered
	if unknown || e != hip.Success || a == nil && n == 0 || a != nil && a.Kind == vmem.Virtual && !noteOf(a).reserved.readable(uint64(ptr), n) {
		return nil, false
	}
	return vmem.Raw(uint64(ptr), n), true
}

// Reaches says whether a thread's device may read, or write, n bytes of device
// memory at ptr.
func (r *Runtime) Reaches(t hip.Thread, ptr hip.Ptr, n uint64, write bool) bool {
	if t.Device < 0 || int(t.Device) >= len(r.devices) {
		return false
	}
	want := hip.MemAccessFlags(hip.MemAccessFlagsProtRead)
	if write {
		want = hip.MemAccessFlagsProtReadWrite
	}
	a, unknown, e := r.locate(ptr, n)
	return !unknown && e == hip.Success && r.devices[t.Device].reaches(a, uint64(ptr), n, want)
}

// HoldMemory keeps memory where it is until ReleaseMemory: for who writes to it
// through DeviceBytes.
func (r *Runtime) HoldMemory() { r.gate.Enter() }

// ReleaseMemory ends HoldMemory.
func (r *Runtime) ReleaseMemory() { r.gate.Leave() }
