/* Virtual memory management: addresses, memory, and mappings of the one at the
 * other. */
#include "test.h"

static size_t size; /* of an allocation: two pieces of the smallest size */

static const hipMemAllocationProp plain = {
	.type = hipMemAllocationTypePinned,
	.location = {hipMemLocationTypeDevice, 0},
};

static void granularity(void)
{
	hipMemAllocationProp p = plain;
	size_t least = 0, most = 0;
	CHECK(hipMemGetAllocationGranularity(&least, &p, hipMemAllocationGranularityMinimum));
	CHECK(hipMemGetAllocationGranularity(&most, &p, hipMemAllocationGranularityRecommended));
	ASSERT(least >= 4096 && (least & (least - 1)) == 0 && most % least == 0);
	size = 2 * most;
	EXPECT(hipMemGetAllocationGranularity(NULL, &p, hipMemAllocationGranularityMinimum), hipErrorInvalidValue);
	EXPECT(hipMemGetAllocationGranularity(&least, NULL, hipMemAllocationGranularityMinimum), hipErrorInvalidValue);
	EXPECT(hipMemGetAllocationGranularity(&least, &p, (hipMemAllocationGranularity_flags)2), hipErrorInvalidValue);
	p.location.id = 1000;
	EXPECT(hipMemGetAllocationGranularity(&least, &p, hipMemAllocationGranularityMinimum), hipErrorInvalidValue);
	p = plain;
	p.type = hipMemAllocationTypeInvalid;
	EXPECT(hipMemGetAllocationGranularity(&least, &p, hipMemAllocationGranularityMinimum), hipErrorInvalidValue);
}

static void allowed(void *p, hipMemAccessFlags f)
{
	hipMemAccessDesc d = {{hipMemLocationTypeDevice, 0}, f};
	unsigned long long now = 99;
	CHECK(hipMemSetAccess(p, size, &d, 1));
	CHECK(hipMemGetAccess(&now, &d.location, p));
	ASSERT(now == (unsigned long long)f);
}

/* mapped is a handle's memory at addresses of its own, which may be used. */
static void *mapped(hipMemGenericAllocationHandle_t h)
{
	void *p;
	CHECK(hipMemAddressReserve(&p, size, 0, NULL, 0));
	CHECK(hipMemMap(p, size, 0, h, 0));
	allowed(p, hipMemAccessFlagsProtReadWrite);
	return p;
}

static void unmapped(void *p)
{
	CHECK(hipMemUnmap(p, size));
	CHECK(hipMemAddressFree(p, size));
}

