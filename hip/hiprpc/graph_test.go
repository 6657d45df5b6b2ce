package hiprpc

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// every is a description with an operation of each type.
func every() (*hip.GraphDesc, []uint64) {
	d := &hip.GraphDesc{Device: 1, Ops: []hip.GraphOp{
		{Type: hip.GraphNodeTypeEmpty, Device: 1},
		{Type: hip.GraphNodeTypeKernel, After: []uint32{0}, Kernel: &hip.Launch{Function: 7, Grid: hip.Dim3{X: 1, Y: 2, Z: 3}, SharedMem: 4, Args: []byte{5, 6}, Flags: 1}},
		{Type: hip.GraphNodeTypeMemcpy, After: []uint32{0, 1}, Copy: &hip.GraphCopy{Dst: 1, Src: 2, DstPitch: 3, SrcPitch: 4, DstSlice: 5, SrcSlice: 6, Width: 7, Height: 8,
			Depth: 9, Kind: hip.MemcpyDeviceToDevice, Peer: true, DstDevice: 1, SrcDevice: 2}},
		{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{General: &hip.DrvMEMCPY3D{SrcArray: 4, DstArray: 5, WidthInBytes: 6, Height: 7, Depth: 8}}},
		{Type: hip.GraphNodeTypeMemset, Disabled: true, Set: &hip.GraphSet{Dst: 1, Pitch: 2, Value: 3, Element: 4, Width: 5, Height: 6, Slice: 7, Depth: 8}},
		{Type: hip.GraphNodeTypeHost},
		{Type: hip.GraphNodeTypeEventRecord, Event: 9},
		{Type: hip.GraphNodeTypeWaitEvent, Event: 10},
		{Type: hip.GraphNodeTypeMemAlloc},
		{Type: hip.GraphNodeTypeMemFree},
		{Type: hip.GraphNodeTypeBatchMemOp, Batch: []hip.StreamBatchMemOpParamsUnion{{1, 2, 3}}},
	}}
	funcs := make([]uint64, len(d.Ops))
	funcs[5] = 77
	return d, funcs
}

func TestGraphRoundTrip(t *testing.T) {
	d, funcs := every()
	b := AppendGraph(nil, d, funcs)
	d2, f2, ok := DecodeGraph(b)
	if !ok || !reflect.DeepEqual(d, d2) || !reflect.DeepEqual(funcs, f2) {
		t.Errorf("%v\n%v", d, d2)
	}
	for n := range b {
		if _, _, ok := DecodeGraph(b[:n]); ok {
			t.Fatalf("the first %d bytes of %d were decoded", n, len(b))
		}
	}
	if _, _, ok := DecodeGraph(append(b[:len(b):len(b)], 0)); ok {
		t.Error("what is too long was decoded")
	}
	var cs []hip.GraphChange
	for i, op := range d.Ops {
		op.After = nil
		cs = append(cs, hip.GraphChange{Index: uint32(i), Op: op})
	}
	cs2, f2, ok := DecodeChanges(AppendChanges(nil, cs, funcs))
	if !ok || !reflect.DeepEqual(cs, cs2) || !reflect.DeepEqual(funcs, f2) {
		t.Errorf("%v\n%v", cs, cs2)
	}
	l := GraphLaunch{Thread: hip.Thread{Device: 1, ID: 2}, Exec: 3, Stream: 4}
	var l2 GraphLaunch
	if !l2.Decode(l.Append(nil)) || l != l2 || l2.Decode(nil) {
		t.Errorf("%v", l2)
	}
	c := GraphCall{5, 6}
	var c2 GraphCall
	if !c2.Decode(c.Append(nil)) || c != c2 || c2.Decode([]byte{1}) {
		t.Errorf("%v", c2)
	}
}

func TestGraphRefused(t *testing.T) {
	one := func(op hip.GraphOp) []byte {
		return AppendGraph(nil, &hip.GraphDesc{Ops: []hip.GraphOp{op}}, []uint64{0})
	}
	for name, b := range map[string][]byte{
		"waits for itself":  one(hip.GraphOp{Type: hip.GraphNodeTypeEmpty, After: []uint32{0}}),
		"a child graph":     one(hip.GraphOp{Type: hip.GraphNodeTypeGraph}),
		"a type of nothing": one(hip.GraphOp{Type: 200}),
		"too many":          {0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
		"large arguments":   one(hip.GraphOp{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{Args: make([]byte, MaxArgs+1)}}),
	} {
		if _, _, ok := DecodeGraph(b); ok {
			t.Errorf("%s was decoded", name)
		}
	}
}

// FuzzGraph: what is decoded is encoded to the same, and is safe to look at.
func FuzzGraph(f *testing.F) {
	d, funcs := every()
	f.Add(AppendGraph(nil, d, funcs))
	f.Add(AppendChanges(nil, []hip.GraphChange{{Index: 3, Op: d.Ops[1]}}, []uint64{0}))
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, funcs, ok := DecodeGraph(b); ok {
			if again := AppendGraph(nil, d, funcs); len(again) > len(b) {
				t.Errorf("%d bytes became %d", len(b), len(again))
			} else if d2, _, ok := DecodeGraph(again); !ok || !bytes.Equal(AppendGraph(nil, d2, funcs), again) {
				t.Error("not the same again")
			}
			_ = d.Check()
		}
		if cs, funcs, ok := DecodeChanges(b); ok {
			again := AppendChanges(nil, cs, funcs)
			if cs2, _, ok := DecodeChanges(again); !ok || !bytes.Equal(AppendChanges(nil, cs2, funcs), again) {
				t.Error("not the same again")
			}
		}
		var l GraphLaunch
		_ = l.Decode(b)
		var c GraphCall
		_ = c.Decode(b)
	})
}
