/* The errors' names, which libamdhip64 knows before anything is opened. */
#include "hip/hip_runtime_api.h"

const char *rw_error_name(hipError_t e) __attribute__((visibility("hidden")));
const char *rw_error_string(hipError_t e) __attribute__((visibility("hidden")));

const char *hipGetErrorName(hipError_t e)
{
	return rw_error_name(e);
}

const char *hipGetErrorString(hipError_t e)
{
	return rw_error_string(e);
}
