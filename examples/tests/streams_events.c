/* Streams and events: order within a stream, waiting across streams, the null
 * stream's rules, timing, callbacks, the per-thread stream. */
#include "test.h"

#include <stdatomic.h>

EMBED(vector_add);
EMBED(spin);

enum { N = 1 << 16 };

static hipFunction_t add, spin;

static void launch_add(void *a, void *b, void *c, hipStream_t s)
{
	int n = N;
	void *params[] = {&a, &b, &c, &n};
	CHECK(hipModuleLaunchKernel(add, N / 256, 1, 1, 256, 1, 1, 0, s, params, NULL));
}

/* busy keeps a stream at work for a while. */
static void busy(void *d, uint64_t rounds, hipStream_t s)
{
	uint32_t n = 64;
	void *params[] = {&d, &rounds, &n};
	CHECK(hipModuleLaunchKernel(spin, 1, 1, 1, 64, 1, 1, 0, s, params, NULL));
}

static void order(void)
{
	float *host = malloc(N * 4);
	void *a, *b;
	hipStream_t s;
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	CHECK(hipMalloc(&a, N * 4));
	CHECK(hipMalloc(&b, N * 4));
	for (int i = 0; i < N; i++)
		host[i] = (float)(i % 100);
	CHECK(hipMemcpyAsync(a, host, N * 4, hipMemcpyHostToDevice, s));
	CHECK(hipMemcpyAsync(b, a, N * 4, hipMemcpyDeviceToDevice, s));
	for (int i = 0; i < 10; i++)
		launch_add(a, b, b, s); /* b += a */
	CHECK(hipMemsetAsync(a, 0, N * 4, s));
	CHECK(hipMemcpyAsync(host, b, N * 4, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamSynchronize(s));
	int wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += host[i] != 11 * (float)(i % 100);
	ASSERT(wrong == 0);
	ASSERT(hipStreamQuery(s) == hipSuccess);
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	free(host);
}

static void events(void)
{
	hipStream_t s, t;
	hipEvent_t start, stop, quiet;
	void *d;
	float ms = -1;
	CHECK(hipStreamCreate(&s));
	CHECK(hipStreamCreateWithPriority(&t, hipStreamNonBlocking, 0));
	CHECK(hipEventCreate(&start));
	CHECK(hipEventCreate(&stop));
	CHECK(hipEventCreateWithFlags(&quiet, hipEventDisableTiming));
	CHECK(hipMalloc(&d, 256));
	EXPECT(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle); /* not recorded */
	ASSERT(hipGetLastError() == hipErrorInvalidHandle);
	CHECK(hipEventRecord(start, s));
	busy(d, 100000, s);
	CHECK(hipEventRecord(stop, s));
	int version = 0;
	CHECK(hipRuntimeGetVersion(&version));
	hipError_t e = hipEventQuery(stop);
	ASSERT(e == hipSuccess || e == hipErrorNotReady);
	ASSERT(hipGetLastError() == (version < 70000000 ? e : hipSuccess)); /* since HIP 7, hipErrorNotReady is none */
	CHECK(hipStreamWaitEvent(t, stop, 0));
	CHECK(hipEventRecord(quiet, t));
	CHECK(hipEventSynchronize(quiet));
	EXPECT(hipEventQuery(stop), hipSuccess); /* t has waited for it */
	CHECK(hipEventElapsedTime(&ms, start, stop));
	ASSERT(ms > 0);
	EXPECT(hipEventElapsedTime(&ms, start, quiet), hipErrorInvalidHandle);
	EXPECT(hipEventElapsedTime(NULL, start, stop), hipErrorInvalidValue);

	/* events that a launch records itself */
	uint64_t rounds = 50000;
	uint32_t n = 64;
	void *params[] = {&d, &rounds, &n};
	CHECK(hipExtModuleLaunchKernel(spin, 64, 1, 1, 64, 1, 1, 0, s, params, NULL, start, stop, 0));
	CHECK(hipEventSynchronize(stop));
	CHECK(hipEventElapsedTime(&ms, start, stop));
	ASSERT(ms > 0);
	CHECK(hipEventDestroy(start));
	CHECK(hipEventDestroy(stop));
	CHECK(hipEventDestroy(quiet));
	CHECK(hipStreamDestroy(s));
	CHECK(hipStreamDestroy(t));
	CHECK(hipFree(d));
}

static void null_stream(void)
{
	hipStream_t blocking;
	hipEvent_t e;
	void *d;
	CHECK(hipStreamCreate(&blocking));
	CHECK(hipEventCreate(&e));
	CHECK(hipMalloc(&d, 256));
	busy(d, 300000, blocking);
	CHECK(hipEventRecord(e, blocking));
	CHECK(hipMemset(d, 0, 256));       /* the null stream's work comes after the blocking stream's */
	CHECK(hipStreamSynchronize(NULL));
	EXPECT(hipEventQuery(e), hipSuccess);
	busy(d, 300000, NULL);
	CHECK(hipEventRecord(e, NULL));
	busy(d, 1, blocking);
	CHECK(hipStreamSynchronize(blocking)); /* and the other way round */
	EXPECT(hipEventQuery(e), hipSuccess);
	busy(d, 1, hipStreamLegacy);
	CHECK(hipStreamSynchronize(hipStreamLegacy));
	CHECK(hipEventDestroy(e));
	CHECK(hipStreamDestroy(blocking));
	CHECK(hipFree(d));
}

static atomic_int called;
static uint32_t seen;

static void host_function(void *data)
{
	seen = *(uint32_t *)data;
	atomic_fetch_add(&called, 1);
}

static void stream_callback(hipStream_t s, hipError_t status, void *data)
{
	if (status == hipSuccess && s != NULL && data == (void *)3)
		atomic_fetch_add(&called, 10);
}

/* Functions on the host run in the stream's order: after the copy that fills
 * what they look at, before what follows. */
static void callbacks(void)
{
	hipStream_t s;
	void *d;
	static uint32_t host;
	uint32_t value = 4711;
	CHECK(hipStreamCreate(&s));
	CHECK(hipMalloc(&d, 256));
	CHECK(hipMemcpy(d, &value, 4, hipMemcpyHostToDevice));
	CHECK(hipMemcpyAsync(&host, d, 4, hipMemcpyDeviceToHost, s));
	CHECK(hipLaunchHostFunc(s, host_function, &host));
	CHECK(hipStreamAddCallback(s, stream_callback, (void *)3, 0));
	CHECK(hipStreamSynchronize(s));
	ASSERT(atomic_load(&called) == 11);
	ASSERT(seen == 4711);
	EXPECT(hipLaunchHostFunc(s, NULL, NULL), hipErrorInvalidValue);
	EXPECT(hipStreamAddCallback(s, NULL, NULL, 0), hipErrorInvalidValue);
	CHECK(hipStreamDestroy(s));
	CHECK(hipFree(d));
}

static void properties(void)
{
	hipStream_t s;
	unsigned int flags = 99;
	int least = 99, greatest = 99, priority = 99, device = 99;
	hipStreamCaptureStatus status;
	CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
	ASSERT(least >= greatest);
	CHECK(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, greatest));
	CHECK(hipStreamGetFlags(s, &flags));
	ASSERT(flags == hipStreamNonBlocking);
	CHECK(hipStreamGetPriority(s, &priority));
	ASSERT(priority == greatest);
	CHECK(hipStreamGetDevice(s, &device));
	ASSERT(device == 0 && hipGetStreamDeviceId(s) == 0);
	CHECK(hipStreamIsCapturing(s, &status));
	ASSERT(status == hipStreamCaptureStatusNone);
	CHECK(hipStreamDestroy(s));
	EXPECT(hipStreamCreate(NULL), hipErrorInvalidValue);
	EXPECT(hipEventCreate(NULL), hipErrorInvalidValue);
	EXPECT(hipStreamCreateWithFlags(&s, 77), hipErrorInvalidValue);
}

