package hipv1

// MallocRequest is the request of OpMalloc and OpMallocHost.
type MallocRequest struct {
	Size  uint64
	Flags uint32
}

// MallocReply is the reply to OpMalloc, OpMallocHost, OpMallocAsync and OpMallocFromPoolAsync.
type MallocReply struct {
	DevicePtr uint64
}

// FreeRequest is the request of OpFree and OpFreeHost.
type FreeRequest struct {
	DevicePtr uint64
}

// MallocAsyncRequest is the request of OpMallocAsync.
type MallocAsyncRequest struct {
	Size   uint64
	Stream uint64
}

// FreeAsyncRequest is the request of OpFreeAsync.
type FreeAsyncRequest struct {
	DevicePtr uint64
	Stream    uint64
}

// MemGetInfoReply is the reply to OpMemGetInfo.
type MemGetInfoReply struct {
	FreeBytes  uint64
	TotalBytes uint64
}

// PointerGetAttributesRequest is the request of OpPointerGetAttributes.
type PointerGetAttributesRequest struct {
	Ptr uint64
}

// PointerGetAttributesReply is the reply to OpPointerGetAttributes.
type PointerGetAttributesReply struct {
	MemoryType      int32
	Device          int32
	DevicePointer   uint64
	HostPointer     uint64
	IsManaged       int32
	AllocationFlags uint32
}

// PointerGetAttributeRequest is the request of OpPointerGetAttribute.
type PointerGetAttributeRequest struct {
	Ptr       uint64
	Attribute int32
	_         uint32
}

// PointerGetAttributeReply is the reply to OpPointerGetAttribute.
type PointerGetAttributeReply struct {
	Data uint64
}

// MallocVaddrRequest is the request of OpMallocVaddr and OpMallocAsyncVaddr.
type MallocVaddrRequest struct {
	Vaddr  uint64
	Size   uint64
	Stream uint64
	Flags  uint32
}
