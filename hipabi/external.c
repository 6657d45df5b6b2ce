/* Memory and semaphores of other APIs. A device behind a worker shares no
 * driver with Vulkan or Direct3D on this machine, so that no handle can be
 * imported, and none of HIP's own exists: what AMD's runtime answers where an
 * import fails. */
#include <stdint.h>

#include "thread.h"
#include "_cgo_export.h"

hipError_t hipImportExternalMemory(hipExternalMemory_t *out, const hipExternalMemoryHandleDesc *d)
{
	if (!out || !d || d->size == 0 || (d->flags != 0 && d->flags != hipExternalMemoryDedicated))
		return rw_finish(hipErrorInvalidValue);
	if (d->type < hipExternalMemoryHandleTypeOpaqueFd || d->type > hipExternalMemoryHandleTypeD3D11ResourceKmt)
		return rw_finish(hipErrorInvalidValue);
	if (rw_debug())
		rw_log("hipImportExternalMemory: memory of another API cannot be reached from a worker");
	return rw_finish(hipErrorOutOfMemory);
}

hipError_t hipExternalMemoryGetMappedBuffer(void **p, hipExternalMemory_t m, const hipExternalMemoryBufferDesc *d)
{
	(void)p, (void)m, (void)d; /* no memory was ever imported */
	return rw_finish(hipErrorInvalidValue);
}

hipError_t hipDestroyExternalMemory(hipExternalMemory_t m)
{
	(void)m;
	return rw_finish(hipErrorInvalidValue);
}

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t *out, const hipExternalSemaphoreHandleDesc *d)
{
	if (!out || !d)
		return rw_finish(hipErrorInvalidValue);
	if (d->type < hipExternalSemaphoreHandleTypeOpaqueFd || d->type > hipExternalSemaphoreHandleTypeD3D12Fence)
		return rw_finish(hipErrorInvalidValue);
	if (d->handle.fd == 0)
		return rw_finish(hipErrorInvalidValue);
	return rw_unsupported("hipImportExternalSemaphore"); /* as on every machine that runs Linux */
}

/* enqueue judges a list of semaphores: empty, or wrong, since there are none. */
static hipError_t enqueue(const void *semaphores, const void *params, unsigned int n, hipStream_t stream)
{
	if (!semaphores || !params || rw_streamDevice(rw_thread(), (uint64_t)(uintptr_t)stream) < 0)
		return hipErrorInvalidValue;
	return n == 0 ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t *s, const hipExternalSemaphoreSignalParams *p, unsigned int n, hipStream_t stream)
{
	return rw_return(enqueue(s, p, n, stream));
}

hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t *s, const hipExternalSemaphoreWaitParams *p, unsigned int n, hipStream_t stream)
{
	return rw_return(enqueue(s, p, n, stream));
}

hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t s)
{
	(void)s;
	return rw_finish(hipErrorInvalidValue);
}
