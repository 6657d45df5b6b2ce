/*
 * virtualgpu.h: the same interface as it was in January 2026, without the prefix
 * Accel. Types that have changed since begin with Vgpu here; the others are
 * accelerator.h's. Results have the numbers of AccelResult.
 */
#ifndef VIRTUALGPU_H
#define VIRTUALGPU_H

#include "accelerator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef AccelResult VgpuResult;

typedef struct {
	char uuid[64];
	char vendor[32];
	char model[128];
	char driverVersion[64];
	char firmwareVersion[64];
	int32_t index;
	int32_t numaNode;
	uint64_t totalMemoryBytes;
	uint64_t totalComputeUnits;
	double maxTflops;
	uint32_t pcieGen;
	uint32_t pcieWidth;
} VgpuDeviceBasicInfo;

typedef struct {
	VgpuDeviceBasicInfo basic;
	DeviceProperties props;
	VirtualizationCapabilities virtualizationCapabilities;
} VgpuExtendedDeviceInfo;

typedef struct {
	char deviceUUID[64];
	int32_t numaNode;
} VgpuDeviceTopology;

typedef struct {
	VgpuDeviceTopology devices[MAX_TOPOLOGY_DEVICES];
	size_t deviceCount;
	char topologyType[32]; /* "XGMI" if all of them are linked, else "PCIe" */
} VgpuExtendedDeviceTopology;

typedef struct {
	char key[MAX_ENV_KEY_LENGTH];
	char value[MAX_ENV_VALUE_LENGTH];
} VgpuEnvVar;

typedef struct {
	char templateId[64];
	char deviceUUID[64];
	char partitionUUID[64]; /* out, as what follows */
	VgpuEnvVar envVars[MAX_PARTITION_ENVS];
	size_t envVarCount;
} VgpuPartitionAssignment;

typedef struct {
	char workerId[64];
	char deviceUUID[64];
	pid_t processId;
	uint64_t memoryLimitBytes;
	uint32_t computeUnitLimit;
} VgpuWorkerInfo;

typedef struct {
	pid_t processIds[MAX_PROCESSES];
	size_t processCount;
	char deviceUUID[64];
} VgpuProcessArray;

VgpuResult VirtualGPUInit(void);
VgpuResult GetDeviceCount(size_t *deviceCount);
VgpuResult GetAllDevices(VgpuExtendedDeviceInfo *devices, size_t maxCount, size_t *deviceCount);
VgpuResult GetDeviceTopology(int32_t *deviceIndexArray, size_t deviceCount, VgpuExtendedDeviceTopology *topology);
bool AssignPartition(VgpuPartitionAssignment *assignment);
bool RemovePartition(const char *templateId, const char *deviceUUID);
VgpuResult SetMemHardLimit(const char *workerId, const char *deviceUUID, uint64_t memoryLimitBytes);
VgpuResult SetComputeUnitHardLimit(const char *workerId, const char *deviceUUID, uint32_t computeUnitLimit);
VgpuResult Snapshot(VgpuProcessArray *processes);
VgpuResult Resume(VgpuProcessArray *processes);
VgpuResult GetProcessInformation(ProcessInformation *processInfos, size_t maxCount, size_t *processInfoCount);
VgpuResult GetDeviceMetrics(const char **deviceUUIDs, size_t deviceCount, DeviceMetrics *metrics);
VgpuResult GetVendorMountLibs(MountPath *mounts, size_t maxCount, size_t *mountCount);
VgpuResult RegisterLogCallback(LogCallbackFunc callback);

#ifdef __cplusplus
}
#endif

#endif
