/* What HIP keeps for each host thread, and what every export does with it. */
#ifndef ROCWIRE_HIPABI_THREAD_H
#define ROCWIRE_HIPABI_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "hip/hip_runtime_api.h"
#include "os.h"

struct rw_call;
struct rw_context;

/* One thread's state. It is small because it lives in static TLS, which a
 * library that is opened with dlopen shares with all others: what is large or
 * rare hangs off a pointer. */
struct rw_state {
	int32_t device;              /* the current device */
	uint32_t id;                 /* tells threads of this process apart; 0 = not given yet */
	hipError_t last_error;       /* the last call's, be it hipSuccess, until hipGetLastError takes it */
	hipError_t last_failure;     /* the last call's that failed, likewise: HIP 7's last error */
	hipError_t last_command;     /* the last call's, until hipExtGetLastError takes it */
	struct rw_call *calls;       /* launch configurations pushed and not popped yet, newest first */
	struct rw_context *contexts; /* contexts pushed and not popped yet, newest first */
#ifdef _WIN32
	struct rw_state *older; /* of threads that have ended */
	int owns;             /* Go keeps something for it */
#endif
};

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif

#ifdef _WIN32
/* The compiler's own thread-local variables are slower there, and gone when the end of
 * a thread is told of. */
struct rw_state *rw_tls_here(void);
#define rw_tls (*rw_tls_here())
#else
extern RW_THREAD_LOCAL struct rw_state rw_tls;
#endif

/* Set in the child of a fork: threads do not survive fork, so nothing behind
 * the exports works there. */
extern atomic_int rw_gone;

/* The number of devices, or -1 while no call has reached them, or after a fork. */
extern atomic_int rw_devices;

uint32_t rw_thread_begin(void);

/* rw_thread_watch has what the calling thread has freed when it ends. */
void rw_thread_watch(void);

/* rw_thread_owns_streams says that Go keeps something for the calling thread,
 * to be given back when it ends. */
void rw_thread_owns_streams(void);

void rw_thread_free(struct rw_state *t);
hipError_t rw_first(void);
hipError_t rw_refuse(void);
hipError_t rw_unsupported(const char *function);
void rw_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
int rw_debug(void);
const char *rw_error_name(hipError_t e);
const char *rw_error_string(hipError_t e);

/* rw_at_exit has what is still on its way sent when the process begins to end.
 * The runtime stays usable: destructors that run later still free what they hold. */
int rw_at_exit(void);

#ifndef _WIN32
#pragma GCC visibility pop
#endif

/* rw_thread_as is a thread's state as Go takes it: the current device in the high
 * half, the thread's number in the low half. */
static inline uint64_t rw_thread_as(const struct rw_state *t)
{
	return (uint64_t)(uint32_t)t->device << 32 | t->id;
}

/* rw_thread is the calling thread's. */
static inline uint64_t rw_thread(void)
{
	struct rw_state *t = &rw_tls;
	if (__builtin_expect(t->id == 0, 0))
		rw_thread_begin();
	return rw_thread_as(t);
}

/* rw_finish keeps a call's result as the thread's. In HIP 6 every call's is the
 * last error, also hipSuccess and hipErrorNotReady; since HIP 7 those leave an
 * earlier error as it is. */
static inline hipError_t rw_finish(hipError_t e)
{
	struct rw_state *t = &rw_tls;
	t->last_command = t->last_error = e;
	if (__builtin_expect(e != hipSuccess && e != hipErrorNotReady, 0))
		t->last_failure = e;
	return e;
}

/* rw_begin is what HIP does first in nearly every function, also in those that
 * need no device: the first call of a process finds the devices, and without
 * any there is nothing to be had. */
static inline hipError_t rw_begin(void)
{
	if (__builtin_expect(atomic_load_explicit(&rw_devices, memory_order_relaxed) > 0, 1))
		return hipSuccess;
	return rw_first();
}

/* rw_return evaluates a call into Go and keeps its result. It is a macro so
 * that the call is not made without devices, nor after a fork, where Go is gone. */
#define rw_return(call) \
	({ \
		hipError_t rw_result = rw_begin(); \
		rw_finish(rw_result == hipSuccess ? (call) : rw_result); \
	})

/* rw_quiet is rw_return for a function of which some results, as the condition
 * has them, are returned past the thread's last error, as AMD's library does. */
#define rw_quiet(call, condition) \
	({ \
		hipError_t rw_result = rw_begin(); \
		if (rw_result == hipSuccess) \
			rw_result = (call); \
		(condition) ? rw_result : rw_finish(rw_result); \
	})

/* rw_answer is rw_return for a function that has an answer without devices. */
#define rw_answer(call) (__builtin_expect(atomic_load_explicit(&rw_gone, memory_order_relaxed), 0) ? rw_refuse() : rw_finish(call))

#endif
