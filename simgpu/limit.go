package simgpu

import (
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
)

// limits are what a device gives its kernels of each thing, until a program asks
// for more. They last as long as the process, as HIP's do.
type limits struct {
	stack atomic.Uint64 // bytes of a thread
	heap  atomic.Uint64 // bytes that malloc in kernels begins with
}

// What a device of HIP's has before anyone asks for more, in bytes, and the most
// that a thread's stack may have: what a scratch descriptor can say.
const (
	limitStack = 1024
	limitHeap  = 8 << 20
	maxStack   = 128<<10 - 16
)

func (l *limits) init() {
	l.stack.Store(limitStack)
	l.heap.Store(limitHeap)
}

// of is the limit of that name. ErrorInvalidValue: HIP has none, ErrorUnsupportedLimit:
// AMD's cards have none, or it is no limit.
func (l *limits) of(limit hip.Limit) (*atomic.Uint64, hip.Error) {
	switch {
	case limit == hip.LimitStackSize:
		return &l.stack, hip.Success
	case limit == hip.LimitMallocHeapSize:
		return &l.heap, hip.Success
	case limit >= hip.LimitRange: // what is below all is merely unsupported
		return nil, hip.ErrorInvalidValue
	}
	return nil, hip.ErrorUnsupportedLimit
}

// DeviceGetLimit is a limit of the thread's device, in bytes.
func (r *Runtime) DeviceGetLimit(t hip.Thread, limit hip.Limit) (uint64, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	v, e := d.limits.of(limit)
	if e != hip.Success {
		return 0, e
	}
	return v.Load(), hip.Success
}

// DeviceSetLimit changes a limit of the thread's device.
func (r *Runtime) DeviceSetLimit(t hip.Thread, limit hip.Limit, value uint64) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	v, e := d.limits.of(limit)
	if e != hip.Success {
		return e
	}
	switch limit {
	case hip.LimitStackSize:
		if value > maxStack {
			return hip.ErrorInvalidValue
		}
		value = (value + 15) &^ 15
	case hip.LimitMallocHeapSize:
		if value >= d.props.TotalGlobalMem {
			return hip.ErrorInvalidValue
		}
	}
	v.Store(value)
	return hip.Success
}
