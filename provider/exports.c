/* The exports of accelerator.h and virtualgpu.h. They check what no answer depends on,
 * and set counts and texts that a caller may read even if a call fails. */
#include <string.h>

#include "_cgo_export.h"
#include "callback.h"
#include "virtualgpu.h"

#define INVALID_IF(wrong) \
	do { \
		if (wrong) \
			return ACCEL_ERROR_INVALID_PARAM; \
	} while (0)
#define ALIVE \
	do { \
		if (rw_accel_gone()) \
			return ACCEL_ERROR_INTERNAL; \
	} while (0)

/* A null pointer and an empty text are as wrong. */
#define EMPTY(text) (!(text) || !*(text))

AccelResult AccelInit(void)
{
	ALIVE;
	return rwAccelInit();
}

AccelResult AccelShutdown(void)
{
	ALIVE;
	return rwAccelShutdown();
}

AccelResult AccelGetDeviceCount(size_t *deviceCount)
{
	INVALID_IF(!deviceCount);
	*deviceCount = 0;
	ALIVE;
	return rwAccelDeviceCount(deviceCount);
}

AccelResult AccelGetAllDevices(ExtendedDeviceInfo *devices, size_t maxCount, size_t *deviceCount)
{
	if (deviceCount)
		*deviceCount = 0;
	INVALID_IF(!devices || !deviceCount || maxCount == 0);
	ALIVE;
	return rwAccelDevices(devices, maxCount, deviceCount);
}

AccelResult AccelGetAllDevicesTopology(ExtendedDeviceTopology *topology)
{
	INVALID_IF(!topology);
	ALIVE; /* which layout the caller has, only Go knows */
	return rwAccelTopology(topology);
}

AccelResult AccelAssignPartition(const char *templateId, const char *deviceUUID, PartitionResult *partitionResult)
{
	INVALID_IF(EMPTY(templateId) || EMPTY(deviceUUID) || !partitionResult);
	memset(partitionResult, 0, sizeof *partitionResult);
	ALIVE;
	return rwAccelAssign((char *)templateId, (char *)deviceUUID, partitionResult);
}

AccelResult AccelRemovePartition(const char *templateId, const char *deviceUUID)
{
	INVALID_IF(EMPTY(templateId) || EMPTY(deviceUUID));
	ALIVE;
	return rwAccelRemove((char *)templateId, (char *)deviceUUID);
}

AccelResult AccelSetMemHardLimit(const char *deviceUUID, uint64_t memoryLimitBytes)
{
	INVALID_IF(EMPTY(deviceUUID) || memoryLimitBytes == 0);
	ALIVE;
	return rwAccelLimitMemory((char *)deviceUUID, memoryLimitBytes);
}

AccelResult AccelSetComputeUnitHardLimit(const char *deviceUUID, uint32_t computeUnitLimit)
{
	INVALID_IF(EMPTY(deviceUUID) || computeUnitLimit == 0 || computeUnitLimit > 100);
	ALIVE;
	return rwAccelLimitCompute((char *)deviceUUID, computeUnitLimit);
}

/* A snapshot is of some processes, of a device, or of both. */
static bool names_something(const SnapshotContext *context)
{
	if (!context || (context->processIds && context->processCount == 0) || (!context->processIds && context->processCount != 0))
		return false;
	return context->processIds || !EMPTY(context->deviceUUID);
}

AccelResult AccelSnapshot(SnapshotContext *context)
{
	INVALID_IF(!names_something(context));
	return ACCEL_ERROR_NOT_SUPPORTED;
}

AccelResult AccelResume(SnapshotContext *context)
{
	INVALID_IF(!names_something(context));
	return ACCEL_ERROR_NOT_SUPPORTED;
}

AccelResult AccelGetProcessInformation(ProcessInformation *processInfos, size_t maxCount, size_t *processInfoCount)
{
	if (processInfoCount)
		*processInfoCount = 0;
	INVALID_IF(!processInfos || !processInfoCount || maxCount == 0);
	ALIVE;
	return rwAccelProcesses(processInfos, maxCount, processInfoCount);
}

