/* Contexts: a device has one, and AMD's runtime has no more of them than that. */
#include "test.h"

static void stack(void)
{
	hipCtx_t c = NULL, now = NULL;
	hipDevice_t device = 99;
	EXPECT(hipCtxPopCurrent(&c), hipErrorInvalidContext);
	EXPECT(hipCtxCreate(NULL, 0, 0), hipErrorInvalidValue);
	EXPECT(hipCtxCreate(&c, 0, 4711), hipErrorInvalidValue);
	EXPECT(hipCtxCreate(&c, 0, -1), hipErrorInvalidValue);
	EXPECT(hipCtxGetCurrent(NULL), hipErrorInvalidValue);
	EXPECT(hipCtxGetDevice(NULL), hipErrorInvalidValue);
	CHECK(hipCtxCreate(&c, 0, 0));
	CHECK(hipCtxGetCurrent(&now));
	ASSERT(now == c);
	CHECK(hipCtxGetDevice(&device));
	ASSERT(device == 0);
	CHECK(hipCtxPushCurrent(c));
	now = NULL;
	CHECK(hipCtxPopCurrent(&now));
	ASSERT(now == c);
	CHECK(hipCtxSetCurrent(c));
	CHECK(hipCtxDestroy(c));
	EXPECT(hipCtxPopCurrent(NULL), hipErrorInvalidContext); /* destroying it took it off the stack */
	EXPECT(hipCtxDestroy(NULL), hipErrorInvalidValue);
	CHECK(hipCtxGetCurrent(&now)); /* the current device's, pushed or not */
	ASSERT(now == c);
	EXPECT(hipCtxPushCurrent(NULL), hipErrorInvalidContext);
	CHECK(hipCtxSetCurrent(NULL));
}

/* Which device is the current one is up to hipCtxSetCurrent, hipCtxPushCurrent
 * and hipSetDevice; making, popping and destroying a context leaves it alone. */
static void devices(void)
{
	hipCtx_t first = NULL, second = NULL, now = NULL;
	int n = 0, device = -1;
	CHECK(hipGetDeviceCount(&n));
	if (n < 2)
		return;
	CHECK(hipSetDevice(0));
	CHECK(hipCtxCreate(&second, 0, 1));
	CHECK(hipGetDevice(&device));
	ASSERT(device == 0);
	CHECK(hipCtxSetCurrent(second));
	CHECK(hipGetDevice(&device));
	ASSERT(device == 1);
	CHECK(hipCtxGetDevice(&device));
	ASSERT(device == 1);
	CHECK(hipDevicePrimaryCtxRetain(&first, 0));
	ASSERT(first && first != second);
	CHECK(hipCtxPushCurrent(first));
	CHECK(hipGetDevice(&device));
	ASSERT(device == 0);
	CHECK(hipCtxPopCurrent(&now));
	ASSERT(now == first);
	CHECK(hipGetDevice(&device));
	ASSERT(device == 0);
	CHECK(hipCtxDestroy(second));
	CHECK(hipSetDevice(0));
}

static void primary(void)
{
	hipCtx_t c = NULL;
	unsigned int flags = 77;
	int active = 0;
	CHECK(hipDevicePrimaryCtxRetain(&c, 0));
	ASSERT(c);
	CHECK(hipFree(NULL)); /* reaches the device */
	CHECK(hipDevicePrimaryCtxGetState(0, &flags, &active));
	ASSERT(flags == 0);
	EXPECT(hipDevicePrimaryCtxSetFlags(0, 0), hipErrorContextAlreadyInUse);
	EXPECT(hipDevicePrimaryCtxSetFlags(4711, 0), hipErrorInvalidDevice);
	CHECK(hipDevicePrimaryCtxRelease(0));
	EXPECT(hipDevicePrimaryCtxRelease(-1), hipErrorInvalidDevice);
	EXPECT(hipDevicePrimaryCtxRetain(&c, 4711), hipErrorInvalidDevice);
	EXPECT(hipDevicePrimaryCtxRetain(NULL, 0), hipErrorInvalidValue);
}

/* What exists between contexts is decided by their devices. */
static void settings(void)
{
	hipCtx_t c = NULL;
	hipSharedMemConfig banks = hipSharedMemBankSizeEightByte;
	hipFuncCache_t cache;
	unsigned int flags;
	int version;
	CHECK(hipCtxGetSharedMemConfig(&banks));
	ASSERT(banks == hipSharedMemBankSizeFourByte);
	CHECK(hipCtxGetCurrent(&c));
	CHECK(hipCtxEnablePeerAccess(c, 0));
	CHECK(hipCtxDisablePeerAccess(c));
	EXPECT(hipCtxGetApiVersion(c, &version), hipErrorNotSupported);
	EXPECT(hipCtxGetCacheConfig(&cache), hipErrorNotSupported);
	EXPECT(hipCtxSetCacheConfig(hipFuncCachePreferL1), hipErrorNotSupported);
	EXPECT(hipCtxSetCacheConfig((hipFuncCache_t)17), hipErrorInvalidValue);
	EXPECT(hipCtxSetSharedMemConfig(hipSharedMemBankSizeFourByte), hipErrorNotSupported);
	EXPECT(hipCtxGetFlags(&flags), hipErrorNotSupported);
	EXPECT(hipCtxSynchronize(), hipErrorNotSupported);
}

int main(void)
{
	stack();
	devices();
	primary();
	settings();
	return result("contexts");
}
