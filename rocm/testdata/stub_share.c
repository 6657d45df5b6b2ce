/* Physical memory and pools of stub.c's runtime, as descriptors of memory files. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
#include "hip/hip_runtime_api.h"

/* An allocation's handle is a descriptor; what it holds is a number. */
hipError_t hipMemExportToShareableHandle(void *out, hipMemGenericAllocationHandle_t h, hipMemAllocationHandleType type, unsigned long long flags)
{
	if (flags || type != hipMemHandleTypePosixFileDescriptor)
		return hipErrorInvalidValue;
	*(int *)out = dup((int)(size_t)h);
	return hipSuccess;
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *h, void *os, hipMemAllocationHandleType type)
{
	*h = (hipMemGenericAllocationHandle_t)(size_t)dup(*(int *)os); /* at the address */
	return hipSuccess;
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *h, size_t size, const hipMemAllocationProp *p, unsigned long long flags)
{
	int fd = memfd_create("stub", MFD_ALLOW_SEALING);

	(void)p, (void)flags;
	if (ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return hipErrorOutOfMemory;
	*h = (hipMemGenericAllocationHandle_t)(size_t)fd;
	return hipSuccess;
}

hipError_t hipMemAddressReserve(void **p, size_t size, size_t alignment, void *hint, unsigned long long flags)
{
	(void)size, (void)alignment, (void)flags;
	*p = hint;
	return hipSuccess;
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t h)
{
	(void)h;
	return hipSuccess;
}

hipError_t hipMemMap(void *p, size_t size, size_t offset, hipMemGenericAllocationHandle_t h, unsigned long long flags)
{
	(void)p, (void)size, (void)offset, (void)h, (void)flags;
	return hipSuccess;
}

hipError_t hipMemUnmap(void *p, size_t size)
{
	return p && size ? hipSuccess : hipErrorInvalidValue;
}

/* A pool is described by a file that could shrink. */
hipError_t hipMemPoolExportToShareableHandle(void *out, hipMemPool_t pool, hipMemAllocationHandleType type, unsigned flags)
{
	static int fd = -1;

	(void)flags, (void)type;
	if (fd < 0) {
		fd = memfd_create("pool", 0);
		if (pwrite(fd, &pool, sizeof(pool), 0) != sizeof(pool))
			return hipErrorOutOfMemory;
	}
	*(int *)out = fd;
	return hipSuccess;
}

hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *pool, void *os, hipMemAllocationHandleType type, unsigned flags)
{
	(void)flags, (void)type;
	if (pread((int)(size_t)os, pool, sizeof(*pool), 0) != sizeof(*pool)) /* in place of the address */
		return hipErrorOutOfMemory;
	*pool = (hipMemPool_t)((char *)*pool + 1);
	return hipSuccess;
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool)
{
	return pool ? hipSuccess : hipErrorInvalidValue;
}
