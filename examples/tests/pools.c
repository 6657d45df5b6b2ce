/* Memory pools of the program's own: what they are made of, their attributes, who
 * may use their memory, and where hipMallocAsync takes it from. */
#include "test.h"

enum { SIZE = 1 << 20, SMALL = 4096 };

static const hipMemPoolProps plain = {
	.allocType = hipMemAllocationTypePinned,
	.location = {hipMemLocationTypeDevice, 0},
};

static uint64_t figure(hipMemPool_t p, hipMemPoolAttr a)
{
	uint64_t v = 0x5555555555555555;
	CHECK(hipMemPoolGetAttribute(p, a, &v));
	return v;
}

static void making(void)
{
	hipMemPoolProps p = plain;
	hipMemPool_t pool, own, now;
	EXPECT(hipMemPoolCreate(NULL, &plain), hipErrorInvalidValue);
	EXPECT(hipMemPoolCreate(&pool, NULL), hipErrorInvalidValue);
	p.allocType = hipMemAllocationTypeInvalid;
	EXPECT(hipMemPoolCreate(&pool, &p), hipErrorInvalidValue);
	p = plain;
	p.location.type = hipMemLocationTypeInvalid;
	EXPECT(hipMemPoolCreate(&pool, &p), hipErrorInvalidValue);
	p = plain;
	p.location.id = 1000;
	EXPECT(hipMemPoolCreate(&pool, &p), hipErrorInvalidValue);

	CHECK(hipDeviceGetDefaultMemPool(&own, 0));
	EXPECT(hipMemPoolDestroy(NULL), hipErrorInvalidValue);
	EXPECT(hipMemPoolDestroy(own), hipErrorInvalidValue);
	CHECK(hipMemPoolCreate(&pool, &plain));
	ASSERT(pool != own);
	CHECK(hipDeviceSetMemPool(0, pool));
	CHECK(hipDeviceGetMemPool(&now, 0));
	ASSERT(now == pool);
	CHECK(hipMemPoolDestroy(pool)); /* the device has its own again */
	CHECK(hipDeviceGetMemPool(&now, 0));
	ASSERT(now == own);
	EXPECT(hipMemPoolDestroy(pool), hipErrorInvalidValue);
}

static void attributes(void)
{
	static const hipMemPoolAttr figures[] = {hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrUsedMemCurrent};
	hipMemPool_t pool;
	uint64_t v = 0;
	CHECK(hipMemPoolCreate(&pool, &plain));
	for (int a = hipMemPoolReuseFollowEventDependencies; a <= hipMemPoolReuseAllowInternalDependencies; a++) {
		int on[2] = {7, 7}, off = 0; /* these are ints */
		CHECK(hipMemPoolGetAttribute(pool, (hipMemPoolAttr)a, on));
		ASSERT(on[0] == 1 && on[1] == 7);
		CHECK(hipMemPoolSetAttribute(pool, (hipMemPoolAttr)a, &off));
		CHECK(hipMemPoolGetAttribute(pool, (hipMemPoolAttr)a, on));
		ASSERT(on[0] == 0 && on[1] == 7);
	}
	ASSERT(figure(pool, hipMemPoolAttrReleaseThreshold) == 0);
	v = (uint64_t)1 << 40;
	CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &v));
	ASSERT(figure(pool, hipMemPoolAttrReleaseThreshold) == (uint64_t)1 << 40);
	v = 0;
	for (int i = 0; i < 2; i++)
		EXPECT(hipMemPoolSetAttribute(pool, figures[i], &v), hipErrorInvalidValue);
	CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &v));
	v = 1; /* a highest value can only begin again */
	EXPECT(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &v), hipErrorInvalidValue);
	EXPECT(hipMemPoolGetAttribute(pool, (hipMemPoolAttr)99, &v), hipErrorInvalidValue);
	EXPECT(hipMemPoolSetAttribute(pool, (hipMemPoolAttr)99, &v), hipErrorInvalidValue);
	EXPECT(hipMemPoolGetAttribute(NULL, hipMemPoolAttrUsedMemHigh, &v), hipErrorInvalidValue);
	EXPECT(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemHigh, NULL), hipErrorInvalidValue);
	EXPECT(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, NULL), hipErrorInvalidValue);
	CHECK(hipMemPoolDestroy(pool));
}

