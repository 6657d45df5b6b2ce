/* Advice about managed memory, where it was told to go, and what is known of it. */
#include "test.h"

#define PAGE 4096

static int32_t get(hipMemRangeAttribute a, const void *p, size_t n)
{
	int32_t v = 4711;
	CHECK(hipMemRangeGetAttribute(&v, sizeof v, a, p, n));
	return v;
}

static void advice(void)
{
	char *p;
	int n = 0;
	CHECK(hipGetDeviceCount(&n));
	for (int device = hipCpuDeviceId; device < n; device++) {
		CHECK(hipMallocManaged((void **)&p, 3 * PAGE, hipMemAttachGlobal));
		ASSERT(get(hipMemRangeAttributeReadMostly, p, PAGE) == 0);
		ASSERT(get(hipMemRangeAttributePreferredLocation, p, PAGE) == hipInvalidDeviceId);
		ASSERT(get(hipMemRangeAttributeAccessedBy, p, PAGE) == hipInvalidDeviceId);
		ASSERT(get(hipMemRangeAttributeLastPrefetchLocation, p, PAGE) == hipInvalidDeviceId);
		CHECK(hipMemAdvise(p + 100, PAGE, hipMemAdviseSetPreferredLocation, device));
		ASSERT(get(hipMemRangeAttributePreferredLocation, p, 2 * PAGE) == device);
		ASSERT(get(hipMemRangeAttributePreferredLocation, p, 3 * PAGE) == hipInvalidDeviceId);
		CHECK(hipMemAdvise(p, 3 * PAGE, hipMemAdviseSetReadMostly, 99)); /* for any device */
		ASSERT(get(hipMemRangeAttributeReadMostly, p, 3 * PAGE) == 1);
		CHECK(hipMemAdvise(p + PAGE, 1, hipMemAdviseUnsetReadMostly, -12));
		ASSERT(get(hipMemRangeAttributeReadMostly, p, 3 * PAGE) == 0);
		CHECK(hipMemAdvise(p, PAGE, hipMemAdviseSetAccessedBy, device));
		ASSERT(get(hipMemRangeAttributeAccessedBy, p, PAGE) == device);
		CHECK(hipMemAdvise(p, PAGE, hipMemAdviseUnsetAccessedBy, device));
		ASSERT(get(hipMemRangeAttributeAccessedBy, p, PAGE) == hipInvalidDeviceId);
		CHECK(hipMemAdvise(p, 3 * PAGE, hipMemAdviseUnsetPreferredLocation, device));
		ASSERT(get(hipMemRangeAttributePreferredLocation, p, PAGE) == hipInvalidDeviceId);
		CHECK(hipMemPrefetchAsync(p, 3 * PAGE, device, 0));
		CHECK(hipStreamSynchronize(0));
		CHECK(hipDeviceSynchronize());
		ASSERT(get(hipMemRangeAttributeLastPrefetchLocation, p, 3 * PAGE) == device);
		ASSERT(get(hipMemRangeAttributeCoherencyMode, p, 3 * PAGE) == hipMemRangeCoherencyModeFineGrain);
		CHECK(hipMemAdvise(p, PAGE, hipMemAdviseSetCoarseGrain, device));
		ASSERT(get(hipMemRangeAttributeCoherencyMode, p, PAGE) == hipMemRangeCoherencyModeCoarseGrain);
		ASSERT(get(hipMemRangeAttributeCoherencyMode, p, 2 * PAGE) == hipMemRangeCoherencyModeIndeterminate);
		memset(p, 7, 3 * PAGE); /* advice changes nothing about the memory */
		ASSERT(p[3 * PAGE - 1] == 7);
		CHECK(hipFree(p));
		CHECK(hipMallocManaged((void **)&p, 3 * PAGE, hipMemAttachGlobal)); /* new memory has no advice */
		ASSERT(get(hipMemRangeAttributeLastPrefetchLocation, p, PAGE) == hipInvalidDeviceId);
		CHECK(hipFree(p));
	}
}

