package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// loaded is a session with vector_add and its vectors, a and b, and room for their sum, c.
func loaded(t testing.TB) (p *pair, a, b, c uint64, sum []byte) {
	t.Helper()
	p = start(t, nil)
	va, vb, sum := vectors()
	a, b, c = p.malloc(4*elements), p.malloc(4*elements), p.malloc(4*elements)
	p.put(a, va)
	p.put(b, vb)
	co := vectorAdd(t)
	q := &hipv1.LoadAndGetFunction{ModuleLoadRequest: hipv1.ModuleLoadRequest{DataSize: uint64(len(co))}, NameLength: 10, Vmodule: vmodule, Vfunc: vfunc}
	var f hipv1.ModuleLoadAndGetFunctionReply
	p.ask(hipv1.OpModuleLoadAndGetFunction, q, append([]byte("vector_add"), co...), &f)
	if f.Module != vmodule || f.Function != vfunc || f.NumParams != 4 || f.Params[1].Offset != 8 || f.KernargSize < 28 {
		t.Fatalf("%+v", f)
	}
	return p, a, b, c, sum
}

// words is numbers of eight bytes.
func words(list ...uint64) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// A graph that a client builds node by node does what its nodes say, in their order.
func TestGraph(t *testing.T) {
	p, a, b, c, sum := loaded(t)
	copied := p.malloc(4 * elements)
	var g hipv1.GraphCreateReply
	p.ask(hipv1.OpGraphCreate, &hipv1.GraphCreateRequest{}, nil, &g)
	node := func(op hipv1.Op, req any, tail []byte) uint64 {
		t.Helper()
		var n hipv1.GraphAddNodeReply
		p.ask(op, req, tail, &n)
		return n.Node
	}
	fill := node(hipv1.OpGraphAddMemsetNode, &hipv1.GraphAddMemsetNodeRequest{Graph: g.Graph, Dst: c, Value: 0x55, ElementSize: 1, Width: 4 * elements, Height: 1}, nil)
	kernel := node(hipv1.OpGraphAddKernelNode, &hipv1.GraphAddKernelNodeRequest{
		Graph: g.Graph, NumDeps: 1, Func: vfunc, GridDimX: 4, GridDimY: 1, GridDimZ: 1, BlockDimX: 256, BlockDimY: 1, BlockDimZ: 1, NumArgs: 4,
	}, words(fill, a, b, c, elements))
	empty := node(hipv1.OpGraphAddEmptyNode, &hipv1.GraphAddEmptyNodeRequest{Graph: g.Graph, NumDeps: 1}, words(kernel))
	last := node(hipv1.OpGraphAddMemcpyNode1D, &hipv1.GraphAddMemcpyNode1DRequest{Graph: g.Graph, Dst: copied, Src: c, Count: 4 * elements, Kind: 3}, nil)
	p.ask(hipv1.OpGraphAddDependencies, &hipv1.GraphAddDependenciesRequest{Graph: g.Graph, NumDeps: 1}, words(empty, last), nil)

	var nodes hipv1.GraphGetNodesReply
	if list := p.ask(hipv1.OpGraphGetNodes, &hipv1.GraphGetNodesRequest{Graph: g.Graph, MaxNodes: 10}, nil, &nodes); nodes.NumNodes != 4 || len(list) != 32 {
		t.Errorf("%d nodes, %x", nodes.NumNodes, list)
	}
	if list := p.ask(hipv1.OpGraphGetRootNodes, &hipv1.GraphGetNodesRequest{Graph: g.Graph, MaxNodes: 10}, nil, &nodes); !bytes.Equal(list, words(fill)) {
		t.Errorf("roots %x", list)
	}
	var edges hipv1.GraphGetEdgesReply
	if list := p.ask(hipv1.OpGraphGetEdges, &hipv1.GraphGetEdgesRequest{Graph: g.Graph, MaxEdges: 2}, nil, &edges); edges.NumEdges != 2 || len(list) != 32 {
		t.Errorf("%d edges, %x", edges.NumEdges, list)
	}
	var deps hipv1.GraphNodeGetDependenciesReply
	if list := p.ask(hipv1.OpGraphNodeGetDependencies, &hipv1.GraphNodeGetDependenciesRequest{Node: last, MaxNodes: 9}, nil, &deps); !bytes.Equal(list, words(empty)) {
		t.Errorf("%x", list)
	}
	if list := p.ask(hipv1.OpGraphNodeGetDependentNodes, &hipv1.GraphNodeGetDependenciesRequest{Node: fill, MaxNodes: 9}, nil, &deps); !bytes.Equal(list, words(kernel)) {
		t.Errorf("%x", list)
	}
	var kind hipv1.GraphNodeGetTypeReply
	if p.ask(hipv1.OpGraphNodeGetType, &hipv1.GraphNodeGetTypeRequest{Node: fill}, nil, &kind); hip.GraphNodeType(kind.Type) != hip.GraphNodeTypeMemset {
		t.Errorf("type %d", kind.Type)
	}
	var clone hipv1.GraphCloneReply
	p.ask(hipv1.OpGraphClone, &hipv1.GraphCloneRequest{OriginalGraph: g.Graph}, nil, &clone)
	var e hipv1.GraphInstantiateReply
	p.ask(hipv1.OpGraphInstantiate, &hipv1.GraphInstantiateRequest{Graph: clone.ClonedGraph}, nil, &e)
	for range 2 {
		p.post(hipv1.OpMemset, &hipv1.MemsetRequest{Dst: copied, Size: 4 * elements}, nil)
		p.post(hipv1.OpGraphLaunch, &hipv1.GraphLaunchRequest{GraphExec: e.GraphExec}, nil)
		if !bytes.Equal(p.get(copied, 4*elements), sum) {
			t.Error("the sum is wrong")
		}
	}
	for _, x := range []struct {
		op  hipv1.Op
		req any
	}{
		{hipv1.OpGraphAddMemcpyNode1D, &hipv1.GraphAddMemcpyNode1DRequest{Graph: g.Graph, Dst: c, Src: 0x7ffffff00000, Count: 4, Kind: 1}}, // what that holds later, nobody knows
		{hipv1.OpGraphExecKernelNodeSetParams, nil},
	} {
		p.fails(hip.ErrorNotSupported, x.op, x.req, nil)
	}
	p.fails(hip.ErrorInvalidValue, hipv1.OpGraphAddMemcpyNode1D, &hipv1.GraphAddMemcpyNode1DRequest{Graph: g.Graph, Dst: c, Src: c + 4*elements - 2, Count: 4, Kind: 3}, nil)
	p.fails(hip.ErrorInvalidValue, hipv1.OpGraphAddEmptyNode, &hipv1.GraphAddEmptyNodeRequest{Graph: 4711}, nil)
	p.ask(hipv1.OpGraphDestroyNode, &hipv1.GraphDestroyNodeRequest{Node: empty}, nil, nil)
	p.post(hipv1.OpGraphExecDestroy, &hipv1.GraphExecDestroyRequest{GraphExec: e.GraphExec}, nil)
	p.post(hipv1.OpGraphDestroy, &hipv1.GraphDestroyRequest{Graph: clone.ClonedGraph}, nil)
	p.post(hipv1.OpGraphDestroy, &hipv1.GraphDestroyRequest{Graph: g.Graph}, nil)
	p.post(hipv1.OpModuleUnload, &hipv1.ModuleUnloadRequest{Module: vmodule}, nil)
	for _, x := range []uint64{a, b, c, copied} {
		p.post(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: x}, nil)
	}
	p.sync()
	p.empty()
}

