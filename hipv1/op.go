package hipv1

import "fmt"

// Op is an operation. What it is called is what that protocol calls it.
type Op uint16

// The connection.
const (
	OpInit     Op = 0x0001
	OpShutdown Op = 0x0002
	OpPing     Op = 0x0003
)

// Devices.
const (
	OpGetDeviceCount               Op = 0x0100
	OpSetDevice                    Op = 0x0101
	OpGetDevice                    Op = 0x0102
	OpGetDeviceProperties          Op = 0x0103
	OpDeviceSynchronize            Op = 0x0104
	OpDeviceReset                  Op = 0x0105
	OpDeviceGetAttribute           Op = 0x0106
	OpDeviceGetLimit               Op = 0x0107
	OpDeviceSetLimit               Op = 0x0108
	OpDeviceCanAccessPeer          Op = 0x0109
	OpDeviceEnablePeerAccess       Op = 0x010a
	OpDeviceDisablePeerAccess      Op = 0x010b
	OpDeviceGet                    Op = 0x010c
	OpDeviceGetName                Op = 0x010d
	OpDeviceTotalMem               Op = 0x010e
	OpDeviceGetPCIBusID            Op = 0x010f
	OpDeviceGetByPCIBusID          Op = 0x0110
	OpDeviceComputeCapability      Op = 0x0111
	OpDeviceGetUUID                Op = 0x0112
	OpDeviceGetCacheConfig         Op = 0x0113
	OpDeviceSetCacheConfig         Op = 0x0114
	OpDeviceGetSharedMemConfig     Op = 0x0115
	OpDeviceSetSharedMemConfig     Op = 0x0116
	OpSetDeviceFlags               Op = 0x0117
	OpGetDeviceFlags               Op = 0x0118
	OpDeviceGetP2PAttribute        Op = 0x0119
	OpSetValidDevices              Op = 0x011a
	OpChooseDevice                 Op = 0x011b
	OpDeviceGetStreamPriorityRange Op = 0x011c
)

// Memory.
const (
	OpMalloc                  Op = 0x0200
	OpFree                    Op = 0x0201
	OpMallocHost              Op = 0x0202
	OpFreeHost                Op = 0x0203
	OpMallocManaged           Op = 0x0204
	OpMallocAsync             Op = 0x0205
	OpFreeAsync               Op = 0x0206
	OpMemcpy                  Op = 0x0210
	OpMemcpyAsync             Op = 0x0211
	OpMemcpy2D                Op = 0x0212
	OpMemcpy2DAsync           Op = 0x0213
	OpMemcpy3D                Op = 0x0214
	OpMemcpy3DAsync           Op = 0x0215
	OpMemcpyDtoD              Op = 0x0216
	OpMemcpyDtoDAsync         Op = 0x0217
	OpMemcpyHtoD              Op = 0x0218
	OpMemcpyHtoDAsync         Op = 0x0219
	OpMemcpyDtoH              Op = 0x021a
	OpMemcpyDtoHAsync         Op = 0x021b
	OpMemcpyPeer              Op = 0x021c
	OpMemcpyPeerAsync         Op = 0x021d
	OpMemcpyHtoDCached        Op = 0x021e
	OpMemset                  Op = 0x0220
	OpMemsetAsync             Op = 0x0221
	OpMemsetD8                Op = 0x0222
	OpMemsetD16               Op = 0x0223
	OpMemsetD32               Op = 0x0224
	OpMemGetInfo              Op = 0x0230
	OpPointerGetAttributes    Op = 0x0231
	OpPointerGetAttribute     Op = 0x0232
	OpIPCGetMemHandle         Op = 0x0240
	OpIPCOpenMemHandle        Op = 0x0241
	OpIPCCloseMemHandle       Op = 0x0242
	OpIPCGetEventHandle       Op = 0x0243
	OpIPCOpenEventHandle      Op = 0x0244
	OpMemPoolCreate           Op = 0x0250
	OpMemPoolDestroy          Op = 0x0251
	OpMemPoolSetAttribute     Op = 0x0252
	OpMemPoolGetAttribute     Op = 0x0253
	OpMallocFromPoolAsync     Op = 0x0254
	OpMemPoolTrimTo           Op = 0x0255
	OpDeviceGetDefaultMemPool Op = 0x0256
	OpDeviceSetMemPool        Op = 0x0257
	OpDeviceGetMemPool        Op = 0x0258
	OpMempoolSetAccess        Op = 0x025a
	OpHostRegister            Op = 0x0260
	OpHostUnregister          Op = 0x0261
	OpHostGetDevicePointer    Op = 0x0262
	OpHostGetFlags            Op = 0x0263
	OpHostAlloc               Op = 0x0264
	OpHostFree                Op = 0x0265
	OpMemAllocPitch           Op = 0x0266
	OpMemAdvise               Op = 0x0270
	OpMemPrefetchAsync        Op = 0x0271
	OpMemRangeGetAttribute    Op = 0x0272
	OpMemRangeGetAttributes   Op = 0x0273
	OpMallocVaddr             Op = 0x0280
	OpMallocAsyncVaddr        Op = 0x0281
)

