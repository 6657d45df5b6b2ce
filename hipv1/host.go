package hipv1

// HostGetDevicePointerRequest is the request of OpHostGetDevicePointer.
type HostGetDevicePointerRequest struct {
	HostPtr uint64
	Flags   uint32
}

// HostGetDevicePointerReply is the reply to OpHostGetDevicePointer.
type HostGetDevicePointerReply struct {
	DevicePtr uint64
}

// HostGetFlagsRequest is the request of OpHostGetFlags.
type HostGetFlagsRequest struct {
	HostPtr uint64
}

// HostGetFlagsReply is the reply to OpHostGetFlags.
type HostGetFlagsReply struct {
	Flags uint32
}

// HostAllocRequest is the request of OpHostAlloc.
type HostAllocRequest struct {
	Size  uint64
	Flags uint32
}

// HostAllocReply is the reply to OpHostAlloc.
type HostAllocReply struct {
	Ptr uint64
}

// HostFreeRequest is the request of OpHostFree.
type HostFreeRequest struct {
	Ptr uint64
}

// MemAllocPitchRequest is the request of OpMemAllocPitch.
type MemAllocPitchRequest struct {
	WidthInBytes uint64
	Height       uint64
	ElementSize  uint32
}

// MemAllocPitchReply is the reply to OpMemAllocPitch.
type MemAllocPitchReply struct {
	Dptr  uint64
	Pitch uint64
}

// MemAdviseRequest is the request of OpMemAdvise.
type MemAdviseRequest struct {
	DevPtr uint64
	Count  uint64
	Advice int32
	Device int32
}

// MemPrefetchAsyncRequest is the request of OpMemPrefetchAsync.
type MemPrefetchAsyncRequest struct {
	DevPtr uint64
	Count  uint64
	Device int32
	_      uint32
	Stream uint64
}

// MemRangeGetAttributeRequest is the request of OpMemRangeGetAttribute.
type MemRangeGetAttributeRequest struct {
	DataSize  uint64
	Attribute int32
	_         uint32
	DevPtr    uint64
	Count     uint64
}

// MemRangeGetAttributesRequest is the request of OpMemRangeGetAttributes. Behind it: i32
// attributes[num_attributes]; u64 data_sizes[num_attributes].
type MemRangeGetAttributesRequest struct {
	NumAttributes uint32
	_             uint32
	DevPtr        uint64
	Count         uint64
}
