package memop

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func TestPasses(t *testing.T) {
	const all = ^uint64(0)
	for _, c := range []struct {
		compare        uint32
		mask, value, v uint64
		want           bool
	}{
		{hip.StreamWaitValueGte, all, 4, 3, false}, {hip.StreamWaitValueGte, all, 4, 4, true}, {hip.StreamWaitValueGte, 0xF, 4, 0x13, false},
		{hip.StreamWaitValueEq, 0xFFFF, 1, 0x0FFF0000, false}, {hip.StreamWaitValueEq, 0xFFFF, 1, 0x0FFF0001, true},
		{hip.StreamWaitValueAnd, 0xFF, 0xF4A, 0xF35, false}, {hip.StreamWaitValueAnd, 0xFF, 0xF4A, 2, true},
		{hip.StreamWaitValueNor, 1<<32 - 1, 0x7AAAAAAA, 0x85555555, false}, {hip.StreamWaitValueNor, 1<<32 - 1, 0x7AAAAAAA, 0x85555550, true},
		{hip.StreamWaitValueNor, 0xF, 0xF, 0, false}, {hip.StreamWaitValueNor, all, 0, all - 1, true},
	} {
		o := Op{Compare: c.compare, Mask: c.mask, Value: c.value}
		if got := o.Passes(c.v); got != c.want {
			t.Errorf("comparison %d of %#x with %#x, mask %#x: %v", c.compare, c.v, c.value, c.mask, got)
		}
	}
}

func TestAccess(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for at := range 8 {
			b := make([]byte, 24)
			o := Op{Wide: wide, Value: 0x1122334455667788}
			in := b[at : at+int(o.Size())]
			o.Store(in)
			want := o.Value
			if !wide {
				want = 0x55667788
			}
			if got := o.Load(in); got != want || b[at] != 0x88 || b[at+int(o.Size())] != 0 || at > 0 && b[at-1] != 0 {
				t.Errorf("at %d: %#x in % x", at, got, b)
			}
		}
	}
}

func TestOf(t *testing.T) {
	o, ok := Of(&hip.StreamBatchMemOpParamsUnion{uint64(hip.StreamMemOpWaitValue32), 64, 1<<40 | 5, 1})
	if !ok || (o != Op{Ptr: 64, Value: 5, Mask: 1<<32 - 1, Wait: true, Compare: 1}) || !o.Valid() {
		t.Errorf("%+v, %v", o, ok)
	}
	o, ok = Of(&hip.StreamBatchMemOpParamsUnion{uint64(hip.StreamMemOpWriteValue64), 64, 1 << 40, 99})
	if !ok || !o.Wide || o.Wait || o.Value != 1<<40 || !o.Valid() {
		t.Errorf("%+v, %v", o, ok)
	}
	for _, kind := range []hip.StreamBatchMemOpType{hip.StreamMemOpBarrier, hip.StreamMemOpFlushRemoteWrites, 0, 99} {
		if _, ok := Of(&hip.StreamBatchMemOpParamsUnion{uint64(kind), 64}); ok {
			t.Errorf("%d is an operation", kind)
		}
	}
	for _, o := range []Op{{Ptr: 0}, {Ptr: 4, Wait: true, Compare: 4}} {
		if o.Valid() {
			t.Errorf("%+v is valid", o)
		}
	}
}
