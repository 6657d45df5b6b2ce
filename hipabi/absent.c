/* What AMD's runtime exports and has no implementation of on Linux, answered as
 * it answers: arguments are judged first where it judges them, and nothing
 * happens. */
#include "thread.h"

hipError_t hipProfilerStart(void)
{
	return rw_unsupported("hipProfilerStart");
}

hipError_t hipProfilerStop(void)
{
	return rw_unsupported("hipProfilerStop");
}

hipError_t hipSetValidDevices(int *devices, int n)
{
	(void)devices, (void)n;
	return rw_unsupported("hipSetValidDevices");
}

hipError_t hipCtxGetApiVersion(hipCtx_t c, int *version)
{
	(void)c, (void)version;
	return rw_unsupported("hipCtxGetApiVersion");
}

hipError_t hipCtxGetCacheConfig(hipFuncCache_t *config)
{
	(void)config;
	return rw_unsupported("hipCtxGetCacheConfig");
}

hipError_t hipCtxSetCacheConfig(hipFuncCache_t config)
{
	if ((unsigned int)config > hipFuncCachePreferEqual)
		return rw_finish(hipErrorInvalidValue);
	return rw_unsupported("hipCtxSetCacheConfig");
}

hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
	(void)config;
	return rw_unsupported("hipCtxSetSharedMemConfig");
}

hipError_t hipCtxSynchronize(void)
{
	return rw_unsupported("hipCtxSynchronize");
}

hipError_t hipCtxGetFlags(unsigned int *flags)
{
	(void)flags;
	return rw_unsupported("hipCtxGetFlags");
}

hipError_t hipMemMapArrayAsync(hipArrayMapInfo *list, unsigned int n, hipStream_t stream)
{
	(void)stream;
	if (!list || n == 0)
		return rw_finish(hipErrorInvalidValue);
	return rw_unsupported("hipMemMapArrayAsync");
}
