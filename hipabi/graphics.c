/* OpenGL's buffers and images. No device here has a GL context: what AMD's
 * runtime answers to a program that has none. */
#include <stdint.h>

#include "thread.h"

hipError_t hipGLGetDevices(unsigned int *count, int *devices, unsigned int n, hipGLDeviceList list)
{
	if (list == hipGLDeviceListNextFrame)
		return rw_unsupported("hipGLGetDevices: hipGLDeviceListNextFrame");
	if (!count || !devices || n == 0 || (list != hipGLDeviceListAll && list != hipGLDeviceListCurrentFrame))
		return rw_finish(hipErrorInvalidValue);
	*count = 0;
	return rw_finish(hipErrorNoDevice);
}

hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource **resource, GLuint buffer, unsigned int flags)
{
	(void)resource, (void)buffer, (void)flags;
	return rw_finish(hipErrorInvalidValue);
}

hipError_t hipGraphicsGLRegisterImage(hipGraphicsResource **resource, GLuint image, GLenum target, unsigned int flags)
{
	(void)resource, (void)image, (void)target, (void)flags;
	return rw_finish(hipErrorInvalidValue);
}

hipError_t hipGraphicsMapResources(int n, hipGraphicsResource_t *resources, hipStream_t stream)
{
	(void)n, (void)resources, (void)stream;
	return rw_finish(hipErrorUnknown);
}

hipError_t hipGraphicsResourceGetMappedPointer(void **p, size_t *size, hipGraphicsResource_t resource)
{
	(void)p, (void)size, (void)resource;
	return rw_finish(hipErrorUnknown);
}

hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t *array, hipGraphicsResource_t resource, unsigned int index, unsigned int level)
{
	(void)array, (void)resource, (void)index, (void)level;
	return rw_finish(hipErrorInvalidValue);
}

/* Nothing can be mapped, so that all there is to do is to wait for the stream. */
hipError_t hipGraphicsUnmapResources(int n, hipGraphicsResource_t *resources, hipStream_t stream)
{
	hipError_t e = hipStreamSynchronize(stream);
	if (e != hipSuccess)
		return e;
	if ((n == 0) != (resources == NULL))
		return rw_finish(hipErrorUnknown);
	return rw_finish(n <= 0 ? hipSuccess : hipErrorInvalidResourceHandle);
}

hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource)
{
	(void)resource; /* none was ever registered */
	return rw_finish(hipErrorInvalidValue);
}
