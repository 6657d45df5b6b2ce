package hipv1

// GraphCreateRequest is the request of OpGraphCreate.
type GraphCreateRequest struct {
	Flags uint32
}

// GraphCreateReply is the reply to OpGraphCreate.
type GraphCreateReply struct {
	Graph uint64
}

// GraphDestroyRequest is the request of OpGraphDestroy.
type GraphDestroyRequest struct {
	Graph uint64
}

// GraphInstantiateRequest is the request of OpGraphInstantiate.
type GraphInstantiateRequest struct {
	Graph uint64
	Flags uint32
}

// GraphInstantiateReply is the reply to OpGraphInstantiate.
type GraphInstantiateReply struct {
	GraphExec uint64
}

// GraphLaunchRequest is the request of OpGraphLaunch.
type GraphLaunchRequest struct {
	GraphExec uint64
	Stream    uint64
}

// GraphExecDestroyRequest is the request of OpGraphExecDestroy.
type GraphExecDestroyRequest struct {
	GraphExec uint64
}

// StreamBeginCaptureRequest is the request of OpStreamBeginCapture.
type StreamBeginCaptureRequest struct {
	Stream uint64
	Mode   int32
}

// StreamEndCaptureRequest is the request of OpStreamEndCapture.
type StreamEndCaptureRequest struct {
	Stream uint64
}

// StreamEndCaptureReply is the reply to OpStreamEndCapture.
type StreamEndCaptureReply struct {
	Graph uint64
}

// StreamIsCapturingRequest is the request of OpStreamIsCapturing.
type StreamIsCapturingRequest struct {
	Stream uint64
}

// StreamIsCapturingReply is the reply to OpStreamIsCapturing.
type StreamIsCapturingReply struct {
	CaptureStatus int32
}

// GraphCloneRequest is the request of OpGraphClone.
type GraphCloneRequest struct {
	OriginalGraph uint64
}

// GraphCloneReply is the reply to OpGraphClone.
type GraphCloneReply struct {
	ClonedGraph uint64
}

// GraphNodeGetDependenciesRequest is the request of OpGraphNodeGetDependencies and
// OpGraphNodeGetDependentNodes.
type GraphNodeGetDependenciesRequest struct {
	Node     uint64
	MaxNodes uint32
}

// GraphNodeGetDependenciesReply is the reply to OpGraphNodeGetDependencies and OpGraphNodeGetDependentNodes.
// Behind it: u64 nodes[num_nodes].
type GraphNodeGetDependenciesReply struct {
	NumNodes uint32
	_        uint32
}

// GraphExecUpdateRequest is the request of OpGraphExecUpdate.
type GraphExecUpdateRequest struct {
	GraphExec uint64
	Graph     uint64
}

// GraphExecUpdateReply is the reply to OpGraphExecUpdate.
type GraphExecUpdateReply struct {
	UpdateResult int32
}
