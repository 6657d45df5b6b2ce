/* Events of streams that come as far as the test says: hipDeviceSetLimit is how many records they have come to.
   And host memory that was registered, of whose range the library says that it begins at null. */
#include <pthread.h>
#include <stdlib.h>
#include "hip/hip_runtime_api.h"

struct event { size_t at; int device; pthread_mutex_t lock; }; /* held while somebody waits for it, as in AMD's library */

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static size_t recorded, reached;
static int asked; /* about the event that was recorded last, which only then is more than a note in AMD's library */

hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value)
{
	(void)limit;
	pthread_mutex_lock(&mu);
	reached = value;
	pthread_cond_broadcast(&come);
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t *e, unsigned flags)
{
	struct event *x = calloc(1, sizeof(*x));

	hipGetDevice(&x->device);
	pthread_mutex_init(&x->lock, NULL);
	*e = (hipEvent_t)x;
	return flags == hipEventDisableTiming ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipEventDestroy(hipEvent_t e) { free(e); return hipSuccess; }

hipError_t hipEventRecord(hipEvent_t e, hipStream_t s)
{
	hipDevice_t d;

	if (hipStreamGetDevice(s, &d) != hipSuccess || d != ((struct event *)e)->device)
		return hipErrorInvalidHandle; // an event is of one device
	pthread_mutex_lock(&mu);
	((struct event *)e)->at = ++recorded;
	asked = 0;
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t e)
{
	struct event *x = (struct event *)e;

	pthread_mutex_lock(&x->lock);
	pthread_mutex_lock(&mu);
	asked |= x->at == recorded;
	hipError_t r = x->at <= reached ? hipSuccess : hipErrorNotReady;
	pthread_mutex_unlock(&mu);
	pthread_mutex_unlock(&x->lock);
	return r;
}

hipError_t hipEventSynchronize(hipEvent_t e)
{
	struct event *x = (struct event *)e;

	pthread_mutex_lock(&x->lock);
	pthread_mutex_lock(&mu);
	while (x->at > reached)
		pthread_cond_wait(&come, &mu);
	pthread_mutex_unlock(&mu);
	pthread_mutex_unlock(&x->lock);
	return hipSuccess;
}

hipError_t hipHostRegister(void *p, size_t n, unsigned flags)
{
	(void)flags;
	return p && n ? hipSuccess : hipErrorInvalidValue;
}

/* A stream that waits for a value is not ready. */
static struct { const volatile uint64_t *at; uint64_t value; hipStream_t s; } waits[16];
static int nwaits;

hipError_t hipStreamWaitValue64(hipStream_t s, void *p, uint64_t value, unsigned flags, uint64_t mask)
{
	if (!asked || flags != hipStreamWaitValueGte || mask != ~0ull || nwaits == 16)
		return hipErrorInvalidValue;
	waits[nwaits].at = p;
	waits[nwaits].value = value;
	waits[nwaits++].s = s;
	return hipSuccess;
}

hipError_t hipStreamQuery(hipStream_t s)
{
	for (int i = 0; i < nwaits; i++)
		if (waits[i].s == s && *waits[i].at < waits[i].value)
			return hipErrorNotReady;
	return hipSuccess;
}

hipError_t hipDeviceReset(void) { return hipSuccess; }

hipError_t hipHostUnregister(void *p) { return p ? hipSuccess : hipErrorInvalidValue; }

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *n, hipDeviceptr_t p)
{
	(void)p;
	*base = NULL;
	*n = 4096;
	return hipSuccess;
}
