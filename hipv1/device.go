package hipv1

// DeviceCountReply is the reply to OpGetDeviceCount.
type DeviceCountReply struct {
	Count int32
}

// DeviceRequest is the request of OpSetDevice and OpGetDeviceProperties.
type DeviceRequest struct {
	DeviceID int32
}

// GetDeviceReply is the reply to OpGetDevice.
type GetDeviceReply struct {
	DeviceID int32
}

// DeviceAttributeRequest is the request of OpDeviceGetAttribute.
type DeviceAttributeRequest struct {
	DeviceID  int32
	Attribute int32
}

// DeviceAttributeReply is the reply to OpDeviceGetAttribute.
type DeviceAttributeReply struct {
	Value int32
}

// DeviceLimitRequest is the request of OpDeviceGetLimit and OpDeviceSetLimit.
type DeviceLimitRequest struct {
	Limit int32
	Value uint64
}

// DeviceLimitReply is the reply to OpDeviceGetLimit.
type DeviceLimitReply struct {
	Value uint64
}

// DeviceCanAccessPeerRequest is the request of OpDeviceCanAccessPeer.
type DeviceCanAccessPeerRequest struct {
	DeviceID     int32
	PeerDeviceID int32
}

// DeviceCanAccessPeerReply is the reply to OpDeviceCanAccessPeer.
type DeviceCanAccessPeerReply struct {
	CanAccessPeer int32
}

// DevicePeerAccessRequest is the request of OpDeviceEnablePeerAccess and OpDeviceDisablePeerAccess.
type DevicePeerAccessRequest struct {
	PeerDeviceID int32
	Flags        uint32
}

// DeviceGetRequest is the request of OpDeviceGet.
type DeviceGetRequest struct {
	Ordinal int32
}

// DeviceGetReply is the reply to OpDeviceGet.
type DeviceGetReply struct {
	Device uint64
}

// DeviceGetNameRequest is the request of OpDeviceGetName.
type DeviceGetNameRequest struct {
	Device uint64
	Len    int32
}

// DeviceGetNameReply is the reply to OpDeviceGetName.
type DeviceGetNameReply struct {
	Name [256]byte
}

// DeviceTotalMemRequest is the request of OpDeviceTotalMem.
type DeviceTotalMemRequest struct {
	Device uint64
}

// DeviceTotalMemReply is the reply to OpDeviceTotalMem.
type DeviceTotalMemReply struct {
	Bytes uint64
}

// DeviceGetPCIBusIDRequest is the request of OpDeviceGetPCIBusID.
type DeviceGetPCIBusIDRequest struct {
	Device int32
	Len    int32
}

// DeviceGetPCIBusIDReply is the reply to OpDeviceGetPCIBusID.
type DeviceGetPCIBusIDReply struct {
	PCIBusID [32]byte
}

// DeviceGetByPCIBusIDRequest is the request of OpDeviceGetByPCIBusID.
type DeviceGetByPCIBusIDRequest struct {
	PCIBusID [32]byte
}

// DeviceGetByPCIBusIDReply is the reply to OpDeviceGetByPCIBusID.
type DeviceGetByPCIBusIDReply struct {
	Device int32
}

// DeviceComputeCapabilityRequest is the request of OpDeviceComputeCapability.
type DeviceComputeCapabilityRequest struct {
	Device uint64
}

// DeviceComputeCapabilityReply is the reply to OpDeviceComputeCapability.
type DeviceComputeCapabilityReply struct {
	Major int32
	Minor int32
}

// DeviceGetUUIDRequest is the request of OpDeviceGetUUID.
type DeviceGetUUIDRequest struct {
	Device uint64
}

// DeviceGetUUIDReply is the reply to OpDeviceGetUUID.
type DeviceGetUUIDReply struct {
	UUID [16]uint8
}

// DeviceCacheConfigReply is the reply to OpDeviceGetCacheConfig.
type DeviceCacheConfigReply struct {
	CacheConfig int32
}

// DeviceCacheConfigRequest is the request of OpDeviceSetCacheConfig.
type DeviceCacheConfigRequest struct {
	CacheConfig int32
}

// DeviceSharedMemConfigReply is the reply to OpDeviceGetSharedMemConfig.
type DeviceSharedMemConfigReply struct {
	SharedMemConfig int32
}

// DeviceSharedMemConfigRequest is the request of OpDeviceSetSharedMemConfig.
type DeviceSharedMemConfigRequest struct {
	SharedMemConfig int32
}

// DeviceFlagsRequest is the request of OpSetDeviceFlags.
type DeviceFlagsRequest struct {
	Flags uint32
}

// DeviceFlagsReply is the reply to OpGetDeviceFlags.
type DeviceFlagsReply struct {
	Flags uint32
}

// DeviceGetP2PAttributeRequest is the request of OpDeviceGetP2PAttribute.
type DeviceGetP2PAttributeRequest struct {
	Attr      int32
	SrcDevice int32
	DstDevice int32
}

// DeviceGetP2PAttributeReply is the reply to OpDeviceGetP2PAttribute.
type DeviceGetP2PAttributeReply struct {
	Value int32
}

// SetValidDevicesRequest is the request of OpSetValidDevices. Behind it: i32 device_ids[len].
type SetValidDevicesRequest struct {
	Len int32
}

// ChooseDeviceRequest is the request of OpChooseDevice.
type ChooseDeviceRequest struct {
	TotalGlobalMem      uint64
	Major               int32
	Minor               int32
	MultiProcessorCount int32
	WarpSize            int32
	MaxThreadsPerBlock  int32
}

// ChooseDeviceReply is the reply to OpChooseDevice.
type ChooseDeviceReply struct {
	Device int32
}

// DeviceGetStreamPriorityRangeReply is the reply to OpDeviceGetStreamPriorityRange.
type DeviceGetStreamPriorityRangeReply struct {
	LeastPriority    int32
	GreatestPriority int32
}

// DevicePropertiesReply is the reply to OpGetDeviceProperties.
type DevicePropertiesReply struct {
	Name                        [256]byte
	TotalGlobalMem              uint64
	SharedMemPerBlock           uint64
	RegsPerBlock                int32
	WarpSize                    int32
	MaxThreadsPerBlock          int32
	MaxThreadsDim               [3]int32
	MaxGridSize                 [3]int32
	ClockRate                   int32
	MemoryClockRate             int32
	MemoryBusWidth              int32
	Major                       int32
	Minor                       int32
	MultiProcessorCount         int32
	L2CacheSize                 int32
	MaxThreadsPerMultiProcessor int32
	ComputeMode                 int32
	PCIBusID                    int32
	PCIDeviceID                 int32
	PCIDomainID                 int32
	Integrated                  int32
	CanMapHostMemory            int32
	ConcurrentKernels           int32
	GCNArchName                 [256]byte
}
