/* What a device gives its kernels, which compute units a stream has, how devices
 * are linked. */
#include "test.h"

static void limits(void)
{
	int n = 0;
	CHECK(hipGetDeviceCount(&n));
	for (int d = 0; d < n; d++) {
		size_t stack = 0, heap = 0, now = 0;
		CHECK(hipSetDevice(d));
		CHECK(hipDeviceGetLimit(&stack, hipLimitStackSize));
		CHECK(hipDeviceGetLimit(&heap, hipLimitMallocHeapSize));
		ASSERT(stack > 0 && heap > 0);
		CHECK(hipDeviceSetLimit(hipLimitStackSize, stack + 8));
		CHECK(hipDeviceGetLimit(&now, hipLimitStackSize));
		ASSERT(now >= stack + 8);
		CHECK(hipDeviceSetLimit(hipLimitMallocHeapSize, heap + 4096));
		CHECK(hipDeviceGetLimit(&now, hipLimitMallocHeapSize));
		ASSERT(now >= heap + 4096);
		EXPECT(hipDeviceSetLimit(hipLimitStackSize, (size_t)1 << 40), hipErrorInvalidValue);
		CHECK(hipDeviceSetLimit(hipLimitStackSize, stack));
		CHECK(hipDeviceSetLimit(hipLimitMallocHeapSize, heap));
		EXPECT(hipDeviceGetLimit(NULL, hipLimitStackSize), hipErrorInvalidValue);
		EXPECT(hipDeviceGetLimit(&now, (enum hipLimit_t)-1), hipErrorUnsupportedLimit);
		EXPECT(hipDeviceSetLimit((enum hipLimit_t)-1, 1024), hipErrorUnsupportedLimit);
		EXPECT(hipDeviceSetLimit((enum hipLimit_t)0xffff, 1024), hipErrorInvalidValue);
		EXPECT(hipDeviceSetLimit(hipLimitPrintfFifoSize, 1024), hipErrorUnsupportedLimit);
	}
	CHECK(hipSetDevice(0));
}

static void masks(void)
{
	hipDeviceProp_t prop;
	hipStream_t s;
	uint32_t mask[64], all[64] = {0}, some[64] = {0xe}, none[64] = {0};
	CHECK(hipGetDeviceProperties(&prop, 0));
	uint32_t words = (uint32_t)(prop.multiProcessorCount + 31) / 32;
	for (int i = 0; i < prop.multiProcessorCount; i++)
		all[i / 32] |= 1u << i % 32;
	CHECK(hipExtStreamGetCUMask(NULL, words, mask));
	ASSERT(memcmp(mask, all, 4 * words) == 0);
	CHECK(hipExtStreamGetCUMask(hipStreamPerThread, 64, mask));
	ASSERT(memcmp(mask, all, 4 * words) == 0);
	CHECK(hipExtStreamCreateWithCUMask(&s, words, some));
	memset(mask, 0xff, sizeof mask);
	CHECK(hipExtStreamGetCUMask(s, words, mask));
	ASSERT(memcmp(mask, some, 4 * words) == 0);
	void *p;
	uint32_t back = 0;
	CHECK(hipMalloc(&p, 4));
	CHECK(hipMemsetD32Async(p, 77, 1, s)); /* it is a stream like any other */
	CHECK(hipStreamSynchronize(s));
	CHECK(hipMemcpy(&back, p, 4, hipMemcpyDeviceToHost));
	ASSERT(back == 77);
	CHECK(hipFree(p));
	CHECK(hipStreamDestroy(s));
	CHECK(hipExtStreamCreateWithCUMask(&s, words, none));
	CHECK(hipExtStreamGetCUMask(s, words, mask));
	ASSERT(memcmp(mask, all, 4 * words) == 0);
	CHECK(hipStreamDestroy(s));
	memset(mask, 0xff, sizeof mask);
	CHECK(hipExtStreamCreateWithCUMask(&s, 64, mask)); /* more units than there are */
	CHECK(hipExtStreamGetCUMask(s, words, mask));
	ASSERT(memcmp(mask, all, 4 * words) == 0);
	CHECK(hipStreamDestroy(s));
	EXPECT(hipExtStreamCreateWithCUMask(NULL, words, all), hipErrorInvalidHandle);
	EXPECT(hipExtStreamCreateWithCUMask(&s, 0, all), hipErrorInvalidValue);
	EXPECT(hipExtStreamCreateWithCUMask(&s, words, NULL), hipErrorInvalidValue);
	EXPECT(hipExtStreamGetCUMask(NULL, words, NULL), hipErrorInvalidValue);
	EXPECT(hipExtStreamGetCUMask(NULL, words - 1, mask), hipErrorInvalidValue);
}

static void links(void)
{
	uint32_t type[2], hops[2];
	int n = 0;
	CHECK(hipGetDeviceCount(&n));
	EXPECT(hipExtGetLinkTypeAndHopCount(0, 0, type, hops), hipErrorInvalidValue);
	EXPECT(hipExtGetLinkTypeAndHopCount(-1, 0, type, hops), hipErrorInvalidValue);
	EXPECT(hipExtGetLinkTypeAndHopCount(0, n + 1, type, hops), hipErrorInvalidDevice);
	EXPECT(hipExtGetLinkTypeAndHopCount(0, 1, NULL, hops), hipErrorInvalidValue);
	EXPECT(hipExtGetLinkTypeAndHopCount(0, 1, type, NULL), hipErrorInvalidValue);
	for (int i = 0; i + 1 < n; i++) {
		int peers = 0;
		CHECK(hipDeviceCanAccessPeer(&peers, i, i + 1));
		if (!peers) { /* of two machines, say: no link */
			EXPECT(hipExtGetLinkTypeAndHopCount(i, i + 1, type, hops), hipErrorInvalidHandle);
			continue;
		}
		CHECK(hipExtGetLinkTypeAndHopCount(i, i + 1, type, hops));
		CHECK(hipExtGetLinkTypeAndHopCount(i + 1, i, type + 1, hops + 1));
		ASSERT(hops[0] > 0 && hops[0] == hops[1] && type[0] == type[1]);
	}
}

int main(void)
{
	limits();
	masks();
	links();
	return result("limits");
}