AccelResult AccelGetDeviceMetrics(const char **deviceUUIDs, size_t deviceCount, DeviceMetrics *metrics)
{
	INVALID_IF(!deviceUUIDs || !metrics || deviceCount == 0 || deviceCount > MAX_DEVICE_UUIDS);
	for (size_t i = 0; i < deviceCount; i++)
		INVALID_IF(!deviceUUIDs[i]);
	for (size_t i = 0; i < deviceCount; i++) {
		memset(&metrics[i], 0, sizeof metrics[i]);
		size_t n = strnlen(deviceUUIDs[i], sizeof metrics[i].deviceUUID - 1);
		memcpy(metrics[i].deviceUUID, deviceUUIDs[i], n);
	}
	ALIVE;
	return rwAccelMetrics(metrics, deviceCount);
}

AccelResult AccelGetVendorMountLibs(MountPath *mounts, size_t maxCount, size_t *mountCount)
{
	if (mountCount)
		*mountCount = 0;
	INVALID_IF(!mounts || !mountCount || maxCount == 0);
	ALIVE;
	return rwAccelMounts(mounts, maxCount, mountCount);
}

AccelResult AccelRegisterLogCallback(LogCallbackFunc callback)
{
	rw_accel_register(callback);
	return ACCEL_SUCCESS;
}

/* January 2026 */

VgpuResult VirtualGPUInit(void)
{
	return AccelInit();
}

VgpuResult GetDeviceCount(size_t *deviceCount)
{
	return AccelGetDeviceCount(deviceCount);
}

VgpuResult GetAllDevices(VgpuExtendedDeviceInfo *devices, size_t maxCount, size_t *deviceCount)
{
	if (deviceCount)
		*deviceCount = 0;
	INVALID_IF(!devices || !deviceCount || maxCount == 0);
	ALIVE;
	return rwVgpuDevices(devices, maxCount, deviceCount);
}

VgpuResult GetDeviceTopology(int32_t *deviceIndexArray, size_t deviceCount, VgpuExtendedDeviceTopology *topology)
{
	INVALID_IF(!deviceIndexArray || !topology || deviceCount == 0 || deviceCount > MAX_TOPOLOGY_DEVICES);
	memset(topology, 0, sizeof *topology);
	ALIVE;
	return rwVgpuTopology(deviceIndexArray, deviceCount, topology);
}

bool AssignPartition(VgpuPartitionAssignment *assignment)
{
	if (!assignment || !assignment->templateId[0] || !assignment->deviceUUID[0] || rw_accel_gone())
		return false;
	memset(assignment->partitionUUID, 0, sizeof assignment->partitionUUID);
	memset(assignment->envVars, 0, sizeof assignment->envVars);
	assignment->envVarCount = 0;
	return rwVgpuAssign(assignment) == ACCEL_SUCCESS;
}

bool RemovePartition(const char *templateId, const char *deviceUUID)
{
	return AccelRemovePartition(templateId, deviceUUID) == ACCEL_SUCCESS;
}

VgpuResult SetMemHardLimit(const char *workerId, const char *deviceUUID, uint64_t memoryLimitBytes)
{
	INVALID_IF(EMPTY(workerId));
	return AccelSetMemHardLimit(deviceUUID, memoryLimitBytes);
}

VgpuResult SetComputeUnitHardLimit(const char *workerId, const char *deviceUUID, uint32_t computeUnitLimit)
{
	INVALID_IF(EMPTY(workerId));
	return AccelSetComputeUnitHardLimit(deviceUUID, computeUnitLimit);
}

VgpuResult Snapshot(VgpuProcessArray *processes)
{
	INVALID_IF(!processes || processes->processCount == 0 || processes->processCount > MAX_PROCESSES);
	return ACCEL_ERROR_NOT_SUPPORTED;
}

VgpuResult Resume(VgpuProcessArray *processes)
{
	INVALID_IF(!processes || processes->processCount == 0 || processes->processCount > MAX_PROCESSES);
	return ACCEL_ERROR_NOT_SUPPORTED;
}

VgpuResult GetProcessInformation(ProcessInformation *processInfos, size_t maxCount, size_t *processInfoCount)
{
	return AccelGetProcessInformation(processInfos, maxCount, processInfoCount);
}

VgpuResult GetDeviceMetrics(const char **deviceUUIDs, size_t deviceCount, DeviceMetrics *metrics)
{
	return AccelGetDeviceMetrics(deviceUUIDs, deviceCount, metrics);
}

VgpuResult GetVendorMountLibs(MountPath *mounts, size_t maxCount, size_t *mountCount)
{
	return AccelGetVendorMountLibs(mounts, maxCount, mountCount);
}

VgpuResult RegisterLogCallback(LogCallbackFunc callback)
{
	return AccelRegisterLogCallback(callback);
}
