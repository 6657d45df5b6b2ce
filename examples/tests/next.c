/* libamdhip64.so.7: linked with it, what HIP 7 has beside what HIP 6 had. */
#include "test.h"

EMBED(saxpy);

int main(void)
{
	int v = 0;
	unsigned int count = 0;
	unsigned long long first = 0, second = 0, null = 0;
	hipStream_t a, b;
	hipModule_t m;
	hipDriverProcAddressQueryResult found;
	void *f = NULL, *own = NULL;
	uint16_t *d16, back[4][8];
	uint32_t *d32, words[3][4];
	CHECK(hipRuntimeGetVersion(&v));
	ASSERT(v / 10000000 == 7);
	CHECK(hipDriverGetVersion(&v));
	ASSERT(v / 10000000 == 7);
	EXPECT(hipRuntimeGetVersion(NULL), hipErrorInvalidValue);

	CHECK(hipModuleLoadFatBinary(&m, IMAGE(saxpy)));
	CHECK(hipModuleGetFunctionCount(&count, m));
	ASSERT(count > 0);
	EXPECT(hipModuleGetFunctionCount(NULL, m), hipErrorInvalidValue);
	EXPECT(hipModuleGetFunctionCount(&count, (hipModule_t)&v), hipErrorInvalidHandle);
	CHECK(hipModuleUnload(m));

	CHECK(hipStreamCreate(&a));
	CHECK(hipStreamCreate(&b));
	CHECK(hipStreamGetId(a, &first));
	CHECK(hipStreamGetId(b, &second));
	CHECK(hipStreamGetId(NULL, &null));
	ASSERT(first != second && null != first && null != second);
	EXPECT(hipStreamGetId(a, NULL), hipErrorInvalidValue);
	CHECK(hipStreamDestroy(b));
	EXPECT(hipStreamGetId(b, &second), hipErrorContextIsDestroyed);

	CHECK(hipMalloc((void **)&d16, sizeof back));
	CHECK(hipMemsetD2D8(d16, 16, 0xff, 16, 4));
	CHECK(hipMemsetD2D16(d16 + 1, 16, 0x1234, 3, 4));
	CHECK(hipMemcpy(back, d16, sizeof back, hipMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		ASSERT(back[i][0] == 0xffff && back[i][1] == 0x1234 && back[i][3] == 0x1234 && back[i][4] == 0xffff);
	EXPECT(hipMemsetD2D16(d16, 16, 0, 9, 4), hipErrorInvalidValue);
	EXPECT(hipMemsetD2D8(NULL, 16, 0, 1, 1), hipErrorInvalidValue);
	CHECK(hipMalloc((void **)&d32, sizeof words));
	CHECK(hipMemsetD2D8Async(d32, 16, 0, 16, 3, a));
	CHECK(hipMemsetD2D32Async(d32, 16, 0xdeadbeef, 2, 3, a));
	CHECK(hipMemsetD2D16Async(d32 + 2, 16, 7, 2, 3, a));
	CHECK(hipStreamSynchronize(a));
	CHECK(hipMemcpy(words, d32, sizeof words, hipMemcpyDeviceToHost));
	ASSERT(words[2][0] == 0xdeadbeef && words[2][1] == 0xdeadbeef && words[2][2] == 0x70007 && words[2][3] == 0);
	CHECK(hipMemsetD2D32(d32, 16, 1, 4, 1));
	CHECK(hipMemcpy(words, d32, sizeof words, hipMemcpyDeviceToHost));
	ASSERT(words[0][3] == 1 && words[1][0] == 0xdeadbeef);
	CHECK(hipStreamDestroy(a));
	CHECK(hipFree(d16));
	CHECK(hipFree(d32));

	hipMemLocation device = {hipMemLocationTypeDevice, 0}, host = {(hipMemLocationType)2, 0}, none = {(hipMemLocationType)77, 0};
	char *p;
	int32_t where = 99;
	CHECK(hipMallocManaged((void **)&p, 4096, hipMemAttachGlobal));
	CHECK(hipMemAdvise_v2(p, 4096, hipMemAdviseSetPreferredLocation, host));
	CHECK(hipMemRangeGetAttribute(&where, 4, hipMemRangeAttributePreferredLocation, p, 4096));
	ASSERT(where == hipCpuDeviceId);
	CHECK(hipMemPrefetchAsync_v2(p, 4096, device, 0, 0));
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemRangeGetAttribute(&where, 4, hipMemRangeAttributeLastPrefetchLocation, p, 4096));
	ASSERT(where == 0);
	EXPECT(hipMemAdvise_v2(p, 4096, hipMemAdviseSetPreferredLocation, none), hipErrorInvalidValue);
	EXPECT(hipMemPrefetchAsync_v2(p, 4096, device, 1, 0), hipErrorInvalidValue);
	CHECK(hipFree(p));

	CHECK(hipGetDriverEntryPoint("hipMemcpy", &f, 0, &found));
	ASSERT(f && found == HIP_GET_PROC_ADDRESS_SUCCESS);
	CHECK(hipGetDriverEntryPoint_spt("hipMemcpy", &own, 0, &found));
	ASSERT(own && own != f);
	EXPECT(hipGetDriverEntryPoint("hipNoSuchFunction", &f, 0, &found), hipErrorInvalidValue);
	ASSERT(found == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	return result("next");
}
