#include "share.h"
#include "need.h"

hipError_t rocm_export(const struct rocm_table *table, int32_t device, uint64_t allocation, int32_t type, uint64_t flags, int *fd)
{
	NEED(hipMemExportToShareableHandle);
	return table->hipMemExportToShareableHandle(fd, HANDLE(hipMemGenericAllocationHandle_t, allocation),
						    (hipMemAllocationHandleType)type, flags);
}

hipError_t rocm_import(const struct rocm_table *table, int32_t device, int fd, int32_t type, uint64_t *allocation)
{
	hipMemGenericAllocationHandle_t h = NULL;
	hipError_t e;

	NEED(hipMemImportFromShareableHandle);
	/* HIP 6 reads the descriptor at the address, unlike a pool's. */
	e = table->hipMemImportFromShareableHandle(&h, &fd, (hipMemAllocationHandleType)type);
	*allocation = (uint64_t)(uintptr_t)h;
	return e;
}

hipError_t rocm_pool_export(const struct rocm_table *table, int32_t device, uint64_t pool, int32_t type, uint32_t flags, int *fd)
{
	NEED(hipMemPoolExportToShareableHandle);
	return table->hipMemPoolExportToShareableHandle(fd, HANDLE(hipMemPool_t, pool), (hipMemAllocationHandleType)type, flags);
}

hipError_t rocm_pool_import(const struct rocm_table *table, int32_t device, int fd, int32_t type, uint32_t flags, uint64_t *pool)
{
	hipMemPool_t p = NULL;
	hipError_t e;

	NEED(hipMemPoolImportFromShareableHandle);
	e = table->hipMemPoolImportFromShareableHandle(&p, HANDLE(void *, fd), (hipMemAllocationHandleType)type, flags);
	*pool = (uint64_t)(uintptr_t)p;
	return e;
}
