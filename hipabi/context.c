/* Contexts, which HIP keeps for programs that come from CUDA's driver API: a
 * device has one, and being in it is having the device as the current one. What
 * AMD's runtime answers hipErrorNotSupported to is in absent.c. */
#include "thread.h"

#include <stdlib.h>

#include "_cgo_export.h"
#include "call.h"

#define MAX_DEVICES 256

/* A context is a place in this table; its device is where it stands. */
static char contexts[MAX_DEVICES];

static hipCtx_t context_of(int device)
{
	return device >= 0 && device < MAX_DEVICES ? (hipCtx_t)&contexts[device] : NULL;
}

void *rw_context_of(int device) { return context_of(device); }

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

/* push puts a device on the thread's stack of contexts. */
static hipError_t push(int device)
{
	struct rw_context *top = calloc(1, sizeof *top);
	if (!top)
		return hipErrorOutOfMemory;
	top->device = device;
	top->older = rw_tls.contexts;
	rw_thread(); /* so that the stack is freed when the thread ends */
	rw_tls.contexts = top;
	return hipSuccess;
}

static void pop(void)
{
	struct rw_context *top = rw_tls.contexts;
	if (top) {
		rw_tls.contexts = top->older;
		free(top);
	}
}

hipError_t hipCtxPushCurrent(hipCtx_t c)
{
	int device = device_of(c);
	if (device < 0)
		return rw_finish(hipErrorInvalidContext);
	hipError_t e = hipSetDevice(device);
	return e == hipSuccess ? rw_finish(push(device)) : e;
}

/* The device stays the current one, as AMD's runtime has it. */
hipError_t hipCtxPopCurrent(hipCtx_t *c)
{
	if (!rw_tls.contexts)
		return rw_finish(hipErrorInvalidContext);
	if (c)
		*c = context_of(rw_tls.contexts->device);
	pop();
	return rw_finish(hipSuccess);
}

void rw_contexts_free(struct rw_state *t)
{
	while (t->contexts) {
		struct rw_context *c = t->contexts;
		t->contexts = c->older;
		free(c);
	}
}

/* The context is on top of the stack, and which device is the current one does
 * not change: that takes hipCtxSetCurrent or hipSetDevice. */
hipError_t hipCtxCreate(hipCtx_t *c, unsigned int flags, hipDevice_t device)
{
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	hipError_t e = known(device);
	if (e != hipSuccess)
		return rw_finish(e == hipErrorInvalidDevice ? hipErrorInvalidValue : e);
	e = push(device);
	if (e == hipSuccess) {
		*c = context_of(device);
		rw_ctxFlags(device, flags); /* how to wait: a hint */
	}
	return rw_finish(e);
}

hipError_t hipCtxDestroy(hipCtx_t c)
{
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	if (rw_tls.contexts && rw_tls.contexts->device == device_of(c))
		pop();
	return rw_finish(hipSuccess); /* also if it is none, as AMD's library */
}

hipError_t hipCtxSetCurrent(hipCtx_t c)
{
	if (!c) {
		pop();
		return rw_finish(hipSuccess);
	}
	int device = device_of(c);
	if (device < 0)
		return rw_finish(hipErrorInvalidContext);
	hipError_t e = hipSetDevice(device);
	if (e != hipSuccess)
		return e;
	pop();
	return rw_finish(push(device));
}

hipError_t hipCtxGetCurrent(hipCtx_t *c)
{
	if (!c)
		return rw_finish(hipErrorInvalidValue);
	hipError_t e = known(rw_tls.device);
	if (e == hipSuccess)
		*c = context_of(rw_tls.device);
	return rw_finish(e);
}

hipError_t hipCtxGetDevice(hipDevice_t *device)
{
	if (!device)
		return rw_finish(hipErrorInvalidValue);
	*device = rw_tls.device;
	return rw_finish(hipSuccess);
}

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *config)
{
	if (!config)
		return rw_finish(hipErrorInvalidValue);
	*config = hipSharedMemBankSizeFourByte;
	return rw_finish(hipSuccess);
}

/* Peer access is between devices: hipDeviceEnablePeerAccess. Between contexts
 * AMD's runtime has nothing to do and says so with success. */
hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned int flags)
{
	(void)peer, (void)flags;
	return rw_finish(hipSuccess);
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer)
{
	(void)peer;
	return rw_finish(hipSuccess);
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *c, hipDevice_t device)
{
	hipError_t e = known(device);
	if (e == hipSuccess && !c)
		e = hipErrorInvalidValue;
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
	(void)device; /* AMD's library resets nothing, and judges nothing */
	return rw_finish(hipSuccess);
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
