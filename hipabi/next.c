/* What libamdhip64.so.7 has and libamdhip64.so.6 has not: new names, and new
 * ways to say what the functions before them do. */
#include <stdint.h>

#include "thread.h"

/* device is the number that the older functions take for a place, or -3. */
static int device(hipMemLocation l)
{
	enum { DEVICE = 1, HOST = 2 }; /* of hipMemLocationType, which HIP 6 ends at 1 */
	switch ((int)l.type) {
	case DEVICE:
		return l.id;
	case HOST:
		return hipCpuDeviceId;
	}
	return -3;
}

hipError_t hipMemAdvise_v2(const void *p, size_t n, hipMemoryAdvise advice, hipMemLocation l)
{
	int d = device(l);
	return d < hipInvalidDeviceId ? rw_finish(hipErrorInvalidValue) : hipMemAdvise(p, n, advice, d);
}

hipError_t hipMemPrefetchAsync_v2(const void *p, size_t n, hipMemLocation l, unsigned int flags, hipStream_t stream)
{
	int d = device(l);
	return flags != 0 || d < hipInvalidDeviceId ? rw_finish(hipErrorInvalidValue) : hipMemPrefetchAsync(p, n, d, stream);
}

hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin)
{
	return hipModuleLoadData(module, fatbin);
}

#define VERSION 702 /* as hipGetProcAddress takes it */

hipError_t hipGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags, hipDriverProcAddressQueryResult *status)
{
	return hipGetProcAddress(symbol, function, VERSION, flags, status);
}

hipError_t hipGetDriverEntryPoint_spt(const char *symbol, void **function, unsigned long long flags, hipDriverProcAddressQueryResult *status)
{
	return hipGetProcAddress(symbol, function, VERSION, flags ? flags : 2 /* the thread's own stream */, status);
}

/* finished waits for a memset of the null stream, as the functions without a
 * stream do. */
static hipError_t finished(hipError_t e)
{
	return e == hipSuccess ? hipStreamSynchronize(NULL) : e;
}

/* fits says that rows of so many bytes lie in rows of pitch bytes. */
static int fits(hipDeviceptr_t dst, size_t pitch, size_t width, size_t size)
{
	return dst && width <= pitch / size;
}

hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t pitch, unsigned char value, size_t width, size_t height, hipStream_t stream)
{
	if (!fits(dst, pitch, width, 1))
		return rw_finish(hipErrorInvalidValue);
	return hipMemset2DAsync(dst, pitch, value, width, height, stream);
}

hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t pitch, unsigned short value, size_t width, size_t height, hipStream_t stream)
{
	hipError_t e = hipSuccess;
	if (!fits(dst, pitch, width, 2))
		return rw_finish(hipErrorInvalidValue);
	for (size_t i = 0; e == hipSuccess && i < height; i++)
		e = hipMemsetD16Async((char *)dst + i * pitch, value, width, stream);
	return rw_finish(e);
}

hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t pitch, unsigned int value, size_t width, size_t height, hipStream_t stream)
{
	hipError_t e = hipSuccess;
	if (!fits(dst, pitch, width, 4))
		return rw_finish(hipErrorInvalidValue);
	for (size_t i = 0; e == hipSuccess && i < height; i++)
		e = hipMemsetD32Async((char *)dst + i * pitch, (int)value, width, stream);
	return rw_finish(e);
}

hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t pitch, unsigned char value, size_t width, size_t height)
{
	return finished(hipMemsetD2D8Async(dst, pitch, value, width, height, NULL));
}

hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t pitch, unsigned short value, size_t width, size_t height)
{
	return finished(hipMemsetD2D16Async(dst, pitch, value, width, height, NULL));
}

hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t pitch, unsigned int value, size_t width, size_t height)
{
	return finished(hipMemsetD2D32Async(dst, pitch, value, width, height, NULL));
}