static void access_of(void)
{
	hipMemAccessDesc d = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	hipMemAccessFlags f = hipMemAccessFlagsProtNone;
	hipMemPool_t pool;
	CHECK(hipMemPoolCreate(&pool, &plain));
	CHECK(hipMemPoolGetAccess(&f, pool, &d.location));
	ASSERT(f == hipMemAccessFlagsProtReadWrite);
	CHECK(hipMemPoolSetAccess(pool, &d, 1));
	EXPECT(hipMemPoolSetAccess(pool, NULL, 1), hipErrorInvalidValue);
	EXPECT(hipMemPoolSetAccess(NULL, &d, 1), hipErrorInvalidValue);
	EXPECT(hipMemPoolSetAccess(pool, &d, 1000), hipErrorInvalidDevice);
	d.flags = hipMemAccessFlagsProtNone;
	EXPECT(hipMemPoolSetAccess(pool, &d, 1), hipErrorInvalidDevice);
	d.flags = (hipMemAccessFlags)4;
	EXPECT(hipMemPoolSetAccess(pool, &d, 1), hipErrorInvalidValue);
	d.location.id = 1000;
	EXPECT(hipMemPoolSetAccess(pool, &d, 1), hipErrorInvalidDevice);
	EXPECT(hipMemPoolGetAccess(&f, pool, &d.location), hipErrorInvalidValue);
	d.location.type = hipMemLocationTypeInvalid;
	EXPECT(hipMemPoolSetAccess(pool, &d, 1), hipErrorInvalidValue);
	EXPECT(hipMemPoolGetAccess(&f, pool, &d.location), hipErrorInvalidValue);
	EXPECT(hipMemPoolGetAccess(NULL, pool, &d.location), hipErrorInvalidValue);
	EXPECT(hipMemPoolGetAccess(&f, pool, NULL), hipErrorInvalidValue);
	CHECK(hipMemPoolDestroy(pool));
}

static void allocating(hipStream_t s)
{
	static unsigned char out[SIZE];
	hipMemPool_t pool;
	void *a, *b, *again;
	uint64_t v = UINT64_MAX;
	CHECK(hipMemPoolCreate(&pool, &plain));
	CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &v));
	CHECK(hipMallocFromPoolAsync(&a, SIZE, pool, s));
	CHECK(hipDeviceSetMemPool(0, pool));
	CHECK(hipMallocAsync(&b, SMALL, s)); /* from the pool, too */
	ASSERT(figure(pool, hipMemPoolAttrUsedMemCurrent) == SIZE + SMALL);
	CHECK(hipMemsetAsync(a, 7, SIZE, s));
	CHECK(hipMemcpyAsync(out, a, SIZE, hipMemcpyDeviceToHost, s));
	CHECK(hipFreeAsync(a, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(out[0] == 7 && out[SIZE - 1] == 7);
	ASSERT(figure(pool, hipMemPoolAttrUsedMemCurrent) == SMALL);
	ASSERT(figure(pool, hipMemPoolAttrUsedMemHigh) == SIZE + SMALL);
	CHECK(hipMallocFromPoolAsync(&again, SIZE, pool, s)); /* what was kept */
	ASSERT(again == a);
	CHECK(hipFreeAsync(again, s));
	CHECK(hipFreeAsync(b, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(figure(pool, hipMemPoolAttrReservedMemCurrent) == SIZE + SMALL);
	CHECK(hipMemPoolTrimTo(pool, 0));
	ASSERT(figure(pool, hipMemPoolAttrReservedMemCurrent) == 0);
	EXPECT(hipMemPoolTrimTo(NULL, 0), hipErrorInvalidValue);

	a = &pool;
	CHECK(hipMallocFromPoolAsync(&a, 0, pool, s));
	ASSERT(a == NULL);
	EXPECT(hipMallocFromPoolAsync(NULL, SIZE, pool, s), hipErrorInvalidValue);
	EXPECT(hipMallocFromPoolAsync(&a, SIZE, NULL, s), hipErrorInvalidValue);
	EXPECT(hipMallocFromPoolAsync(&a, (size_t)1 << 50, pool, s), hipErrorOutOfMemory);
	CHECK(hipMemPoolDestroy(pool));

	hipMemPoolProps limited = plain;
	limited.maxSize = SIZE;
	CHECK(hipMemPoolCreate(&pool, &limited));
	CHECK(hipMallocFromPoolAsync(&a, SIZE / 2, pool, s));
	EXPECT(hipMallocFromPoolAsync(&b, SIZE, pool, s), hipErrorOutOfMemory);
	CHECK(hipMemPoolDestroy(pool)); /* its memory lives on */
	CHECK(hipMemset(a, 9, SIZE / 2));
	CHECK(hipMemcpy(out, a, SIZE / 2, hipMemcpyDeviceToHost));
	ASSERT(out[0] == 9 && out[SIZE / 2 - 1] == 9);
	CHECK(hipFree(a));
}

int main(void)
{
	hipStream_t s;
	making();
	attributes();
	access_of();
	CHECK(hipStreamCreate(&s));
	allocating(s);
	CHECK(hipStreamDestroy(s));
	CHECK(hipDeviceSynchronize());
	return result("pools");
}
