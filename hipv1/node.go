package hipv1

// GraphAddMemcpyNodeRequest is the request of OpGraphAddMemcpyNode. Behind it: u64 deps[num_deps].
type GraphAddMemcpyNodeRequest struct {
	Graph    uint64
	NumDeps  uint32
	_        uint32
	Dst      uint64
	Src      uint64
	Width    uint64
	Height   uint64
	DstPitch uint64
	SrcPitch uint64
	Kind     int32
	_        uint32
}

// GraphAddNodeReply is the reply to OpGraphAddMemcpyNode, OpGraphAddMemsetNode, OpGraphAddKernelNode, OpGraphAddEmptyNode,
// OpGraphAddMemcpyNode1D, OpGraphAddEventRecordNode and OpGraphAddEventWaitNode.
type GraphAddNodeReply struct {
	Node uint64
}

// GraphAddMemsetNodeRequest is the request of OpGraphAddMemsetNode. Behind it: u64 deps[num_deps].
type GraphAddMemsetNodeRequest struct {
	Graph       uint64
	NumDeps     uint32
	_           uint32
	Dst         uint64
	Pitch       uint64
	Value       int32
	ElementSize uint32
	Width       uint64
	Height      uint64
}

// GraphAddKernelNodeRequest is the request of OpGraphAddKernelNode. Behind it: u64 deps[num_deps]; u64
// args[num_args], the first eight bytes of each.
type GraphAddKernelNodeRequest struct {
	Graph          uint64
	NumDeps        uint32
	_              uint32
	Func           uint64
	GridDimX       uint32
	GridDimY       uint32
	GridDimZ       uint32
	BlockDimX      uint32
	BlockDimY      uint32
	BlockDimZ      uint32
	SharedMemBytes uint32
	NumArgs        uint32
}

// GraphAddDependenciesRequest is the request of OpGraphAddDependencies. Behind it: (u64 from, u64
// to)[num_deps].
type GraphAddDependenciesRequest struct {
	Graph   uint64
	NumDeps uint32
}

// GraphAddEmptyNodeRequest is the request of OpGraphAddEmptyNode. Behind it: u64 deps[num_deps].
type GraphAddEmptyNodeRequest struct {
	Graph   uint64
	NumDeps uint32
}

// GraphGetNodesRequest is the request of OpGraphGetNodes and OpGraphGetRootNodes.
type GraphGetNodesRequest struct {
	Graph    uint64
	MaxNodes uint32
}

// GraphGetNodesReply is the reply to OpGraphGetNodes and OpGraphGetRootNodes. Behind it: u64
// nodes[num_nodes].
type GraphGetNodesReply struct {
	NumNodes uint32
	_        uint32
}

// GraphGetEdgesRequest is the request of OpGraphGetEdges.
type GraphGetEdgesRequest struct {
	Graph    uint64
	MaxEdges uint32
}

// GraphGetEdgesReply is the reply to OpGraphGetEdges. Behind it: (u64 from, u64 to)[num_edges].
type GraphGetEdgesReply struct {
	NumEdges uint32
	_        uint32
}

// GraphNodeGetTypeRequest is the request of OpGraphNodeGetType.
type GraphNodeGetTypeRequest struct {
	Node uint64
}

// GraphNodeGetTypeReply is the reply to OpGraphNodeGetType.
type GraphNodeGetTypeReply struct {
	Type int32
}

// GraphDestroyNodeRequest is the request of OpGraphDestroyNode.
type GraphDestroyNodeRequest struct {
	Node uint64
}

// GraphAddMemcpyNode1DRequest is the request of OpGraphAddMemcpyNode1D. Behind it: u64 deps[num_deps].
type GraphAddMemcpyNode1DRequest struct {
	Graph   uint64
	NumDeps uint32
	_       uint32
	Dst     uint64
	Src     uint64
	Count   uint64
	Kind    int32
}

// GraphAddEventNodeRequest is the request of OpGraphAddEventRecordNode and OpGraphAddEventWaitNode. Behind
// it: u64 deps[num_deps].
type GraphAddEventNodeRequest struct {
	Graph   uint64
	NumDeps uint32
	_       uint32
	Event   uint64
}
