package hipv1

// ModuleLoadAndGetFunctionReply is the reply to OpModuleLoadAndGetFunction.
type ModuleLoadAndGetFunctionReply struct {
	Module      uint64
	Function    uint64
	NumParams   uint32
	KernargSize uint32
	Params      [64]ParamDesc
}

// MallocBatchRequest is the request of OpMallocBatch.
type MallocBatchRequest struct {
	Count uint32
	_     uint32
	Sizes [64]uint64
}

// MallocBatchReply is the reply to OpMallocBatch.
type MallocBatchReply struct {
	Count uint32
	Ptrs  [64]uint64
}

// HandleBatchRequest is the request of OpStreamCreateBatch and OpEventCreateBatch.
type HandleBatchRequest struct {
	Count uint32
	Flags uint32
}

// HandleBatchReply is the reply to OpStreamCreateBatch and OpEventCreateBatch.
type HandleBatchReply struct {
	Count   uint32
	_       uint32
	Handles [32]uint64
}

// MemPtrGetInfoRequest is the request of OpMemPtrGetInfo.
type MemPtrGetInfoRequest struct {
	Ptr uint64
}

// MemPtrGetInfoReply is the reply to OpMemPtrGetInfo.
type MemPtrGetInfoReply struct {
	Size uint64
}
