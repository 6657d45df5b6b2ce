package rocm

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// AMD's pools take a wait for any event of a stream for one for all that the stream has freed by then, also after the event (MemoryTimestamp::AddSafeStream),
// and give memory out that is still used. So hipMemPoolReuseFollowEventDependencies is off in the library, for every pool before it has memory; what a program
// sets, and reads, is kept here. Another stream than the one that freed memory gets it once the free is reached.

// poolEvents are what programs have set.
type poolEvents struct {
	mu  sync.Mutex
	set map[hip.MemPool]bool  // of pools of which it is off in the library
	own map[int32]hip.MemPool // those that devices have of their own
	all bool                  // devices
}

// off switches it off in a new pool. mu is held.
func (x *poolEvents) off(r *Runtime, pool hip.MemPool) {
	if r.memPoolSetAttribute(hip.Thread{}, pool, hip.MemPoolReuseFollowEventDependencies, 0) != hip.Success {
		return // the library knows no such attribute
	}
	if x.set == nil {
		x.set, x.own = map[hip.MemPool]bool{}, map[int32]hip.MemPool{}
	}
	x.set[pool] = true
}

// created is told of a program's pool.
func (x *poolEvents) created(r *Runtime, pool hip.MemPool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.off(r, pool)
}

// ready is called before memory is had of devices' own pools, or anything set.
func (x *poolEvents) ready(r *Runtime) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all {
		return
	}
	x.all = true
	n, _ := r.GetDeviceCount()
	for d := range n {
		if _, done := x.own[d]; done {
			continue
		}
		if pool, err := r.DeviceGetDefaultMemPool(d); err == hip.Success {
			if x.off(r, pool); x.set[pool] {
				x.own[d] = pool
			}
		}
	}
}

// reset forgets what a reset of a device ends: a program's pools, and its own.
func (x *poolEvents) reset(device int32, pools map[hip.MemPool]int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for pool := range pools {
		delete(x.set, pool)
	}
	delete(x.set, x.own[device])
	delete(x.own, device)
	x.all = false
}

// kept calls f with what a program has set of a pool, and keeps what it returns; false if the library is to be asked.
func (x *poolEvents) kept(r *Runtime, pool hip.MemPool, attr hip.MemPoolAttr, f func(on bool) bool) bool {
	if attr != hip.MemPoolReuseFollowEventDependencies {
		return false
	}
	x.ready(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	on, ok := x.set[pool]
	if ok {
		x.set[pool] = f(on)
	}
	return ok
}

// MemPoolGetAttribute is hipMemPoolGetAttribute.
func (r *Runtime) MemPoolGetAttribute(t hip.Thread, pool hip.MemPool, attr hip.MemPoolAttr) (value uint64, _ hip.Error) {
	if r.events.kept(r, pool, attr, func(on bool) bool {
		if on {
			value = 1
		}
		return on
	}) {
		return value, hip.Success
	}
	return r.memPoolGetAttribute(t, pool, attr)
}

// MemPoolSetAttribute is hipMemPoolSetAttribute.
func (r *Runtime) MemPoolSetAttribute(t hip.Thread, pool hip.MemPool, attr hip.MemPoolAttr, value uint64) hip.Error {
	if r.events.kept(r, pool, attr, func(bool) bool { return value != 0 }) {
		return hip.Success
	}
	return r.memPoolSetAttribute(t, pool, attr, value)
}
