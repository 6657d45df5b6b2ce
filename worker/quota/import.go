package quota

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// opened is memory of another session.
type opened struct {
	block
	times int // it was opened
}

// importer is the device whose memory p is, and all of it; nil for what no quota counts.
func (q *Runtime) importer(t hip.Thread, p hip.Ptr) (d *device, base hip.Ptr, size uint64) {
	base, size, code := q.Runtime.MemGetAddressRange(t, p)
	if code != hip.Success {
		return nil, p, 0
	}
	index := t.Device
	if a, code := q.Runtime.PointerGetAttributes(t, p); code == hip.Success {
		index = a.Device
	}
	return q.device(index), base, pages(size)
}

// imported counts memory that was imported into a pool, false if the limit forbids it.
func (q *Runtime) imported(t hip.Thread, p hip.Ptr) bool {
	d, base, size := q.importer(t, p)
	if d == nil {
		return true
	}
	if !q.take(d, size) {
		return false
	}
	q.keep(base, block{device: d.index, size: size})
	return true
}

// IpcOpenMemHandle implements hip.Runtime.
func (q *Runtime) IpcOpenMemHandle(t hip.Thread, handle *hip.IpcMemHandle, flags uint32) (hip.Ptr, hip.Error) {
	p, code := q.Runtime.IpcOpenMemHandle(t, handle, flags)
	if code != hip.Success {
		return p, code
	}
	d, _, size := q.importer(t, p)
	if d == nil {
		return p, code
	}
	q.mu.Lock()
	o, again := q.opened[p]
	if again {
		o.times++
		q.opened[p] = o
	}
	q.mu.Unlock()
	if again {
		return p, code
	}
	if !q.host.Fits(hostmem.Mapping) || !q.take(d, size) {
		_ = q.Runtime.IpcCloseMemHandle(t, p) // it was just opened
		return 0, hip.ErrorOutOfMemory
	}
	q.mu.Lock()
	q.opened[p] = opened{block{device: d.index, size: size}, 1}
	q.host.Add(hostmem.Mapping)
	q.mu.Unlock()
	return p, code
}

// IpcCloseMemHandle implements hip.Runtime.
func (q *Runtime) IpcCloseMemHandle(t hip.Thread, p hip.Ptr) hip.Error {
	code := q.Runtime.IpcCloseMemHandle(t, p)
	if code != hip.Success {
		return code
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if o, ok := q.opened[p]; ok {
		if o.times--; o.times > 0 {
			q.opened[p] = o
		} else {
			delete(q.opened, p)
			q.host.Give(hostmem.Mapping)
			q.freed(o.block)
		}
	}
	return code
}

// MemImportFromShareableHandle implements hip.Runtime. How much it is shows when it is mapped.
func (q *Runtime) MemImportFromShareableHandle(t hip.Thread, token *hip.IpcMemHandle, handleType hip.MemAllocationHandleType) (hip.GenericAllocation, hip.Error) {
	h, code := q.Runtime.MemImportFromShareableHandle(t, token, handleType)
	if code != hip.Success {
		return h, code
	}
	prop, code := q.Runtime.MemGetAllocationPropertiesFromHandle(t, h)
	if code != hip.Success {
		_ = q.Runtime.MemRelease(t, h)
		return 0, code
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.physical.have[h] = &backing{block: block{device: prop.Location.Id}, owned: true, imported: true}
	return h, code
}
