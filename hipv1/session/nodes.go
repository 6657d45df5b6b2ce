package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

// maxDeps bounds what a new node waits for.
const maxDeps = 64

// ofNode makes nodes and asks about them.
func (s *Session) ofNode(c *call) (any, hip.Error) {
	defer s.count()
	switch q := c.body.(type) {
	case *hipv1.GraphAddMemcpyNodeRequest:
		kind := hip.MemcpyKind(q.Kind)
		if code := within(kind); code != hip.Success {
			return nil, code
		}
		if q.Width > q.DstPitch || q.Width > q.SrcPitch || !s.mem.hasRows(q.Dst, q.DstPitch, q.Width, q.Height) || !s.mem.hasRows(q.Src, q.SrcPitch, q.Width, q.Height) {
			return nil, hip.ErrorInvalidValue
		}
		return s.addNode(c, q.Graph, q.NumDeps, rowsNode(hip.Ptr(q.Dst), q.DstPitch, hip.Ptr(q.Src), q.SrcPitch, q.Width, q.Height, kind))
	case *hipv1.GraphAddMemcpyNode1DRequest:
		kind, n := hip.MemcpyKind(q.Kind), q.Count
		if code := within(kind); code != hip.Success {
			return nil, code
		}
		if n == 0 || !s.mem.has(q.Dst, n) || !s.mem.has(q.Src, n) {
			return nil, hip.ErrorInvalidValue
		}
		op := hip.GraphCopy{Dst: hip.Ptr(q.Dst), Src: hip.Ptr(q.Src), DstPitch: n, SrcPitch: n, DstSlice: n, SrcSlice: n, Width: n, Height: 1, Depth: 1, Kind: kind}
		return s.addNode(c, q.Graph, q.NumDeps, graph.Memcpy{Form: graph.Form1D, Dst: op.Dst, Src: op.Src, N: n, Kind: kind, Op: op})
	case *hipv1.GraphAddMemsetNodeRequest:
		return s.addFill(c, q)
	case *hipv1.GraphAddKernelNodeRequest:
		return s.addKernel(c, q)
	case *hipv1.GraphAddEmptyNodeRequest:
		return s.addNode(c, q.Graph, q.NumDeps, graph.Empty{})
	case *hipv1.GraphAddEventNodeRequest:
		e, code := s.event(q.Event)
		if code != hip.Success {
			return nil, code
		}
		if c.h.Op == hipv1.OpGraphAddEventRecordNode {
			return s.addNode(c, q.Graph, q.NumDeps, graph.EventRecord{Event: e})
		}
		return s.addNode(c, q.Graph, q.NumDeps, graph.EventWait{Event: e})
	case *hipv1.GraphAddDependenciesRequest:
		pairs, ok := s.list(c, 2*min(q.NumDeps, hipv1.MaxSmall))
		if !ok {
			return nil, hip.ErrorInvalidValue
		}
		var from, to []graph.ID
		for i := 0; i < len(pairs); i += 2 {
			from, to = append(from, pairs[i]), append(to, pairs[i+1])
		}
		return nil, s.graphs.AddDependencies(q.Graph, from, to)
	case *hipv1.GraphNodeGetTypeRequest:
		k, code := s.graphs.Type(q.Node)
		return &hipv1.GraphNodeGetTypeReply{Type: int32(k)}, code
	case *hipv1.GraphDestroyNodeRequest:
		return nil, s.graphs.DestroyNode(q.Node)
	case *hipv1.GraphGetNodesRequest:
		ask := s.graphs.Nodes
		if c.h.Op == hipv1.OpGraphGetRootNodes {
			ask = s.graphs.Roots
		}
		list, code := ask(q.Graph)
		if code != hip.Success {
			return nil, code
		}
		list = list[:min(len(list), int(q.MaxNodes))]
		return &hipv1.Listed{Fixed: &hipv1.GraphGetNodesReply{NumNodes: uint32(len(list))}, List: list}, hip.Success
	case *hipv1.GraphGetEdgesRequest:
		return s.edges(q)
	}
	return nil, hip.ErrorNotSupported
}