// What is issued on a stream that captures becomes a graph; what would need the client's memory later is refused, and ends the capture.
func TestCapture(t *testing.T) {
	p, a, b, c, sum := loaded(t)
	var st hipv1.StreamCreateReply
	p.ask(hipv1.OpStreamCreate, &hipv1.StreamCreateRequest{Flags: hip.StreamNonBlocking}, nil, &st)
	begin := func() {
		t.Helper()
		p.ask(hipv1.OpStreamBeginCapture, &hipv1.StreamBeginCaptureRequest{Stream: st.Stream, Mode: int32(hip.StreamCaptureModeRelaxed)}, nil, nil)
	}
	begin()
	var is hipv1.StreamIsCapturingReply
	p.ask(hipv1.OpStreamIsCapturing, &hipv1.StreamIsCapturingRequest{Stream: st.Stream}, nil, &is)
	var info hipv1.StreamGetCaptureInfoReply
	p.ask(hipv1.OpStreamGetCaptureInfo, &hipv1.StreamGetCaptureInfoRequest{Stream: st.Stream}, nil, &info)
	if is.CaptureStatus != 1 || info.CaptureStatus != 1 || info.Graph == 0 {
		t.Errorf("%+v, %+v", is, info)
	}
	var m hipv1.MallocReply
	p.ask(hipv1.OpMallocAsync, &hipv1.MallocAsyncRequest{Size: 4 * elements, Stream: st.Stream}, nil, &m)
	p.post(hipv1.OpMemsetAsync, &hipv1.MemsetRequest{Dst: c, Value: 9, Size: 4 * elements, Stream: st.Stream}, nil)
	q, tail := launch(vfunc, st.Stream, 4, 256, segment(a, b, m.DevicePtr, elements))
	p.post(hipv1.OpLaunchKernel, q, tail)
	p.post(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Dst: c, Src: m.DevicePtr, Size: 4 * elements, Kind: 3, Stream: st.Stream}, nil)
	p.post(hipv1.OpFreeAsync, &hipv1.FreeAsyncRequest{DevicePtr: m.DevicePtr, Stream: st.Stream}, nil)
	var g hipv1.StreamEndCaptureReply
	p.ask(hipv1.OpStreamEndCapture, &hipv1.StreamEndCaptureRequest{Stream: st.Stream}, nil, &g)
	p.put(c, make([]byte, 4*elements))
	var e hipv1.GraphInstantiateReply
	p.ask(hipv1.OpGraphInstantiate, &hipv1.GraphInstantiateRequest{Graph: g.Graph}, nil, &e)
	for range 2 {
		p.post(hipv1.OpGraphLaunch, &hipv1.GraphLaunchRequest{GraphExec: e.GraphExec, Stream: st.Stream}, nil)
		p.ask(hipv1.OpStreamSynchronize, &hipv1.StreamRequest{Stream: st.Stream}, nil, nil)
		if !bytes.Equal(p.get(c, 4*elements), sum) {
			t.Error("the sum is wrong")
		}
	}
	begin()
	if _, err := p.Call(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Dst: c, Size: 4, Kind: 1, Stream: st.Stream}, []byte("1234"), nil); !errors.Is(err, hip.ErrorStreamCaptureUnsupported) {
		t.Errorf("a copy of the client's bytes in a capture: %v", err)
	}
	p.fails(hip.ErrorStreamCaptureInvalidated, hipv1.OpStreamEndCapture, &hipv1.StreamEndCaptureRequest{Stream: st.Stream}, nil)
	p.sync()
}