static void twice(void)
{
	hipMemGenericAllocationHandle_t h, same = NULL;
	hipMemAllocationProp p;
	int x = 4711, got = 0;
	char *a, *b;
	CHECK(hipMemCreate(&h, size, &plain, 0));
	memset(&p, 0xff, sizeof p);
	CHECK(hipMemGetAllocationPropertiesFromHandle(&p, h));
	ASSERT(p.type == hipMemAllocationTypePinned && p.location.type == hipMemLocationTypeDevice && p.location.id == 0 && p.requestedHandleType == hipMemHandleTypeNone);
	a = mapped(h);
	b = mapped(h);
	ASSERT(a != b);
	CHECK(hipMemset(a, 0, size));
	CHECK(hipMemcpy(a + size - 4, &x, 4, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(&got, b + size - 4, 4, hipMemcpyDeviceToHost));
	ASSERT(got == 4711);
	CHECK(hipMemRetainAllocationHandle(&same, a));
	ASSERT(same == h);
	CHECK(hipMemRelease(h)); /* the mappings keep the memory */
	x = 12;
	CHECK(hipMemcpy(b, &x, 4, hipMemcpyHostToDevice));
	unmapped(b);
	EXPECT(hipMemcpy(&got, b, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	CHECK(hipMemcpy(&got, a, 4, hipMemcpyDeviceToHost));
	ASSERT(got == 12);

	allowed(a, hipMemAccessFlagsProtRead);
	CHECK(hipMemcpy(&got, a + size - 4, 4, hipMemcpyDeviceToHost));
	ASSERT(got == 4711);
	EXPECT(hipMemcpy(a, &x, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
	unmapped(a);
}

/* Two allocations side by side are one piece of memory for a copy. */
static void side_by_side(void)
{
	hipMemAccessDesc d = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	hipMemGenericAllocationHandle_t h[2];
	char *p, in[64], out[64];
	CHECK(hipMemAddressReserve((void **)&p, 2 * size, size, NULL, 0));
	ASSERT((uintptr_t)p % size == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(hipMemCreate(&h[i], size, &plain, 0));
		CHECK(hipMemMap(p + i * size, size, 0, h[i], 0));
		CHECK(hipMemSetAccess(p + i * size, size, &d, 1));
		CHECK(hipMemRelease(h[i]));
	}
	for (int i = 0; i < 64; i++)
		in[i] = (char)(i * 3 + 1);
	for (int i = 0; i < 2; i++)
		CHECK(hipMemcpy(p + i * size, in + 32 * i, 32, hipMemcpyHostToDevice));
	for (int i = 0; i < 2; i++)
		CHECK(hipMemcpy(out + 32 * i, p + i * size, 32, hipMemcpyDeviceToHost));
	ASSERT(!memcmp(in, out, 64));
	CHECK(hipMemUnmap(p, size));
	CHECK(hipMemUnmap(p + size, size));
	CHECK(hipMemAddressFree(p, 2 * size));
}

static void mistakes(void)
{
	hipMemAllocationProp p = plain;
	hipMemAccessDesc d = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
	hipMemGenericAllocationHandle_t h, n;
	unsigned long long f;
	void *a;
	EXPECT(hipMemAddressReserve(NULL, size, 0, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipMemAddressReserve(&a, size, 0, NULL, 1), hipErrorInvalidValue);
	EXPECT(hipMemAddressReserve(&a, 0, 0, NULL, 0), hipErrorOutOfMemory);
	EXPECT(hipMemAddressReserve(&a, size - 1, 0, NULL, 0), hipErrorOutOfMemory);
	EXPECT(hipMemAddressReserve(&a, size, 3, NULL, 0), hipErrorOutOfMemory);
	EXPECT(hipMemAddressFree(NULL, size), hipErrorInvalidValue);

	EXPECT(hipMemCreate(NULL, size, &p, 0), hipErrorInvalidValue);
	EXPECT(hipMemCreate(&h, 0, &p, 0), hipErrorInvalidValue);
	EXPECT(hipMemCreate(&h, size - 1, &p, 0), hipErrorInvalidValue);
	EXPECT(hipMemCreate(&h, size, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipMemCreate(&h, size, &p, 1), hipErrorInvalidValue);
	EXPECT(hipMemCreate(&h, (size_t)1 << 50, &p, 0), hipErrorOutOfMemory);
	p.location.id = 1000;
	EXPECT(hipMemCreate(&h, size, &p, 0), hipErrorInvalidValue);
	p = plain;
	p.requestedHandleType = hipMemHandleTypeWin32;
	EXPECT(hipMemCreate(&h, size, &p, 0), hipErrorNotSupported);

	CHECK(hipMemAddressReserve(&a, size, 0, NULL, 0));
	CHECK(hipMemCreate(&h, size, &plain, 0));
	EXPECT(hipMemSetAccess(a, size, &d, 1), hipErrorInvalidValue); /* nothing is mapped */
	EXPECT(hipMemRetainAllocationHandle(&n, a), hipErrorInvalidValue);
	EXPECT(hipMemMap(NULL, size, 0, h, 0), hipErrorInvalidValue);
	EXPECT(hipMemMap(a, 0, 0, h, 0), hipErrorInvalidValue);
	EXPECT(hipMemMap(a, size, 0, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipMemMap(a, size, size / 2, h, 0), hipErrorInvalidValue);
	EXPECT(hipMemMap(a, size, 0, h, 1), hipErrorInvalidValue);
	CHECK(hipMemMap(a, size, 0, h, 0));
	EXPECT(hipMemMap(a, size, 0, h, 0), hipErrorInvalidValue);
	EXPECT(hipMemSetAccess(a, size, NULL, 1), hipErrorInvalidValue);
	EXPECT(hipMemSetAccess(a, size, &d, 0), hipErrorInvalidValue);
	EXPECT(hipMemSetAccess(a, 0, &d, 1), hipErrorInvalidValue);
	EXPECT(hipMemGetAccess(NULL, &d.location, a), hipErrorInvalidValue);
	EXPECT(hipMemGetAccess(&f, NULL, a), hipErrorInvalidValue);
	EXPECT(hipMemGetAccess(&f, &d.location, NULL), hipErrorInvalidValue);
	d.location.id = 1000;
	EXPECT(hipMemSetAccess(a, size, &d, 1), hipErrorInvalidValue);
	EXPECT(hipMemGetAccess(&f, &d.location, a), hipErrorInvalidValue);
	EXPECT(hipMemGetAllocationPropertiesFromHandle(NULL, h), hipErrorInvalidValue);
	EXPECT(hipMemGetAllocationPropertiesFromHandle(&p, NULL), hipErrorInvalidValue);
	EXPECT(hipMemUnmap(a, size / 2), hipErrorInvalidValue);
	EXPECT(hipMemUnmap(NULL, size), hipErrorInvalidValue);
	unmapped(a);
	CHECK(hipMemRelease(h));
	EXPECT(hipMemRelease(NULL), hipErrorInvalidValue);
}

int main(void)
{
	granularity();
	twice();
	side_by_side();
	mistakes();
	return result("virtual memory");
}
