package hipmulti

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
)

// hosts is the host memory that kernels may use. One worker's client, its home, has allocated or registered it; those of the others have adopted it.
type hosts struct {
	registering sync.Mutex // one at a time

	mu sync.Mutex
	m  map[hip.Ptr]host // by where it begins
}

type host struct {
	home    place
	size    uint64
	managed bool
}

// find is the memory that an address is of.
func (h *hosts) find(p hip.Ptr) (base hip.Ptr, x host, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x, ok := h.m[p]; ok {
		return p, x, true
	}
	for base, x := range h.m {
		if uint64(p-base) < x.size {
			return base, x, true
		}
	}
	return 0, host{}, false
}

// overlapping is memory that has any of the n bytes at p.
func (h *hosts) overlapping(p hip.Ptr, n uint64) (base hip.Ptr, x host, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for base, x := range h.m {
		if uint64(p-base) < x.size || uint64(base-p) < n {
			return base, x, true
		}
	}
	return 0, host{}, false
}

func (h *hosts) add(p hip.Ptr, x host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m == nil {
		h.m = map[hip.Ptr]host{}
	}
	h.m[p] = x
}

// take removes what begins at p.
func (h *hosts) take(p hip.Ptr) (host, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x, ok := h.m[p]
	delete(h.m, p)
	return x, ok
}

// managedOn are the managed allocations of a device.
func (h *hosts) managedOn(p place) (list []hip.Ptr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for base, x := range h.m {
		if x.managed && x.home == p {
			list = append(list, base)
		}
	}
	return list
}

// share makes host memory of one worker usable by the others. One that has failed does not keep them from having it.
func (r *Runtime) share(home place, p hip.Ptr, size uint64, managed bool) hip.Error {
	h, ok := r.workers[home.worker].HostMemory(p)
	if !ok {
		return hip.ErrorUnknown // it was freed meanwhile
	}
	for i, w := range r.workers {
		if i == home.worker {
			continue
		}
		if code := w.Adopt(h); code != hip.Success && code != hip.ErrorNotInitialized && !hiprpc.Sticky(code) {
			r.unshare(home, p)
			return code
		}
	}
	r.hosts.add(p, host{home, size, managed})
	return hip.Success
}

// unshare ends that.
func (r *Runtime) unshare(home place, p hip.Ptr) {
	for i, w := range r.workers {
		if i != home.worker {
			_ = w.Disown(hip.Thread{}, p) // it has nothing of it, or has failed and cannot use it
		}
	}
}

// HostMalloc is hipHostMalloc.
func (r *Runtime) HostMalloc(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	return r.newHost(t, size, false, func(w member, t hip.Thread) (hip.Ptr, hip.Error) { return w.HostMalloc(t, size, flags) }, member.HostFree)
}

// MallocManaged is hipMallocManaged.
func (r *Runtime) MallocManaged(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	return r.newHost(t, size, true, func(w member, t hip.Thread) (hip.Ptr, hip.Error) { return w.MallocManaged(t, size, flags) }, member.Free)
}

func (r *Runtime) newHost(t hip.Thread, size uint64, managed bool, alloc func(member, hip.Thread) (hip.Ptr, hip.Error),
	free func(member, hip.Thread, hip.Ptr) hip.Error,
) (hip.Ptr, hip.Error) {
	c := r.call()
	w, code := c.of(&t)
	if code != hip.Success {
		return 0, code
	}
	p, code := alloc(w, t)
	if code != hip.Success || p == 0 {
		return 0, code
	}
	if code := r.share(place{c.worker, t.Device}, p, size, managed); code != hip.Success {
		_ = free(w, t, p) // nobody else has heard of it
		return 0, code
	}
	return p, hip.Success
}

// HostFree is hipHostFree.
func (r *Runtime) HostFree(t hip.Thread, p hip.Ptr) hip.Error {
	return r.endHost(t, p, member.HostFree)
}

// HostUnregister is hipHostUnregister.
func (r *Runtime) HostUnregister(t hip.Thread, p hip.Ptr) hip.Error {
	return r.endHost(t, p, member.HostUnregister)
}

// endHost gives host memory up everywhere, at its home last. What is none is for the thread's worker to judge.
func (r *Runtime) endHost(t hip.Thread, p hip.Ptr, end func(member, hip.Thread, hip.Ptr) hip.Error) hip.Error {
	c := r.call()
	x, ok := r.hosts.take(p)
	if ok {
		c.worker = x.home.worker
		r.unshare(x.home, p)
	}
	w, code := c.of(&t)
	if code == hip.Success {
		code = end(w, t, p)
	}
	if ok && code != hip.Success { // the wrong way to end it, say: it goes on
		if h, still := r.workers[x.home.worker].HostMemory(p); still {
			for i, other := range r.workers {
				if i != x.home.worker {
					_ = other.Adopt(h) // as it was
				}
			}
			r.hosts.add(p, x)
		}
	}
	return code
}

// HostRegister is hipHostRegister. Memory that is registered already is where it was.
func (r *Runtime) HostRegister(t hip.Thread, p hip.Ptr, size uint64, flags uint32) hip.Error {
	code := r.register(t, p, size, flags, member.HostRegister)
	if code == hip.ErrorMapFailed { // not all workers can have it at its own address
		code = r.register(t, p, size, flags, member.HostRegisterApart)
	}
	return code
}

