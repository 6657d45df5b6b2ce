/* What a thread stacks up: launch configurations, contexts. */
#ifndef ROCWIRE_HIPABI_CALL_H
#define ROCWIRE_HIPABI_CALL_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/* One configuration, with the arguments that hipSetupArgument collects for
 * hipLaunchByPtr. */
struct rw_call {
	struct rw_call *older;
	dim3 grid, block;
	size_t shared;
	hipStream_t stream;
	size_t size, room;
	unsigned char *args;
};

void rw_calls_free(struct rw_state *t);

/* One pushed context: its device. */
struct rw_context {
	struct rw_context *older;
	int device;
};

void rw_contexts_free(struct rw_state *t);

#pragma GCC visibility pop

#endif
