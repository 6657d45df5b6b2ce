/* What a pointer points to, attribute by attribute. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

static uint64_t get(hipPointer_attribute a, void *p)
{
	uint64_t v = 0;
	CHECK(hipPointerGetAttribute(&v, a, p));
	return v;
}

static void device_memory(void)
{
	char *p, *q;
	unsigned int one = 1, two = 2;
	CHECK(hipMalloc((void **)&p, 1000));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 10) == hipMemoryTypeDevice);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 10) == (uintptr_t)p + 10);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 10) == (uintptr_t)p);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_RANGE_SIZE, p + 10) == 1000);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p) == 0);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_IS_MANAGED, p) == 0);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_MAPPED, p) == 1);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, p) == 0);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == 0);
	CHECK(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + 10) == 1);
	EXPECT(hipPointerSetAttribute(&two, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), hipErrorInvalidValue);
	EXPECT(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_MAPPED, p), hipErrorInvalidValue);
	EXPECT(hipPointerSetAttribute(NULL, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), hipErrorInvalidValue);
	EXPECT(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, NULL), hipErrorInvalidValue);
	EXPECT(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, &one), hipErrorInvalidDevicePointer);
	uint64_t host = 1, first = get(HIP_POINTER_ATTRIBUTE_BUFFER_ID, p);
	EXPECT(hipPointerGetAttribute(&host, HIP_POINTER_ATTRIBUTE_HOST_POINTER, p), hipErrorInvalidValue);
	ASSERT(host == 0);
	ASSERT(first != 0 && get(HIP_POINTER_ATTRIBUTE_BUFFER_ID, p + 999) == first);
	CHECK(hipMalloc((void **)&q, 1000));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_BUFFER_ID, q) != first);
	CHECK(hipFree(q));
	CHECK(hipFree(p));
	EXPECT(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), hipErrorInvalidDevicePointer);
	CHECK(hipMalloc((void **)&p, 1000));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_BUFFER_ID, p) != first);
	CHECK(hipFree(p));
	CHECK(hipExtMallocWithFlags((void **)&p, 64, hipDeviceMallocFinegrained));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, p) == hipDeviceMallocFinegrained);
	CHECK(hipFree(p));
}

/* host is memory of the host's that the device was told of. */
static void host_memory(char *p, size_t n, int managed, unsigned int flags)
{
	unsigned int one = 1;
	ASSERT(get(HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 10) == hipMemoryTypeHost);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_HOST_POINTER, p + 10) == (uintptr_t)p + 10);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 10) == (uintptr_t)p);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_RANGE_SIZE, p + 10) == n);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_IS_MANAGED, p) == (uint64_t)managed);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_MAPPED, p) == 1);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p) == 0);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, p) == flags);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_BUFFER_ID, p) != 0);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == 0);
	CHECK(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, p) == 1);
}

static void registered(void)
{
	char *p = calloc(1, 4096);
	void *d = NULL;
	CHECK(hipHostRegister(p, 4096, 0));
	host_memory(p, 4096, 0, 0);
	CHECK(hipHostGetDevicePointer(&d, p, 0));
	ASSERT(get(HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 10) == (uintptr_t)d + 10);
	ASSERT(get(HIP_POINTER_ATTRIBUTE_HOST_POINTER, (char *)d + 10) == (uintptr_t)p + 10);
	CHECK(hipHostUnregister(p));
	free(p);
}

/* Memory that HIP knows nothing of has no attributes; whoever asks for several
 * gets what stands for none. */
