/* Cooperative launches: as many workgroups as occupancy promises wait for each
 * other, on one device and, with a launch on all of them, on several. */
#include "test.h"

EMBED(grid);

enum { DEVICES = 16, ROUNDS = 3 };

static hipFunction_t get(const char *name)
{
	hipModule_t m;
	hipFunction_t f;
	CHECK(hipModuleLoadData(&m, IMAGE(grid)));
	CHECK(hipModuleGetFunction(&f, m, name));
	return f;
}

static void one_device(void)
{
	hipFunction_t f = get("grid_rounds");
	hipDeviceProp_t p;
	int blocks;
	uint32_t *counter, *out, host[ROUNDS], rounds = ROUNDS, zero[ROUNDS] = {0};
	CHECK(hipGetDeviceProperties(&p, 0));
	ASSERT(p.cooperativeLaunch == 1 && p.cooperativeMultiDeviceLaunch == 1);
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 0));
	unsigned most = (unsigned)(blocks * p.multiProcessorCount);
	CHECK(hipMalloc((void **)&counter, 4));
	CHECK(hipMalloc((void **)&out, sizeof host));
	CHECK(hipMemset(counter, 0, 4));
	CHECK(hipMemset(out, 0, sizeof host));
	void *args[] = {&counter, &out, &rounds};
	CHECK(hipModuleLaunchCooperativeKernel(f, most, 1, 1, 128, 1, 1, 0, NULL, args));
	CHECK(hipMemcpy(host, counter, 4, hipMemcpyDeviceToHost));
	ASSERT(host[0] == most * 128 * ROUNDS);
	CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
	ASSERT(memcmp(host, zero, sizeof host) == 0);
	EXPECT(hipModuleLaunchCooperativeKernel(f, most + 1, 1, 1, 128, 1, 1, 0, NULL, args), hipErrorCooperativeLaunchTooLarge);
	EXPECT(hipModuleLaunchCooperativeKernel(f, 0, 1, 1, 128, 1, 1, 0, NULL, args), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchCooperativeKernel(f, 1, 1, 1, 0, 1, 1, 0, NULL, args), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchCooperativeKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, args), hipErrorInvalidValue);
}

/* peers says whether the devices reach each other's memory: those of different machines do not, and cannot do one launch. */
static int peers(int n)
{
	for (int i = 1; i < n; i++) {
		int can = 0;
		CHECK(hipDeviceCanAccessPeer(&can, 0, i));
		if (!can)
			return 0;
	}
	return 1;
}

/* everywhere is memory of zeros that kernels of all devices use: the host's, or
 * the device's where it does not see the host's. */
static void *everywhere(size_t size)
{
	void *p, *device;
	CHECK(hipHostMalloc(&p, size, 0));
	memset(p, 0, size);
	if (hipHostGetDevicePointer(&device, p, 0) != hipErrorNotSupported)
		return p;
	CHECK(hipHostFree(p));
	CHECK(hipMalloc(&p, size));
	CHECK(hipMemset(p, 0, size));
	return p;
}

static void all_devices(void)
{
	int n, devices;
	uint32_t *counter, *out, rounds = ROUNDS, counted, late[ROUNDS];
	uint64_t *about, told[4 * DEVICES];
	hipFunctionLaunchParams list[DEVICES + 1] = {0};
	CHECK(hipGetDeviceCount(&n));
	if (n > DEVICES)
		n = DEVICES;
	devices = n;
	counter = everywhere(4);
	out = everywhere(sizeof late);
	about = everywhere(sizeof told);
	void *args[] = {&counter, &out, &rounds, &about};
	uint32_t all = 0;
	for (int i = 0; i < n; i++) {
		CHECK(hipSetDevice(i));
		list[i].function = get("multi_rounds");
		list[i].gridDimX = 5 + (unsigned)i, list[i].gridDimY = list[i].gridDimZ = 1;
		list[i].blockDimX = 64, list[i].blockDimY = list[i].blockDimZ = 1;
		list[i].kernelParams = args;
		CHECK(hipStreamCreate(&list[i].hStream));
	}
	if (!peers(devices)) {
		EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)n, 0), hipErrorNotSupported);
		CHECK(hipMemcpy(&counted, counter, 4, hipMemcpyDefault));
		ASSERT(counted == 0);
		n = 1;
	}
	for (int i = 0; i < n; i++)
		all += 64 * (5 + (unsigned)i);
	CHECK(hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)n, 0));
	CHECK(hipMemcpy(&counted, counter, 4, hipMemcpyDefault));
	CHECK(hipMemcpy(late, out, sizeof late, hipMemcpyDefault));
	CHECK(hipMemcpy(told, about, sizeof told, hipMemcpyDefault));
	ASSERT(counted == all * ROUNDS);
	for (int i = 0; i < ROUNDS; i++)
		ASSERT(late[i] == 0);
	for (int i = 0; i < n; i++)
		ASSERT(told[4 * i] == (uint64_t)i && told[4 * i + 1] == (uint64_t)n && told[4 * i + 3] == all);
	EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(NULL, 1, 0), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, 0, 0), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)devices + 1, 0), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)n, 4), hipErrorInvalidValue);
	hipStream_t kept = list[0].hStream;
	list[0].hStream = NULL;
	EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)n, 0), hipErrorInvalidHandle);
	list[0].hStream = kept;
	list[0].blockDimX = 0;
	EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned)n, 0), hipErrorInvalidConfiguration);
	list[0].blockDimX = 64;
	if (devices > 1) {
		list[1] = list[0];
		EXPECT(hipModuleLaunchCooperativeKernelMultiDevice(list, 2, 0), hipErrorInvalidDevice);
	}
	/* those of host functions check their lists alike */
	hipLaunchParams host[DEVICES] = {0};
	EXPECT(hipLaunchCooperativeKernelMultiDevice(NULL, 1, 0), hipErrorInvalidValue);
	EXPECT(hipLaunchCooperativeKernelMultiDevice(host, 0, 0), hipErrorInvalidValue);
	EXPECT(hipLaunchCooperativeKernelMultiDevice(host, 1, 0), hipErrorInvalidSymbol);
	EXPECT(hipExtLaunchMultiKernelMultiDevice(host, -1, 0), hipErrorInvalidValue);
	EXPECT(hipExtLaunchMultiKernelMultiDevice(host, 1, 0), hipErrorInvalidSymbol);
}

int main(void)
{
	one_device();
	all_devices();
	printf(failures ? "failed\n" : "cooperative: ok\n");
	return failures != 0;
}