// Streams.
const (
	OpStreamCreate                    Op = 0x0300
	OpStreamCreateWithFlags           Op = 0x0301
	OpStreamCreateWithPriority        Op = 0x0302
	OpStreamDestroy                   Op = 0x0303
	OpStreamSynchronize               Op = 0x0304
	OpStreamQuery                     Op = 0x0305
	OpStreamWaitEvent                 Op = 0x0306
	OpStreamGetFlags                  Op = 0x0307
	OpStreamGetPriority               Op = 0x0308
	OpStreamGetCaptureInfo            Op = 0x0309
	OpStreamUpdateCaptureDependencies Op = 0x030a
)

// Events.
const (
	OpEventCreate          Op = 0x0400
	OpEventCreateWithFlags Op = 0x0401
	OpEventDestroy         Op = 0x0402
	OpEventRecord          Op = 0x0403
	OpEventSynchronize     Op = 0x0404
	OpEventQuery           Op = 0x0405
	OpEventElapsedTime     Op = 0x0406
)

// Modules and launches.
const (
	OpModuleLoadData                     Op = 0x0500
	OpModuleLoadDataEx                   Op = 0x0501
	OpModuleUnload                       Op = 0x0502
	OpModuleGetFunction                  Op = 0x0503
	OpModuleGetGlobal                    Op = 0x0504
	OpLaunchKernel                       Op = 0x0510
	OpLaunchCooperativeKernel            Op = 0x0511
	OpModuleLaunchKernel                 Op = 0x0512
	OpLaunchCooperativeKernelMultiDevice Op = 0x0513
	OpFuncGetAttributes                  Op = 0x0514
	OpFuncSetAttribute                   Op = 0x0515
	OpFuncSetCacheConfig                 Op = 0x0516
)

// Errors, and nodes of graphs.
const (
	OpGetLastError            Op = 0x0600
	OpPeekAtLastError         Op = 0x0601
	OpGetErrorString          Op = 0x0602
	OpGetErrorName            Op = 0x0603
	OpGraphAddMemcpyNode      Op = 0x0640
	OpGraphAddMemsetNode      Op = 0x0641
	OpGraphAddKernelNode      Op = 0x0642
	OpGraphAddDependencies    Op = 0x0643
	OpGraphAddEmptyNode       Op = 0x0644
	OpGraphGetNodes           Op = 0x0645
	OpGraphGetRootNodes       Op = 0x0646
	OpGraphGetEdges           Op = 0x0647
	OpGraphNodeGetType        Op = 0x0648
	OpGraphDestroyNode        Op = 0x0649
	OpGraphAddMemcpyNode1D    Op = 0x064a
	OpGraphAddHostNode        Op = 0x064b
	OpGraphAddChildGraphNode  Op = 0x064c
	OpGraphAddEventRecordNode Op = 0x064d
	OpGraphAddEventWaitNode   Op = 0x064e
)