static void several(void)
{
	char *p;
	int32_t v[4][4];
	void *data[4] = {v[0], v[1], v[2], v[3]};
	size_t sizes[4] = {4, 4, 4, 16};
	hipMemRangeAttribute attributes[4] = {hipMemRangeAttributeReadMostly, hipMemRangeAttributePreferredLocation,
		hipMemRangeAttributeLastPrefetchLocation, hipMemRangeAttributeAccessedBy};
	CHECK(hipMallocManaged((void **)&p, PAGE, hipMemAttachGlobal));
	CHECK(hipMemAdvise(p, PAGE, hipMemAdviseSetReadMostly, 0));
	CHECK(hipMemAdvise(p, PAGE, hipMemAdviseSetPreferredLocation, 0));
	CHECK(hipMemAdvise(p, PAGE, hipMemAdviseSetAccessedBy, hipCpuDeviceId));
	CHECK(hipMemAdvise(p, PAGE, hipMemAdviseSetAccessedBy, 0));
	CHECK(hipMemPrefetchAsync(p, PAGE, hipCpuDeviceId, 0));
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemRangeGetAttributes(data, sizes, attributes, 4, p, PAGE));
	ASSERT(v[0][0] == 1 && v[1][0] == 0 && v[2][0] == hipCpuDeviceId);
	ASSERT(v[3][0] == 0 && v[3][1] == hipCpuDeviceId && v[3][2] == hipInvalidDeviceId && v[3][3] == hipInvalidDeviceId);
	EXPECT(hipMemRangeGetAttributes(NULL, sizes, attributes, 4, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttributes(data, NULL, attributes, 4, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttributes(data, sizes, NULL, 4, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttributes(data, sizes, attributes, 0, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttributes(data, sizes, attributes, 4, NULL, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttributes(data, sizes, attributes, 4, p, 0), hipErrorInvalidValue);
	sizes[1] = 5;
	EXPECT(hipMemRangeGetAttributes(data, sizes, attributes, 4, p, PAGE), hipErrorInvalidValue);
	sizes[1] = 4;
	attributes[2] = (hipMemRangeAttribute)999;
	EXPECT(hipMemRangeGetAttributes(data, sizes, attributes, 4, p, PAGE), hipErrorInvalidValue);
	CHECK(hipFree(p));
}

static void refused(void)
{
	char *p, *device, stack[64];
	int32_t v[4];
	hipStream_t s;
	int n = 0;
	CHECK(hipGetDeviceCount(&n));
	CHECK(hipMallocManaged((void **)&p, PAGE, hipMemAttachHost));
	CHECK(hipMalloc((void **)&device, PAGE));
	EXPECT(hipMemAdvise(NULL, PAGE, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	EXPECT(hipMemAdvise(p, 0, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	EXPECT(hipMemAdvise(p, PAGE + 1, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	EXPECT(hipMemAdvise(p, PAGE, hipMemAdviseSetAccessedBy, n), hipErrorInvalidDevice);
	EXPECT(hipMemAdvise(p, PAGE, hipMemAdviseSetPreferredLocation, hipInvalidDeviceId), hipErrorInvalidDevice);
	EXPECT(hipMemAdvise(p, PAGE, (hipMemoryAdvise)-1, 0), hipErrorInvalidValue);
	EXPECT(hipMemAdvise(device, PAGE, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	EXPECT(hipMemAdvise(stack, sizeof stack, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
	EXPECT(hipMemPrefetchAsync(NULL, PAGE, 0, 0), hipErrorInvalidValue);
	EXPECT(hipMemPrefetchAsync(p, 0, 0, 0), hipErrorInvalidValue);
	EXPECT(hipMemPrefetchAsync(p, PAGE + 1, 0, 0), hipErrorInvalidValue);
	EXPECT(hipMemPrefetchAsync(p, PAGE, n, 0), hipErrorInvalidDevice);
	EXPECT(hipMemPrefetchAsync(p, PAGE, hipInvalidDeviceId, 0), hipErrorInvalidDevice);
	EXPECT(hipMemPrefetchAsync(p, PAGE, 0, (hipStream_t)0x1234567), hipErrorContextIsDestroyed);
	EXPECT(hipMemPrefetchAsync(stack, sizeof stack, 0, 0), hipErrorNotSupported);
	CHECK(hipMemPrefetchAsync(device, PAGE, 0, 0)); /* it is there */
	EXPECT(hipMemRangeGetAttribute(NULL, 4, hipMemRangeAttributeReadMostly, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttribute(v, 0, hipMemRangeAttributeReadMostly, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttribute(v, 8, hipMemRangeAttributeReadMostly, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttribute(v, 10, hipMemRangeAttributeAccessedBy, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttribute(v, 4, (hipMemRangeAttribute)999, p, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttribute(v, 4, hipMemRangeAttributeReadMostly, device, PAGE), hipErrorInvalidValue);
	EXPECT(hipMemRangeGetAttribute(v, 4, hipMemRangeAttributeReadMostly, p, 0), hipErrorInvalidValue);
	ASSERT(get(hipMemRangeAttributeCoherencyMode, device, PAGE) == hipMemRangeCoherencyModeCoarseGrain);
	CHECK(hipStreamCreate(&s));
	CHECK(hipStreamAttachMemAsync(s, p, 0, hipMemAttachSingle));
	CHECK(hipStreamAttachMemAsync(s, p, PAGE, hipMemAttachGlobal));
	CHECK(hipStreamAttachMemAsync(NULL, p, 0, hipMemAttachHost));
	EXPECT(hipStreamAttachMemAsync(NULL, p, 0, hipMemAttachSingle), hipErrorInvalidValue);
	EXPECT(hipStreamAttachMemAsync(s, NULL, 0, hipMemAttachGlobal), hipErrorInvalidValue);
	EXPECT(hipStreamAttachMemAsync(s, p, PAGE / 2, hipMemAttachGlobal), hipErrorInvalidValue);
	EXPECT(hipStreamAttachMemAsync(s, p, 0, 7), hipErrorInvalidValue);
	EXPECT(hipStreamAttachMemAsync(s, stack, sizeof stack, hipMemAttachSingle), hipErrorInvalidValue);
	CHECK(hipStreamDestroy(s));
	EXPECT(hipStreamAttachMemAsync(s, p, 0, hipMemAttachGlobal), hipErrorContextIsDestroyed);
	CHECK(hipFree(device));
	CHECK(hipFree(p));
}

int main(void)
{
	advice();
	several();
	refused();
	return result("advice");
}
