package simgpu

import (
	"github.com/rocwire/rocwire/hip"
)

// MemPoolCreate makes a pool of a device's memory. As AMD's library it takes
// any handle types: what makes no sense is refused when a handle is asked for.
func (r *Runtime) MemPoolCreate(t hip.Thread, props *hip.MemPoolProps) (hip.MemPool, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if props == nil || props.AllocType != hip.MemAllocationTypePinned || !r.checkLocation(&props.Location) {
		return 0, hip.ErrorInvalidValue
	}
	p := newPool(r.devices[props.Location.Id], *props)
	r.pools.put(p.handle, p)
	return p.handle, hip.Success
}

// own reports whether p is a device's own pool, which is always there.
func (p *pool) own() bool { return p.handle == p.d.pool }

// pool begins a call for a pool; leave ends it, unless it returned an error.
func (r *Runtime) pool(t hip.Thread, h hip.MemPool) (*pool, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return nil, e
	}
	p, ok := r.pools.get(h)
	if !ok {
		r.leave()
		return nil, hip.ErrorInvalidValue
	}
	return p, hip.Success
}

// MemPoolDestroy ends a pool's handle. What was allocated from it lives on until
// it is freed.
func (r *Runtime) MemPoolDestroy(t hip.Thread, h hip.MemPool) hip.Error {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if p.own() {
		return hip.ErrorInvalidValue
	}
	if _, ok := r.pools.take(h); !ok {
		return hip.ErrorInvalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.destroyed = true
	for _, b := range p.free {
		p.give(b)
	}
	p.free, p.kept = nil, 0
	return hip.Success
}

// DeviceGetDefaultMemPool is the pool of MallocAsync.
func (r *Runtime) DeviceGetDefaultMemPool(device int32) (hip.MemPool, hip.Error) {
	if device < 0 || int(device) >= len(r.devices) {
		return 0, hip.ErrorInvalidDevice
	}
	return r.devices[device].pool, hip.Success
}

// MemPoolTrimTo gives back freed memory that no stream may still use, down to
// what is to be kept.
func (r *Runtime) MemPoolTrimTo(h hip.MemPool, minBytesToHold uint64) hip.Error {
	p, ok := r.pools.get(h)
	if !ok {
		return hip.ErrorInvalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shrink(minBytesToHold)
	return hip.Success
}

func number(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// MemPoolGetAttribute is one of the pool's settings or figures.
func (r *Runtime) MemPoolGetAttribute(t hip.Thread, h hip.MemPool, attr hip.MemPoolAttr) (uint64, hip.Error) {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch attr {
	case hip.MemPoolReuseFollowEventDependencies:
		return number(p.reuse.events), hip.Success
	case hip.MemPoolReuseAllowOpportunistic:
		return number(p.reuse.opportunistic), hip.Success
	case hip.MemPoolReuseAllowInternalDependencies:
		return number(p.reuse.internal), hip.Success
	case hip.MemPoolAttrReleaseThreshold:
		return p.threshold, hip.Success
	case hip.MemPoolAttrReservedMemCurrent:
		return p.reserved.now, hip.Success
	case hip.MemPoolAttrReservedMemHigh:
		return p.reserved.high, hip.Success
	case hip.MemPoolAttrUsedMemCurrent:
		return p.used.now, hip.Success
	case hip.MemPoolAttrUsedMemHigh:
		return p.used.high, hip.Success
	}
	return 0, hip.ErrorInvalidValue
}

// MemPoolSetAttribute changes a setting. A figure can only have its highest
// value forgotten, by a value of 0.
func (r *Runtime) MemPoolSetAttribute(t hip.Thread, h hip.MemPool, attr hip.MemPoolAttr, value uint64) hip.Error {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch attr {
	case hip.MemPoolReuseFollowEventDependencies:
		p.reuse.events = value != 0
	case hip.MemPoolReuseAllowOpportunistic:
		p.reuse.opportunistic = value != 0
	case hip.MemPoolReuseAllowInternalDependencies:
		p.reuse.internal = value != 0
	case hip.MemPoolAttrReleaseThreshold:
		p.threshold = value
	case hip.MemPoolAttrReservedMemHigh, hip.MemPoolAttrUsedMemHigh:
		if value != 0 {
			return hip.ErrorInvalidValue
		}
		if attr == hip.MemPoolAttrUsedMemHigh {
			p.used.high = 0
		} else {
			p.reserved.high = 0
		}
	default:
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// MemPoolSetAccess says which devices may use the pool's memory. It only keeps
// the books, as DeviceEnablePeerAccess does. As with AMD's, access cannot be
// taken away, and the pool's own device has it in any case.
func (r *Runtime) MemPoolSetAccess(t hip.Thread, h hip.MemPool, desc []hip.MemAccessDesc) hip.Error {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if len(desc) > len(r.devices) {
		return hip.ErrorInvalidDevice
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range desc {
		switch {
		case a.Location.Type != hip.MemLocationTypeDevice:
			return hip.ErrorInvalidValue
		case !r.checkLocation(&a.Location), a.Flags == hip.MemAccessFlagsProtNone:
			return hip.ErrorInvalidDevice
		case a.Flags < 0 || a.Flags > hip.MemAccessFlagsProtReadWrite:
			return hip.ErrorInvalidValue
		}
		if a.Location.Id != p.d.id {
			p.access[a.Location.Id] = a.Flags
		}
	}
	return hip.Success
}

// MemPoolGetAccess is what a device may do with the pool's memory.
func (r *Runtime) MemPoolGetAccess(t hip.Thread, h hip.MemPool, location *hip.MemLocation) (hip.MemAccessFlags, hip.Error) {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if !r.checkLocation(location) {
		return 0, hip.ErrorInvalidValue
	}
	if location.Id == p.d.id {
		return hip.MemAccessFlagsProtReadWrite, hip.Success
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.access[location.Id], hip.Success
}

// MallocAsync allocates from the own pool of the stream's device, for use by
// what is queued on the stream from now on.
func (r *Runtime) MallocAsync(t hip.Thread, size uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	return r.mallocAsync(t, size, 0, s)
}

// MallocFromPoolAsync is MallocAsync from a pool.
func (r *Runtime) MallocFromPoolAsync(t hip.Thread, size uint64, h hip.MemPool, s hip.Stream) (hip.Ptr, hip.Error) {
	if h == 0 {
		return 0, hip.ErrorInvalidValue
	}
	return r.mallocAsync(t, size, h, s)
}

func (r *Runtime) mallocAsync(t hip.Thread, size uint64, h hip.MemPool, s hip.Stream) (hip.Ptr, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	st, e := r.order(t, s)
	if e != hip.Success {
		return 0, e
	}
	if h == 0 {
		h = st.d.pool
	}
	p, ok := r.pools.get(h)
	if !ok {
		return 0, hip.ErrorInvalidValue
	}
	if size == 0 {
		return 0, hip.Success
	}
	return p.allocate(size, st)
}

// FreeAsync frees memory when the stream gets there: that of a pool goes back to
// it, other memory ends.
func (r *Runtime) FreeAsync(t hip.Thread, ptr hip.Ptr, s hip.Stream) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.ErrorInvalidValue
	}
	st, e := r.order(t, s)
	if e != hip.Success {
		return e
	}
	return r.freeAsync(t, ptr, st)
}

// order is the stream in whose order memory is allocated and freed. A handle that
// is none is ErrorInvalidHandle here, not as everywhere else.
func (r *Runtime) order(t hip.Thread, s hip.Stream) (*stream, hip.Error) {
	st, e := r.stream(t, s)
	if st == nil {
		e = hip.ErrorInvalidHandle
	}
	return st, e
}