static void per_thread(void)
{
	void *d;
	uint32_t got[64];
	CHECK(hipMalloc(&d, 256));
	busy(d, 1000, hipStreamPerThread);
	CHECK(hipMemcpyAsync(got, d, 256, hipMemcpyDeviceToHost, hipStreamPerThread));
	CHECK(hipStreamSynchronize(hipStreamPerThread));
	uint32_t x = 12345;
	for (int i = 0; i < 1000; i++)
		x = x * 1664525u + 1013904223u;
	ASSERT(got[0] == x);
	CHECK(hipFree(d));
}

static void pool(void)
{
	hipStream_t s;
	void *a, *b;
	hipMemPool_t p;
	CHECK(hipStreamCreate(&s));
	CHECK(hipMallocAsync(&a, N * 4, s));
	CHECK(hipMallocAsync(&b, N * 4, s));
	CHECK(hipMemsetAsync(a, 0, N * 4, s));
	launch_add(a, a, b, s);
	uint32_t last = 1;
	CHECK(hipMemcpyAsync(&last, (char *)b + N * 4 - 4, 4, hipMemcpyDeviceToHost, s));
	CHECK(hipFreeAsync(a, s));
	CHECK(hipFreeAsync(b, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(last == 0);
	CHECK(hipDeviceGetDefaultMemPool(&p, 0));
	CHECK(hipMemPoolTrimTo(p, 0));
	CHECK(hipStreamDestroy(s));
}

int main(void)
{
	add = kernel(IMAGE(vector_add), "vector_add");
	spin = kernel(IMAGE(spin), "spin");
	order();
	events();
	null_stream();
	callbacks();
	properties();
	per_thread();
	pool();
	CHECK(hipDeviceSynchronize());
	return result("streams_events");
}
