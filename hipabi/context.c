/* Contexts, which HIP keeps for programs that come from CUDA's driver API: a
 * device has one, and being in it is having the device as the current one. What
 * AMD's runtime answers hipErrorNotSupported to is not here. */
#include "thread.h"

#include <stdlib.h>

#include "call.h"

#define MAX_DEVICES 256

/* A context is a place in this table; its device is where it stands. */
static char contexts[MAX_DEVICES];

static hipCtx_t context_of(int device)
{
	return device >= 0 && device < MAX_DEVICES ? (hipCtx_t)&contexts[device] : NULL;
}

static int device_of(hipCtx_t c)
{
	uintptr_t n = (uintptr_t)c - (uintptr_t)contexts;
	return n < MAX_DEVICES ? (int)n : -1;
}

static hipError_t known(int device)
{
	int n = 0;
	hipError_t e = hipGetDeviceCount(&n);
	if (e == hipSuccess && (device < 0 || device >= n))
		e = hipErrorInvalidDevice;
	return e;
}

hipError_t hipCtxPushCurrent(hipCtx_t c)
{
	int device = device_of(c);
	if (device < 0)
		return rw_finish(hipErrorInvalidContext);
	struct rw_context *top = calloc(1, sizeof *top);
	if (!top)
		return rw_finish(hipErrorOutOfMemory);
	int before = rw_tls.device;
	hipError_t e = hipSetDevice(device);
	if (e != hipSuccess) {
		free(top);
		return e;
	}
	top->device = device;
	top->before = before;
	top->older = rw_tls.contexts;
	rw_thread(); /* so that the stack is freed when the thread ends */
	rw_tls.contexts = top;
	return e;
}

hipError_t hipCtxPopCurrent(hipCtx_t *c)
{
	struct rw_context *top = rw_tls.contexts;
	if (!top)
		return rw_finish(hipErrorInvalidContext);
	if (c)
		*c = context_of(top->device);
	rw_tls.device = top->before;
	rw_tls.contexts = top->older;
	free(top);
	return rw_finish(hipSuccess);
}

void rw_contexts_free(struct rw_tls *t)
{
	while (t->contexts) {
		struct rw_context *c = t->contexts;
		t->contexts = c->older;
		free(c);
	}
}

hipError_t hipCtxCreate(hipCtx_t *c, unsigned int flags, hipDevice_t device)
{
	(void)flags; /* how to wait: a hint */
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	hipError_t e = known(device);
	if (e != hipSuccess)
		return rw_finish(e);
	e = hipCtxPushCurrent(context_of(device));
	if (e == hipSuccess)
		*c = context_of(device);
	return e;
}

hipError_t hipCtxDestroy(hipCtx_t c)
{
	if (device_of(c) < 0)
		return rw_finish(hipErrorInvalidValue);
	if (rw_tls.contexts && rw_tls.contexts->device == device_of(c))
		return hipCtxPopCurrent(NULL);
	return rw_finish(hipSuccess);
}

hipError_t hipCtxSetCurrent(hipCtx_t c)
{
	if (!c)
		return rw_tls.contexts ? hipCtxPopCurrent(NULL) : rw_finish(hipSuccess);
	if (device_of(c) < 0)
		return rw_finish(hipErrorInvalidContext);
	if (rw_tls.contexts) {
		hipError_t e = hipCtxPopCurrent(NULL);
		if (e != hipSuccess)
			return e;
	}
	return hipCtxPushCurrent(c);
}

hipError_t hipCtxGetCurrent(hipCtx_t *c)
{
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	*c = rw_tls.contexts ? context_of(rw_tls.contexts->device) : NULL;
	return rw_finish(hipSuccess);
}

hipError_t hipCtxGetDevice(hipDevice_t *device)
{
	if (!device)
		return rw_finish(hipErrorInvalidValue);
	if (!rw_tls.contexts)
		return rw_finish(hipErrorInvalidContext);
	*device = rw_tls.contexts->device;
	return rw_finish(hipSuccess);
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *c, hipDevice_t device)
{
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	hipError_t e = known(device);
	if (e == hipSuccess)
		*c = context_of(device);
	return rw_finish(e);
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device)
{
	return rw_finish(known(device));
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device)
{
	return rw_finish(known(device));
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int *flags, int *active)
{
	hipError_t e = known(device);
	if (e == hipSuccess) {
		if (flags)
			*flags = 0;
		if (active)
			*active = rw_tls.device == device;
	}
	return rw_finish(e);
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags)
{
	(void)flags;
	hipError_t e = known(device);
	return rw_finish(e == hipSuccess ? hipErrorContextAlreadyInUse : e);
}
