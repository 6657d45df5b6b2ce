package rocm

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/memop"
)

// StreamBatchMemOp is hipStreamBatchMemOp. AMD's library has a workgroup for each operation, and none waits for those ahead of it: an operation may overwrite
// what an earlier one still waits for, which then never ends. So it is given one at a time, once all are known to be good.
func (r *Runtime) StreamBatchMemOp(t hip.Thread, s hip.Stream, ops []hip.StreamBatchMemOpParamsUnion, flags uint32) hip.Error {
	if len(ops) < 2 || len(ops) > memop.MaxBatch || flags != 0 {
		return r.streamBatchMemOp(t, s, ops, flags)
	}
	for i := range ops {
		op, ok := memop.Of(&ops[i])
		if !ok || !op.Valid() {
			return hip.ErrorInvalidValue
		}
		base, size, err := r.MemGetAddressRange(t, op.Ptr)
		if err != hip.Success || uint64(op.Ptr-base)+op.Size() > size {
			return hip.ErrorInvalidValue
		}
	}
	for i := range ops {
		if err := r.streamBatchMemOp(t, s, ops[i:i+1], 0); err != hip.Success {
			return err
		}
	}
	return hip.Success
}
