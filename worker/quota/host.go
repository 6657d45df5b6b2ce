package quota

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// What is kept of allocations and mappings takes host memory. Where a call asks for one, it is refused when there is none; memory that was granted
// is placed without being asked for, and only counted.

// mapped runs f within the account of host memory, for a mapping or a reservation.
func (q *Runtime) mapped(f func() hip.Error) hip.Error {
	if !q.host.Take(hostmem.Mapping) {
		return hip.ErrorOutOfMemory
	}
	code := f()
	if code != hip.Success {
		q.host.Give(hostmem.Mapping)
	}
	return code
}

// MemAddressReserve implements hip.Runtime.
func (q *Runtime) MemAddressReserve(t hip.Thread, size, alignment uint64, addr hip.Ptr, flags uint64) (p hip.Ptr, code hip.Error) {
	code = q.mapped(func() hip.Error {
		p, code = q.Runtime.MemAddressReserve(t, size, alignment, addr, flags)
		return code
	})
	if code == hip.Success {
		q.mu.Lock()
		if _, twice := q.reserved[p]; twice { // the runtime has forgotten it, with a device that was reset
			q.host.Give(hostmem.Mapping)
		}
		q.reserved[p] = struct{}{}
		q.mu.Unlock()
	}
	return p, code
}

// MemAddressFree implements hip.Runtime.
func (q *Runtime) MemAddressFree(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	code := q.Runtime.MemAddressFree(t, p, size)
	if code == hip.Success {
		q.mu.Lock()
		if _, ok := q.reserved[p]; ok {
			delete(q.reserved, p)
			q.host.Give(hostmem.Mapping)
		}
		q.mu.Unlock()
	}
	return code
}
