package quota

import (
	"math"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/hostmem"
)

func pages(size uint64) uint64 {
	if size > 1<<63 {
		return size // no device has as much
	}
	return (size + hip.Granule - 1) &^ (hip.Granule - 1)
}

// take adds to what the session holds, false if a limit forbids it; with press, others of the joint account give way if need be.
func (d *device) take(size uint64, press bool) bool {
	_, ok := d.takeSome(size, size, press)
	return ok
}

// fits says whether the session's own limit allows size bytes more.
func (d *device) fits(size uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limits.Memory == 0 || size <= d.limits.Memory-min(d.held, d.limits.Memory)
}

// over says whether the session holds more than its own limit.
func (d *device) over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limits.Memory != 0 && d.held > d.limits.Memory
}

// takeSome takes as much as the limits allow, size at most, if that is least.
func (d *device) takeSome(size, least uint64, press bool) (got uint64, ok bool) {
	d.mu.Lock()
	got = size
	if room := d.limits.Memory - min(d.held, d.limits.Memory); d.limits.Memory != 0 && size > room {
		got = room &^ (hip.Granule - 1)
	}
	if got < least {
		d.mu.Unlock()
		return 0, false
	}
	d.held += got // before the joint account is asked: two calls at once must not both fit
	d.mu.Unlock()
	all := d.jointly(got, least, press)
	ok = all >= least
	if !ok {
		all = 0
	}
	d.lose(got - all)
	return all, ok
}

// lose takes size bytes off what the session holds itself, or what there is of it, and says how much that was.
func (d *device) lose(size uint64) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	size = min(size, d.held)
	d.held -= size
	return size
}

func (d *device) give(size uint64) { d.disjoin(d.lose(size)) }

// use moves bytes from unused to used; below 0, back.
func (d *device) use(size int64) {
	d.mu.Lock()
	if size >= 0 {
		d.unused -= min(uint64(size), d.unused)
	} else {
		d.unused += uint64(-size)
	}
	d.mu.Unlock()
}

// allocate runs alloc within the limit of t's device.
func (q *Runtime) allocate(t hip.Thread, size uint64, alloc func() (hip.Ptr, hip.Error)) (hip.Ptr, hip.Error) {
	d, n := q.device(t.Device), pages(size)
	if d == nil || size == 0 {
		return alloc()
	}
	if !q.host.Fits(hostmem.Mapping) || !q.take(d, n) {
		return 0, hip.ErrorOutOfMemory
	}
	p, code := pressed(q, d, n, alloc)
	if code != hip.Success {
		d.give(n)
		return p, code
	}
	q.keep(p, block{device: t.Device, size: n})
	return p, code
}

func (q *Runtime) keep(p hip.Ptr, b block) {
	q.mu.Lock()
	if _, known := q.blocks[p]; !known {
		q.host.Add(hostmem.Mapping)
	}
	q.blocks[p] = b
	q.mu.Unlock()
}

// forget takes a block out of the account before it is freed, as its address may be
// another's right afterwards.
func (q *Runtime) forget(p hip.Ptr) (block, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b, ok := q.blocks[p]
	if ok {
		delete(q.blocks, p)
		q.host.Give(hostmem.Mapping)
	}
	return b, ok
}

// freed gives back what a block took.
func (q *Runtime) freed(b block) {
	d := q.device(b.device)
	if b.placed {
		d.use(-int64(b.size))
	} else {
		d.give(b.size)
	}
}

// Malloc implements hip.Runtime.
func (q *Runtime) Malloc(t hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	return q.allocate(t, size, func() (hip.Ptr, hip.Error) { return q.Runtime.Malloc(t, size) })
}

// ExtMallocWithFlags implements hip.Runtime.
func (q *Runtime) ExtMallocWithFlags(t hip.Thread, size uint64, flags uint32) (hip.Ptr, hip.Error) {
	return q.allocate(t, size, func() (hip.Ptr, hip.Error) { return q.Runtime.ExtMallocWithFlags(t, size, flags) })
}

// Free implements hip.Runtime.
func (q *Runtime) Free(t hip.Thread, p hip.Ptr) hip.Error {
	b, known := q.forget(p)
	code := q.Runtime.Free(t, p)
	switch {
	case !known:
	case code == hip.Success:
		q.freed(b)
	default:
		q.keep(p, b)
	}
	return code
}

// DeviceReset implements hip.Runtime. What was granted stays granted.
func (q *Runtime) DeviceReset(t hip.Thread) hip.Error {
	code := q.Runtime.DeviceReset(t)
	if code != hip.Success {
		return code
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for p, b := range q.blocks {
		if b.device == t.Device {
			delete(q.blocks, p)
			q.host.Give(hostmem.Mapping)
			q.freed(b)
		}
	}
	for o, b := range q.objects {
		if b.device == t.Device {
			delete(q.objects, o)
			q.freed(b)
		}
	}
	for p, o := range q.opened {
		if o.device == t.Device {
			delete(q.opened, p)
			q.host.Give(hostmem.Mapping)
			q.freed(o.block)
		}
	}
	unmapped := q.physical.reset(t.Device, q.freed)
	q.host.Give(uint64(unmapped) * hostmem.Mapping)
	if d := q.device(t.Device); d != nil {
		d.time.reset()
	}
	return code
}

// MemGetInfo implements hip.Runtime: free is what an allocation could get, what others would give way with included.
func (q *Runtime) MemGetInfo(t hip.Thread) (free, total uint64, code hip.Error) {
	free, total, code = q.Runtime.MemGetInfo(t)
	d := q.device(t.Device)
	if code != hip.Success || d == nil {
		return free, total, code
	}
	q.settle(d)
	if q.spare != nil {
		if more := q.spare(t.Device); more < total-min(free, total) { // it comes from another process
			free += more
		} else {
			free = total
		}
	}
	left := uint64(math.MaxUint64)
	if d.joint != nil {
		left = d.joint.Left(t.Device)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if limit := d.limits.Memory; limit != 0 {
		total = min(total, limit)
		used := d.held - min(d.unused, d.held)
		free = min(free, total-min(used, total))
	}
	if left < math.MaxUint64-d.unused {
		free = min(free, left+d.unused)
	}
	return free, total, code
}

// GetDevicePropertiesR0600 implements hip.Runtime.
func (q *Runtime) GetDevicePropertiesR0600(index int32) (*hip.DevicePropR0600, hip.Error) {
	p, code := q.Runtime.GetDevicePropertiesR0600(index)
	d := q.device(index)
	if code != hip.Success || d == nil {
		return p, code
	}
	d.mu.Lock()
	limit := d.limits.Memory
	d.mu.Unlock()
	if limit != 0 && limit < p.TotalGlobalMem {
		own := *p
		own.TotalGlobalMem = limit
		p = &own
	}
	return p, code
}
