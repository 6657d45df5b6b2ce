/* The everyday calls: devices, memory, copies of every direction and shape,
 * modules, launches in all forms, variables, attributes. */
#include "test.h"

EMBED(vector_add);
EMBED(reduce);
EMBED(variables);
EMBED(dynamic_lds);

enum { N = 10000 };

static void devices(void)
{
	int n = 0, v = 0, device = -1, major = 0, minor = 0;
	char name[256], bus[32];
	size_t total = 0, free_ = 0, all = 0;
	hipDeviceProp_t p;
	hipUUID uuid;
	CHECK(hipInit(0));
	CHECK(hipGetDeviceCount(&n));
	ASSERT(n >= 1);
	CHECK(hipGetDevice(&device));
	ASSERT(device == 0);
	CHECK(hipSetDevice(0));
	CHECK(hipGetDeviceProperties(&p, 0));
	ASSERT(p.warpSize == 64 && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536);
	CHECK(hipDeviceGetAttribute(&v, hipDeviceAttributeWarpSize, 0));
	ASSERT(v == 64);
	CHECK(hipDeviceGetAttribute(&v, hipDeviceAttributeMultiprocessorCount, 0));
	ASSERT(v == p.multiProcessorCount);
	CHECK(hipDeviceGetName(name, sizeof name, 0));
	ASSERT(strcmp(name, p.name) == 0);
	CHECK(hipDeviceTotalMem(&total, 0));
	ASSERT(total == p.totalGlobalMem);
	CHECK(hipMemGetInfo(&free_, &all));
	ASSERT(free_ <= all && all == total);
	CHECK(hipDeviceComputeCapability(&major, &minor, 0));
	ASSERT(major == p.major && minor == p.minor);
	CHECK(hipDeviceGetUuid(&uuid, 0));
	CHECK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
	CHECK(hipDeviceGetByPCIBusId(&device, bus));
	ASSERT(device == 0);
	CHECK(hipRuntimeGetVersion(&v));
	ASSERT(v / 100000 == 604);
	CHECK(hipDriverGetVersion(&v));
	ASSERT(v / 100000 == 604);
	hipDeviceProp_tR0000 old;
	CHECK(hipGetDevicePropertiesR0000(&old, 0));
	ASSERT(strcmp(old.gcnArchName, p.gcnArchName) == 0 && old.totalGlobalMem == p.totalGlobalMem);
}

