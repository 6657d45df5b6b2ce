package hipv1

// StreamCreateRequest is the request of OpStreamCreate, OpStreamCreateWithFlags and
// OpStreamCreateWithPriority.
type StreamCreateRequest struct {
	Flags    uint32
	Priority int32
	Vhandle  uint64
}

// StreamCreateReply is the reply to OpStreamCreate, OpStreamCreateWithFlags and OpStreamCreateWithPriority.
type StreamCreateReply struct {
	Stream uint64
}

// StreamRequest is the request of OpStreamDestroy, OpStreamSynchronize, OpStreamQuery, OpStreamGetFlags and
// OpStreamGetPriority.
type StreamRequest struct {
	Stream uint64
}

// StreamWaitEventRequest is the request of OpStreamWaitEvent.
type StreamWaitEventRequest struct {
	Stream uint64
	Event  uint64
	Flags  uint32
}

// StreamGetFlagsReply is the reply to OpStreamGetFlags.
type StreamGetFlagsReply struct {
	Flags uint32
}

// StreamGetPriorityReply is the reply to OpStreamGetPriority.
type StreamGetPriorityReply struct {
	Priority int32
}

// StreamGetCaptureInfoRequest is the request of OpStreamGetCaptureInfo.
type StreamGetCaptureInfoRequest struct {
	Stream uint64
}

// StreamGetCaptureInfoReply is the reply to OpStreamGetCaptureInfo.
type StreamGetCaptureInfoReply struct {
	CaptureStatus int32
	Graph         uint64
	_             uint32
}

// StreamUpdateCaptureDependenciesRequest is the request of OpStreamUpdateCaptureDependencies. Behind it: u64
// nodes[num_dependencies].
type StreamUpdateCaptureDependenciesRequest struct {
	Stream          uint64
	NumDependencies uint32
	Flags           uint32
}
