package hipv1

// replySizes are those of replies that are more than a code, in bytes with it.
var replySizes = map[Op]int{
	OpGetDeviceCount:                 8,
	OpGetDevice:                      8,
	OpDeviceGetAttribute:             8,
	OpDeviceGetLimit:                 12,
	OpDeviceCanAccessPeer:            8,
	OpDeviceGet:                      12,
	OpDeviceGetName:                  260,
	OpDeviceTotalMem:                 12,
	OpDeviceGetPCIBusID:              36,
	OpDeviceGetByPCIBusID:            8,
	OpDeviceComputeCapability:        12,
	OpDeviceGetUUID:                  20,
	OpDeviceGetCacheConfig:           8,
	OpDeviceGetSharedMemConfig:       8,
	OpGetDeviceFlags:                 8,
	OpDeviceGetP2PAttribute:          8,
	OpChooseDevice:                   8,
	OpDeviceGetStreamPriorityRange:   12,
	OpMalloc:                         12,
	OpMallocHost:                     12,
	OpMallocAsync:                    12,
	OpMemGetInfo:                     20,
	OpPointerGetAttributes:           36,
	OpPointerGetAttribute:            12,
	OpIPCGetMemHandle:                68,
	OpIPCOpenMemHandle:               12,
	OpIPCGetEventHandle:              68,
	OpIPCOpenEventHandle:             12,
	OpMemPoolCreate:                  12,
	OpMemPoolGetAttribute:            12,
	OpMallocFromPoolAsync:            12,
	OpDeviceGetDefaultMemPool:        12,
	OpDeviceGetMemPool:               12,
	OpHostGetDevicePointer:           12,
	OpHostGetFlags:                   8,
	OpHostAlloc:                      12,
	OpMemAllocPitch:                  20,
	OpStreamCreate:                   12,
	OpStreamCreateWithFlags:          12,
	OpStreamCreateWithPriority:       12,
	OpStreamGetFlags:                 8,
	OpStreamGetPriority:              8,
	OpStreamGetCaptureInfo:           20,
	OpEventCreate:                    12,
	OpEventCreateWithFlags:           12,
	OpEventElapsedTime:               8,
	OpModuleLoadData:                 12,
	OpModuleGetFunction:              788,
	OpFuncGetAttributes:              44,
	OpGetErrorString:                 260,
	OpGetErrorName:                   260,
	OpGraphAddMemcpyNode:             12,
	OpGraphAddMemsetNode:             12,
	OpGraphAddKernelNode:             12,
	OpGraphAddEmptyNode:              12,
	OpGraphGetNodes:                  12,
	OpGraphGetRootNodes:              12,
	OpGraphGetEdges:                  12,
	OpGraphNodeGetType:               8,
	OpGraphAddMemcpyNode1D:           12,
	OpGraphAddEventRecordNode:        12,
	OpGraphAddEventWaitNode:          12,
	OpRuntimeGetVersion:              8,
	OpDriverGetVersion:               8,
	OpOccupancyMaxPotentialBlockSize: 12,
	OpOccupancyMaxActiveBlocksPerSM:  8,
	OpGraphCreate:                    12,
	OpGraphInstantiate:               12,
	OpStreamEndCapture:               12,
	OpStreamIsCapturing:              8,
	OpGraphClone:                     12,
	OpGraphNodeGetDependencies:       12,
	OpGraphNodeGetDependentNodes:     12,
	OpGraphExecUpdate:                8,
	OpModuleLoadAndGetFunction:       796,
	OpMallocBatch:                    520,
	OpStreamCreateBatch:              268,
	OpEventCreateBatch:               268,
	OpMemPtrGetInfo:                  12,
	OpSMIGetProcessorCount:           8,
	OpSMIGetGPUMetrics:               76,
	OpSMIGetPowerInfo:                28,
	OpSMIGetClockInfo:                20,
	OpSMIGetTempMetric:               8,
	OpSMIGetGPUActivity:              20,
	OpSMIGetVRAMUsage:                20,
	OpSMIGetASICInfo:                 340,
}

// ReplySize is the length in bytes of an operation's reply with its code, but for lists and copied bytes.
func ReplySize(op Op, d Dialect) int {
	switch op {
	case OpGetDeviceProperties:
		if d == February || d == Later {
			return 628
		}
	case OpModuleGetFunction:
		switch d {
		case February:
			return 20
		case Later:
			return 532
		}
	}
	if n := replySizes[op]; n != 0 {
		return n
	}
	return 4
}
