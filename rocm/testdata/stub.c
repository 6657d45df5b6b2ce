/* A HIP runtime of two devices that does on the CPU the little that the tests
 * ask of it, and refuses what would show a wrong call. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "hip/hip_runtime_api.h"

static _Thread_local int current = -1;

hipError_t hipSetDevice(int d)
{
	if (d < 0 || d > 1)
		return hipErrorInvalidDevice;
	current = d;
	return hipSuccess;
}

hipError_t hipGetDevice(int *d) { *d = current; return hipSuccess; }

hipError_t hipGetDeviceCount(int *n) { *n = 2; return hipSuccess; }

#undef hipGetDevicePropertiesR0600
hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *p, int d)
{
	memset(p, 0, sizeof(*p));
	strcpy(p->name, d ? "stub one" : "stub zero");
	p->warpSize = 64;
	p->totalGlobalMem = 1ull << 33;
	p->hdpMemFlushCntl = p->hdpRegFlushCntl = (unsigned *)p;
	return hipSuccess;
}

/* As in the real one some attributes are addresses, of eight bytes: who has room for an int only must not ask.
   Weak, because stub_vmm.c has its own. */
__attribute__((weak)) hipError_t hipDeviceGetAttribute(int *v, hipDeviceAttribute_t a, int d)
{
	if (a == hipDeviceAttributeHdpMemFlushCntl || a == hipDeviceAttributeHdpRegFlushCntl)
		abort();
	*v = 64;
	return d < 0 || d > 1 ? hipErrorInvalidDevice : hipSuccess;
}

/* Each allocation says that it is one, and which device it was made on. */
enum { ALLOCATION = 0x57ab1e };

hipError_t hipMalloc(void **p, size_t n)
{
	int *q = malloc(n + 16);
	if (n > 1ull << 40)
		return hipErrorOutOfMemory;
	q[0] = current;
	q[1] = ALLOCATION;
	*p = q + 4;
	return hipSuccess;
}

hipError_t hipFree(void *p) { free((int *)p - 4); return hipSuccess; }

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *a, const void *p)
{
	memset(a, 0, sizeof(*a));
	if (!p || ((const int *)p)[-3] != ALLOCATION)
		return hipErrorInvalidValue;
	a->device = ((const int *)p)[-4];
	a->type = a->device < 0 ? hipMemoryTypeHost : hipMemoryTypeDevice;
	a->devicePointer = (void *)p;
	return hipSuccess;
}

hipError_t hipMemcpyAsync(void *d, const void *s, size_t n, hipMemcpyKind k, hipStream_t stream)
{
	(void)stream;
	if (k != hipMemcpyHostToDevice && k != hipMemcpyDeviceToHost)
		return hipErrorInvalidMemcpyDirection;
	memcpy(d, s, n);
	return hipSuccess;
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t a, hipEvent_t b)
{
	*ms = (float)((char *)b - (char *)a) / 2;
	return hipSuccess;
}

hipError_t hipModuleLoadData(hipModule_t *m, const void *image)
{
	if (memcmp(image, "\177ELF", 4))
		return hipErrorInvalidImage;
	*m = (hipModule_t)0x1000;
	return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t m) { return m == (hipModule_t)0x1000 ? hipSuccess : hipErrorInvalidHandle; }

hipError_t hipModuleGetFunction(hipFunction_t *f, hipModule_t m, const char *name)
{
	if (strcmp(name, "vector_add"))
		return hipErrorNotFound;
	*f = (hipFunction_t)0x2000;
	return m == (hipModule_t)0x1000 ? hipSuccess : hipErrorInvalidHandle;
}

