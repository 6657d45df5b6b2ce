/* What hipGetLastError, hipPeekAtLastError and hipExtGetLastError say after what. */
#include "groups.h"
#include <pthread.h>

static void three(const char *after)
{
	IS(hipExtGetLastError(), "%s, ext", after);
	IS(hipPeekAtLastError(), "%s, peek", after);
	IS(hipPeekAtLastError(), "%s, peek again", after);
	IS(hipGetLastError(), "%s, get", after);
	IS(hipGetLastError(), "%s, get again", after);
	IS(hipExtGetLastError(), "%s, ext after get", after);
}

static void *other(void *unused)
{
	(void)unused;
	three("another thread's");
	return 0;
}

void last_error(void)
{
	void *p = 0;
	int n = 0;
	hipStream_t s;
	hipEvent_t e;
	IS(hipPeekAtLastError(), "before any call, peek");
	IS(hipGetLastError(), "before any call, get");
	IS(hipExtGetLastError(), "before any call, ext");
	IS(hipMalloc(0, 16), "hipMalloc of null");
	three("hipMalloc of null");
	IS(hipMalloc(0, 16), "hipMalloc of null again");
	IS(hipGetDeviceCount(&n), "hipGetDeviceCount after an error");
	three("an error and a success");
	IS(hipMalloc(0, 16), "first of two errors");
	IS(hipSetDevice(77), "second of two errors");
	three("two errors");
	IS(hipMalloc(&p, 64), "hipMalloc");
	three("a success");
	MUST(hipStreamCreate(&s));
	MUST(hipEventCreate(&e));
	struct gate g;
	hold(s, &g);
	IS(hipStreamQuery(s), "query of a busy stream");
	three("not ready of a stream");
	IS(hipEventRecord(e, s), "record");
	IS(hipEventQuery(e), "query of a busy event");
	three("not ready of an event");
	g.open = 1;
	IS(hipStreamSynchronize(s), "synchronize");
	IS(hipEventQuery(e), "query of an idle event");
	three("ready");
	IS(hipMalloc(0, 16), "an error before another thread");
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	pthread_join(t, 0);
	three("a thread that ended");
	IS(hipDeviceGetAttribute(&n, (hipDeviceAttribute_t)99999, 0), "attribute of no name");
	three("attribute of no name");
	IS(hipModuleLoadData(0, 0), "hipModuleLoadData of null");
	three("hipModuleLoadData of null");
	IS(hipCtxSynchronize(), "hipCtxSynchronize");
	three("hipCtxSynchronize");
	IS(hipMemcpy(p, p, 1, (hipMemcpyKind)9), "copy of no kind");
	three("copy of no kind");
	IS(hipFree((void *)8), "free of nothing's");
	three("free of nothing's");
	IS(hipFree(0), "free of null");
	three("free of null");
	IS(hipMalloc(&p, 1ull << 50), "more than there is");
	three("more than there is");
	IS(hipPointerGetAttributes(&(hipPointerAttribute_t){0}, (void *)&n), "attributes of the stack");
	three("attributes of the stack");
	IS(hipStreamBeginCapture(0, hipStreamCaptureModeGlobal), "capture of the null stream");
	three("capture of the null stream");
	IS(hipGraphInstantiate(0, 0, 0, 0, 0), "instantiate null");
	three("instantiate null");
	IS(hipFuncSetAttribute(0, hipFuncAttributeMax, 0), "attribute of no function");
	three("attribute of no function");
	IS(hipLaunchKernel((void *)&n, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, 0, 0), "launch of no kernel");
	three("launch of no kernel");
	IS(hipDeviceSynchronize(), "hipDeviceSynchronize");
	three("hipDeviceSynchronize");
	IS(hipPeekAtLastError(), "at the end");
	for (int c = 0; c <= 1100; c++) {
		const char *name = hipGetErrorName((hipError_t)c);
		if (strcmp(name, "hipErrorUnknown") || c == hipErrorUnknown)
			if (begin("words of %d", c))
				answer("%s: %s", name, hipGetErrorString((hipError_t)c));
	}
	for (int c = -1; c <= 5000; c += 5001)
		if (begin("words of %d", c))
			answer("%s: %s", hipGetErrorName((hipError_t)c), hipGetErrorString((hipError_t)c));
	for (int c = 0; c <= 1100; c++) {
		const char *a = "none", *b = "none";
		hipError_t ca = hipDrvGetErrorName((hipError_t)c, &a), cb = hipDrvGetErrorString((hipError_t)c, &b);
		if (ca == hipSuccess && begin("driver's words of %d", c))
			answer("%s: %s, %s", a, hipGetErrorName(cb), b);
	}
}
