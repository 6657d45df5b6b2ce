/*
 * The whole contract of accelerator.h and virtualgpu.h, on two simulated cards. Every
 * buffer ends at a page that may not be touched, so that one byte too many ends the test.
 *
 *   contract LIBRARY c|go      the layout of the topology that the environment asks for
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gotopology.h"
#include "virtualgpu.h"

static int failures;

#define CHECK(what) \
	do { \
		if (!(what)) { \
			printf("line %d: %s\n", __LINE__, #what); \
			failures++; \
		} \
	} while (0)
#define IS(call, want) \
	do { \
		int got_ = (call); \
		if (got_ != (want)) { \
			printf("line %d: %s is %d, want %d\n", __LINE__, #call, got_, (want)); \
			failures++; \
		} \
	} while (0)

/* area is memory of that size, filled with something, whose end is the end of a page. */
static void *area(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
	char *p = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + whole, page, PROT_NONE))
		exit(2);
	memset(p, 0xa5, whole);
	return p + whole - size;
}

#define FUNCTIONS(X) \
	X(AccelInit) X(AccelShutdown) X(AccelGetDeviceCount) X(AccelGetAllDevices) X(AccelGetAllDevicesTopology) X(AccelAssignPartition) \
	X(AccelRemovePartition) X(AccelSetMemHardLimit) X(AccelSetComputeUnitHardLimit) X(AccelSnapshot) X(AccelResume) \
	X(AccelGetProcessInformation) X(AccelGetDeviceMetrics) X(AccelGetVendorMountLibs) X(AccelRegisterLogCallback) X(VirtualGPUInit) \
	X(GetDeviceCount) X(GetAllDevices) X(GetDeviceTopology) X(AssignPartition) X(RemovePartition) X(SetMemHardLimit) \
	X(SetComputeUnitHardLimit) X(Snapshot) X(Resume) X(GetProcessInformation) X(GetDeviceMetrics) X(GetVendorMountLibs) X(RegisterLogCallback)

static struct {
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
} f;

static void load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!lib) {
		printf("%s\n", dlerror());
		exit(2);
	}