/* vector_add's arguments are three pointers and a count. */
static hipError_t add(const char *args, size_t n)
{
	float *p[3];
	unsigned count;

	if (n < 28)
		return hipErrorInvalidValue;
	memcpy(p, args, 24);
	memcpy(&count, args + 24, 4);
	for (unsigned i = 0; i < count; i++)
		p[2][i] = p[0][i] + p[1][i];
	return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
				 unsigned shared, hipStream_t s, void **params, void **extra)
{
	if (f != (hipFunction_t)0x2000 || params || !gx || !gy || !gz || !bx || !by || !bz || shared || (s && (int)((size_t)s & 1) != current))
		return hipErrorInvalidValue;
	if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != HIP_LAUNCH_PARAM_END)
		return hipErrorInvalidConfiguration;
	return add(extra[1], *(size_t *)extra[3]);
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
					    unsigned shared, hipStream_t s, void **params)
{
	char args[28];

	(void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s;
	for (int i = 0; i < 4; i++)
		memcpy(args + 8 * i, params[i], i < 3 ? 8 : 4);
	return add(args, sizeof(args));
}

/* Streams are 0x6000 of the first device and 0x6001 of the second, and 16 more those that are made. */
__attribute__((weak)) hipError_t hipStreamGetDevice(hipStream_t s, hipDevice_t *d)
{
	*d = (int)((size_t)s & 1);
	return ((size_t)s & ~(size_t)17) == 0x6000 ? hipSuccess : hipErrorInvalidHandle;
}

__attribute__((weak)) hipError_t hipStreamCreateWithPriority(hipStream_t *s, unsigned flags, int priority)
{
	*s = (hipStream_t)(0x6010 + (size_t)current);
	return flags == hipStreamNonBlocking && !priority ? hipSuccess : hipErrorInvalidValue;
}

/* Streams have done all at once. */
__attribute__((weak)) hipError_t hipStreamQuery(hipStream_t s) { (void)s; return hipSuccess; }
#ifndef WITHOUT_EVENTS
__attribute__((weak)) hipError_t hipStreamWaitEvent(hipStream_t s, hipEvent_t e, unsigned flags) { (void)s, (void)e, (void)flags; return hipSuccess; }
__attribute__((weak)) hipError_t hipEventCreateWithFlags(hipEvent_t *e, unsigned flags) { (void)flags; *e = malloc(1); return hipSuccess; }
__attribute__((weak)) hipError_t hipEventDestroy(hipEvent_t e) { free(e); return hipSuccess; }
__attribute__((weak)) hipError_t hipEventRecord(hipEvent_t e, hipStream_t s) { (void)e, (void)s; return hipSuccess; }
__attribute__((weak)) hipError_t hipEventQuery(hipEvent_t e) { (void)e; return hipSuccess; }
__attribute__((weak)) hipError_t hipEventSynchronize(hipEvent_t e) { (void)e; return hipSuccess; }
#endif

/* waited counts. */
static int waited;

__attribute__((weak)) hipError_t hipStreamSynchronize(hipStream_t s)
{
	(void)s;
	waited++;
	return hipSuccess;
}

__attribute__((weak)) hipError_t hipDeviceGetLimit(size_t *value, enum hipLimit_t limit)
{
	(void)limit;
	*value = (size_t)waited;
	return hipSuccess;
}

hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams *list, unsigned n, unsigned flags)
{
	if (n != 2 || flags != hipCooperativeLaunchMultiDeviceNoPreSync)
		return hipErrorInvalidValue;
	for (unsigned i = 0; i < n; i++) {
		const hipFunctionLaunchParams *p = &list[i];

		if (p->gridDimX != i + 1 || p->gridDimY != 2 || p->gridDimZ != 3 || p->blockDimX != 64 || p->blockDimY != 4 || p->blockDimZ != 1 ||
		    p->sharedMemBytes != 0x500 || (size_t)p->hStream != 0x6000 + i)
			return hipErrorInvalidConfiguration;
		hipError_t e = hipModuleLaunchCooperativeKernel(p->function, 1, 1, 1, 1, 1, 1, 0, NULL, p->kernelParams);
		if (e != hipSuccess)
			return e;
	}
	return hipSuccess;
}
