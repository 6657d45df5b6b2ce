package rocm

import (
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// TestBatchInOrder: operations on memory come one after another, or none of them if one is wrong.
func TestBatchInOrder(t *testing.T) {
	r, th := stub(t, "testdata/stub_event.c"), hip.Thread{}
	mem := make([]uint64, 8)
	at := hip.Ptr(uintptr(unsafe.Pointer(&mem[0])))
	must(t, "HostRegister", r.HostRegister(th, at, 64, 0))
	op := func(kind hip.StreamBatchMemOpType, i int, value, flags uint64) hip.StreamBatchMemOpParamsUnion {
		return hip.StreamBatchMemOpParamsUnion{uint64(kind), uint64(at) + uint64(8*i), value, flags}
	}
	const write, wait, eq = hip.StreamMemOpWriteValue64, hip.StreamMemOpWaitValue64, hip.StreamWaitValueEq
	ops := []hip.StreamBatchMemOpParamsUnion{op(write, 1, 3, 0), op(wait, 1, 3, eq), op(write, 1, 4, 0)}
	must(t, "StreamBatchMemOp", r.StreamBatchMemOp(th, 0, ops, 0))
	if mem[1] != 4 {
		t.Errorf("%d is there", mem[1])
	}
	for what, bad := range map[string]hip.StreamBatchMemOpParamsUnion{
		"a barrier": op(hip.StreamMemOpBarrier, 1, 0, 0), "no comparison": op(wait, 1, 3, 4), "beyond the memory": op(write, 8, 1, 0), "no memory": {uint64(write), 0, 1, 0},
	} {
		is(t, what, r.StreamBatchMemOp(th, 0, append(ops[:1:1], bad), 0), hip.ErrorInvalidValue)
	}
	is(t, "nothing", r.StreamBatchMemOp(th, 0, nil, 0), hip.ErrorInvalidValue)
	is(t, "flags", r.StreamBatchMemOp(th, 0, ops, 1), hip.ErrorInvalidValue)
	if mem[1] != 4 {
		t.Errorf("%d is there after what was refused", mem[1])
	}
}
