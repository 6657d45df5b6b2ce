/* Launches with a list of attributes (HIP 7). */
#include "thread.h"

/* cooperative says what attributes ask for: AMD's library obeys that one, and a
 * list without it is no configuration. */
static hipError_t cooperative(const hipLaunchAttribute *attrs, unsigned int n, int *is)
{
	*is = 0;
	if (n == 0)
		return hipSuccess;
	if (!attrs)
		return hipErrorInvalidValue;
	for (unsigned int i = 0; i < n; i++)
		if (attrs[i].id == hipLaunchAttributeCooperative && attrs[i].val.cooperative != 0) {
			*is = 1;
			return hipSuccess;
		}
	return hipErrorInvalidConfiguration;
}

hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *c, const void *f, void **args)
{
	int together;
	hipError_t e;
	if (!f)
		return rw_finish(hipErrorInvalidDeviceFunction);
	if (!c)
		return rw_finish(hipErrorInvalidConfiguration);
	if ((e = cooperative(c->attrs, c->numAttrs, &together)) != hipSuccess)
		return rw_finish(e);
	if (!together)
		return hipLaunchKernel(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream);
	if (c->dynamicSmemBytes > UINT32_MAX)
		return rw_finish(hipErrorInvalidValue);
	return hipLaunchCooperativeKernel(f, c->gridDim, c->blockDim, args, (unsigned int)c->dynamicSmemBytes, c->stream);
}

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *c, hipFunction_t f, void **params, void **extra)
{
	int together;
	hipError_t e;
	if (!f)
		return rw_finish(hipErrorInvalidHandle);
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	if ((e = cooperative(c->attrs, c->numAttrs, &together)) != hipSuccess)
		return rw_finish(e);
	if (!together)
		return hipModuleLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream, params, extra);
	return hipModuleLaunchCooperativeKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream, params);
}
