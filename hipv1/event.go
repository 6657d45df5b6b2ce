package hipv1

// EventCreateRequest is the request of OpEventCreate and OpEventCreateWithFlags.
type EventCreateRequest struct {
	Flags uint32
}

// EventCreateReply is the reply to OpEventCreate and OpEventCreateWithFlags.
type EventCreateReply struct {
	Event uint64
}

// EventRequest is the request of OpEventDestroy, OpEventSynchronize and OpEventQuery.
type EventRequest struct {
	Event uint64
}

// EventRecordRequest is the request of OpEventRecord.
type EventRecordRequest struct {
	Event  uint64
	Stream uint64
}

// EventElapsedTimeRequest is the request of OpEventElapsedTime.
type EventElapsedTimeRequest struct {
	StartEvent uint64
	EndEvent   uint64
}

// EventElapsedTimeReply is the reply to OpEventElapsedTime.
type EventElapsedTimeReply struct {
	Milliseconds float32
}
