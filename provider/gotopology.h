/*
 * gotopology.h: the topology as TensorFusion's hypervisor, a Go program, reads it since
 * version 2.5.0 (2026-04-01): with a bandwidth that accelerator.h does not have. A
 * buffer of one layout must not be written in the other.
 */
#ifndef GOTOPOLOGY_H
#define GOTOPOLOGY_H

#include "accelerator.h"

typedef struct {
	char peerUUID[64];
	int32_t peerIndex;
	TopoLevelType topoLevel;
	int64_t bandwidthBytesPerSec; /* 0: unknown */
} GoDeviceTopoNode;

typedef struct {
	char deviceUUID[64];
	int32_t deviceIndex;
	int32_t numaNode;
	GoDeviceTopoNode peers[MAX_TOPOLOGY_DEVICES];
	size_t peerCount;
} GoDeviceTopologyInfo;

typedef struct {
	GoDeviceTopologyInfo devices[MAX_TOPOLOGY_DEVICES];
	size_t deviceCount;
} GoExtendedDeviceTopology;

#endif