func (r *Runtime) register(t hip.Thread, p hip.Ptr, size uint64, flags uint32, register func(member, hip.Thread, hip.Ptr, uint64, uint32) hip.Error) hip.Error {
	r.hosts.registering.Lock()
	defer r.hosts.registering.Unlock()
	c := r.call()
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	done, code := r.registeredBefore(t, p, size)
	if done || code != hip.Success {
		return code
	}
	if code := register(w, t, p, size, flags); code != hip.Success {
		return code
	}
	if code := r.share(place{c.worker, t.Device}, p, size, false); code != hip.Success {
		_ = w.HostUnregister(t, p) // it was registered just now
		return code
	}
	return hip.Success
}

// registeredBefore prepares memory of which some is registered already, as a single worker's client does: it may have been freed since.
func (r *Runtime) registeredBefore(t hip.Thread, p hip.Ptr, size uint64) (done bool, code hip.Error) {
	for {
		base, x, ok := r.hosts.overlapping(p, size)
		switch {
		case !ok || x.managed: // or there is nothing, or it is for the worker to refuse
			return false, hip.Success
		case base <= p && uint64(p-base)+size <= x.size:
			return true, hip.Success
		}
		if code := r.HostUnregister(t, base); code != hip.Success {
			return false, code
		}
	}
}

// ManageHost makes memory of the program managed memory of all workers: see hip.HostManager.
func (r *Runtime) ManageHost(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	c := r.call()
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	if code = w.ManageHost(t, p, size); code != hip.Success {
		return code
	}
	if code = r.share(place{c.worker, t.Device}, p, size, true); code != hip.Success {
		_ = w.UnmanageHost(t, p) // nobody else has heard of it
	}
	return code
}

// UnmanageHost ends what ManageHost began.
func (r *Runtime) UnmanageHost(t hip.Thread, p hip.Ptr) hip.Error {
	return r.endHost(t, p, member.UnmanageHost)
}

// Free is hipFree, of device or host memory.
func (r *Runtime) Free(t hip.Thread, p hip.Ptr) hip.Error {
	if _, _, ok := r.hosts.find(p); ok {
		return r.endHost(t, p, member.Free)
	}
	c := r.call()
	c.address(p)
	w, code := c.of(&t)
	if code == hip.Success {
		code = w.Free(t, p)
	}
	if code == hip.Success {
		r.strays.remove(p)
	}
	return code
}

// FreeAsync is hipFreeAsync. Memory of another worker than the stream's is freed once the stream has come there.
func (r *Runtime) FreeAsync(t hip.Thread, p hip.Ptr, s hip.Stream) hip.Error {
	c := r.call()
	turn := t
	stream := hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&turn)
	if code != hip.Success {
		return code
	}
	if owner, ok := r.owner(p); ok && owner != c.worker {
		if code := w.Turn(turn, stream); code != hip.Success {
			return code
		}
		o := r.call()
		o.address(p)
		if w, code = o.of(&t); code != hip.Success {
			return code
		}
		turn, stream = t, hip.StreamNull
	}
	if code = w.FreeAsync(turn, p, stream); code == hip.Success {
		r.strays.remove(p)
	}
	return code
}

// DeviceReset is hipDeviceReset.
func (r *Runtime) DeviceReset(t hip.Thread) hip.Error {
	c := r.call()
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	at := place{c.worker, t.Device}
	lent := map[hip.Ptr]hipremote.HostMemory{} // managed memory goes with the device that it was allocated on
	for _, p := range r.hosts.managedOn(at) {
		if h, ok := w.HostMemory(p); ok {
			lent[p] = h
			r.unshare(at, p)
		}
	}
	r.asides.forget(at)
	code = w.DeviceReset(t)
	for p, h := range lent {
		if code == hip.Success {
			r.hosts.take(p)
			continue
		}
		for i, other := range r.workers {
			if i != at.worker {
				_ = other.Adopt(h) // as it was
			}
		}
	}
	return code
}

// PointerGetAttributes is hipPointerGetAttributes.
func (r *Runtime) PointerGetAttributes(t hip.Thread, p hip.Ptr) (a hip.PointerAttributes, code hip.Error) {
	c := r.call()
	if code = c.knows(&t, p); code != hip.Success {
		return a, code
	}
	if a, code = r.workers[c.worker].PointerGetAttributes(t, p); code == hip.Success {
		a.Device = c.number(a.Device)
	}
	return a, code
}

// PointerGetAttribute is hipPointerGetAttribute.
func (r *Runtime) PointerGetAttribute(t hip.Thread, attr hip.PointerAttribute, p hip.Ptr) (v uint64, code hip.Error) {
	c := r.call()
	if code = c.knows(&t, p); code != hip.Success {
		return 0, code
	}
	if v, code = r.workers[c.worker].PointerGetAttribute(t, attr, p); code == hip.Success && attr == hip.DrvPointerAttributeDeviceOrdinal {
		v = uint64(uint32(c.number(int32(v))))
	}
	return v, code
}

// knows makes the call one for the worker that knows about an address: where host memory is at home, or whose device memory it is.
func (c *call) knows(t *hip.Thread, p hip.Ptr) hip.Error {
	c.home(p)
	c.thread(*t)
	if c.err != hip.Success {
		return c.err
	}
	if at, ok := c.devs.at(t.Device); ok && at.worker == c.worker {
		t.Device = at.device
	} else {
		t.Device = 0 // of a variable of a module, of which only the worker is known
	}
	return hip.Success
}
