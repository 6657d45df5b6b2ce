/* What is said of pointers of every kind: hipPointerGetAttributes, each attribute of the driver's function, and ranges. */
#include "groups.h"

static const char *where(const void *p, const void *base, const void *device)
{
	if (p == 0)
		return "null";
	if (p == base)
		return "itself";
	return p == device ? "the device's" : "elsewhere";
}

static void of(const char *what, void *p, void *begins)
{
	hipPointerAttribute_t a;
	memset(&a, 0x55, sizeof a);
	if (begin("%s, attributes", what)) {
		hipError_t e = hipPointerGetAttributes(&a, p);
		if (e == hipSuccess)
			answer("%s: type %d, device %d, host pointer %s, device pointer %s, managed %d, flags %u", hipGetErrorName(e), a.type, a.device, where(a.hostPointer, p, begins),
				where(a.devicePointer, p, begins), a.isManaged, a.allocationFlags);
		else
			answer("%s", hipGetErrorName(e));
	}
	for (int at = -1; at < 19; at++) {
		uint64_t v[4] = {0x5555555555555555, 0, 0, 0};
		if (!begin("%s, attribute %d", what, at))
			continue;
		hipError_t e = hipPointerGetAttribute(v, (hipPointer_attribute)at, p);
		if (v[0] == (uintptr_t)p && p)
			answer("%s, itself", hipGetErrorName(e));
		else if (v[0] == (uintptr_t)begins && begins)
			answer("%s, its beginning", hipGetErrorName(e));
		else if (at == HIP_POINTER_ATTRIBUTE_CONTEXT || at == HIP_POINTER_ATTRIBUTE_BUFFER_ID || at == HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE || at == HIP_POINTER_ATTRIBUTE_P2P_TOKENS)
			answer("%s, %s", hipGetErrorName(e), v[0] == 0 ? "0" : (uint32_t)v[0] == 0x55555555 ? "untouched" : "something");
		else
			answer("%s, %llx", hipGetErrorName(e), (unsigned long long)v[0]);
	}
	hipPointer_attribute list[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	unsigned type = 99;
	int device = 99;
	void *data[] = {&type, &device};
	if (begin("%s, two attributes", what)) {
		hipError_t e = hipDrvPointerGetAttributes(2, list, data, p);
		answer("%s, %u, %d", hipGetErrorName(e), type, device);
	}
	hipDeviceptr_t base = 0;
	size_t n = 99;
	if (begin("%s, range", what)) {
		hipError_t e = hipMemGetAddressRange(&base, &n, p);
		answer("%s, %s, %zu", hipGetErrorName(e), e ? "-" : where(base, p, begins), n);
	}
	unsigned flags = 99;
	if (begin("%s, host flags", what)) {
		hipError_t e = hipHostGetFlags(&flags, p);
		answer("%s, %u", hipGetErrorName(e), flags);
	}
	int one = 1;
	for (int at = 0; at < 19; at++)
		IS(hipPointerSetAttribute(&one, (hipPointer_attribute)at, p), "%s, set attribute %d", what, at);
	for (int at = 0; at < 6; at++) {
		uint32_t v[2] = {0x55555555, 0x55555555};
		if (begin("%s, range attribute %d", what, at)) {
			hipError_t e = hipMemRangeGetAttribute(v, 4, (hipMemRangeAttribute)at, p, 64);
			answer("%s, %x", hipGetErrorName(e), v[0]);
		}
	}
	for (int ad = 0; ad < 8; ad++)
		IS(hipMemAdvise(p, 64, (hipMemoryAdvise)ad, 0), "%s, advice %d", what, ad);
	IS(hipMemPrefetchAsync(p, 64, 0, 0), "%s, prefetch", what);
	IS(hipMemPrefetchAsync(p, 64, hipCpuDeviceId, 0), "%s, prefetch to the host", what);
}

void pointer(void)
{
	static char plain[4096], registered[8192];
	void *p, *q, *managed, *freed, *pooled, *fine;
	MUST(hipMalloc(&p, 4096));
	MUST(hipHostMalloc(&q, 4096, 0));
	MUST(hipMallocManaged(&managed, 4096, hipMemAttachGlobal));
	MUST(hipHostRegister(registered, 8192, 0));
	MUST(hipMalloc(&freed, 4096));
	MUST(hipFree(freed));
	MUST(hipMallocAsync(&pooled, 4096, 0));
	MUST(hipStreamSynchronize(0));
	MUST(hipExtMallocWithFlags(&fine, 4096, hipDeviceMallocFinegrained));
	of("null", 0, 0);
	of("device", p, p);
	of("device's inside", (char *)p + 100, p);
	of("pinned", q, q);
	of("pinned inside", (char *)q + 100, q);
	of("managed", managed, managed);
	of("managed inside", (char *)managed + 100, managed);
	of("registered", registered, registered);
	of("registered inside", registered + 100, registered);
	of("plain", plain, plain);
	of("freed", freed, freed);
	of("of a pool", pooled, pooled);
	of("fine-grained", fine, fine);
}
