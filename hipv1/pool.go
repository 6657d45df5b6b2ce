package hipv1

// IPCGetMemHandleRequest is the request of OpIPCGetMemHandle.
type IPCGetMemHandleRequest struct {
	DevicePtr uint64
}

// IPCGetMemHandleReply is the reply to OpIPCGetMemHandle.
type IPCGetMemHandleReply struct {
	Handle [64]uint8
}

// IPCOpenMemHandleRequest is the request of OpIPCOpenMemHandle.
type IPCOpenMemHandleRequest struct {
	Handle [64]uint8
	Flags  uint32
}

// IPCOpenMemHandleReply is the reply to OpIPCOpenMemHandle.
type IPCOpenMemHandleReply struct {
	DevicePtr uint64
}

// IPCCloseMemHandleRequest is the request of OpIPCCloseMemHandle.
type IPCCloseMemHandleRequest struct {
	DevicePtr uint64
}

// IPCGetEventHandleRequest is the request of OpIPCGetEventHandle.
type IPCGetEventHandleRequest struct {
	Event uint64
}

// IPCGetEventHandleReply is the reply to OpIPCGetEventHandle.
type IPCGetEventHandleReply struct {
	Handle [64]uint8
}

// IPCOpenEventHandleRequest is the request of OpIPCOpenEventHandle.
type IPCOpenEventHandleRequest struct {
	Handle [64]uint8
}

// IPCOpenEventHandleReply is the reply to OpIPCOpenEventHandle.
type IPCOpenEventHandleReply struct {
	Event uint64
}

// MemPoolCreateRequest is the request of OpMemPoolCreate.
type MemPoolCreateRequest struct {
	AllocType    int32
	HandleTypes  int32
	LocationType int32
	LocationID   int32
	MaxSize      uint64
	_            [32]uint8
}

// MemPoolCreateReply is the reply to OpMemPoolCreate.
type MemPoolCreateReply struct {
	MemPool uint64
}

// MemPoolDestroyRequest is the request of OpMemPoolDestroy.
type MemPoolDestroyRequest struct {
	MemPool uint64
}

// MemPoolSetAttributeRequest is the request of OpMemPoolSetAttribute.
type MemPoolSetAttributeRequest struct {
	MemPool uint64
	Attr    int32
	_       uint32
	Value   uint64
}

// MemPoolGetAttributeRequest is the request of OpMemPoolGetAttribute.
type MemPoolGetAttributeRequest struct {
	MemPool uint64
	Attr    int32
}

// MemPoolGetAttributeReply is the reply to OpMemPoolGetAttribute.
type MemPoolGetAttributeReply struct {
	Value uint64
}

// MallocFromPoolAsyncRequest is the request of OpMallocFromPoolAsync.
type MallocFromPoolAsyncRequest struct {
	Size    uint64
	MemPool uint64
	Stream  uint64
}

// MemPoolTrimToRequest is the request of OpMemPoolTrimTo.
type MemPoolTrimToRequest struct {
	MemPool        uint64
	MinBytesToHold uint64
}

// DeviceGetMemPoolRequest is the request of OpDeviceGetDefaultMemPool and OpDeviceGetMemPool.
type DeviceGetMemPoolRequest struct {
	Device int32
}

// DeviceGetMemPoolReply is the reply to OpDeviceGetDefaultMemPool and OpDeviceGetMemPool.
type DeviceGetMemPoolReply struct {
	MemPool uint64
}

// DeviceSetMemPoolRequest is the request of OpDeviceSetMemPool.
type DeviceSetMemPoolRequest struct {
	Device  int32
	_       uint32
	MemPool uint64
}
