package hipv1

import "encoding/binary"

var le = binary.LittleEndian

// Parse decodes the fixed part of a request's payload: its struct, nil for one that has none, and how many bytes that is. length is the whole payload's,
// b its beginning, all of it or at least [HeadSize] bytes. What is behind the struct is judged by whoever reads it, but of launches, which come whole. An
// operation that is not served here is ErrOperation.
func Parse(op Op, d Dialect, length uint32, b []byte) (body any, n int, err error) {
	switch op {
	case OpInit, OpShutdown, OpPing, OpGetDeviceCount, OpGetDevice, OpDeviceSynchronize, OpDeviceReset, OpDeviceGetCacheConfig,
		OpDeviceGetSharedMemConfig, OpGetDeviceFlags, OpDeviceGetStreamPriorityRange, OpMemGetInfo, OpGetLastError, OpPeekAtLastError,
		OpRuntimeGetVersion, OpDriverGetVersion, OpSMIShutdown, OpSMIGetProcessorCount:
		return nil, 0, nil
	case OpSetDevice, OpGetDeviceProperties:
		return fixed[DeviceRequest](b)
	case OpDeviceGetAttribute:
		return fixed[DeviceAttributeRequest](b)
	case OpDeviceGetLimit, OpDeviceSetLimit:
		return fixed[DeviceLimitRequest](b)
	case OpDeviceCanAccessPeer:
		return fixed[DeviceCanAccessPeerRequest](b)
	case OpDeviceEnablePeerAccess, OpDeviceDisablePeerAccess:
		return fixed[DevicePeerAccessRequest](b)
	case OpDeviceGet:
		return fixed[DeviceGetRequest](b)
	case OpDeviceGetName:
		return fixed[DeviceGetNameRequest](b)
	case OpDeviceTotalMem:
		return fixed[DeviceTotalMemRequest](b)
	case OpDeviceGetPCIBusID:
		return fixed[DeviceGetPCIBusIDRequest](b)
	case OpDeviceGetByPCIBusID:
		return fixed[DeviceGetByPCIBusIDRequest](b)
	case OpDeviceComputeCapability:
		return fixed[DeviceComputeCapabilityRequest](b)
	case OpDeviceGetUUID:
		return fixed[DeviceGetUUIDRequest](b)
	case OpDeviceSetCacheConfig:
		return fixed[DeviceCacheConfigRequest](b)
	case OpDeviceSetSharedMemConfig:
		return fixed[DeviceSharedMemConfigRequest](b)
	case OpSetDeviceFlags:
		return fixed[DeviceFlagsRequest](b)
	case OpDeviceGetP2PAttribute:
		return fixed[DeviceGetP2PAttributeRequest](b)
	case OpSetValidDevices:
		return fixed[SetValidDevicesRequest](b)
	case OpChooseDevice:
		return fixed[ChooseDeviceRequest](b)
	case OpMalloc, OpMallocHost:
		return fixed[MallocRequest](b)
	case OpFree, OpFreeHost:
		return fixed[FreeRequest](b)
	case OpMallocAsync:
		return fixed[MallocAsyncRequest](b)
	case OpFreeAsync:
		return fixed[FreeAsyncRequest](b)
	case OpMemcpy, OpMemcpyAsync:
		return fixed[MemcpyRequest](b)
	case OpMemcpy2D, OpMemcpy2DAsync:
		return fixed[Memcpy2DRequest](b)
	case OpMemcpy3D, OpMemcpy3DAsync:
		return fixed[Memcpy3DRequest](b)
	case OpMemcpyPeer, OpMemcpyPeerAsync:
		return fixed[MemcpyPeerRequest](b)
	case OpMemcpyHtoDCached:
		return fixed[MemcpyCachedRequest](b)
	case OpMemset, OpMemsetAsync:
		return fixed[MemsetRequest](b)
	case OpPointerGetAttributes:
		return fixed[PointerGetAttributesRequest](b)
	case OpPointerGetAttribute:
		return fixed[PointerGetAttributeRequest](b)
	case OpIPCGetMemHandle:
		return fixed[IPCGetMemHandleRequest](b)
	case OpIPCOpenMemHandle:
		return fixed[IPCOpenMemHandleRequest](b)
	case OpIPCCloseMemHandle:
		return fixed[IPCCloseMemHandleRequest](b)
	case OpIPCGetEventHandle:
		return fixed[IPCGetEventHandleRequest](b)
	case OpIPCOpenEventHandle:
		return fixed[IPCOpenEventHandleRequest](b)
	case OpMemPoolCreate:
		return fixed[MemPoolCreateRequest](b)
	case OpMemPoolDestroy:
		return fixed[MemPoolDestroyRequest](b)
	case OpMemPoolSetAttribute:
		return fixed[MemPoolSetAttributeRequest](b)
	case OpMemPoolGetAttribute:
		return fixed[MemPoolGetAttributeRequest](b)
	case OpMallocFromPoolAsync:
		return fixed[MallocFromPoolAsyncRequest](b)
	case OpMemPoolTrimTo:
		return fixed[MemPoolTrimToRequest](b)
	case OpDeviceGetDefaultMemPool, OpDeviceGetMemPool:
		return fixed[DeviceGetMemPoolRequest](b)
	case OpDeviceSetMemPool:
		return fixed[DeviceSetMemPoolRequest](b)
	case OpHostGetDevicePointer:
		return fixed[HostGetDevicePointerRequest](b)
	case OpHostGetFlags:
		return fixed[HostGetFlagsRequest](b)
	case OpHostAlloc:
		return fixed[HostAllocRequest](b)
	case OpHostFree:
		return fixed[HostFreeRequest](b)
	case OpMemAllocPitch:
		return fixed[MemAllocPitchRequest](b)
	case OpMemAdvise:
		return fixed[MemAdviseRequest](b)
	case OpMemPrefetchAsync:
		return fixed[MemPrefetchAsyncRequest](b)
	case OpMemRangeGetAttribute:
		return fixed[MemRangeGetAttributeRequest](b)
	case OpMemRangeGetAttributes:
		return fixed[MemRangeGetAttributesRequest](b)
	case OpMallocVaddr, OpMallocAsyncVaddr:
		return fixed[MallocVaddrRequest](b)
	case OpStreamDestroy, OpStreamSynchronize, OpStreamQuery, OpStreamGetFlags, OpStreamGetPriority:
		return fixed[StreamRequest](b)
	case OpStreamWaitEvent:
		return fixed[StreamWaitEventRequest](b)
	case OpStreamGetCaptureInfo:
		return fixed[StreamGetCaptureInfoRequest](b)
	case OpStreamUpdateCaptureDependencies:
		return fixed[StreamUpdateCaptureDependenciesRequest](b)
	case OpEventCreate, OpEventCreateWithFlags:
		return fixed[EventCreateRequest](b)
	case OpEventDestroy, OpEventSynchronize, OpEventQuery:
		return fixed[EventRequest](b)
	case OpEventRecord:
		return fixed[EventRecordRequest](b)
	case OpEventElapsedTime:
		return fixed[EventElapsedTimeRequest](b)
	case OpModuleUnload:
		return fixed[ModuleUnloadRequest](b)
	case OpFuncGetAttributes:
		return fixed[FuncGetAttributesRequest](b)
	case OpFuncSetAttribute:
		return fixed[FuncSetAttributeRequest](b)
	case OpFuncSetCacheConfig:
		return fixed[FuncSetCacheConfigRequest](b)
	case OpGetErrorString, OpGetErrorName:
		return fixed[ErrorStringRequest](b)
	case OpGraphAddMemcpyNode:
		return fixed[GraphAddMemcpyNodeRequest](b)
	case OpGraphAddMemsetNode:
		return fixed[GraphAddMemsetNodeRequest](b)
	case OpGraphAddKernelNode:
		return fixed[GraphAddKernelNodeRequest](b)
	case OpGraphAddDependencies:
		return fixed[GraphAddDependenciesRequest](b)
	case OpGraphAddEmptyNode:
		return fixed[GraphAddEmptyNodeRequest](b)
	case OpGraphGetNodes, OpGraphGetRootNodes:
		return fixed[GraphGetNodesRequest](b)
	case OpGraphGetEdges:
		return fixed[GraphGetEdgesRequest](b)
	case OpGraphNodeGetType:
		return fixed[GraphNodeGetTypeRequest](b)
	case OpGraphDestroyNode:
		return fixed[GraphDestroyNodeRequest](b)
	case OpGraphAddMemcpyNode1D:
		return fixed[GraphAddMemcpyNode1DRequest](b)
	case OpGraphAddEventRecordNode, OpGraphAddEventWaitNode:
		return fixed[GraphAddEventNodeRequest](b)
	case OpOccupancyMaxPotentialBlockSize:
		return fixed[OccupancyMaxPotentialBlockSizeRequest](b)
	case OpOccupancyMaxActiveBlocksPerSM:
		return fixed[OccupancyMaxActiveBlocksPerSMRequest](b)
	case OpGraphCreate:
		return fixed[GraphCreateRequest](b)
	case OpGraphDestroy:
		return fixed[GraphDestroyRequest](b)
	case OpGraphInstantiate:
		return fixed[GraphInstantiateRequest](b)
	case OpGraphLaunch:
		return fixed[GraphLaunchRequest](b)
	case OpGraphExecDestroy:
		return fixed[GraphExecDestroyRequest](b)
	case OpStreamBeginCapture:
		return fixed[StreamBeginCaptureRequest](b)
	case OpStreamEndCapture:
		return fixed[StreamEndCaptureRequest](b)
	case OpStreamIsCapturing:
		return fixed[StreamIsCapturingRequest](b)
	case OpGraphClone:
		return fixed[GraphCloneRequest](b)
	case OpGraphNodeGetDependencies, OpGraphNodeGetDependentNodes:
		return fixed[GraphNodeGetDependenciesRequest](b)
	case OpGraphExecUpdate:
		return fixed[GraphExecUpdateRequest](b)
	case OpMallocBatch:
		return fixed[MallocBatchRequest](b)
	case OpStreamCreateBatch, OpEventCreateBatch:
		return fixed[HandleBatchRequest](b)
	case OpMemPtrGetInfo:
		return fixed[MemPtrGetInfoRequest](b)
	case OpSMIInit:
		return fixed[SMIInitRequest](b)
	case OpSMIGetGPUMetrics, OpSMIGetPowerInfo, OpSMIGetGPUActivity, OpSMIGetVRAMUsage, OpSMIGetASICInfo:
		return fixed[SMIProcessorRequest](b)
	case OpSMIGetClockInfo:
		return fixed[SMIClockInfoRequest](b)
	case OpSMIGetTempMetric:
		return fixed[SMITempMetricRequest](b)
	case OpStreamCreate, OpStreamCreateWithFlags, OpStreamCreateWithPriority:
		return padded[StreamCreateRequest](b)
	case OpModuleLoadData, OpModuleLoadDataEx:
		return parseModuleLoad(length, b)
	case OpModuleLoadAndGetFunction:
		return parseLoadAndGetFunction(length, b)
	case OpModuleGetFunction:
		return parseGetFunction(length, b)
	case OpLaunchKernel, OpModuleLaunchKernel:
		return parseLaunch(d, b)
	}
	return nil, 0, ErrOperation
}
