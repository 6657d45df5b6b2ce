/* Streams that do as much of what they are told as the test says: hipDeviceSetLimit is how many operations of each are done. What a stream has
   been told is a number that hipStreamWriteValue32 counts; an event is reached when as many are done as had been told when it was recorded. */
#include <pthread.h>
#include <stdlib.h>
#include "hip/hip_runtime_api.h"

enum { STREAMS = 8 };

struct event { size_t stream, at; };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static size_t told[STREAMS], done[STREAMS];
static int events;

static size_t of(hipStream_t s) { return (size_t)s & 16 ? 6 : (size_t)s & (STREAMS - 1); } /* one that is made is the sixth */

/* value: which stream, and how many operations of it are done. */
hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value)
{
	(void)limit;
	pthread_mutex_lock(&mu);
	done[value >> 32] = value & 0xffffffff;
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

/* how many events there are */
hipError_t hipDeviceGetLimit(size_t *value, enum hipLimit_t limit)
{
	(void)limit;
	pthread_mutex_lock(&mu);
	*value = (size_t)events;
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

hipError_t hipStreamWriteValue32(hipStream_t s, void *p, uint32_t v, unsigned int flags)
{
	(void)p, (void)flags;
	if (v == 0)
		return hipErrorInvalidValue;
	pthread_mutex_lock(&mu);
	told[of(s)]++;
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t *e, unsigned flags)
{
	*e = calloc(1, sizeof(struct event));
	pthread_mutex_lock(&mu);
	events++;
	pthread_mutex_unlock(&mu);
	return flags == hipEventDisableTiming ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipEventDestroy(hipEvent_t e)
{
	pthread_mutex_lock(&mu);
	events--;
	pthread_mutex_unlock(&mu);
	free(e);
	return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t e, hipStream_t s)
{
	struct event *x = (struct event *)e;

	pthread_mutex_lock(&mu);
	x->stream = of(s);
	x->at = told[of(s)];
	pthread_mutex_unlock(&mu);
	return hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t e)
{
	struct event *x = (struct event *)e;

	pthread_mutex_lock(&mu);
	hipError_t r = x->at <= done[x->stream] ? hipSuccess : hipErrorNotReady;
	pthread_mutex_unlock(&mu);
	return r;
}

hipError_t hipStreamQuery(hipStream_t s)
{
	pthread_mutex_lock(&mu);
	hipError_t r = told[of(s)] <= done[of(s)] ? hipSuccess : hipErrorNotReady;
	pthread_mutex_unlock(&mu);
	return r;
}

hipError_t hipStreamDestroy(hipStream_t s) { return of(s) == 7 ? hipErrorInvalidHandle : hipSuccess; }

__attribute__((weak)) hipError_t hipDeviceSynchronize(void) { return hipSuccess; }

__attribute__((weak)) hipError_t hipDeviceReset(void) { return hipSuccess; }
