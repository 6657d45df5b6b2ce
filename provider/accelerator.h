/*
 * accelerator.h: what a TensorFusion hypervisor and a vendor's library
 * (libaccelerator_VENDOR.so) say to each other.
 *
 * The binary interface is TensorFusion's, of the header whose layout was last changed
 * on 2026-03-18; layouts.c checks every offset. The words are rocwire's. All texts end
 * with a NUL within their array. The caller owns every buffer; the library keeps no
 * pointer. All functions may be called by several threads at once.
 */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_DEVICE_PROPERTIES 64
#define MAX_TOPOLOGY_DEVICES 64
#define MAX_PARTITION_ENVS 16
#define MAX_ENV_KEY_LENGTH 64
#define MAX_ENV_VALUE_LENGTH 256
#define MAX_PROCESSES 1024
#define MAX_EXTRA_METRICS 64
#define MAX_DEVICE_UUIDS 64
#define UUID_STRING_LENGTH 64
#define MAX_MOUNT_PATH 512
#define MAX_PARTITION_DEVICE_NODES 16
#define MAX_PARTITION_DEVICE_NODE_LENGTH 1026

typedef enum {
	ACCEL_SUCCESS = 0,
	ACCEL_ERROR_INVALID_PARAM = 1,      /* a null pointer, a zero, a figure out of its range */
	ACCEL_ERROR_NOT_FOUND = 2,          /* no such device, partition or template */
	ACCEL_ERROR_NOT_SUPPORTED = 3,      /* this device, or this library, cannot do that */
	ACCEL_ERROR_RESOURCE_EXHAUSTED = 4, /* it could, but something else has it */
	ACCEL_ERROR_OPERATION_FAILED = 5,   /* the device or the way to it failed */
	ACCEL_ERROR_INTERNAL = 6            /* the library failed */
} AccelResult;

/* How far two devices are from each other. */
typedef enum {
	TOPO_LEVEL_INTERNAL = 0,      /* a direct link, or one board */
	TOPO_LEVEL_SINGLE_SWITCH = 1, /* one PCIe switch between them */
	TOPO_LEVEL_MULTI_SWITCH = 2,  /* several */
	TOPO_LEVEL_HOST_BRIDGE = 3,   /* the host's PCIe bridge */
	TOPO_LEVEL_NUMA_NODE = 4,     /* several bridges of one NUMA node */
	TOPO_LEVEL_SYSTEM = 5,        /* two NUMA nodes */
	TOPO_LEVEL_SELF = 6,
	TOPO_LEVEL_UNKNOWN = 7
} TopoLevelType;

/* How a worker is given its partition. */
typedef enum {
	PARTITION_TYPE_ENVIRONMENT_VARIABLE = 0,
	PARTITION_TYPE_DEVICE_NODE = 1
} PartitionResultType;

typedef struct {
	bool supportsPartitioning;    /* AccelAssignPartition */
	bool supportsSoftIsolation;   /* limits that hooks in the worker keep */
	bool supportsHardIsolation;   /* AccelSetMemHardLimit, AccelSetComputeUnitHardLimit */
	bool supportsSnapshot;        /* AccelSnapshot, AccelResume */
	bool supportsMetrics;         /* AccelGetDeviceMetrics, AccelGetProcessInformation */
	bool supportsRemoting;        /* programs elsewhere can use the device */
	uint32_t maxPartitions;       /* 1: only as a whole */
	uint32_t maxWorkersPerDevice; /* at once */
} VirtualizationCapabilities;

typedef struct {
	char uuid[64]; /* in lower case a valid Kubernetes name */
	char vendor[32];
	char model[128];
	char driverVersion[80];
	char firmwareVersion[64];
	char deviceNode[64];      /* that a container needs for this device alone; "" if there is none here */
	int32_t index;
	int32_t numaNode;         /* -1: unknown */
	uint64_t totalMemoryBytes;
	uint64_t totalComputeUnits;
	double maxTflops;         /* of 16-bit floats, dense */
	uint32_t pcieGen;         /* 0: unknown */
	uint32_t pcieWidth;       /* lanes; 0: unknown */
} DeviceBasicInfo;

typedef struct {
	char key[64];
	char value[256];
} DevicePropertyKV;

typedef struct {
	DevicePropertyKV properties[MAX_DEVICE_PROPERTIES];
	size_t count;
} DeviceProperties;

typedef struct {
	DeviceBasicInfo basic;
	DeviceProperties props;
	VirtualizationCapabilities virtualizationCapabilities;
} ExtendedDeviceInfo;

