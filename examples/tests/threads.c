/* 32 threads at once, each with its own state, stream and memory: what one does
 * must not show in another. */
#include "test.h"

#include <pthread.h>

EMBED(vector_add);

enum { THREADS = 32, ROUNDS = 20, N = 4096 };

static hipFunction_t add;
static pthread_barrier_t barrier;

static void *work(void *arg)
{
	int me = (int)(intptr_t)arg;
	float *host = malloc(N * 4);
	void *a, *b, *c;
	hipStream_t s;
	/* errors are the thread's own */
	if (me % 2)
		EXPECT(hipSetDevice(-1 - me), hipErrorInvalidDevice);
	pthread_barrier_wait(&barrier);
	ASSERT(hipGetLastError() == (me % 2 ? hipErrorInvalidDevice : hipSuccess));

	CHECK(hipStreamCreate(&s));
	for (int round = 0; round < ROUNDS; round++) {
		hipStream_t on = round % 3 == 0 ? s : round % 3 == 1 ? hipStreamPerThread : NULL;
		int n = N, wrong = 0;
		CHECK(hipMalloc(&a, N * 4));
		CHECK(hipMalloc(&b, N * 4));
		CHECK(hipMalloc(&c, N * 4));
		for (int i = 0; i < N; i++)
			host[i] = (float)(me * 1000 + i);
		CHECK(hipMemcpyAsync(a, host, N * 4, hipMemcpyHostToDevice, on));
		CHECK(hipMemsetAsync(b, 0, N * 4, on));
		void *params[] = {&a, &b, &c, &n};
		CHECK(hipModuleLaunchKernel(add, N / 64, 1, 1, 64, 1, 1, 0, on, params, NULL));
		memset(host, 0xff, 64); /* pageable: the copy has taken it already */
		CHECK(hipMemcpyAsync(host, c, N * 4, hipMemcpyDeviceToHost, on));
		CHECK(hipStreamSynchronize(on));
		for (int i = 0; i < N; i++)
			wrong += host[i] != (float)(me * 1000 + i);
		if (wrong)
			FAIL("thread %d, round %d: %d wrong elements", me, round, wrong);
		/* launch configurations are the thread's own, and nest */
		dim3 grid = {(uint32_t)me + 1, 2, 3}, block = {(uint32_t)round + 1, 1, 1}, g, k;
		size_t shared;
		hipStream_t t;
		CHECK(__hipPushCallConfiguration(grid, block, (size_t)me, s));
		CHECK(__hipPushCallConfiguration(block, grid, 1, NULL));
		CHECK(__hipPopCallConfiguration(&g, &k, &shared, &t));
		ASSERT(g.x == block.x && k.x == grid.x && shared == 1 && t == NULL);
		CHECK(__hipPopCallConfiguration(&g, &k, &shared, &t));
		ASSERT(g.x == grid.x && k.x == block.x && shared == (size_t)me && t == s);
		CHECK(hipFree(a));
		CHECK(hipFree(b));
		CHECK(hipFree(c));
	}
	CHECK(__hipPushCallConfiguration((dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, NULL)); /* left behind: freed with the thread */
	CHECK(hipStreamDestroy(s));
	free(host);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	size_t before, after, all;
	add = kernel(IMAGE(vector_add), "vector_add");
	pthread_barrier_init(&barrier, NULL, THREADS);
	CHECK(hipMemGetInfo(&before, &all));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemGetInfo(&after, &all));
	/* nothing leaked but what is kept for the next allocation */
	if (before > after + ((size_t)64 << 20))
		FAIL("%zu bytes of %zu are free, %zu were", after, all, before);
	dim3 d;
	size_t n;
	hipStream_t s;
	EXPECT(__hipPopCallConfiguration(&d, &d, &n, &s), hipErrorMissingConfiguration);
	return result("threads");
}