// Versions, occupancy, graphs, batches.
const (
	OpRuntimeGetVersion              Op = 0x0700
	OpDriverGetVersion               Op = 0x0701
	OpOccupancyMaxPotentialBlockSize Op = 0x0710
	OpOccupancyMaxActiveBlocksPerSM  Op = 0x0711
	OpGraphCreate                    Op = 0x0720
	OpGraphDestroy                   Op = 0x0721
	OpGraphInstantiate               Op = 0x0722
	OpGraphLaunch                    Op = 0x0723
	OpGraphExecDestroy               Op = 0x0724
	OpStreamBeginCapture             Op = 0x0725
	OpStreamEndCapture               Op = 0x0726
	OpStreamIsCapturing              Op = 0x0727
	OpGraphClone                     Op = 0x0728
	OpGraphNodeGetDependencies       Op = 0x0729
	OpGraphNodeGetDependentNodes     Op = 0x072a
	OpGraphExecUpdate                Op = 0x072b
	OpGraphExecKernelNodeSetParams   Op = 0x072c
	OpStreamAddCallback              Op = 0x0730
	OpModuleLoadAndGetFunction       Op = 0x0744
	OpMallocBatch                    Op = 0x0745
	OpStreamCreateBatch              Op = 0x0746
	OpEventCreateBatch               Op = 0x0747
	OpMemPtrGetInfo                  Op = 0x0751
)

// Management.
const (
	OpSMIInit              Op = 0x0800
	OpSMIShutdown          Op = 0x0801
	OpSMIGetProcessorCount Op = 0x0802
	OpSMIGetGPUMetrics     Op = 0x0820
	OpSMIGetPowerInfo      Op = 0x0821
	OpSMIGetClockInfo      Op = 0x0822
	OpSMIGetTempMetric     Op = 0x0823
	OpSMIGetGPUActivity    Op = 0x0824
	OpSMIGetVRAMUsage      Op = 0x0825
	OpSMIGetASICInfo       Op = 0x0830
)

// Contexts: none of them is served.
const (
	OpCtxCreate                Op = 0x0900
	OpCtxDestroy               Op = 0x0901
	OpCtxSetCurrent            Op = 0x0902
	OpCtxGetCurrent            Op = 0x0903
	OpCtxPushCurrent           Op = 0x0904
	OpCtxPopCurrent            Op = 0x0905
	OpCtxGetDevice             Op = 0x0906
	OpCtxGetAPIVersion         Op = 0x0907
	OpCtxGetCacheConfig        Op = 0x0908
	OpCtxSetCacheConfig        Op = 0x0909
	OpCtxGetSharedMemConfig    Op = 0x090a
	OpCtxSetSharedMemConfig    Op = 0x090b
	OpCtxSynchronize           Op = 0x090c
	OpCtxGetFlags              Op = 0x090d
	OpCtxEnablePeerAccess      Op = 0x090e
	OpCtxDisablePeerAccess     Op = 0x090f
	OpDevicePrimaryCtxGetState Op = 0x0910
	OpDevicePrimaryCtxRetain   Op = 0x0911
	OpDevicePrimaryCtxRelease  Op = 0x0912
	OpDevicePrimaryCtxReset    Op = 0x0913
	OpDevicePrimaryCtxSetFlags Op = 0x0914
)

// String is the name, or the number of an operation that has none.
func (o Op) String() string {
	if n := names[o]; n != "" {
		return n
	}
	return fmt.Sprintf("operation %#04x", uint16(o))
}

// SMI reports whether an operation asks about the cards, and not for them.
func (o Op) SMI() bool { return o>>8 == 8 }
