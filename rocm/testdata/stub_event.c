/* Events of streams that come as far as the test says: hipDeviceSetLimit is how many records they have come to.
   And host memory that was registered, of whose range the library says that it begins at null. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hip/hip_runtime_api.h"

struct event { size_t at; int device; pthread_mutex_t lock; }; /* held while somebody waits for it, as in AMD's library */

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static size_t recorded, reached;
static int asked; /* about the event that was recorded last, which only then is more than a note in AMD's library */

static int gone[2]; /* streams */

hipError_t hipStreamGetDevice(hipStream_t s, hipDevice_t *d)
{
	*d = (int)((size_t)s & 1);
	return ((size_t)s & ~(size_t)17) == 0x6000 && !__atomic_load_n(&gone[*d], __ATOMIC_SEQ_CST) ? hipSuccess : hipErrorInvalidHandle;
}

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

/* The only memory that there is to get and to free. */
static struct { int busy; size_t freed; } only;

hipError_t hipMallocAsync(void **p, size_t n, hipStream_t s)
{
	(void)n, (void)s;
	if (only.busy)
		return hipErrorOutOfMemory;
	only.busy = 1;
	*p = (void *)0x5000;
	return hipSuccess;
}

/* As AMD's, it waits for the stream to come to the free before. */
hipError_t hipFreeAsync(void *p, hipStream_t s)
{
	(void)s;
	if (p != (void *)0x5000 || !only.busy)
		return hipErrorInvalidValue;
	pthread_mutex_lock(&mu);
	while (only.freed > reached)
		pthread_cond_wait(&come, &mu);
	only.freed = ++recorded;
	only.busy = 0;
	pthread_mutex_unlock(&mu);
	return hipSuccess;
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

/* Operations on memory of this process: as in AMD's library the last one may come first, and one of them waits for good. */
hipError_t hipStreamBatchMemOp(hipStream_t s, unsigned n, hipStreamBatchMemOpParams *all, unsigned flags)
{
	(void)s;
	if (!n || flags)
		return hipErrorInvalidValue;
	while (n--) {
		uint64_t op[4];

		memcpy(op, &all[n], sizeof(op));
		if (op[0] == hipStreamMemOpWriteValue64)
			*(uint64_t *)op[1] = op[2];
		else if (op[0] != hipStreamMemOpWaitValue64)
			return hipErrorInvalidValue;
		else if (*(uint64_t *)op[1] != op[2])
			return hipErrorLaunchTimeOut;
	}
	return hipSuccess;
}

static size_t destroyed;

hipError_t hipDeviceGetLimit(size_t *value, enum hipLimit_t limit)
{
	(void)limit;
	*value = __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST);
	return hipSuccess;
}

/* As AMD's, it waits for what the stream has still to do, but does not know it any more meanwhile. */
hipError_t hipStreamDestroy(hipStream_t s)
{
	__atomic_store_n(&gone[(size_t)s & 1], 1, __ATOMIC_SEQ_CST);
	while (hipStreamQuery(s) == hipErrorNotReady)
		usleep(1000);
	__atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
	return hipSuccess;
}

hipError_t hipDeviceReset(void) { only.busy = 0; return hipSuccess; }

hipError_t hipHostUnregister(void *p) { return p ? hipSuccess : hipErrorInvalidValue; }

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *n, hipDeviceptr_t p)
{
	(void)p;
	*base = NULL;
	*n = 4096;
	return hipSuccess;
}
