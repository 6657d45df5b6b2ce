/* libamdhip64.so.5 for programs of HIP 5, in front of the library of HIP 6.
 *
 * The runner's own, for RCCL: of the calls that RCCL and its tests make these are the two whose values are others in HIP 5. What else
 * differs between the headers they do not use: node types of graphs, hipDeviceLmemResizeToMax, five device attributes that are no more.
 * hipGetDeviceProperties is the same symbol with the same struct in both. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <hip/hip_runtime_api.h>

/* next is the function of the library behind this one. */
static void *next(const char *name) {
	void *f = dlsym(RTLD_NEXT, name);
	if (!f)
		abort();
	return f;
}

/* hipIpcMemLazyEnablePeerAccess is 0 in HIP 5, and the only flag there. */
hipError_t hipIpcOpenMemHandle(void **p, hipIpcMemHandle_t handle, unsigned int flags) {
	hipError_t (*f)(void **, hipIpcMemHandle_t, unsigned int) = next("hipIpcOpenMemHandle");
	return f(p, handle, flags == 0 ? hipIpcMemLazyEnablePeerAccess : 0);
}

/* hipMemoryType counts from 0 in HIP 5: host, device, array, unified, managed. */
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *a, const void *p) {
	hipError_t (*f)(hipPointerAttribute_t *, const void *) = next("hipPointerGetAttributes");
	hipError_t e = f(a, p);
	if (e != hipSuccess)
		return e;
	switch (a->type) {
	case hipMemoryTypeUnregistered: /* memory that HIP does not know is an error there */
		return hipErrorInvalidValue;
	case hipMemoryTypeHost:
		a->type = (hipMemoryType)0;
		break;
	case hipMemoryTypeDevice:
		a->type = (hipMemoryType)1;
		break;
	case hipMemoryTypeArray:
		a->type = (hipMemoryType)2;
		break;
	case hipMemoryTypeUnified:
		a->type = (hipMemoryType)3;
		break;
	case hipMemoryTypeManaged:
		a->type = (hipMemoryType)4;
		break;
	}
	return e;
}
