/* The sizes and offsets that hosts are compiled with, on 64-bit Linux. */
#include "accelerator.h"
#include "gotopology.h"
#include "virtualgpu.h"

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT(type, field, offset, size) \
	_Static_assert(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (size), #type "." #field)
#define IS(name, value) _Static_assert((int)(name) == (value), #name)

SIZE(AccelResult, 4);
IS(ACCEL_SUCCESS, 0);
IS(ACCEL_ERROR_INVALID_PARAM, 1);
IS(ACCEL_ERROR_NOT_FOUND, 2);
IS(ACCEL_ERROR_NOT_SUPPORTED, 3);
IS(ACCEL_ERROR_RESOURCE_EXHAUSTED, 4);
IS(ACCEL_ERROR_OPERATION_FAILED, 5);
IS(ACCEL_ERROR_INTERNAL, 6);

SIZE(TopoLevelType, 4);
IS(TOPO_LEVEL_INTERNAL, 0);
IS(TOPO_LEVEL_SINGLE_SWITCH, 1);
IS(TOPO_LEVEL_MULTI_SWITCH, 2);
IS(TOPO_LEVEL_HOST_BRIDGE, 3);
IS(TOPO_LEVEL_NUMA_NODE, 4);
IS(TOPO_LEVEL_SYSTEM, 5);
IS(TOPO_LEVEL_SELF, 6);
IS(TOPO_LEVEL_UNKNOWN, 7);

SIZE(PartitionResultType, 4);
IS(PARTITION_TYPE_ENVIRONMENT_VARIABLE, 0);
IS(PARTITION_TYPE_DEVICE_NODE, 1);

IS(MAX_DEVICE_PROPERTIES, 64);
IS(MAX_TOPOLOGY_DEVICES, 64);
IS(MAX_PARTITION_ENVS, 16);
IS(MAX_ENV_KEY_LENGTH, 64);
IS(MAX_ENV_VALUE_LENGTH, 256);
IS(MAX_PROCESSES, 1024);
IS(MAX_EXTRA_METRICS, 64);
IS(MAX_DEVICE_UUIDS, 64);
IS(UUID_STRING_LENGTH, 64);
IS(MAX_MOUNT_PATH, 512);
IS(MAX_PARTITION_DEVICE_NODES, 16);
IS(MAX_PARTITION_DEVICE_NODE_LENGTH, 1026);

SIZE(VirtualizationCapabilities, 16);
_Static_assert(_Alignof(VirtualizationCapabilities) == 4, "VirtualizationCapabilities");
AT(VirtualizationCapabilities, supportsPartitioning, 0, 1);
AT(VirtualizationCapabilities, supportsSoftIsolation, 1, 1);
AT(VirtualizationCapabilities, supportsHardIsolation, 2, 1);
AT(VirtualizationCapabilities, supportsSnapshot, 3, 1);
AT(VirtualizationCapabilities, supportsMetrics, 4, 1);
AT(VirtualizationCapabilities, supportsRemoting, 5, 1);
AT(VirtualizationCapabilities, maxPartitions, 8, 4);
AT(VirtualizationCapabilities, maxWorkersPerDevice, 12, 4);

SIZE(DeviceBasicInfo, 472);
_Static_assert(_Alignof(DeviceBasicInfo) == 8, "DeviceBasicInfo");
AT(DeviceBasicInfo, uuid, 0, 64);
AT(DeviceBasicInfo, vendor, 64, 32);
AT(DeviceBasicInfo, model, 96, 128);
AT(DeviceBasicInfo, driverVersion, 224, 80);
AT(DeviceBasicInfo, firmwareVersion, 304, 64);
AT(DeviceBasicInfo, deviceNode, 368, 64);
AT(DeviceBasicInfo, index, 432, 4);
AT(DeviceBasicInfo, numaNode, 436, 4);
AT(DeviceBasicInfo, totalMemoryBytes, 440, 8);
AT(DeviceBasicInfo, totalComputeUnits, 448, 8);
AT(DeviceBasicInfo, maxTflops, 456, 8);
AT(DeviceBasicInfo, pcieGen, 464, 4);
AT(DeviceBasicInfo, pcieWidth, 468, 4);

SIZE(DevicePropertyKV, 320);
_Static_assert(_Alignof(DevicePropertyKV) == 1, "DevicePropertyKV");
AT(DevicePropertyKV, key, 0, 64);
AT(DevicePropertyKV, value, 64, 256);

SIZE(DeviceProperties, 20488);
_Static_assert(_Alignof(DeviceProperties) == 8, "DeviceProperties");
AT(DeviceProperties, properties, 0, 20480);
AT(DeviceProperties, count, 20480, 8);

SIZE(ExtendedDeviceInfo, 20976);
_Static_assert(_Alignof(ExtendedDeviceInfo) == 8, "ExtendedDeviceInfo");
AT(ExtendedDeviceInfo, basic, 0, 472);
AT(ExtendedDeviceInfo, props, 472, 20488);
AT(ExtendedDeviceInfo, virtualizationCapabilities, 20960, 16);

SIZE(PartitionTemplate, 480);
_Static_assert(_Alignof(PartitionTemplate) == 8, "PartitionTemplate");
AT(PartitionTemplate, templateId, 0, 64);
AT(PartitionTemplate, name, 64, 128);
AT(PartitionTemplate, memoryBytes, 192, 8);
AT(PartitionTemplate, computeUnits, 200, 8);
AT(PartitionTemplate, tflops, 208, 8);
AT(PartitionTemplate, sliceCount, 216, 4);
AT(PartitionTemplate, isDefault, 220, 1);
AT(PartitionTemplate, description, 221, 256);

SIZE(DeviceTopoNode, 72);
_Static_assert(_Alignof(DeviceTopoNode) == 4, "DeviceTopoNode");
AT(DeviceTopoNode, peerUUID, 0, 64);
AT(DeviceTopoNode, peerIndex, 64, 4);
AT(DeviceTopoNode, topoLevel, 68, 4);

SIZE(DeviceTopologyInfo, 4688);
_Static_assert(_Alignof(DeviceTopologyInfo) == 8, "DeviceTopologyInfo");
AT(DeviceTopologyInfo, deviceUUID, 0, 64);
AT(DeviceTopologyInfo, deviceIndex, 64, 4);
AT(DeviceTopologyInfo, numaNode, 68, 4);
AT(DeviceTopologyInfo, peers, 72, 4608);
AT(DeviceTopologyInfo, peerCount, 4680, 8);

SIZE(ExtendedDeviceTopology, 300040);
_Static_assert(_Alignof(ExtendedDeviceTopology) == 8, "ExtendedDeviceTopology");
AT(ExtendedDeviceTopology, devices, 0, 300032);
AT(ExtendedDeviceTopology, deviceCount, 300032, 8);

SIZE(SnapshotContext, 24);
_Static_assert(_Alignof(SnapshotContext) == 8, "SnapshotContext");
AT(SnapshotContext, processIds, 0, 8);
AT(SnapshotContext, processCount, 8, 8);
AT(SnapshotContext, deviceUUID, 16, 8);

SIZE(ExtraMetric, 72);
_Static_assert(_Alignof(ExtraMetric) == 8, "ExtraMetric");
AT(ExtraMetric, key, 0, 64);
AT(ExtraMetric, value, 64, 8);

SIZE(ProcessInformation, 144);
_Static_assert(_Alignof(ProcessInformation) == 8, "ProcessInformation");
AT(ProcessInformation, processId, 0, 32);
AT(ProcessInformation, deviceUUID, 32, 64);
AT(ProcessInformation, computeUtilizationPercent, 96, 8);
AT(ProcessInformation, activeSMs, 104, 8);
AT(ProcessInformation, totalSMs, 112, 8);
AT(ProcessInformation, memoryUsedBytes, 120, 8);
AT(ProcessInformation, memoryReservedBytes, 128, 8);
AT(ProcessInformation, memoryUtilizationPercent, 136, 8);

SIZE(DeviceMetrics, 4728);
_Static_assert(_Alignof(DeviceMetrics) == 8, "DeviceMetrics");
AT(DeviceMetrics, deviceUUID, 0, 64);
AT(DeviceMetrics, powerUsageWatts, 64, 8);
AT(DeviceMetrics, temperatureCelsius, 72, 8);
AT(DeviceMetrics, pcieRxBytes, 80, 8);
AT(DeviceMetrics, pcieTxBytes, 88, 8);
AT(DeviceMetrics, utilizationPercent, 96, 4);
AT(DeviceMetrics, memoryUsedBytes, 104, 8);
AT(DeviceMetrics, extraMetrics, 112, 4608);
AT(DeviceMetrics, extraMetricsCount, 4720, 8);

SIZE(MountPath, 1024);
_Static_assert(_Alignof(MountPath) == 1, "MountPath");
AT(MountPath, hostPath, 0, 512);
AT(MountPath, guestPath, 512, 512);

SIZE(PartitionResult, 20580);
_Static_assert(_Alignof(PartitionResult) == 4, "PartitionResult");
AT(PartitionResult, type, 0, 4);
AT(PartitionResult, deviceUUID, 4, 64);
AT(PartitionResult, envVars, 68, 4096);
AT(PartitionResult, deviceNodes, 4164, 16416);

/* gotopology.h */
SIZE(GoDeviceTopoNode, 80);
_Static_assert(_Alignof(GoDeviceTopoNode) == 8, "GoDeviceTopoNode");
AT(GoDeviceTopoNode, peerUUID, 0, 64);
AT(GoDeviceTopoNode, peerIndex, 64, 4);
AT(GoDeviceTopoNode, topoLevel, 68, 4);
AT(GoDeviceTopoNode, bandwidthBytesPerSec, 72, 8);

SIZE(GoDeviceTopologyInfo, 5200);
_Static_assert(_Alignof(GoDeviceTopologyInfo) == 8, "GoDeviceTopologyInfo");
AT(GoDeviceTopologyInfo, deviceUUID, 0, 64);
AT(GoDeviceTopologyInfo, deviceIndex, 64, 4);
AT(GoDeviceTopologyInfo, numaNode, 68, 4);
AT(GoDeviceTopologyInfo, peers, 72, 5120);
AT(GoDeviceTopologyInfo, peerCount, 5192, 8);

SIZE(GoExtendedDeviceTopology, 332808);
_Static_assert(_Alignof(GoExtendedDeviceTopology) == 8, "GoExtendedDeviceTopology");
AT(GoExtendedDeviceTopology, devices, 0, 332800);
AT(GoExtendedDeviceTopology, deviceCount, 332800, 8);

/* virtualgpu.h */
SIZE(VgpuDeviceBasicInfo, 392);
_Static_assert(_Alignof(VgpuDeviceBasicInfo) == 8, "VgpuDeviceBasicInfo");
AT(VgpuDeviceBasicInfo, uuid, 0, 64);
AT(VgpuDeviceBasicInfo, vendor, 64, 32);
AT(VgpuDeviceBasicInfo, model, 96, 128);
AT(VgpuDeviceBasicInfo, driverVersion, 224, 64);
AT(VgpuDeviceBasicInfo, firmwareVersion, 288, 64);
AT(VgpuDeviceBasicInfo, index, 352, 4);
AT(VgpuDeviceBasicInfo, numaNode, 356, 4);
AT(VgpuDeviceBasicInfo, totalMemoryBytes, 360, 8);
AT(VgpuDeviceBasicInfo, totalComputeUnits, 368, 8);
AT(VgpuDeviceBasicInfo, maxTflops, 376, 8);
AT(VgpuDeviceBasicInfo, pcieGen, 384, 4);
AT(VgpuDeviceBasicInfo, pcieWidth, 388, 4);

SIZE(VgpuExtendedDeviceInfo, 20896);
_Static_assert(_Alignof(VgpuExtendedDeviceInfo) == 8, "VgpuExtendedDeviceInfo");
AT(VgpuExtendedDeviceInfo, basic, 0, 392);
AT(VgpuExtendedDeviceInfo, props, 392, 20488);
AT(VgpuExtendedDeviceInfo, virtualizationCapabilities, 20880, 16);

SIZE(VgpuDeviceTopology, 68);
_Static_assert(_Alignof(VgpuDeviceTopology) == 4, "VgpuDeviceTopology");
AT(VgpuDeviceTopology, deviceUUID, 0, 64);
AT(VgpuDeviceTopology, numaNode, 64, 4);

SIZE(VgpuExtendedDeviceTopology, 4392);
_Static_assert(_Alignof(VgpuExtendedDeviceTopology) == 8, "VgpuExtendedDeviceTopology");
AT(VgpuExtendedDeviceTopology, devices, 0, 4352);
AT(VgpuExtendedDeviceTopology, deviceCount, 4352, 8);
AT(VgpuExtendedDeviceTopology, topologyType, 4360, 32);

SIZE(VgpuEnvVar, 320);
_Static_assert(_Alignof(VgpuEnvVar) == 1, "VgpuEnvVar");
AT(VgpuEnvVar, key, 0, 64);
AT(VgpuEnvVar, value, 64, 256);

SIZE(VgpuPartitionAssignment, 5320);
_Static_assert(_Alignof(VgpuPartitionAssignment) == 8, "VgpuPartitionAssignment");
AT(VgpuPartitionAssignment, templateId, 0, 64);
AT(VgpuPartitionAssignment, deviceUUID, 64, 64);
AT(VgpuPartitionAssignment, partitionUUID, 128, 64);
AT(VgpuPartitionAssignment, envVars, 192, 5120);
AT(VgpuPartitionAssignment, envVarCount, 5312, 8);

SIZE(VgpuWorkerInfo, 152);
_Static_assert(_Alignof(VgpuWorkerInfo) == 8, "VgpuWorkerInfo");
AT(VgpuWorkerInfo, workerId, 0, 64);
AT(VgpuWorkerInfo, deviceUUID, 64, 64);
AT(VgpuWorkerInfo, processId, 128, 4);
AT(VgpuWorkerInfo, memoryLimitBytes, 136, 8);
AT(VgpuWorkerInfo, computeUnitLimit, 144, 4);

SIZE(VgpuProcessArray, 4168);
_Static_assert(_Alignof(VgpuProcessArray) == 8, "VgpuProcessArray");
AT(VgpuProcessArray, processIds, 0, 4096);
AT(VgpuProcessArray, processCount, 4096, 8);
AT(VgpuProcessArray, deviceUUID, 4104, 64);

SIZE(MountPath, 1024);
_Static_assert(_Alignof(MountPath) == 1, "MountPath");
AT(MountPath, hostPath, 0, 512);
AT(MountPath, guestPath, 512, 512);

