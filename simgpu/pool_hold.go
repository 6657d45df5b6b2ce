package simgpu

import "github.com/rocwire/rocwire/hip"

var _ hip.PoolHolder = (*Runtime)(nil)

// PoolDevice is a hip.PoolHolder's.
func (r *Runtime) PoolDevice(h hip.MemPool) (int32, bool) {
	p, ok := r.pools.get(h)
	if !ok {
		return 0, false
	}
	return p.d.id, true
}

// PoolsHold is a hip.PoolHolder's. Memory of a pool that was destroyed counts
// until it is freed.
func (r *Runtime) PoolsHold(device int32) uint64 {
	if device < 0 || int(device) >= len(r.devices) {
		return 0
	}
	return r.devices[device].pooled.Load()
}

// TrimPools is a hip.PoolHolder's.
func (r *Runtime) TrimPools(device int32) {
	if device < 0 || int(device) >= len(r.devices) {
		return
	}
	for _, p := range r.devices[device].pools() {
		p.mu.Lock()
		p.shrink(0)
		p.mu.Unlock()
	}
}
