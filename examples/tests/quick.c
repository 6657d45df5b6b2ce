/* A few seconds of HIP: what the library says it is, a device, memory, a stream,
 * a kernel. If this fails, look no further. */
#include "test.h"

EMBED(vector_add);

enum { N = 1 << 12, BYTES = N * sizeof(float) };

void __hipGetPCH(const char **pch, unsigned int *size);

/* identity needs no device. */
static void identity(void)
{
	const char *name = amd_dbgapi_get_build_name(), *hash = amd_dbgapi_get_git_hash();
	const char *pch = (const char *)&name;
	unsigned int size = 77;
	int driver = 0, runtime = 0;
	ASSERT(name != NULL && strlen(name) < 64); /* both are empty in Debian's */
	ASSERT(hash != NULL && strlen(hash) < 64);
	ASSERT(amd_dbgapi_get_build_id() != (size_t)-1);
	__hipGetPCH(&pch, &size); /* a header for the compiler, if there is one in the library */
	ASSERT((pch != NULL) == (size != 0));
	CHECK(hipInit(0));
	CHECK(hipDriverGetVersion(&driver));
	CHECK(hipRuntimeGetVersion(&runtime));
	ASSERT(driver > 60000000 && runtime > 60000000);
	ASSERT(strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue") == 0);
	ASSERT(strlen(hipGetErrorString(hipErrorInvalidValue)) > 0);
	ASSERT(strcmp(hipGetErrorName(hipSuccess), "hipSuccess") == 0);
}

int main(void)
{
	static float a[N], b[N], c[N];
	hipDeviceProp_t p;
	hipStream_t s;
	hipEvent_t start, stop;
	void *x, *y, *z;
	size_t available = 0, total = 0;
	int count = 0, current = -1, n = N, wrong = 0;
	float ms = -1;
	identity();
	CHECK(hipGetDeviceCount(&count));
	ASSERT(count > 0);
	CHECK(hipSetDevice(0));
	CHECK(hipGetDevice(&current));
	ASSERT(current == 0);
	CHECK(hipGetDeviceProperties(&p, 0));
	ASSERT(p.warpSize == 64 && p.multiProcessorCount > 0 && p.totalGlobalMem > 0 && strncmp(p.gcnArchName, "gfx", 3) == 0);
	CHECK(hipMemGetInfo(&available, &total));
	ASSERT(available > 0 && available <= total);
	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = (float)(2 * i);
	}
	CHECK(hipStreamCreate(&s));
	CHECK(hipEventCreate(&start));
	CHECK(hipEventCreate(&stop));
	CHECK(hipMalloc(&x, BYTES));
	CHECK(hipMalloc(&y, BYTES));
	CHECK(hipMalloc(&z, BYTES));
	CHECK(hipMemcpyAsync(x, a, BYTES, hipMemcpyHostToDevice, s));
	CHECK(hipMemcpyAsync(y, b, BYTES, hipMemcpyHostToDevice, s));
	void *args[] = {&x, &y, &z, &n};
	CHECK(hipEventRecord(start, s));
	CHECK(hipModuleLaunchKernel(kernel(IMAGE(vector_add), "vector_add"), N / 256, 1, 1, 256, 1, 1, 0, s, args, NULL));
	CHECK(hipEventRecord(stop, s));
	CHECK(hipMemcpyAsync(c, z, BYTES, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamSynchronize(s));
	CHECK(hipEventElapsedTime(&ms, start, stop));
	ASSERT(ms >= 0);
	for (int i = 0; i < N; i++)
		wrong += c[i] != a[i] + b[i];
	ASSERT(wrong == 0);
	EXPECT(hipMalloc(NULL, 1), hipErrorInvalidValue);
	EXPECT(hipGetLastError(), hipErrorInvalidValue);
	EXPECT(hipGetLastError(), hipSuccess);
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	CHECK(hipFree(z));
	CHECK(hipEventDestroy(start));
	CHECK(hipEventDestroy(stop));
	CHECK(hipStreamDestroy(s));
	return result("quick");
}