// within refuses copies of the client's own memory: what it holds when the graph is launched, nobody here knows.
func within(kind hip.MemcpyKind) hip.Error {
	switch {
	case kind == hip.MemcpyDeviceToDevice || kind == hip.MemcpyDeviceToDeviceNoCU:
		return hip.Success
	case kind < hip.MemcpyHostToHost || kind > hip.MemcpyDefault:
		return hip.ErrorInvalidMemcpyDirection
	}
	return hip.ErrorNotSupported
}

// addNode adds a node behind those that follow the request's struct.
func (s *Session) addNode(c *call, g uint64, n uint32, p graph.Params) (any, hip.Error) {
	if n > maxDeps {
		return nil, hip.ErrorInvalidValue
	}
	deps, ok := s.list(c, n)
	if !ok {
		return nil, hip.ErrorInvalidValue
	}
	if !s.nodesFor(1) {
		return nil, hip.ErrorOutOfMemory
	}
	id, code := s.graphs.Add(g, deps, -1, p)
	return &hipv1.GraphAddNodeReply{Node: id}, code
}

func (s *Session) addFill(c *call, q *hipv1.GraphAddMemsetNodeRequest) (any, hip.Error) {
	width := q.Width * uint64(q.ElementSize)
	switch {
	case q.ElementSize != 1 && q.ElementSize != 2 && q.ElementSize != 4, q.Width == 0, q.Height == 0, q.Width > 1<<46, q.Height > 1 && q.Pitch < width:
		return nil, hip.ErrorInvalidValue
	case !s.mem.hasRows(q.Dst, q.Pitch, width, q.Height):
		return nil, hip.ErrorInvalidValue
	}
	p := hip.MemsetParams{Dst: hip.Ptr(q.Dst), ElementSize: q.ElementSize, Height: q.Height, Pitch: q.Pitch, Value: uint32(q.Value), Width: q.Width}
	return s.addNode(c, q.Graph, q.NumDeps, graph.Memset{P: p, Depth: 1})
}

// addKernel adds a launch, whose arguments are eight bytes each.
func (s *Session) addKernel(c *call, q *hipv1.GraphAddKernelNodeRequest) (any, hip.Error) {
	f, ok := s.functions[q.Func]
	switch {
	case !ok:
		return nil, hip.HandleFunction.Wrong()
	case q.NumDeps > maxDeps || q.NumArgs > hipv1.MaxArgs:
		return nil, hip.ErrorInvalidValue
	}
	if _, ok := s.list(c, q.NumDeps+q.NumArgs); !ok {
		return nil, hip.ErrorInvalidValue
	}
	args := make([][]byte, q.NumArgs)
	for i := range args {
		args[i] = c.tail[8*(int(q.NumDeps)+i):][:8]
	}
	seg, code := f.packArgs(args)
	if code != hip.Success {
		return nil, code
	}
	return s.addNode(c, q.Graph, q.NumDeps, graph.Kernel{Func: q.Func, Name: f.kernel.Name, Device: f.module.device, Launch: hip.Launch{
		Function: f.h, Args: seg, SharedMem: q.SharedMemBytes,
		Grid: hip.Dim3{X: q.GridDimX, Y: q.GridDimY, Z: q.GridDimZ}, Block: hip.Dim3{X: q.BlockDimX, Y: q.BlockDimY, Z: q.BlockDimZ},
	}})
}

func (s *Session) edges(q *hipv1.GraphGetEdgesRequest) (any, hip.Error) {
	from, to, code := s.graphs.Edges(q.Graph)
	if code != hip.Success {
		return nil, code
	}
	n := min(len(from), int(q.MaxEdges))
	var list []uint64
	for i := range n {
		list = append(list, from[i], to[i])
	}
	return &hipv1.Listed{Fixed: &hipv1.GraphGetEdgesReply{NumEdges: uint32(n)}, List: list}, hip.Success
}
