/* Bad input: every call must answer with HIP's error, and the program and its
 * device must live on. With an argument it tests only what ends a context:
 *
 *   errors                 what is refused before it does harm
 *   errors free            a kernel that uses memory after its release
 *   errors range           a kernel that stores far outside all memory
 *   errors one             one thread of many that goes astray
 */
#include "test.h"

EMBED(vector_add);
EMBED(reduce);
EMBED(fault);

static void pointers(void)
{
	void *p = NULL, *d;
	char host[16] = "host memory";
	int v;
	size_t n;
	hipPointerAttribute_t at;
	EXPECT(hipMalloc(NULL, 16), hipErrorInvalidValue);
	CHECK(hipMalloc(&p, 0));
	ASSERT(p == NULL);
	EXPECT(hipMalloc(&p, (size_t)1 << 60), hipErrorOutOfMemory);
	EXPECT(hipMalloc(&p, ~(size_t)0), hipErrorOutOfMemory);
	EXPECT(hipGetDeviceCount(NULL), hipErrorInvalidValue);
	EXPECT(hipGetDevice(NULL), hipErrorInvalidValue);
	EXPECT(hipGetDeviceProperties(NULL, 0), hipErrorInvalidValue);
	EXPECT(hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
	EXPECT(hipMemPtrGetInfo(NULL, NULL), hipErrorInvalidValue);
	EXPECT(hipRuntimeGetVersion(NULL), hipErrorInvalidValue);

	CHECK(hipMalloc(&d, 16));
	EXPECT(hipMemcpy(NULL, host, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipMemcpy(d, NULL, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
	CHECK(hipMemcpy(d, host, 0, hipMemcpyHostToDevice));
	EXPECT(hipMemcpy(d, host, 16, (hipMemcpyKind)77), hipErrorInvalidMemcpyDirection);
	EXPECT(hipMemcpy(d, host, (size_t)1 << 40, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipMemset(NULL, 0, 16), hipErrorInvalidValue);
	EXPECT(hipMemset(d, 0, (size_t)1 << 40), hipErrorInvalidValue);
	EXPECT(hipMemcpy2D(d, 4, host, 8, 8, 2, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);

	/* addresses that are none */
	EXPECT(hipFree((void *)8), hipErrorInvalidValue);
	EXPECT(hipFree((char *)d + 4), hipErrorInvalidValue);
	EXPECT(hipFree(host), hipErrorInvalidValue);
	EXPECT(hipHostFree((void *)8), hipErrorInvalidValue);
	ASSERT(hipMemPtrGetInfo((void *)1, &n) != hipSuccess);
	ASSERT(hipHostGetDevicePointer(&p, (void *)1, 0) != hipSuccess);
	CHECK(hipFree(d));
	EXPECT(hipFree(d), hipErrorInvalidValue);
	EXPECT(hipPointerGetAttributes(NULL, d), hipErrorInvalidValue);
	CHECK(hipPointerGetAttributes(&at, host)); /* not known to HIP */
	ASSERT(at.type == hipMemoryTypeUnregistered);

	EXPECT(hipSetDevice(-1), hipErrorInvalidDevice);
	EXPECT(hipSetDevice(4711), hipErrorInvalidDevice);
	EXPECT(hipDeviceGetAttribute(&v, hipDeviceAttributeWarpSize, 4711), hipErrorInvalidDevice);
	EXPECT(hipDeviceGetAttribute(&v, (hipDeviceAttribute_t)4711, 0), hipErrorInvalidValue);
	hipDeviceProp_t prop;
	EXPECT(hipGetDeviceProperties(&prop, 4711), hipErrorInvalidDevice);
}

static void modules(void)
{
	hipModule_t m;
	hipFunction_t f;
	static unsigned char broken[8192];
	hipDeviceptr_t p;
	size_t n;
	EXPECT(hipModuleLoadData(NULL, IMAGE(vector_add)), hipErrorInvalidValue);
	EXPECT(hipModuleLoadData(&m, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLoadData(&m, OTHER_IMAGE(vector_add)), hipErrorNoBinaryForGpu);
	EXPECT(hipModuleLoadData(&m, broken), hipErrorInvalidImage);
	memcpy(broken, IMAGE(vector_add), 64);
	EXPECT(hipModuleLoadData(&m, broken), hipErrorInvalidImage);
	EXPECT(hipModuleLoad(&m, "/nowhere/kernels.co"), hipErrorFileNotFound);
	EXPECT(hipModuleLoad(&m, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleUnload(NULL), hipErrorInvalidHandle);
	CHECK(hipModuleLoadData(&m, IMAGE(vector_add)));
	EXPECT(hipModuleGetFunction(&f, m, "no_such_kernel"), hipErrorNotFound);
	EXPECT(hipModuleGetFunction(&f, m, ""), hipErrorInvalidValue);
	EXPECT(hipModuleGetFunction(&f, m, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleGetFunction(NULL, m, "vector_add"), hipErrorInvalidValue);
	EXPECT(hipModuleGetFunction(&f, NULL, "vector_add"), hipErrorInvalidHandle);
	char *name = malloc(100001);
	memset(name, 'k', 100000);
	name[100000] = 0;
	EXPECT(hipModuleGetFunction(&f, m, name), hipErrorNotFound);
	free(name);
	EXPECT(hipModuleGetGlobal(&p, &n, m, "no_such_variable"), hipErrorNotFound);
	CHECK(hipModuleUnload(m));
	EXPECT(hipModuleUnload(m), hipErrorNotFound);
	EXPECT(hipModuleGetFunction(&f, m, "vector_add"), hipErrorNotFound);
}

static void launches(void)
{
	hipFunction_t add = kernel(IMAGE(vector_add), "vector_add"), sum = kernel(IMAGE(reduce), "reduce_sum_f32");
	void *d;
	int n = 4;
	CHECK(hipMalloc(&d, 64));
	void *params[] = {&d, &d, &d, &n};
	EXPECT(hipModuleLaunchKernel(NULL, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), hipErrorInvalidHandle);
	EXPECT(hipModuleLaunchKernel(add, 0, 1, 1, 64, 1, 1, 0, NULL, params, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 0, 0, NULL, params, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchKernel(add, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchKernel(add, 1, 1, 1, 64, 64, 64, 0, NULL, params, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 1 << 20, NULL, params, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchKernel(sum, 1, 1, 1, 512, 1, 1, 0, NULL, params, NULL), hipErrorLaunchFailure);
	EXPECT(hipModuleLaunchKernel(sum, 1, 1, 1, 256, 1, 1, 65536, NULL, params, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL), hipErrorInvalidValue);
	EXPECT(hipLaunchKernel((const void *)launches, (dim3){1, 1, 1}, (dim3){64, 1, 1}, params, 0, NULL), hipErrorInvalidDeviceFunction);
	EXPECT(hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, (hipStream_t)0x4711, params, NULL) == hipSuccess ? hipDeviceSynchronize() : hipErrorInvalidHandle, hipErrorInvalidHandle);
	CHECK(hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL)); /* and a right one */
	CHECK(hipDeviceSynchronize());
	CHECK(hipFree(d));
}

/* The last error of HIP 6 is the last call's, until it is taken: a success leaves none of what was before. */
static void last_error(void)
{
	const char *text = NULL;
	void *p;
	hipGetLastError();
	EXPECT(hipSetDevice(-1), hipErrorInvalidDevice);
	ASSERT(hipPeekAtLastError() == hipErrorInvalidDevice);
	ASSERT(hipGetLastError() == hipErrorInvalidDevice);
	ASSERT(hipGetLastError() == hipSuccess);
	EXPECT(hipSetDevice(-1), hipErrorInvalidDevice);
	CHECK(hipMalloc(&p, 4));
	ASSERT(hipPeekAtLastError() == hipSuccess);
	ASSERT(hipExtGetLastError() == hipSuccess);
	ASSERT(hipGetLastError() == hipSuccess);
	EXPECT(hipFree((char *)p + 1), hipErrorInvalidValue);
	ASSERT(hipExtGetLastError() == hipErrorInvalidValue);
	ASSERT(hipExtGetLastError() == hipSuccess);
	ASSERT(hipGetLastError() == hipErrorInvalidValue);
	CHECK(hipFree(p));

	ASSERT(strcmp(hipGetErrorName(hipErrorIllegalAddress), "hipErrorIllegalAddress") == 0);
	ASSERT(strcmp(hipGetErrorName((hipError_t)54321), "hipErrorUnknown") == 0);
	ASSERT(strlen(hipGetErrorString(hipErrorOutOfMemory)) > 0);
	EXPECT(hipDrvGetErrorName(hipErrorNotReady, &text), hipSuccess);
	ASSERT(text && strcmp(text, "hipErrorNotReady") == 0);
	EXPECT(hipDrvGetErrorName((hipError_t)54321, &text), hipErrorInvalidValue);
	ASSERT(text == NULL);
	EXPECT(hipDrvGetErrorString(hipErrorNotReady, NULL), hipErrorInvalidValue);
	hipGetLastError();
	EXPECT(hipProfilerStart(), hipErrorNotSupported);
	ASSERT(hipGetLastError() == hipErrorNotSupported);
}

/* A fault ends the device's context: this call reports it, and all later ones
 * do too. */
static void fault(const char *which)
{
	uint32_t *d, *freed;
	uint64_t offset = 0;
	uint32_t value = 1, thread = 7777;
	const char *name = "store_at";
	CHECK(hipMalloc((void **)&d, 1 << 20));
	CHECK(hipMalloc((void **)&freed, 64 << 20));
	void *base = d;
	if (strcmp(which, "free") == 0) {
		CHECK(hipFree(freed));
		base = freed;
		offset = 5 << 20;
	} else if (strcmp(which, "range") == 0) {
		offset = (uint64_t)1 << 50;
	} else if (strcmp(which, "one") == 0) {
		name = "store_one_astray";
		offset = (uint64_t)1 << 44;
	} else {
		FAIL("no fault is called %s", which);
		return;
	}
	hipFunction_t f = kernel(IMAGE(fault), name);
	void *plain[] = {&base, &offset, &value}, *astray[] = {&base, &offset, &thread};
	CHECK(hipModuleLaunchKernel(f, 64, 1, 1, 256, 1, 1, 0, NULL, strcmp(which, "one") ? plain : astray, NULL));
	EXPECT(hipDeviceSynchronize(), hipErrorIllegalAddress);
	EXPECT(hipMemcpy(&value, d, 4, hipMemcpyDeviceToHost), hipErrorIllegalAddress);
	EXPECT(hipGetLastError(), hipErrorIllegalAddress);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		fault(argv[1]);
		return result("errors");
	}
	pointers();
	modules();
	launches();
	last_error();
	EXPECT(hipDeviceSynchronize(), hipSuccess);
	return result("errors");
}
