/* The stack of launch configurations: __hipPushCallConfiguration and its kin,
 * and the older hipConfigureCall, hipSetupArgument, hipLaunchByPtr. */
#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

/* The most argument bytes that a kernel can take. */
#define MAX_ARGS 65536

static void call_free(struct rw_call *c)
{
	free(c->args);
	free(c);
}

void rw_calls_free(struct rw_state *t)
{
	while (t->calls) {
		struct rw_call *c = t->calls;
		t->calls = c->older;
		call_free(c);
	}
}

static hipError_t push(dim3 grid, dim3 block, size_t shared, hipStream_t stream)
{
	struct rw_call *c = calloc(1, sizeof *c);
	if (!c)
		return rw_finish(hipErrorOutOfMemory);
	c->grid = grid;
	c->block = block;
	c->shared = shared;
	c->stream = stream;
	c->older = rw_tls.calls;
	rw_thread(); /* so that the stack is freed when the thread ends */
	rw_tls.calls = c;
	return rw_finish(hipSuccess);
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream)
{
	return push(grid, block, shared, stream);
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream)
{
	struct rw_call *c = rw_tls.calls;
	if (!grid || !block || !shared || !stream)
		return rw_finish(hipErrorInvalidValue);
	if (!c)
		return rw_finish(hipErrorMissingConfiguration);
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*stream = c->stream;
	rw_tls.calls = c->older;
	call_free(c);
	return rw_finish(hipSuccess);
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared, hipStream_t stream)
{
	return push(grid, block, shared, stream);
}

hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset)
{
	struct rw_call *c = rw_tls.calls;
	if (!c)
		return rw_finish(hipErrorMissingConfiguration);
	if (!arg || size > MAX_ARGS || offset > MAX_ARGS - size)
		return rw_finish(hipErrorInvalidValue);
	if (offset + size > c->room) {
		size_t room = (offset + size + 255) & ~(size_t)255;
		unsigned char *p = realloc(c->args, room);
		if (!p)
			return rw_finish(hipErrorOutOfMemory);
		memset(p + c->room, 0, room - c->room);
		c->args = p;
		c->room = room;
	}
	memcpy(c->args + offset, arg, size);
	if (offset + size > c->size)
		c->size = offset + size;
	return rw_finish(hipSuccess);
}

hipError_t hipLaunchByPtr(const void *function)
{
	struct rw_call *c = rw_tls.calls;
	if (!c)
		return rw_finish(hipErrorMissingConfiguration);
	rw_tls.calls = c->older;
	hipError_t e = rw_return((hipError_t)rw_launchByPtr(rw_thread(), (uintptr_t)function, &c->grid, &c->block,
		c->shared, (uint64_t)(uintptr_t)c->stream, c->args, c->size));
	call_free(c);
	return e;
}
