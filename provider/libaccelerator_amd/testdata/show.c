/* Prints what the library tells, for people and for tests. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "accelerator.h"

static void told(const char *level, const char *message)
{
	printf("log %s %s\n", level, message);
}

static void *library;

static void *function(const char *name)
{
	void *f = dlsym(library, name);
	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return f;
}

#define GET(name) __typeof__(&name) p##name = (__typeof__(&name))function(#name)

int main(int argc, char **argv)
{
	/* with two more arguments every device is limited: bytes, percent */
	if ((argc != 2 && argc != 4) || !(library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	GET(AccelRegisterLogCallback);
	GET(AccelInit);
	GET(AccelGetAllDevices);
	GET(AccelGetAllDevicesTopology);
	GET(AccelGetDeviceMetrics);
	GET(AccelGetProcessInformation);

	pAccelRegisterLogCallback(told);
	int r = pAccelInit();
	printf("init %d\n", r);
	if (r != ACCEL_SUCCESS)
		return 0;
	static ExtendedDeviceInfo devices[64];
	static ExtendedDeviceTopology topology;
	static DeviceMetrics metrics[64];
	static ProcessInformation processes[1024];
	const char *uuids[64];
	size_t n = 0, k = 0;
	r = pAccelGetAllDevices(devices, 64, &n);
	printf("devices %d: %zu\n", r, n);
	for (size_t i = 0; i < n; i++) {
		DeviceBasicInfo *b = &devices[i].basic;
		VirtualizationCapabilities *c = &devices[i].virtualizationCapabilities;
		printf("device %d %s %s %s driver %s firmware %s node '%s' numa %d memory %lu units %lu tflops %.1f pcie %u x%u\n", b->index, b->uuid,
		       b->vendor, b->model, b->driverVersion, b->firmwareVersion, b->deviceNode, b->numaNode, b->totalMemoryBytes, b->totalComputeUnits,
		       b->maxTflops, b->pcieGen, b->pcieWidth);
		printf("  can %d%d%d%d%d%d %u %u\n", c->supportsPartitioning, c->supportsSoftIsolation, c->supportsHardIsolation, c->supportsSnapshot,
		       c->supportsMetrics, c->supportsRemoting, c->maxPartitions, c->maxWorkersPerDevice);
		for (size_t j = 0; j < devices[i].props.count; j++)
			printf("  %s = %s\n", devices[i].props.properties[j].key, devices[i].props.properties[j].value);
		uuids[i] = b->uuid;
	}
	if (argc == 4) {
		GET(AccelSetMemHardLimit);
		GET(AccelSetComputeUnitHardLimit);
		for (size_t i = 0; i < n; i++)
			printf("limits %d %d\n", pAccelSetMemHardLimit(uuids[i], strtoull(argv[2], NULL, 10)),
			       pAccelSetComputeUnitHardLimit(uuids[i], (uint32_t)strtoul(argv[3], NULL, 10)));
		printf("limits %d\n", pAccelSetMemHardLimit("no-such-card", 1));
	}
	r = pAccelGetAllDevicesTopology(&topology);
	printf("topology %d: %zu\n", r, topology.deviceCount);
	for (size_t i = 0; i < topology.deviceCount; i++)
		for (size_t j = 0; j < topology.devices[i].peerCount; j++)
			printf("  %zu-%d %d\n", i, topology.devices[i].peers[j].peerIndex, topology.devices[i].peers[j].topoLevel);
	if (n) {
		r = pAccelGetDeviceMetrics(uuids, n, metrics);
		printf("metrics %d\n", r);
		for (size_t i = 0; i < n; i++) {
			DeviceMetrics *m = &metrics[i];
			printf("  %s %.1f W %.1f C rx %lu tx %lu busy %u used %lu\n", m->deviceUUID, m->powerUsageWatts, m->temperatureCelsius, m->pcieRxBytes,
			       m->pcieTxBytes, m->utilizationPercent, m->memoryUsedBytes);
			for (size_t j = 0; j < m->extraMetricsCount; j++)
				printf("    %s = %g\n", m->extraMetrics[j].key, m->extraMetrics[j].value);
		}
	}
	r = pAccelGetProcessInformation(processes, 1024, &k);
	printf("processes %d: %zu\n", r, k);
	for (size_t i = 0; i < k; i++)
		printf("  %s on %s: %.1f %% %lu/%lu units, %lu bytes %.2f %%\n", processes[i].processId, processes[i].deviceUUID,
		       processes[i].computeUtilizationPercent, processes[i].activeSMs, processes[i].totalSMs, processes[i].memoryUsedBytes,
		       processes[i].memoryUtilizationPercent);
	return 0;
}
