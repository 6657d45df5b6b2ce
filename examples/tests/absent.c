/* What AMD's library exports and no device of ours has: other APIs' memory and
 * semaphores, OpenGL, profilers. Nothing pretends, and wrong arguments are
 * judged as AMD's library judges them. */
#include "test.h"

static void memory(void)
{
	hipExternalMemory_t m = NULL;
	hipExternalMemoryHandleDesc d;
	hipExternalMemoryBufferDesc b;
	void *p = NULL;
	memset(&d, 0, sizeof d);
	memset(&b, 0, sizeof b);
	d.type = hipExternalMemoryHandleTypeOpaqueFd;
	d.handle.fd = 1;
	d.size = 4096;
	EXPECT(hipImportExternalMemory(NULL, &d), hipErrorInvalidValue);
	EXPECT(hipImportExternalMemory(&m, NULL), hipErrorInvalidValue);
	EXPECT(hipImportExternalMemory(&m, &d), hipErrorOutOfMemory); /* a file that is no memory of the device's */
	d.flags = hipExternalMemoryDedicated;
	EXPECT(hipImportExternalMemory(&m, &d), hipErrorOutOfMemory);
	d.flags = 2;
	EXPECT(hipImportExternalMemory(&m, &d), hipErrorInvalidValue);
	d.flags = 0;
	d.size = 0;
	EXPECT(hipImportExternalMemory(&m, &d), hipErrorInvalidValue);
	d.size = 4096;
	d.type = (hipExternalMemoryHandleType)99;
	EXPECT(hipImportExternalMemory(&m, &d), hipErrorInvalidValue);
	ASSERT(m == NULL);
	EXPECT(hipExternalMemoryGetMappedBuffer(&p, NULL, &b), hipErrorInvalidValue);
	EXPECT(hipDestroyExternalMemory(NULL), hipErrorInvalidValue);
}

static void semaphores(void)
{
	hipExternalSemaphore_t s = NULL, none = NULL;
	hipExternalSemaphoreHandleDesc d;
	hipExternalSemaphoreSignalParams signal;
	hipExternalSemaphoreWaitParams wait;
	memset(&d, 0, sizeof d);
	memset(&signal, 0, sizeof signal);
	memset(&wait, 0, sizeof wait);
	d.type = hipExternalSemaphoreHandleTypeOpaqueFd;
	d.handle.fd = 1;
	EXPECT(hipImportExternalSemaphore(NULL, &d), hipErrorInvalidValue);
	EXPECT(hipImportExternalSemaphore(&s, NULL), hipErrorInvalidValue);
	EXPECT(hipImportExternalSemaphore(&s, &d), hipErrorNotSupported);
	d.handle.fd = 0;
	EXPECT(hipImportExternalSemaphore(&s, &d), hipErrorInvalidValue);
	d.handle.fd = 1;
	d.type = (hipExternalSemaphoreHandleType)99;
	EXPECT(hipImportExternalSemaphore(&s, &d), hipErrorInvalidValue);
	ASSERT(s == NULL);
	EXPECT(hipSignalExternalSemaphoresAsync(NULL, &signal, 1, 0), hipErrorInvalidValue);
	EXPECT(hipSignalExternalSemaphoresAsync(&none, NULL, 1, 0), hipErrorInvalidValue);
	EXPECT(hipSignalExternalSemaphoresAsync(&none, &signal, 1, 0), hipErrorInvalidValue);
	EXPECT(hipSignalExternalSemaphoresAsync(&none, &signal, 0, (hipStream_t)0x1234567), hipErrorInvalidValue);
	CHECK(hipSignalExternalSemaphoresAsync(&none, &signal, 0, 0));
	EXPECT(hipWaitExternalSemaphoresAsync(NULL, &wait, 1, 0), hipErrorInvalidValue);
	EXPECT(hipWaitExternalSemaphoresAsync(&none, &wait, 1, 0), hipErrorInvalidValue);
	CHECK(hipWaitExternalSemaphoresAsync(&none, &wait, 0, 0));
	EXPECT(hipDestroyExternalSemaphore(NULL), hipErrorInvalidValue);
}

static void graphics(void)
{
	unsigned int n = 0;
	int devices[4];
	hipGraphicsResource *r = NULL;
	hipGraphicsResource_t none = NULL;
	hipArray_t a = NULL;
	void *p = NULL;
	size_t size = 0;
	EXPECT(hipGLGetDevices(&n, devices, 4, hipGLDeviceListNextFrame), hipErrorNotSupported);
	EXPECT(hipGLGetDevices(&n, devices, 4, hipGLDeviceListAll), hipErrorNoDevice);
	EXPECT(hipGLGetDevices(&n, devices, 0, hipGLDeviceListAll), hipErrorInvalidValue);
	EXPECT(hipGLGetDevices(NULL, devices, 4, hipGLDeviceListAll), hipErrorInvalidValue);
	EXPECT(hipGraphicsGLRegisterBuffer(&r, 1, hipGraphicsRegisterFlagsNone), hipErrorInvalidValue);
	EXPECT(hipGraphicsGLRegisterImage(&r, 1, 0x0DE1, hipGraphicsRegisterFlagsNone), hipErrorInvalidValue);
	EXPECT(hipGraphicsMapResources(1, &none, 0), hipErrorUnknown);
	EXPECT(hipGraphicsResourceGetMappedPointer(&p, &size, none), hipErrorUnknown);
	EXPECT(hipGraphicsSubResourceGetMappedArray(&a, none, 0, 0), hipErrorInvalidValue);
	EXPECT(hipGraphicsUnmapResources(1, &none, 0), hipErrorInvalidResourceHandle);
	EXPECT(hipGraphicsUnmapResources(1, NULL, 0), hipErrorUnknown);
	EXPECT(hipGraphicsUnmapResources(1, &none, (hipStream_t)0x1234567), hipErrorContextIsDestroyed);
	CHECK(hipGraphicsUnmapResources(0, NULL, 0));
	EXPECT(hipGraphicsUnregisterResource(NULL), hipErrorInvalidValue);
}

static void unimplemented(void)
{
	int device = 0;
	hipArrayMapInfo map;
	memset(&map, 0, sizeof map);
	EXPECT(hipMemMapArrayAsync(NULL, 1, 0), hipErrorInvalidValue);
	EXPECT(hipMemMapArrayAsync(&map, 0, 0), hipErrorInvalidValue);
	EXPECT(hipMemMapArrayAsync(&map, 1, 0), hipErrorNotSupported);
	EXPECT(hipProfilerStart(), hipErrorNotSupported);
	EXPECT(hipProfilerStop(), hipErrorNotSupported);
	EXPECT(hipSetValidDevices(&device, 1), hipErrorNotSupported);
	EXPECT(hipGetLastError(), hipErrorNotSupported);
}

int main(void)
{
	memory();
	semaphores();
	graphics();
	unimplemented();
	return result("absent");
}
