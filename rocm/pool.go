package rocm

import "github.com/rocwire/rocwire/hip"

// MemPoolCreate is hipMemPoolCreate.
func (r *Runtime) MemPoolCreate(t hip.Thread, props *hip.MemPoolProps) (hip.MemPool, hip.Error) {
	pool, err := r.memPoolCreate(t, props)
	if err == hip.Success {
		r.held.add(pool, props.Location.Id)
		r.events.created(r, pool)
	}
	return pool, err
}

// MallocFromPoolAsync is hipMallocFromPoolAsync.
func (r *Runtime) MallocFromPoolAsync(t hip.Thread, size uint64, pool hip.MemPool, s hip.Stream) (hip.Ptr, hip.Error) {
	ptr, err := r.takeFromPool(t, s, func() (hip.Ptr, hip.Error) { return r.mallocFromPoolAsync(t, size, pool, s) })
	if err == hip.Success {
		r.held.allocated(ptr, size, pool)
	}
	return ptr, err
}

// MemPoolImportPointer is hipMemPoolImportPointer.
func (r *Runtime) MemPoolImportPointer(t hip.Thread, pool hip.MemPool, data *hip.MemPoolPtrExportData) (hip.Ptr, hip.Error) {
	ptr, err := r.memPoolImportPointer(t, pool, data)
	if err == hip.Success {
		_, size, _ := r.MemGetAddressRange(t, ptr)
		r.held.allocated(ptr, size, pool)
	}
	return ptr, err
}

// poolsOf calls f for each pool of a device. The pools' mu is held.
func (r *Runtime) poolsOf(device int32, f func(hip.MemPool)) {
	if pool, err := r.DeviceGetDefaultMemPool(device); err == hip.Success {
		f(pool)
	}
	for pool, d := range r.held.own {
		if d == device {
			f(pool)
		}
	}
}

// PoolDevice is a hip.PoolHolder's.
func (r *Runtime) PoolDevice(pool hip.MemPool) (int32, bool) {
	r.held.mu.RLock()
	device, ok := r.held.own[pool]
	r.held.mu.RUnlock()
	if ok {
		return device, true
	}
	n, _ := r.GetDeviceCount()
	for i := range n {
		if own, err := r.DeviceGetDefaultMemPool(i); err == hip.Success && own == pool {
			return i, true
		}
	}
	return 0, false
}

// PoolsHold is a hip.PoolHolder's. Memory of a pool that was destroyed counts
// until it is freed, be it on a stream that has not come to it.
func (r *Runtime) PoolsHold(device int32) (n uint64) {
	r.held.mu.RLock()
	defer r.held.mu.RUnlock()
	r.poolsOf(device, func(pool hip.MemPool) {
		t := hip.Thread{Device: device}
		have, err := r.MemPoolGetAttribute(t, pool, hip.MemPoolAttrReservedMemCurrent)
		if err != hip.Success {
			have, _ = r.MemPoolGetAttribute(t, pool, hip.MemPoolAttrUsedMemCurrent)
		}
		n += granules(have)
	})
	for _, m := range r.held.busy {
		if m.pool == 0 && m.device == device {
			n += granules(m.size)
		}
	}
	return n
}

// granules is n bytes in whole granules.
func granules(n uint64) uint64 { return (n + hip.Granule - 1) &^ (hip.Granule - 1) }

// TrimPools is a hip.PoolHolder's.
func (r *Runtime) TrimPools(device int32) {
	r.held.mu.RLock()
	defer r.held.mu.RUnlock()
	r.poolsOf(device, func(pool hip.MemPool) { _ = r.MemPoolTrimTo(pool, 0) })
}