static void memory(void)
{
	uint32_t *host = malloc(N * 4), *back = malloc(N * 4);
	void *a, *b;
	hipPointerAttribute_t at;
	size_t size = 0;
	hipDeviceptr_t base;
	for (int i = 0; i < N; i++)
		host[i] = (uint32_t)i * 2654435761u;
	CHECK(hipMalloc(&a, N * 4));
	CHECK(hipMalloc(&b, N * 4));
	CHECK(hipMemcpy(a, host, N * 4, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(b, a, N * 4, hipMemcpyDeviceToDevice));
	CHECK(hipMemcpy(back, b, N * 4, hipMemcpyDefault));
	ASSERT(memcmp(host, back, N * 4) == 0);
	CHECK(hipPointerGetAttributes(&at, (char *)a + 8));
	ASSERT(at.type == hipMemoryTypeDevice && at.device == 0);
	CHECK(hipMemGetAddressRange(&base, &size, (char *)a + 4000));
	ASSERT(base == a && size >= N * 4);
	CHECK(hipMemPtrGetInfo(a, &size));
	ASSERT(size >= N * 4);

	/* parts, at odd places */
	memset(back, 0, N * 4);
	CHECK(hipMemcpy((char *)b + 1, (char *)host + 3, 777, hipMemcpyHostToDevice));
	CHECK(hipMemcpyDtoH(back, (char *)b + 1, 777));
	ASSERT(memcmp(back, (char *)host + 3, 777) == 0);

	CHECK(hipMemset(a, 0x5a, N * 4));
	CHECK(hipMemsetD32((char *)a + 400, 0x12345678, 10));
	CHECK(hipMemsetD16((char *)a + 800, 0xabcd, 3));
	CHECK(hipMemsetD8((char *)a + 900, 7, 5));
	CHECK(hipMemcpyDtoH(back, a, N * 4));
	ASSERT(back[0] == 0x5a5a5a5a && back[99] == 0x5a5a5a5a && back[100] == 0x12345678 && back[109] == 0x12345678 && back[110] == 0x5a5a5a5a);
	ASSERT(back[200] == 0xabcdabcd && back[201] == 0x5a5aabcd && back[225] == 0x07070707 && (back[226] & 0xff) == 7 && back[N - 1] == 0x5a5a5a5a);

	/* rectangles */
	void *pitched;
	size_t pitch = 0;
	CHECK(hipMallocPitch(&pitched, &pitch, 300, 20));
	ASSERT(pitch >= 300 && pitch % 64 == 0);
	CHECK(hipMemset2D(pitched, pitch, 0x11, 300, 20));
	CHECK(hipMemcpy2D(pitched, pitch, host, 400, 300, 10, hipMemcpyHostToDevice));
	memset(back, 0, N * 4);
	CHECK(hipMemcpy2D(back, 500, pitched, pitch, 300, 20, hipMemcpyDeviceToHost));
	for (int row = 0; row < 10; row++)
		ASSERT(memcmp((char *)back + row * 500, (char *)host + row * 400, 300) == 0);
	ASSERT(((unsigned char *)back)[10 * 500] == 0x11 && ((unsigned char *)back)[19 * 500 + 299] == 0x11 && ((unsigned char *)back)[300] == 0);

	/* pinned host memory */
	uint32_t *pinned;
	void *seen;
	unsigned int flags = 99;
	CHECK(hipHostMalloc((void **)&pinned, N * 4, hipHostMallocDefault));
	CHECK(hipHostGetFlags(&flags, pinned));
	memcpy(pinned, host, N * 4);
	CHECK(hipMemcpy(b, pinned, N * 4, hipMemcpyHostToDevice));
	memset(pinned, 0, N * 4);
	CHECK(hipMemcpy(pinned, b, N * 4, hipMemcpyDeviceToHost));
	ASSERT(memcmp(pinned, host, N * 4) == 0);
	CHECK(hipHostGetDevicePointer(&seen, pinned, 0));
	CHECK(hipHostFree(pinned));
	CHECK(hipFree(pitched));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	CHECK(hipFree(NULL));
	free(host);
	free(back);
}

static void launches(void)
{
	float *a = malloc(N * 4), *b = malloc(N * 4), *c = malloc(N * 4);
	void *da, *db, *dc;
	int n = N;
	hipFunction_t add = kernel(IMAGE(vector_add), "vector_add");
	for (int i = 0; i < N; i++) {
		a[i] = (float)i * 0.5f;
		b[i] = (float)(N - i);
	}
	CHECK(hipMalloc(&da, N * 4));
	CHECK(hipMalloc(&db, N * 4));
	CHECK(hipMalloc(&dc, N * 4));
	CHECK(hipMemcpyHtoD(da, a, N * 4));
	CHECK(hipMemcpyHtoD(db, b, N * 4));
	void *params[] = {&da, &db, &dc, &n};
	struct {
		void *a, *b, *c;
		int n;
	} buffer = {da, db, dc, n};
	size_t size = sizeof buffer;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
	for (int form = 0; form < 4; form++) {
		CHECK(hipMemset(dc, 0xff, N * 4));
		switch (form) {
		case 0:
			CHECK(hipModuleLaunchKernel(add, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
			break;
		case 1:
			CHECK(hipModuleLaunchKernel(add, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
			break;
		case 2: /* in threads */
			CHECK(hipExtModuleLaunchKernel(add, (N + 255) / 256 * 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL, NULL, NULL, 0));
			break;
		case 3:
			CHECK(hipModuleLaunchCooperativeKernel(add, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, params));
			break;
		}
		CHECK(hipMemcpyDtoH(c, dc, N * 4));
		int wrong = 0;
		for (int i = 0; i < N; i++)
			wrong += c[i] != a[i] + b[i];
		if (wrong)
			FAIL("launch form %d: %d wrong elements", form, wrong);
	}
	ASSERT(strcmp(hipKernelNameRef(add), "vector_add") == 0);

	/* LDS, of the kernel's own and of the launch's */
	hipFunction_t sum = kernel(IMAGE(reduce), "reduce_sum_u64"), reverse = kernel(IMAGE(dynamic_lds), "reverse");
	uint32_t *values = malloc(N * 4), count = N;
	uint64_t want = 0, got = 0;
	for (int i = 0; i < N; i++)
		want += values[i] = (uint32_t)i * 97u;
	CHECK(hipMemcpyHtoD(da, values, N * 4));
	CHECK(hipMemset(dc, 0, 8));
	void *sum_params[] = {&da, &dc, &count};
	CHECK(hipModuleLaunchKernel(sum, 10, 1, 1, 256, 1, 1, 0, NULL, sum_params, NULL));
	CHECK(hipMemcpyDtoH(&got, dc, 8));
	ASSERT(got == want);
	void *reverse_params[] = {&da, &db};
	CHECK(hipModuleLaunchKernel(reverse, 10, 1, 1, 500, 1, 1, 500 * 4, NULL, reverse_params, NULL));
	uint32_t *turned = malloc(N * 4);
	CHECK(hipMemcpyDtoH(turned, db, N * 4));
	int wrong = 0;
	for (int i = 0; i < 5000; i++)
		wrong += turned[i] != values[i / 500 * 500 + 499 - i % 500];
	ASSERT(wrong == 0);
	CHECK(hipFree(da));
	CHECK(hipFree(db));
	CHECK(hipFree(dc));
	free(a), free(b), free(c), free(values), free(turned);
}

static void variables(void)
{
	hipModule_t m;
	hipDeviceptr_t p;
	size_t size;
	float coefficients[8];
	uint32_t launches_ = 0;
	CHECK(hipModuleLoadData(&m, IMAGE(variables)));
	CHECK(hipModuleGetGlobal(&p, &size, m, "coefficients"));
	ASSERT(size == sizeof coefficients);
	CHECK(hipMemcpyDtoH(coefficients, p, size));
	ASSERT(coefficients[0] == 1 && coefficients[3] == -0.125f && coefficients[7] == 11);
	CHECK(hipModuleGetGlobal(&p, &size, m, "launches"));
	CHECK(hipMemcpyDtoH(&launches_, p, 4));
	ASSERT(size == 4 && launches_ == 5);
	hipFunction_t f;
	void *out;
	uint32_t add = 3;
	CHECK(hipMalloc(&out, 64 * 8));
	CHECK(hipModuleGetFunction(&f, m, "globals"));
	void *params[] = {&out, &add};
	CHECK(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
	CHECK(hipMemcpyDtoH(&launches_, p, 4));
	ASSERT(launches_ == 8);
	CHECK(hipFree(out));
	CHECK(hipModuleUnload(m));
}

static void attributes(void)
{
	hipFunction_t f = kernel(IMAGE(reduce), "reduce_sum_f32");
	int v = 0, grid = 0, block = 0;
	CHECK(hipFuncGetAttribute(&v, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
	ASSERT(v == 1024);
	CHECK(hipFuncGetAttribute(&v, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	ASSERT(v == 256);
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 256, 0));
	ASSERT(v == 8);
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 256, 31 * 1024));
	ASSERT(v == 2);
	CHECK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0));
	ASSERT(block == 256 && grid > 0);
}

int main(void)
{
	devices();
	memory();
	launches();
	variables();
	attributes();
	CHECK(hipDeviceSynchronize());
	ASSERT(hipGetLastError() == hipSuccess);
	return result("api_basic");
}