static void unknown(void)
{
	char stack[64];
	hipPointer_attribute a[5] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
		HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, HIP_POINTER_ATTRIBUTE_IS_MANAGED};
	unsigned int type = 77, size = 77;
	int device = 77;
	void *p = stack;
	unsigned char managed = 77;
	void *data[5] = {&type, &device, &size, &p, &managed};
	uint64_t v = 0;
	for (int i = 0; i < 5; i++)
		EXPECT(hipPointerGetAttribute(data[i], a[i], stack), hipErrorInvalidValue);
	ASSERT(type == 0 && device == hipInvalidDeviceId && size == 0 && p == NULL && managed == 0);
	type = device = size = 77;
	CHECK(hipDrvPointerGetAttributes(5, a, data, stack));
	ASSERT(type == 0 && device == hipInvalidDeviceId && size == 0);
	EXPECT(hipDrvPointerGetAttributes(0, a, data, stack), hipErrorInvalidValue);
	EXPECT(hipDrvPointerGetAttributes(5, NULL, data, stack), hipErrorInvalidValue);
	EXPECT(hipDrvPointerGetAttributes(5, a, NULL, stack), hipErrorInvalidValue);
	EXPECT(hipDrvPointerGetAttributes(5, a, data, NULL), hipErrorInvalidValue);
	CHECK(hipMalloc(&p, 512));
	void *mine = p;
	CHECK(hipDrvPointerGetAttributes(3, a, data, mine));
	ASSERT(type == hipMemoryTypeDevice && device == 0 && size == 512);
	EXPECT(hipPointerGetAttribute(NULL, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, mine), hipErrorInvalidValue);
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, NULL), hipErrorInvalidValue);
	EXPECT(hipPointerGetAttribute(&v, (hipPointer_attribute)-1, mine), hipErrorInvalidValue);
	hipCtx_t context = NULL, current = NULL;
	CHECK(hipPointerGetAttribute(&context, HIP_POINTER_ATTRIBUTE_CONTEXT, mine));
	CHECK(hipCtxGetCurrent(&current));
	ASSERT(context == current && context);
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_P2P_TOKENS, mine), hipErrorNotSupported);
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, mine), hipErrorNotSupported);
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE, mine), hipErrorNotSupported);
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, mine), hipErrorNotSupported);
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, mine), hipErrorNotSupported);
	CHECK(hipFree(mine));
	EXPECT(hipPointerGetAttribute(&v, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, mine), hipErrorInvalidValue);
}

static void *let_go(void *flag)
{
	usleep(20000);
	*(volatile uint32_t *)flag = 1;
	return NULL;
}

/* Nobody waits for a copy within a device, unless its memory says so. */
static void waiting(void)
{
	unsigned int one = 1;
	uint32_t *flag;
	char *a, *b;
	hipStream_t s;
	pthread_t thread;
	CHECK(hipHostMalloc((void **)&flag, 4096, 0));
	CHECK(hipMalloc((void **)&a, 4096));
	CHECK(hipMalloc((void **)&b, 4096));
	CHECK(hipStreamCreate(&s)); /* the null stream comes after it */
	for (int synced = 0; synced < 2; synced++) {
		if (synced) {
			CHECK(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
			CHECK(hipPointerSetAttribute(&one, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, b));
		}
		*(volatile uint32_t *)flag = 0;
		CHECK(hipStreamWaitValue32(s, flag, 1, hipStreamWaitValueEq, 0xffffffff));
		if (synced)
			ASSERT(pthread_create(&thread, NULL, let_go, flag) == 0);
		CHECK(hipMemcpy(a, b, 4096, hipMemcpyDeviceToDevice));
		EXPECT(hipStreamQuery(s), synced ? hipSuccess : hipErrorNotReady);
		if (synced)
			pthread_join(thread, NULL);
		*(volatile uint32_t *)flag = 1;
		CHECK(hipDeviceSynchronize());
	}
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	CHECK(hipHostFree(flag));
}

int main(void)
{
	char *p;
	device_memory();
	CHECK(hipHostMalloc((void **)&p, 1000, hipHostMallocPortable));
	host_memory(p, 1000, 0, hipHostMallocPortable);
	CHECK(hipHostFree(p));
	CHECK(hipMallocManaged((void **)&p, 1000, hipMemAttachGlobal));
	host_memory(p, 1000, 1, 0);
	CHECK(hipFree(p));
	registered();
	unknown();
	waiting();
	return result("pointers");
}
