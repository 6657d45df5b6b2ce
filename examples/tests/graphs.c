/* Stream capture and graphs: a chain launched again and again, branches that
 * fork and join, what a capture forbids, threads, memory. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

EMBED(vector_add);
EMBED(spin);

enum { N = 1 << 14, ROUNDS = 5 };

static hipFunction_t add, spin;

static void launch_add(void *a, void *b, void *c, hipStream_t s)
{
	int n = N;
	void *params[] = {&a, &b, &c, &n};
	CHECK(hipModuleLaunchKernel(add, N / 256, 1, 1, 256, 1, 1, 0, s, params, NULL));
	n = 0; /* a capture has its own copy */
}

/* busy keeps a stream at work for a while. */
static void busy(void *d, uint64_t rounds, hipStream_t s)
{
	uint32_t n = 64;
	void *params[] = {&d, &rounds, &n};
	CHECK(hipModuleLaunchKernel(spin, 1, 1, 1, 64, 1, 1, 0, s, params, NULL));
}

static void *vector(float value)
{
	float host[N];
	void *d;
	for (int i = 0; i < N; i++)
		host[i] = value + (float)(i % 8);
	CHECK(hipMalloc(&d, sizeof host));
	CHECK(hipMemcpy(d, host, sizeof host, hipMemcpyHostToDevice));
	return d;
}

/* all checks that every element is times the one that vector(0) has, plus plus. */
static int all(const float *v, float times, float plus)
{
	for (int i = 0; i < N; i++)
		if (v[i] != times * (float)(i % 8) + plus) {
			fprintf(stderr, "element %d is %g, not %g\n", i, v[i], times * (float)(i % 8) + plus);
			return 0;
		}
	return 1;
}

static int same(const void *d, float times, float plus)
{
	float host[N];
	CHECK(hipMemcpy(host, d, sizeof host, hipMemcpyDeviceToHost));
	return all(host, times, plus);
}

static hipGraphExec_t finish(hipStream_t s)
{
	hipGraph_t g;
	hipGraphExec_t e;
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphDestroy(g));
	return e;
}

static atomic_int called;

static void host_function(void *data)
{
	(void)data;
	atomic_fetch_add(&called, 1);
}

static void chain(hipStream_t s)
{
	static float host[N];
	void *a = vector(0), *sum = vector(0), *copy = vector(1000);
	hipStreamCaptureStatus status;
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipStreamIsCapturing(s, &status));
	ASSERT(status == hipStreamCaptureStatusActive);
	launch_add(sum, a, sum, s); /* sum += a */
	CHECK(hipMemcpyAsync(copy, sum, N * 4, hipMemcpyDeviceToDevice, s));
	CHECK(hipLaunchHostFunc(s, host_function, NULL));
	CHECK(hipMemcpyAsync(host, copy, N * 4, hipMemcpyDeviceToHost, s));
	CHECK(hipMemsetAsync(copy, 0, N * 4, s));
	hipGraphExec_t e = finish(s);
	CHECK(hipStreamSynchronize(s));
	ASSERT(atomic_load(&called) == 0 && host[1] == 0); /* nothing has run */
	ASSERT(same(sum, 1, 0) && same(copy, 1, 1000));

	for (int i = 1; i <= ROUNDS; i++) {
		CHECK(hipGraphLaunch(e, s));
		CHECK(hipStreamSynchronize(s));
		ASSERT(all(host, 1 + (float)i, 0));
	}
	for (int i = 0; i < ROUNDS; i++)
		CHECK(hipGraphLaunch(e, i % 2 ? NULL : hipStreamPerThread)); /* one after the other all the same */
	CHECK(hipDeviceSynchronize());
	ASSERT(all(host, 1 + 2 * ROUNDS, 0) && same(copy, 0, 0));
	ASSERT(atomic_load(&called) == 2 * ROUNDS);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipFree(a));
	CHECK(hipFree(sum));
	CHECK(hipFree(copy));
}

