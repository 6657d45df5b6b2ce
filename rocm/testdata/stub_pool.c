/* Memory pools of stub.c's runtime: they count, and end the process that asks
 * about one that was destroyed. */
#include <stdlib.h>
#include "hip/hip_runtime_api.h"

struct pool {
	size_t used, kept;
	int gone, alone; /* alone: it does not follow events */
};

static struct pool own[2], made[8];
static int pools;

static struct pool *of(hipMemPool_t p)
{
	struct pool *q = (struct pool *)p;
	if (q->gone)
		abort();
	return q;
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *p, int d)
{
	*p = (hipMemPool_t)&own[d];
	return hipSuccess;
}

hipError_t hipMemPoolCreate(hipMemPool_t *p, const hipMemPoolProps *props)
{
	if (props->location.id > 1 || pools == 8)
		return hipErrorInvalidValue;
	*p = (hipMemPool_t)&made[pools++];
	return hipSuccess;
}

hipError_t hipMemPoolDestroy(hipMemPool_t p)
{
	struct pool *q = of(p);
	if (q == &own[0] || q == &own[1])
		return hipErrorInvalidValue;
	q->gone = 1;
	return hipSuccess;
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t p, hipMemPoolAttr a, void *v)
{
	struct pool *q = of(p);
	if (a == hipMemPoolAttrReservedMemCurrent)
		*(size_t *)v = q->used + q->kept;
	else if (a == hipMemPoolAttrUsedMemCurrent)
		*(size_t *)v = q->used;
	else
		return hipErrorInvalidValue;
	return hipSuccess;
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t p, hipMemPoolAttr a, void *v)
{
	if (a != hipMemPoolReuseFollowEventDependencies)
		return hipErrorInvalidValue;
	of(p)->alone = *(int *)v == 0;
	return hipSuccess;
}

hipError_t hipMemPoolTrimTo(hipMemPool_t p, size_t n)
{
	struct pool *q = of(p);
	if (q->kept > n)
		q->kept = n;
	return hipSuccess;
}

struct block {
	struct pool *of;
	size_t size;
};

hipError_t hipMallocFromPoolAsync(void **p, size_t n, hipMemPool_t pool, hipStream_t s)
{
	struct pool *q = of(pool);
	struct block *b = malloc(sizeof(*b) + n);
	(void)s;
	if (!q->alone)
		abort();
	b->of = q;
	b->size = n;
	q->used += n;
	*p = b + 1;
	return hipSuccess;
}

hipError_t hipFreeAsync(void *p, hipStream_t s)
{
	struct block *b = (struct block *)p - 1;
	if ((size_t)s != 0x6010) /* the program's null stream of the first device */
		return hipErrorInvalidHandle;
	b->of->used -= b->size;
	b->of->kept += b->size;
	free(b);
	return hipSuccess;
}

hipError_t hipDeviceReset(void)
{
	own[0].alone = 0;
	return hipSuccess;
}
