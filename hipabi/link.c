/* The linker of device code: the machine's own libhiprtc has one, and needs no
 * GPU for it. What it links comes from hiprtc or clang as LLVM's bitcode. */
#include "thread.h"

/* answer is what a result of the linker's is in HIP: refused is what HIP says
 * to a wrong state or input, failed what it says when the work did not succeed. */
static hipError_t answer(const char *function, hiprtcResult r, hipError_t refused, hipError_t failed)
{
	switch (r) {
	case HIPRTC_SUCCESS:
		return rw_finish(hipSuccess);
	case HIPRTC_ERROR_INVALID_INPUT:
		return rw_finish(refused);
	case HIPRTC_ERROR_INTERNAL_ERROR: /* no libhiprtc */
		return rw_unsupported(function);
	default:
		return rw_finish(failed);
	}
}

/* foreign says that an input is of a kind that only CUDA has. */
static int foreign(hipJitInputType type)
{
	return type < hipJitNumLegacyInputTypes;
}

hipError_t hipLinkCreate(unsigned int n, hipJitOption *options, void **values, hipLinkState_t *state)
{
	if (!state || (n != 0 && (!options || !values)))
		return rw_finish(hipErrorInvalidValue);
	return answer("hipLinkCreate", hiprtcLinkCreate(n, options, values, (hiprtcLinkState *)state), hipErrorInvalidValue, hipErrorInvalidConfiguration);
}

hipError_t hipLinkAddData(hipLinkState_t state, hipJitInputType type, void *data, size_t size, const char *name, unsigned int n, hipJitOption *options, void **values)
{
	if (!data || size == 0)
		return rw_finish(hipErrorInvalidImage);
	if (foreign(type))
		return rw_finish(hipErrorInvalidValue);
	if (!state)
		return rw_finish(hipErrorInvalidHandle);
	hiprtcResult r = hiprtcLinkAddData((hiprtcLinkState)state, type, data, size, name, n, options, values);
	return answer("hipLinkAddData", r, hipErrorInvalidHandle, hipErrorInvalidConfiguration);
}

hipError_t hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char *path, unsigned int n, hipJitOption *options, void **values)
{
	if (!state)
		return rw_finish(hipErrorInvalidHandle);
	if (!path || foreign(type))
		return rw_finish(hipErrorInvalidValue);
	hiprtcResult r = hiprtcLinkAddFile((hiprtcLinkState)state, type, path, n, options, values);
	return answer("hipLinkAddFile", r, hipErrorInvalidValue, hipErrorInvalidConfiguration);
}

hipError_t hipLinkComplete(hipLinkState_t state, void **code, size_t *size)
{
	if (!state || !code || !size)
		return rw_finish(hipErrorInvalidValue);
	return answer("hipLinkComplete", hiprtcLinkComplete((hiprtcLinkState)state, code, size), hipErrorInvalidValue, hipErrorInvalidConfiguration);
}

hipError_t hipLinkDestroy(hipLinkState_t state)
{
	if (!state)
		return rw_finish(hipErrorInvalidValue);
	return answer("hipLinkDestroy", hiprtcLinkDestroy((hiprtcLinkState)state), hipErrorInvalidValue, hipErrorInvalidValue);
}