static void branches(hipStream_t s, hipStream_t t)
{
	void *a = vector(0), *b = vector(0), *c = vector(0), *d = vector(0), *late;
	hipEvent_t fork, join, never;
	size_t n = 0;
	hipGraph_t g, twin;
	hipGraphExec_t e;
	CHECK(hipMalloc(&late, 256));
	CHECK(hipEventCreate(&never));
	CHECK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
	CHECK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal));
	busy(late, 200000, s);
	launch_add(a, a, b, s); /* b = 2 a, late */
	CHECK(hipEventRecord(fork, s));
	CHECK(hipStreamWaitEvent(t, fork, 0));
	launch_add(b, a, c, s); /* c = 3 a */
	busy(late, 200000, t);
	launch_add(b, b, d, t); /* d = 4 a, later still */
	CHECK(hipEventRecord(join, t));
	CHECK(hipStreamWaitEvent(s, join, 0));
	launch_add(c, d, d, s); /* d = 7 a */
	launch_add(d, a, a, s); /* a *= 8 */
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphGetNodes(g, NULL, &n));
	ASSERT(n == 7);
	CHECK(hipGraphGetRootNodes(g, NULL, &n));
	ASSERT(n == 1);
	CHECK(hipGraphClone(&twin, g));
	CHECK(hipGraphDestroy(g));
	CHECK(hipGraphInstantiateWithFlags(&e, twin, 0));
	CHECK(hipGraphDestroy(twin));
	float times = 1;
	for (int i = 0; i < ROUNDS; i++, times *= 8)
		CHECK(hipGraphLaunch(e, i % 2 ? t : s));
	CHECK(hipStreamSynchronize(s));
	CHECK(hipStreamSynchronize(t));
	ASSERT(same(a, times, 0) && same(d, times / 8 * 7, 0) && same(c, times / 8 * 3, 0));
	CHECK(hipGraphExecDestroy(e));

	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipStreamWaitEvent(s, never, 0));
	CHECK(hipMemsetAsync(a, 0, 4, NULL)); /* the null stream goes on */
	CHECK(hipEventRecord(never, NULL));
	CHECK(hipStreamSynchronize(NULL));
	CHECK(hipEventQuery(never));
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphGetNodes(g, NULL, &n));
	ASSERT(n == 0);
	CHECK(hipGraphDestroy(g));
	CHECK(hipEventRecord(never, s));
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	EXPECT(hipStreamWaitEvent(s, never, 0), hipErrorStreamCaptureIsolation); /* the stream's own from before */
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphDestroy(g));
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipEventRecord(fork, s));
	CHECK(hipStreamWaitEvent(t, fork, 0));
	CHECK(hipMemsetAsync(a, 0, 4, t));
	EXPECT(hipStreamEndCapture(t, &g), hipErrorStreamCaptureUnmatched);
	EXPECT(hipStreamEndCapture(s, &g), hipErrorStreamCaptureUnjoined);
	CHECK(hipMemsetAsync(a, 0, N * 4, t)); /* no longer captured */
	CHECK(hipStreamSynchronize(t));
	ASSERT(same(a, 0, 0));
	CHECK(hipEventDestroy(fork));
	CHECK(hipEventDestroy(join));
	CHECK(hipEventDestroy(never));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	CHECK(hipFree(c));
	CHECK(hipFree(d));
	CHECK(hipFree(late));
}

