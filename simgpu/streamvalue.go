package simgpu

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/memop"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// StreamWaitValue32 holds a stream up until the 32 bits at ptr compare with
// value as flags say. The memory is the device's, or host memory it was told of.
func (r *Runtime) StreamWaitValue32(t hip.Thread, s hip.Stream, ptr hip.Ptr, value, flags, mask uint32) hip.Error {
	return r.memOps(t, s, memop.Op{Ptr: ptr, Value: uint64(value), Mask: uint64(mask), Wait: true, Compare: flags})
}

// StreamWaitValue64 is StreamWaitValue32 with 64 bits.
func (r *Runtime) StreamWaitValue64(t hip.Thread, s hip.Stream, ptr hip.Ptr, value uint64, flags uint32, mask uint64) hip.Error {
	return r.memOps(t, s, memop.Op{Ptr: ptr, Value: value, Mask: mask, Wide: true, Wait: true, Compare: flags})
}

// StreamWriteValue32 writes 32 bits when the stream gets there. flags mean nothing.
func (r *Runtime) StreamWriteValue32(t hip.Thread, s hip.Stream, ptr hip.Ptr, value, _ uint32) hip.Error {
	return r.memOps(t, s, memop.Op{Ptr: ptr, Value: uint64(value)})
}

// StreamWriteValue64 is StreamWriteValue32 with 64 bits.
func (r *Runtime) StreamWriteValue64(t hip.Thread, s hip.Stream, ptr hip.Ptr, value uint64, _ uint32) hip.Error {
	return r.memOps(t, s, memop.Op{Ptr: ptr, Value: value, Wide: true})
}

// StreamBatchMemOp does several such operations, in their order. It has no
// barriers: ErrorInvalidValue, as for more than 256 operations, or flags.
func (r *Runtime) StreamBatchMemOp(t hip.Thread, s hip.Stream, ops []hip.StreamBatchMemOpParamsUnion, flags uint32) hip.Error {
	if len(ops) == 0 || len(ops) > memop.MaxBatch || flags != 0 {
		return hip.ErrorInvalidValue
	}
	list := make([]memop.Op, 0, len(ops))
	for _, o := range ops {
		op, ok := memop.Of(&o)
		if !ok {
			return hip.ErrorInvalidValue
		}
		list = append(list, op)
	}
	return r.memOps(t, s, list...)
}

// memOps checks operations and queues them as one task.
func (r *Runtime) memOps(t hip.Thread, s hip.Stream, ops ...memop.Op) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	for i := range ops {
		if ops[i].Ptr == 0 {
			return hip.ErrorInvalidValue
		}
	}
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	for i := range ops {
		if o := &ops[i]; !o.Valid() || !r.known(o.Ptr, o.Size()) {
			return hip.ErrorInvalidValue
		}
	}
	ctx := st.d.context()
	st.q.Add(queue.Task{Run: func() {
		for i := range ops {
			if addr := runMemOp(ctx, &ops[i]); addr != 0 {
				_ = st.d.copyFault(st, "a stream's memory operation", addr) // it is the stream's
				return
			}
			if ctx.Err() != nil {
				return
			}
		}
	}})
	return hip.Success
}

// known reports whether n bytes at ptr are memory that the device may use.
func (r *Runtime) known(ptr hip.Ptr, n uint64) bool {
	_, unknown, e := r.locate(ptr, n)
	return e == hip.Success && !unknown
}

// memOpPause is how late a wait may notice that its value is there.
const memOpPause = 100 * time.Microsecond

// runMemOp writes, or waits until the value is there or ctx ends. It returns the
// address where that faulted, 0 for none.
func runMemOp(ctx context.Context, o *memop.Op) uint64 {
	if !o.Wait {
		return guard(func() { o.Store(vmem.Raw(uint64(o.Ptr), o.Size())) })
	}
	for pause := time.Microsecond; ; pause = min(2*pause, memOpPause) {
		var v uint64
		if addr := guard(func() { v = o.Load(vmem.Raw(uint64(o.Ptr), o.Size())) }); addr != 0 || o.Passes(v) {
			return addr
		}
		select {
		case <-ctx.Done():
			return 0
		case <-time.After(pause):
		}
	}
}
