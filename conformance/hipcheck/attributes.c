/* Everything a device says of itself. */
#include "groups.h"

void attributes(void)
{
	int v;
	for (int d = -1; d < 2; d++)
		for (int at = -1; at < 130; at++) {
			v = 0x55555555;
			if (d != 0 && at > 3)
				continue;
			if (begin("device %d, attribute %d", d, at)) {
				hipError_t e = hipDeviceGetAttribute(&v, (hipDeviceAttribute_t)at, d);
				answer("%s %d", hipGetErrorName(e), v);
			}
		}
	for (int at = 9998; at < 10040; at++) {
		v = 0x55555555;
		if (begin("attribute %d", at)) {
			hipError_t e = hipDeviceGetAttribute(&v, (hipDeviceAttribute_t)at, 0);
			answer("%s %d", hipGetErrorName(e), v);
		}
	}
	hipDeviceProp_t p;
	memset(&p, 0, sizeof p);
	if (begin("properties"))
		answered(hipGetDeviceProperties(&p, 0));
#define P(f) SAW("property " #f, "%lld", (long long)p.f);
	P(totalGlobalMem) P(sharedMemPerBlock) P(regsPerBlock) P(warpSize) P(memPitch) P(maxThreadsPerBlock) P(maxThreadsDim[0]) P(maxThreadsDim[1]) P(maxThreadsDim[2]) P(maxGridSize[0])
	P(maxGridSize[1]) P(maxGridSize[2]) P(clockRate) P(totalConstMem) P(major) P(minor) P(textureAlignment) P(texturePitchAlignment) P(deviceOverlap) P(multiProcessorCount)
	P(kernelExecTimeoutEnabled) P(integrated) P(canMapHostMemory) P(computeMode) P(maxTexture1D) P(maxTexture1DMipmap) P(maxTexture1DLinear) P(maxTexture2D[0]) P(maxTexture2D[1])
	P(maxTexture3D[0]) P(maxTexture3D[1]) P(maxTexture3D[2]) P(maxSurface1D) P(maxSurface2D[0]) P(surfaceAlignment) P(concurrentKernels) P(ECCEnabled) P(pciBusID) P(pciDeviceID)
	P(pciDomainID) P(tccDriver) P(asyncEngineCount) P(unifiedAddressing) P(memoryClockRate) P(memoryBusWidth) P(l2CacheSize) P(persistingL2CacheMaxSize) P(maxThreadsPerMultiProcessor)
	P(streamPrioritiesSupported) P(globalL1CacheSupported) P(localL1CacheSupported) P(sharedMemPerMultiprocessor) P(regsPerMultiprocessor) P(managedMemory) P(isMultiGpuBoard)
	P(multiGpuBoardGroupID) P(hostNativeAtomicSupported) P(singleToDoublePrecisionPerfRatio) P(pageableMemoryAccess) P(concurrentManagedAccess) P(computePreemptionSupported)
	P(canUseHostPointerForRegisteredMem) P(cooperativeLaunch) P(cooperativeMultiDeviceLaunch) P(sharedMemPerBlockOptin) P(pageableMemoryAccessUsesHostPageTables)
	P(directManagedMemAccessFromHost) P(maxBlocksPerMultiProcessor) P(accessPolicyMaxWindowSize) P(reservedSharedMemPerBlock) P(hostRegisterSupported) P(sparseHipArraySupported)
	P(hostRegisterReadOnlySupported) P(timelineSemaphoreInteropSupported) P(memoryPoolsSupported) P(gpuDirectRDMASupported) P(gpuDirectRDMAFlushWritesOptions) P(gpuDirectRDMAWritesOrdering)
	P(memoryPoolSupportedHandleTypes) P(deferredMappingHipArraySupported) P(ipcEventSupported) P(clusterLaunch) P(unifiedFunctionPointers) P(maxSharedMemoryPerMultiProcessor) P(clockInstructionRate)
	P(hdpMemFlushCntl) P(hdpRegFlushCntl) P(cooperativeMultiDeviceUnmatchedFunc) P(cooperativeMultiDeviceUnmatchedGridDim) P(cooperativeMultiDeviceUnmatchedBlockDim)
	P(cooperativeMultiDeviceUnmatchedSharedMem) P(isLargeBar) P(asicRevision)
	SAW("property name", "%s", p.name);
	SAW("property gcnArchName", "%s", p.gcnArchName);
	int n = -1, m = -1;
	size_t total = 0, free = 0;
	char name[100] = "", bus[64] = "";
	hipDevice_t d = 99;
	if (begin("count")) { hipError_t e = hipGetDeviceCount(&n); answer("%s %d", hipGetErrorName(e), n); }
	if (begin("hipDeviceTotalMem")) { hipError_t e = hipDeviceTotalMem(&total, 0); answer("%s %zu", hipGetErrorName(e), total); }
	if (begin("hipMemGetInfo, total")) { hipError_t e = hipMemGetInfo(&free, &total); answer("%s %zu", hipGetErrorName(e), total); }
	for (int len = 0; len < 8; len++)
		if (begin("hipDeviceGetName, room for %d", len)) { memset(name, 'x', 20); hipError_t e = hipDeviceGetName(name, len, 0); name[20] = 0; answer("%s %s", hipGetErrorName(e), name); }
	if (begin("hipDeviceGetName")) { hipError_t e = hipDeviceGetName(name, 100, 0); answer("%s %s", hipGetErrorName(e), name); }
	for (int len = 0; len < 20; len++)
		if (begin("hipDeviceGetPCIBusId, room for %d", len)) { memset(bus, 'x', 20); bus[20] = 0; hipError_t e = hipDeviceGetPCIBusId(bus, len, 0); answer("%s", hipGetErrorName(e)); }
	if (begin("hipDeviceGetByPCIBusId")) { (void)hipDeviceGetPCIBusId(bus, 64, 0); hipError_t e = hipDeviceGetByPCIBusId(&n, bus); answer("%s %d", hipGetErrorName(e), n); }
	IS(hipDeviceGetByPCIBusId(&n, "9999:99:99.9"), "hipDeviceGetByPCIBusId of none");
	IS(hipDeviceGetByPCIBusId(&n, "nothing"), "hipDeviceGetByPCIBusId of nothing");
	if (begin("hipDeviceGet")) { hipError_t e = hipDeviceGet(&d, 0); answer("%s %d", hipGetErrorName(e), d); }
	if (begin("hipDeviceComputeCapability")) { hipError_t e = hipDeviceComputeCapability(&n, &m, 0); answer("%s %d %d", hipGetErrorName(e), n, m); }
	if (begin("hipRuntimeGetVersion")) { hipError_t e = hipRuntimeGetVersion(&n); answer("%s %d", hipGetErrorName(e), n); }
	if (begin("hipDriverGetVersion")) { hipError_t e = hipDriverGetVersion(&n); answer("%s %d", hipGetErrorName(e), n); }
	if (begin("hipDeviceCanAccessPeer")) { hipError_t e = hipDeviceCanAccessPeer(&n, 0, 0); answer("%s %d", hipGetErrorName(e), n); }
	IS(hipDeviceEnablePeerAccess(0, 0), "peer access to itself");
	IS(hipDeviceDisablePeerAccess(0), "no peer access to itself");
	for (int at = -1; at < 6; at++)
		if (begin("peer attribute %d", at)) { hipError_t e = hipDeviceGetP2PAttribute(&n, (hipDeviceP2PAttr)at, 0, 0); answer("%s", hipGetErrorName(e)); }
	uint32_t link = 0, hops = 0;
	if (begin("link to itself")) { hipError_t e = hipExtGetLinkTypeAndHopCount(0, 0, &link, &hops); answer("%s", hipGetErrorName(e)); }
	for (int i = -2; i < 3; i++)
		IS(hipSetDevice(i), "hipSetDevice %d", i);
	int list[] = {0, 0};
	IS(hipSetValidDevices(list, 0), "no valid devices");
	IS(hipSetValidDevices(list, 1), "one valid device");
	IS(hipSetValidDevices(list, 2), "a valid device twice");
	list[0] = 7;
	IS(hipSetValidDevices(list, 1), "no such valid device");
	hipCtx_t c = 0, now = 0;
	unsigned flags = 99;
	if (begin("context at first")) { hipError_t e = hipCtxGetCurrent(&now); answer("%s, %s", hipGetErrorName(e), now ? "one" : "none"); }
	if (begin("primary context's state")) { hipError_t e = hipDevicePrimaryCtxGetState(0, &flags, &n); answer("%s, flags %u, active %d", hipGetErrorName(e), flags, n); }
	IS(hipDevicePrimaryCtxRetain(&c, 0), "retain the primary context");
	IS(hipDevicePrimaryCtxRelease(0), "release the primary context");
	IS(hipDevicePrimaryCtxSetFlags(0, 0), "flags of the primary context");
	IS(hipDevicePrimaryCtxReset(0), "reset the primary context");
	IS(hipCtxCreate(&c, 0, 0), "create a context");
	IS(hipCtxPushCurrent(c), "push");
	IS(hipCtxGetCurrent(&now), "current");
	SAW("it is the pushed one", "%d", now == c);
	IS(hipCtxPopCurrent(&now), "pop");
	IS(hipCtxPopCurrent(&now), "pop again");
	IS(hipCtxPopCurrent(&now), "pop a third time");
	IS(hipCtxSetCurrent(0), "current null");
	IS(hipCtxGetDevice(&d), "device of the context");
	IS(hipCtxDestroy(c), "destroy the context");
	if (begin("API version")) { int ver = 0; hipError_t e = hipCtxGetApiVersion(c, &ver); answer("%s %d", hipGetErrorName(e), ver); }
}