static void forbidden(hipStream_t s)
{
	void *d, *p;
	hipGraph_t g;
	hipGraphExec_t e;
	hipEvent_t event;
	hipStreamCaptureStatus status;
	CHECK(hipMalloc(&d, 256));
	CHECK(hipEventCreate(&event));
#define BROKEN_BY(call, want) \
	do { \
		CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal)); \
		CHECK(hipMemsetAsync(d, 0, 256, s)); \
		CHECK(hipEventRecord(event, s)); \
		EXPECT(call, want); \
		CHECK(hipStreamIsCapturing(s, &status)); \
		ASSERT(status == hipStreamCaptureStatusInvalidated); \
		EXPECT(hipMemsetAsync(d, 0, 256, s), hipErrorStreamCaptureInvalidated); \
		EXPECT(hipStreamEndCapture(s, &g), hipErrorStreamCaptureInvalidated); \
		ASSERT(g == NULL); \
	} while (0)
	BROKEN_BY(hipMalloc(&p, 256), hipErrorStreamCaptureUnsupported);
	BROKEN_BY(hipFree(d), hipErrorStreamCaptureUnsupported);
	BROKEN_BY(hipMemset(d, 0, 256), hipErrorStreamCaptureImplicit);
	BROKEN_BY(hipStreamSynchronize(s), hipErrorStreamCaptureUnsupported);
	BROKEN_BY(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
	BROKEN_BY(hipEventQuery(event), hipErrorCapturedEvent);

	EXPECT(hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
	EXPECT(hipStreamBeginCapture(s, (hipStreamCaptureMode)7), hipErrorInvalidValue);
	EXPECT(hipStreamEndCapture(s, &g), hipErrorIllegalState);
	EXPECT(hipGraphLaunch(NULL, s), hipErrorInvalidValue);
	EXPECT(hipGraphLaunch((hipGraphExec_t)(uintptr_t)0x12340, s), hipErrorInvalidValue);
	EXPECT(hipGraphInstantiate(&e, (hipGraph_t)(uintptr_t)0x12340, NULL, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipGraphExecDestroy(NULL), hipErrorInvalidValue);
	EXPECT(hipGraphDestroy(NULL), hipErrorInvalidValue);

	/* relaxed: the program knows what it does */
	hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
	CHECK(hipThreadExchangeStreamCaptureMode(&mode));
	ASSERT(mode == hipStreamCaptureModeGlobal);
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
	CHECK(hipMalloc(&p, 256));
	CHECK(hipMemsetAsync(p, 0, 256, s));
	e = finish(s);
	CHECK(hipThreadExchangeStreamCaptureMode(&mode));
	ASSERT(mode == hipStreamCaptureModeRelaxed);
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipFree(p));
	CHECK(hipEventDestroy(event));
	CHECK(hipFree(d));
}

static void memory(hipStream_t s)
{
	void *a = vector(0), *sum = vector(0), *p;
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipMallocAsync(&p, N * 4, s));
	launch_add(a, a, p, s);
	launch_add(sum, p, sum, s); /* sum += 2 a */
	CHECK(hipFreeAsync(p, s));
	hipGraphExec_t e = finish(s);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(same(sum, 1 + 2 * ROUNDS, 0));
	EXPECT(hipFree(p), hipErrorInvalidValue); /* the graph's */
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipFree(a));
	CHECK(hipFree(sum));
}

/* Each thread captures on a stream of its own, at the same time as the others. */
static void *thread(void *unused)
{
	(void)unused;
	hipStream_t s;
	hipGraph_t g;
	CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	void *a, *sum;
	CHECK(hipMalloc(&a, N * 4));
	CHECK(hipMalloc(&sum, N * 4));
	CHECK(hipMemsetD32Async((hipDeviceptr_t)a, 0x3f800000, N, s)); /* 1.0f */
	CHECK(hipMemsetAsync(sum, 0, N * 4, s));
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal));
	for (int i = 0; i < 10; i++)
		launch_add(sum, a, sum, s);
	hipGraphExec_t e = finish(s);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(hipGraphLaunch(e, s));
	float last = 0;
	CHECK(hipMemcpyAsync(&last, (char *)sum + N * 4 - 4, 4, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(last == 10 * ROUNDS);
	EXPECT(hipStreamEndCapture(s, &g), hipErrorIllegalState);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipStreamDestroy(s));
	return NULL;
}

/* A function fills pinned memory, a copy takes it to the device: what rocRAND captures. */
static int filled;

static void fill(void *data)
{
	float *host = data;
	filled++;
	for (int i = 0; i < N; i++)
		host[i] = (float)(i % 8 + filled);
}

static void from_pinned(hipStream_t s)
{
	void *host, *table = vector(0);
	CHECK(hipHostMalloc(&host, N * 4, 0));
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	CHECK(hipLaunchHostFunc(s, fill, host));
	CHECK(hipMemcpyAsync(table, host, N * 4, hipMemcpyHostToDevice, s));
	CHECK(hipMemcpy2DAsync(table, 64, host, 64, 32, N / 16, hipMemcpyHostToDevice, s));
	hipGraphExec_t e = finish(s);
	for (int i = 1; i <= ROUNDS; i++) {
		CHECK(hipGraphLaunch(e, s));
		CHECK(hipStreamSynchronize(s));
		ASSERT(filled == i && same(table, 1, (float)i));
	}
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipHostFree(host));
	CHECK(hipFree(table));
}

int main(void)
{
	hipStream_t s, t;
	pthread_t threads[4];
	add = kernel(IMAGE(vector_add), "vector_add");
	spin = kernel(IMAGE(spin), "spin");
	CHECK(hipStreamCreate(&s));
	CHECK(hipStreamCreateWithFlags(&t, hipStreamNonBlocking));
	chain(s);
	from_pinned(s);
	branches(s, t);
	forbidden(s);
	memory(s);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(hipStreamDestroy(s));
	CHECK(hipStreamDestroy(t));
	CHECK(hipDeviceSynchronize());
	return result("graphs");
}