#define X(name) \
	if (!(f.name = (__typeof__(&name))dlsym(lib, #name))) { \
		printf("%s\n", dlerror()); \
		exit(2); \
	}
	FUNCTIONS(X)
#undef X
}

/* log callback */

static atomic_int told, wrong_level;

static void on_log(const char *level, const char *message)
{
	atomic_fetch_add(&told, 1);
	if (strcmp(level, "DEBUG") && strcmp(level, "INFO") && strcmp(level, "WARN") && strcmp(level, "ERROR"))
		atomic_fetch_add(&wrong_level, 1);
	if (!*message || strlen(message) > 4096)
		atomic_fetch_add(&wrong_level, 1);
	size_t n; /* the library may be called from here */
	if (f.AccelGetDeviceCount(&n) == ACCEL_SUCCESS && n != 2)
		atomic_fetch_add(&wrong_level, 1);
}

/* valid says whether a text is there and ends within its array. */
#define TEXT(array) (strnlen(array, sizeof(array)) > 0 && strnlen(array, sizeof(array)) < sizeof(array))

static bool is_name(const char *s)
{
	size_t n = strlen(s);
	return n > 0 && n < 64 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n && s[0] != '-' && s[n - 1] != '-';
}

static void lifetime(void)
{
	size_t n = 99;
	IS(f.AccelRegisterLogCallback(on_log), ACCEL_SUCCESS);
	IS(f.AccelInit(), ACCEL_SUCCESS);
	CHECK(atomic_load(&told) > 0);
	IS(f.AccelInit(), ACCEL_SUCCESS);
	IS(f.VirtualGPUInit(), ACCEL_SUCCESS);
	IS(f.AccelShutdown(), ACCEL_SUCCESS);
	IS(f.AccelShutdown(), ACCEL_SUCCESS);
	IS(f.AccelGetDeviceCount(&n), ACCEL_SUCCESS); /* begins again by itself */
	CHECK(n == 2);
	IS(f.AccelGetDeviceCount(NULL), ACCEL_ERROR_INVALID_PARAM);
	n = 99;
	IS(f.GetDeviceCount(&n), ACCEL_SUCCESS);
	CHECK(n == 2);
	IS(f.GetDeviceCount(NULL), ACCEL_ERROR_INVALID_PARAM);
}

static char uuids[2][64];

static void devices(void)
{
	size_t n = 99;
	ExtendedDeviceInfo *d = area(2 * sizeof *d);
	IS(f.AccelGetAllDevices(NULL, 2, &n), ACCEL_ERROR_INVALID_PARAM);
	CHECK(n == 0);
	IS(f.AccelGetAllDevices(d, 2, NULL), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetAllDevices(d, 0, &n), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetAllDevices(d, (size_t)-1, &n), ACCEL_SUCCESS); /* a host that claims too much gets what there is */
	CHECK(n == 2);
	for (size_t i = 0; i < n; i++) {
		DeviceBasicInfo *b = &d[i].basic;
		VirtualizationCapabilities *c = &d[i].virtualizationCapabilities;
		CHECK(TEXT(b->uuid) && is_name(b->uuid));
		CHECK(!strcmp(b->vendor, "AMD"));
		CHECK(TEXT(b->model) && TEXT(b->driverVersion) && TEXT(b->firmwareVersion));
		CHECK(b->index == (int)i && b->numaNode >= -1);
		CHECK(b->totalMemoryBytes > 0 && b->totalComputeUnits == 304);
		CHECK(isfinite(b->maxTflops) && b->maxTflops > 1300 && b->maxTflops < 1310);
		CHECK(b->pcieGen == 5 && b->pcieWidth == 16);
		CHECK(!b->deviceNode[0]); /* a simulated card has none */
		CHECK(d[i].props.count > 5 && d[i].props.count <= MAX_DEVICE_PROPERTIES);
		for (size_t k = 0; k < d[i].props.count && k < MAX_DEVICE_PROPERTIES; k++)
			CHECK(TEXT(d[i].props.properties[k].key) && TEXT(d[i].props.properties[k].value));
		/* what the functions below answer */
		CHECK(!c->supportsPartitioning && !c->supportsSoftIsolation && !c->supportsHardIsolation && !c->supportsSnapshot);
		CHECK(c->supportsMetrics && c->supportsRemoting && c->maxPartitions == 1 && c->maxWorkersPerDevice > 0);
		memcpy(uuids[i], b->uuid, sizeof uuids[i]);
	}
	CHECK(strcmp(uuids[0], uuids[1]));

	ExtendedDeviceInfo *one = area(sizeof *one);
	IS(f.AccelGetAllDevices(one, 1, &n), ACCEL_SUCCESS);
	CHECK(n == 1 && !memcmp(one, d, sizeof *one));

	VgpuExtendedDeviceInfo *v = area(2 * sizeof *v);
	IS(f.GetAllDevices(v, 64, &n), ACCEL_SUCCESS);
	CHECK(n == 2);
	for (size_t i = 0; i < n && n == 2; i++) {
		CHECK(!strcmp(v[i].basic.uuid, d[i].basic.uuid) && !strcmp(v[i].basic.model, d[i].basic.model));
		CHECK(v[i].basic.totalMemoryBytes == d[i].basic.totalMemoryBytes && v[i].basic.maxTflops == d[i].basic.maxTflops);
		CHECK(v[i].basic.index == d[i].basic.index && v[i].basic.pcieGen == 5);
		CHECK(!memcmp(&v[i].props, &d[i].props, sizeof v[i].props));
	}
	VgpuExtendedDeviceInfo *first = area(sizeof *first);
	IS(f.GetAllDevices(first, 1, &n), ACCEL_SUCCESS);
	CHECK(n == 1);
	IS(f.GetAllDevices(NULL, 1, &n), ACCEL_ERROR_INVALID_PARAM);
	IS(f.GetAllDevices(first, 0, &n), ACCEL_ERROR_INVALID_PARAM);
	IS(f.GetAllDevices(first, 1, NULL), ACCEL_ERROR_INVALID_PARAM);
}

static void topology(bool go)
{
	IS(f.AccelGetAllDevicesTopology(NULL), ACCEL_ERROR_INVALID_PARAM);
	if (go) {
		GoExtendedDeviceTopology *t = area(sizeof *t);
		IS(f.AccelGetAllDevicesTopology((ExtendedDeviceTopology *)(void *)t), ACCEL_SUCCESS);
		CHECK(t->deviceCount == 2);
		for (int i = 0; i < 2; i++) {
			CHECK(!strcmp(t->devices[i].deviceUUID, uuids[i]) && t->devices[i].deviceIndex == i && t->devices[i].peerCount == 2);
			for (int k = 0; k < 2; k++) {
				GoDeviceTopoNode *p = &t->devices[i].peers[k];
				CHECK(!strcmp(p->peerUUID, uuids[k]) && p->peerIndex == k);
				CHECK(p->topoLevel == (i == k ? TOPO_LEVEL_SELF : TOPO_LEVEL_INTERNAL));
				CHECK(i == k ? p->bandwidthBytesPerSec == 0 : p->bandwidthBytesPerSec > 1000000000);
			}
		}
	} else {
		ExtendedDeviceTopology *t = area(sizeof *t);
		IS(f.AccelGetAllDevicesTopology(t), ACCEL_SUCCESS);
		CHECK(t->deviceCount == 2);
		for (int i = 0; i < 2; i++) {
			CHECK(!strcmp(t->devices[i].deviceUUID, uuids[i]) && t->devices[i].deviceIndex == i && t->devices[i].peerCount == 2);
			for (int k = 0; k < 2; k++) {
				DeviceTopoNode *p = &t->devices[i].peers[k];
				CHECK(!strcmp(p->peerUUID, uuids[k]) && p->peerIndex == k);
				CHECK(p->topoLevel == (i == k ? TOPO_LEVEL_SELF : TOPO_LEVEL_INTERNAL));
			}
		}
	}
	VgpuExtendedDeviceTopology *v = area(sizeof *v);
	int32_t indices[4] = {1, -1, 7, 0};
	IS(f.GetDeviceTopology(indices, 4, v), ACCEL_SUCCESS);
	CHECK(v->deviceCount == 2 && !strcmp(v->devices[0].deviceUUID, uuids[1]) && !strcmp(v->devices[1].deviceUUID, uuids[0]));
	CHECK(!strcmp(v->topologyType, "XGMI"));
	IS(f.GetDeviceTopology(NULL, 1, v), ACCEL_ERROR_INVALID_PARAM);
	IS(f.GetDeviceTopology(indices, 0, v), ACCEL_ERROR_INVALID_PARAM);
	IS(f.GetDeviceTopology(indices, 65, v), ACCEL_ERROR_INVALID_PARAM);
	IS(f.GetDeviceTopology(indices, 1, NULL), ACCEL_ERROR_INVALID_PARAM);
}

static void figures(void)
{
	DeviceMetrics *m = area(3 * sizeof *m);
	const char *ask[65] = {uuids[0], "of nobody", uuids[1]};
	IS(f.AccelGetDeviceMetrics(NULL, 1, m), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetDeviceMetrics(ask, 0, m), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetDeviceMetrics(ask, 1, NULL), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetDeviceMetrics(ask, 65, m), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetDeviceMetrics(ask, (size_t)-1, m), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetDeviceMetrics(ask, 4, m), ACCEL_ERROR_INVALID_PARAM); /* the fourth is NULL */
	IS(f.AccelGetDeviceMetrics(ask, 3, m), ACCEL_SUCCESS);
	for (int i = 0; i < 3; i++) {
		CHECK(!strcmp(m[i].deviceUUID, ask[i]));
		CHECK(isfinite(m[i].powerUsageWatts) && isfinite(m[i].temperatureCelsius));
		CHECK(m[i].utilizationPercent <= 100 && m[i].extraMetricsCount <= MAX_EXTRA_METRICS);
		for (size_t k = 0; k < m[i].extraMetricsCount && k < MAX_EXTRA_METRICS; k++) {
			const char *key = m[i].extraMetrics[k].key;
			CHECK(TEXT(m[i].extraMetrics[k].key) && isfinite(m[i].extraMetrics[k].value));
			CHECK(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(key));
			for (size_t j = 0; j < k; j++)
				CHECK(strcmp(key, m[i].extraMetrics[j].key));
		}
	}
	CHECK(m[0].powerUsageWatts > 50 && m[0].powerUsageWatts < 200 && m[0].temperatureCelsius > 20 && m[0].extraMetricsCount > 10);
	CHECK(m[1].powerUsageWatts == 0 && m[1].extraMetricsCount == 0);

	/* capital letters, and texts that are longer than a UUID can be */
	char upper[64], *longest = malloc(100001);
	for (int i = 0; i < 64; i++)
		upper[i] = uuids[0][i] >= 'a' && uuids[0][i] <= 'z' ? (char)(uuids[0][i] - 32) : uuids[0][i];
	memset(longest, 'x', 100000);
	longest[100000] = 0;
	const char *odd[3] = {upper, longest, ""};
	IS(f.AccelGetDeviceMetrics(odd, 3, m), ACCEL_SUCCESS);
	CHECK(m[0].powerUsageWatts > 50 && !strcmp(m[0].deviceUUID, upper));
	CHECK(strnlen(m[1].deviceUUID, 64) == 63 && m[1].powerUsageWatts == 0);
	IS(f.GetDeviceMetrics(ask, 1, m), ACCEL_SUCCESS);
	CHECK(m[0].powerUsageWatts > 50);
	free(longest);

	size_t n = 99;
	ProcessInformation *p = area(sizeof *p);
	IS(f.AccelGetProcessInformation(NULL, 1, &n), ACCEL_ERROR_INVALID_PARAM);
	CHECK(n == 0);
	IS(f.AccelGetProcessInformation(p, 0, &n), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetProcessInformation(p, 1, NULL), ACCEL_ERROR_INVALID_PARAM);
	n = 99;
	IS(f.AccelGetProcessInformation(p, (size_t)-1, &n), ACCEL_SUCCESS);
	CHECK(n == 0); /* nobody uses these cards */
	IS(f.GetProcessInformation(p, 1, &n), ACCEL_SUCCESS);

	MountPath *paths = area(2 * sizeof *paths);
	IS(f.AccelGetVendorMountLibs(NULL, 1, &n), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetVendorMountLibs(paths, 0, &n), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetVendorMountLibs(paths, 1, NULL), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelGetVendorMountLibs(paths, (size_t)-1, &n), ACCEL_SUCCESS);
	CHECK(n == 2 && !strcmp(paths[0].hostPath, "/opt/rocm") && !strcmp(paths[0].guestPath, "/rocm") && !strcmp(paths[1].guestPath, "/both"));
	MountPath *one = area(sizeof *one);
	IS(f.GetVendorMountLibs(one, 1, &n), ACCEL_SUCCESS);
	CHECK(n == 1 && !strcmp(one->hostPath, "/opt/rocm"));
}

static void virtualization(void)
{
	PartitionResult *r = area(sizeof *r);
	IS(f.AccelAssignPartition(NULL, uuids[0], r), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelAssignPartition("cpx", NULL, r), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelAssignPartition("cpx", uuids[0], NULL), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelAssignPartition("", uuids[0], r), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelAssignPartition("cpx", "", r), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelAssignPartition("mig-1g.7gb", uuids[0], r), ACCEL_ERROR_NOT_FOUND);
	IS(f.AccelAssignPartition("cpx", "of nobody", r), ACCEL_ERROR_NOT_FOUND);
	IS(f.AccelAssignPartition("cpx", uuids[0], r), ACCEL_ERROR_NOT_SUPPORTED); /* a simulated card stays whole */
	CHECK(!r->deviceUUID[0]);
	IS(f.AccelAssignPartition("spx", uuids[0], r), ACCEL_SUCCESS); /* and may be given as a whole */
	CHECK(TEXT(r->deviceUUID) && is_name(r->deviceUUID) && strcmp(r->deviceUUID, uuids[0]));
	CHECK(r->type == PARTITION_TYPE_ENVIRONMENT_VARIABLE && !strcmp(r->envVars[0], "ROCR_VISIBLE_DEVICES=0") && !r->envVars[1][0]);
	CHECK(!r->deviceNodes[0][0]);
	PartitionResult *again = area(sizeof *again);
	IS(f.AccelAssignPartition("spx", uuids[0], again), ACCEL_ERROR_RESOURCE_EXHAUSTED);
	DeviceMetrics *m = area(sizeof *m);
	const char *part[1] = {r->deviceUUID};
	IS(f.AccelGetDeviceMetrics(part, 1, m), ACCEL_SUCCESS);
	CHECK(m->powerUsageWatts > 50);
	IS(f.AccelRemovePartition(NULL, uuids[0]), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelRemovePartition(r->deviceUUID, NULL), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelRemovePartition("nothing", uuids[0]), ACCEL_ERROR_NOT_FOUND);
	IS(f.AccelRemovePartition(r->deviceUUID, "of nobody"), ACCEL_ERROR_NOT_FOUND);
	IS(f.AccelRemovePartition(r->deviceUUID, uuids[0]), ACCEL_SUCCESS);

	VgpuPartitionAssignment *a = area(sizeof *a);
	memset(a, 'x', sizeof *a); /* no text ends */
	CHECK(!f.AssignPartition(a));
	CHECK(!f.AssignPartition(NULL));
	memset(a, 0, sizeof *a);
	CHECK(!f.AssignPartition(a));
	strcpy(a->templateId, "mi300x-SPX");
	strcpy(a->deviceUUID, uuids[1]);
	CHECK(f.AssignPartition(a));
	CHECK(TEXT(a->partitionUUID) && a->envVarCount == 1 && !strcmp(a->envVars[0].key, "ROCR_VISIBLE_DEVICES") && !strcmp(a->envVars[0].value, "1"));
	CHECK(f.RemovePartition("mi300x-SPX", uuids[1]));
	CHECK(!f.RemovePartition("mi300x-SPX", uuids[1]));
	CHECK(!f.RemovePartition(NULL, NULL));

	IS(f.AccelSetMemHardLimit(NULL, 1), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelSetMemHardLimit(uuids[0], 0), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelSetMemHardLimit(uuids[0], 1), ACCEL_ERROR_NOT_SUPPORTED);
	IS(f.AccelSetComputeUnitHardLimit(NULL, 1), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelSetComputeUnitHardLimit(uuids[0], 0), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelSetComputeUnitHardLimit(uuids[0], 101), ACCEL_ERROR_INVALID_PARAM);
	IS(f.AccelSetComputeUnitHardLimit(uuids[0], 100), ACCEL_ERROR_NOT_SUPPORTED);
	IS(f.SetMemHardLimit(NULL, uuids[0], 1), ACCEL_ERROR_INVALID_PARAM);
	IS(f.SetMemHardLimit("w", uuids[0], 1), ACCEL_ERROR_NOT_SUPPORTED);
	IS(f.SetComputeUnitHardLimit("w", uuids[0], 150), ACCEL_ERROR_INVALID_PARAM);
	IS(f.SetComputeUnitHardLimit("w", uuids[0], 50), ACCEL_ERROR_NOT_SUPPORTED);

	pid_t pid = getpid();
	SnapshotContext none = {0}, some = {&pid, 1, uuids[0]}, device = {NULL, 0, uuids[0]}, no_ids = {NULL, 3, uuids[0]}, no_count = {&pid, 0, NULL};
	AccelResult (*both[2])(SnapshotContext *) = {f.AccelSnapshot, f.AccelResume};
	for (int i = 0; i < 2; i++) {
		IS(both[i](NULL), ACCEL_ERROR_INVALID_PARAM);
		IS(both[i](&none), ACCEL_ERROR_INVALID_PARAM);
		IS(both[i](&no_ids), ACCEL_ERROR_INVALID_PARAM);
		IS(both[i](&no_count), ACCEL_ERROR_INVALID_PARAM);
		IS(both[i](&some), ACCEL_ERROR_NOT_SUPPORTED);
		IS(both[i](&device), ACCEL_ERROR_NOT_SUPPORTED);
	}
	VgpuProcessArray *array = area(sizeof *array);
	IS(f.Snapshot(NULL), ACCEL_ERROR_INVALID_PARAM);
	IS(f.Snapshot(array), ACCEL_ERROR_INVALID_PARAM); /* a count that cannot be */
	array->processCount = 1;
	IS(f.Snapshot(array), ACCEL_ERROR_NOT_SUPPORTED);
	IS(f.Resume(array), ACCEL_ERROR_NOT_SUPPORTED);
}

/* 32 threads call everything, two of them end and begin the library all the while. */

static pthread_barrier_t start;
static atomic_int worked, crowd_failures;

static void *crowd(void *arg)
{
	long me = (long)arg;
	DeviceMetrics *m = area(2 * sizeof *m);
	ProcessInformation *p = area(8 * sizeof *p);
	ExtendedDeviceInfo *d = area(2 * sizeof *d);
	void *t = area(sizeof(GoExtendedDeviceTopology));
	const char *ask[2] = {uuids[0], uuids[1]};
	pthread_barrier_wait(&start);
	for (int i = 0; i < 60; i++) {
		size_t n = 0;
		int r[6] = {0};
		r[0] = f.AccelGetDeviceCount(&n);
		if (me < 2 && i % 10 == 0)
			r[1] = f.AccelShutdown();
		r[1] |= f.AccelInit();
		r[2] = f.AccelGetAllDevices(d, 2, &n);
		if (r[2] == ACCEL_SUCCESS && (n != 2 || strcmp(d[0].basic.uuid, uuids[0])))
			atomic_fetch_add(&crowd_failures, 1);
		r[3] = f.AccelGetDeviceMetrics(ask, 2, m);
		if (strcmp(m[0].deviceUUID, uuids[0]) || strcmp(m[1].deviceUUID, uuids[1]) || m[0].extraMetricsCount > MAX_EXTRA_METRICS)
			atomic_fetch_add(&crowd_failures, 1);
		r[4] = f.AccelGetProcessInformation(p, 8, &n);
		r[5] = f.AccelGetAllDevicesTopology(t);
		if (me == 5)
			f.AccelRegisterLogCallback(i % 2 ? on_log : NULL);
		for (int k = 0; k < 6; k++)
			if (r[k] == ACCEL_SUCCESS)
				atomic_fetch_add(&worked, 1);
			else if (r[k] != ACCEL_ERROR_OPERATION_FAILED) /* the library was ended meanwhile */
				atomic_fetch_add(&crowd_failures, 1);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[32];
	pthread_barrier_init(&start, NULL, 32);
	for (long i = 0; i < 32; i++)
		pthread_create(&t[i], NULL, crowd, (void *)i);
	for (int i = 0; i < 32; i++)
		pthread_join(t[i], NULL);
	CHECK(atomic_load(&crowd_failures) == 0);
	CHECK(atomic_load(&worked) > 32 * 60 * 6 / 2);
}

/* In the child of a fork nothing works, and nothing hangs. */
static void forks(void)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		size_t n = 99;
		_exit(f.AccelGetDeviceCount(&n) == ACCEL_ERROR_INTERNAL && n == 0 && f.AccelInit() == ACCEL_ERROR_INTERNAL ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	CHECK(status == 0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	load(argv[1]);
	lifetime();
	devices();
	topology(!strcmp(argv[2], "go"));
	figures();
	virtualization();
	threads();
	forks();

	CHECK(atomic_load(&wrong_level) == 0);
	IS(f.AccelRegisterLogCallback(NULL), ACCEL_SUCCESS);
	int before = atomic_load(&told);
	IS(f.AccelShutdown(), ACCEL_SUCCESS);
	IS(f.AccelInit(), ACCEL_SUCCESS);
	CHECK(atomic_load(&told) == before); /* nobody is told any more */
	IS(f.RegisterLogCallback(NULL), ACCEL_SUCCESS);
	IS(f.AccelShutdown(), ACCEL_SUCCESS);
	if (failures)
		return 1;
	puts("contract: ok");
	return 0;
}
