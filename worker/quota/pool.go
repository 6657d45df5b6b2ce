package quota

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// pooled is what the memory pools have of a device, as the runtime last told.
type pooled struct {
	mu      sync.Mutex // held while a pool may grow; before the device's
	counted uint64     // of the device's held
}

// settle brings the account of a device up to date with what its pools hold.
func (q *Runtime) settle(d *device) {
	if q.pools != nil {
		d.pooled.mu.Lock()
		q.settled(d, 0)
		d.pooled.mu.Unlock()
	}
}

// settled is settle with pooled.mu held. reserved was taken of the joint account for what they have grown. It says whether the pools have grown, and by how
// much the joint account had no room for that.
func (q *Runtime) settled(d *device, reserved uint64) (grown bool, beyond uint64) {
	now, before := q.pools.PoolsHold(d.index), d.pooled.counted
	d.pooled.counted = now
	d.mu.Lock()
	d.held = d.held - min(before, d.held) + now
	d.mu.Unlock()
	if d.joint == nil {
		return now > before, 0
	}
	switch had := before + reserved; {
	case now > had:
		if more := now - had; d.joint.Take(d.index, more, more) != more {
			d.joint.Add(d.index, more)
			beyond = more
		}
	case now < had:
		d.joint.Give(d.index, had-now)
	}
	return now > before, beyond
}

// take adds to what the session holds of a device, if need be by having pools give back what they keep; false if a limit forbids it.
func (q *Runtime) take(d *device, size uint64) bool {
	if d.take(size, false) {
		return true
	}
	if q.pools != nil {
		q.pools.TrimPools(d.index)
		q.settle(d)
	}
	return d.take(size, true)
}

// reserve takes room for a pool to grow, if there is any; reserved is what was taken of the joint account.
func (d *device) reserve(size uint64, press bool) (reserved uint64, ok bool) {
	switch {
	case !d.fits(size):
		return 0, false
	case d.joint == nil:
		return 0, true
	}
	reserved = d.jointly(size, size, press)
	return reserved, reserved == size
}

// grow runs alloc, which gets memory of a pool of a device: what was freed before, or more of the device.
func (q *Runtime) grow(t hip.Thread, d *device, size uint64, alloc func() (hip.Ptr, hip.Error)) (hip.Ptr, hip.Error) {
	d.pooled.mu.Lock()
	defer d.pooled.mu.Unlock()
	q.settled(d, 0)
	n := pages(size)
	reserved, ok := d.reserve(n, false)
	if !ok {
		q.pools.TrimPools(d.index)
		q.settled(d, 0)
		if reserved, ok = d.reserve(n, n > d.pooled.counted); !ok && n > d.pooled.counted { // otherwise it may be there, freed and not reached yet
			return 0, hip.ErrorOutOfMemory
		}
	}
	p, code := pressed(q, d, n, alloc)
	grown, beyond := q.settled(d, reserved)
	if code != hip.Success || !grown || !d.over() && beyond == 0 {
		return p, code
	}
	before := d.pooled.counted
	q.pools.TrimPools(d.index)
	if q.settled(d, 0); !d.over() && before-min(d.pooled.counted, before) >= beyond {
		return p, code
	}
	_ = q.Runtime.Free(t, p) // it was just allocated
	q.pools.TrimPools(d.index)
	q.settled(d, 0)
	return 0, hip.ErrorOutOfMemory
}

// MallocAsync implements hip.Runtime.
func (q *Runtime) MallocAsync(t hip.Thread, size uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	alloc := func() (hip.Ptr, hip.Error) { return q.Runtime.MallocAsync(t, size, s) }
	if q.pools == nil {
		return q.allocate(t, size, alloc)
	}
	index := t.Device
	if s > hip.StreamPerThread {
		if i, code := q.Runtime.StreamGetDevice(t, s); code == hip.Success { // what is wrong with it, the runtime says
			index = i
		}
	}
	if d := q.device(index); d != nil {
		return q.grow(t, d, size, alloc)
	}
	return q.allocate(t, size, alloc)
}

// MallocFromPoolAsync implements hip.Runtime.
func (q *Runtime) MallocFromPoolAsync(t hip.Thread, size uint64, pool hip.MemPool, s hip.Stream) (hip.Ptr, hip.Error) {
	alloc := func() (hip.Ptr, hip.Error) { return q.Runtime.MallocFromPoolAsync(t, size, pool, s) }
	if q.pools == nil {
		return q.allocate(t, size, alloc)
	}
	index, ok := q.pools.PoolDevice(pool)
	d := q.device(index)
	if !ok || d == nil {
		return alloc()
	}
	return q.grow(t, d, size, alloc)
}

// MemPoolImportPointer implements hip.Runtime. What is imported counts as if it were allocated.
func (q *Runtime) MemPoolImportPointer(t hip.Thread, pool hip.MemPool, data *hip.MemPoolPtrExportData) (hip.Ptr, hip.Error) {
	alloc := func() (hip.Ptr, hip.Error) { return q.Runtime.MemPoolImportPointer(t, pool, data) }
	if q.pools == nil {
		p, code := alloc()
		if code == hip.Success && !q.imported(t, p) {
			_ = q.Runtime.Free(t, p)
			return 0, hip.ErrorOutOfMemory
		}
		return p, code
	}
	index, ok := q.pools.PoolDevice(pool)
	d := q.device(index)
	if !ok || d == nil {
		return alloc()
	}
	return q.grow(t, d, 0, alloc)
}

// FreeAsync implements hip.Runtime. The memory counts until the stream has freed it.
func (q *Runtime) FreeAsync(t hip.Thread, p hip.Ptr, s hip.Stream) hip.Error {
	b, known := q.forget(p)
	code := q.Runtime.FreeAsync(t, p, s)
	if !known {
		return code
	}
	if code != hip.Success {
		q.keep(p, b)
		return code
	}
	if b.placed || q.Runtime.LaunchHostFunc(t, s, func() { q.freed(b) }) != hip.Success {
		q.freed(b)
	}
	return code
}