/* A way to divide a device; no function fills it in any more. */
typedef struct {
	char templateId[64];
	char name[128];
	uint64_t memoryBytes;
	uint64_t computeUnits;
	double tflops;
	uint32_t sliceCount;
	bool isDefault;
	char description[256];
} PartitionTemplate;

typedef struct {
	char peerUUID[64];
	int32_t peerIndex;
	TopoLevelType topoLevel;
} DeviceTopoNode;

typedef struct {
	char deviceUUID[64];
	int32_t deviceIndex;
	int32_t numaNode;
	DeviceTopoNode peers[MAX_TOPOLOGY_DEVICES];
	size_t peerCount;
} DeviceTopologyInfo;

typedef struct {
	DeviceTopologyInfo devices[MAX_TOPOLOGY_DEVICES];
	size_t deviceCount;
} ExtendedDeviceTopology;

typedef struct {
	pid_t *processIds;      /* NULL: the whole device */
	size_t processCount;
	const char *deviceUUID; /* NULL: of the processes alone */
} SnapshotContext;

typedef struct {
	char key[64]; /* becomes a column of a database */
	double value;
} ExtraMetric;

/* What one process uses of one device. */
typedef struct {
	char processId[32]; /* decimal */
	char deviceUUID[64];
	double computeUtilizationPercent; /* 0 … 100 */
	uint64_t activeSMs;               /* compute units it occupies */
	uint64_t totalSMs;
	uint64_t memoryUsedBytes;
	uint64_t memoryReservedBytes;
	double memoryUtilizationPercent; /* of the device's memory */
} ProcessInformation;

typedef struct {
	char deviceUUID[64];
	double powerUsageWatts;
	double temperatureCelsius;
	uint64_t pcieRxBytes; /* per second, by the device */
	uint64_t pcieTxBytes;
	uint32_t utilizationPercent; /* 0 … 100 */
	uint64_t memoryUsedBytes;
	ExtraMetric extraMetrics[MAX_EXTRA_METRICS];
	size_t extraMetricsCount;
} DeviceMetrics;

typedef struct {
	char hostPath[MAX_MOUNT_PATH];
	char guestPath[MAX_MOUNT_PATH];
} MountPath;

typedef struct {
	PartitionResultType type;
	char deviceUUID[64];                                                            /* of the partition */
	char envVars[MAX_PARTITION_ENVS][MAX_ENV_VALUE_LENGTH];                         /* "NAME=value"; the first "" ends the list */
	char deviceNodes[MAX_PARTITION_DEVICE_NODES][MAX_PARTITION_DEVICE_NODE_LENGTH]; /* "host=container"; likewise */
} PartitionResult;

/* level is DEBUG, INFO, WARN or ERROR. The texts are the library's and live until the
 * callback returns. It is called by any thread, also by one that calls no function of
 * the library, by one at a time. It may call functions of the library. */
typedef void (*LogCallbackFunc)(const char *level, const char *message);

/* Begin and end. Beginning twice is no error; every other function begins by itself. */
AccelResult AccelInit(void);
AccelResult AccelShutdown(void);

AccelResult AccelGetDeviceCount(size_t *deviceCount);
AccelResult AccelGetAllDevices(ExtendedDeviceInfo *devices, size_t maxCount, size_t *deviceCount);
AccelResult AccelGetAllDevicesTopology(ExtendedDeviceTopology *topology);

AccelResult AccelAssignPartition(const char *templateId, const char *deviceUUID, PartitionResult *partitionResult);
/* The first argument is the UUID of a partition; a template's name takes back the
 * youngest partition of that kind. */
AccelResult AccelRemovePartition(const char *templateId, const char *deviceUUID);

AccelResult AccelSetMemHardLimit(const char *deviceUUID, uint64_t memoryLimitBytes);
AccelResult AccelSetComputeUnitHardLimit(const char *deviceUUID, uint32_t computeUnitLimit); /* percent, 1 … 100 */

AccelResult AccelSnapshot(SnapshotContext *context);
AccelResult AccelResume(SnapshotContext *context);

AccelResult AccelGetProcessInformation(ProcessInformation *processInfos, size_t maxCount, size_t *processInfoCount);
/* A UUID that is no device's is no error: its figures are zero. */
AccelResult AccelGetDeviceMetrics(const char **deviceUUIDs, size_t deviceCount, DeviceMetrics *metrics);

AccelResult AccelGetVendorMountLibs(MountPath *mounts, size_t maxCount, size_t *mountCount);

/* NULL takes the callback back: it is not called any more once the function returned,
 * unless it calls the function itself. */
AccelResult AccelRegisterLogCallback(LogCallbackFunc callback);

#ifdef __cplusplus
}
#endif

#endif
