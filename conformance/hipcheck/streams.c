/* Streams: what they say of themselves, who waits for whom, and the rules of the default streams. */
#include "groups.h"

static void says(const char *what, hipStream_t s)
{
	unsigned flags = 99;
	int priority = 99;
	hipDevice_t device = 99;
	hipStreamCaptureStatus status = (hipStreamCaptureStatus)99;
	unsigned long long id = 99;
	IS(hipStreamQuery(s), "%s, query", what);
	IS(hipStreamSynchronize(s), "%s, synchronize", what);
	if (begin("%s, flags", what)) {
		hipError_t e = hipStreamGetFlags(s, &flags);
		answer("%s %u", hipGetErrorName(e), flags);
	}
	if (begin("%s, priority", what)) {
		hipError_t e = hipStreamGetPriority(s, &priority);
		answer("%s %d", hipGetErrorName(e), priority);
	}
	if (begin("%s, device", what)) {
		hipError_t e = hipStreamGetDevice(s, &device);
		answer("%s %d", hipGetErrorName(e), device);
	}
	if (begin("%s, capturing", what)) {
		hipError_t e = hipStreamIsCapturing(s, &status);
		answer("%s %d", hipGetErrorName(e), status);
	}
	if (begin("%s, capture info", what)) {
		hipError_t e = hipStreamGetCaptureInfo(s, &status, &id);
		answer("%s %d", hipGetErrorName(e), status);
	}
	if (begin("%s, wait event of null", what))
		answered(hipStreamWaitEvent(s, 0, 0));
	uint32_t mask[8] = {0};
	if (begin("%s, CU mask", what)) {
		hipError_t e = hipExtStreamGetCUMask(s, 8, mask);
		answer("%s %08x %08x", hipGetErrorName(e), mask[0], mask[7]);
	}
}

void streams(void)
{
	hipStream_t s = 0;
	int least = 99, greatest = 99;
	says("null", 0);
	says("legacy", hipStreamLegacy);
	says("per thread", hipStreamPerThread);
	if (begin("range of priorities")) {
		hipError_t e = hipDeviceGetStreamPriorityRange(&least, &greatest);
		answer("%s %d %d", hipGetErrorName(e), least, greatest);
	}
	MUST(hipStreamCreate(&s));
	says("created", s);
	IS(hipStreamDestroy(s), "destroy");
	IS(hipStreamDestroy(s), "destroy again");
	IS(hipStreamDestroy(0), "destroy null");
	IS(hipStreamDestroy(hipStreamPerThread), "destroy per thread");
	IS(hipStreamDestroy(hipStreamLegacy), "destroy legacy");
	for (unsigned flags = 0; flags < 5; flags++) {
		char what[64];
		snprintf(what, sizeof what, "flags %u", flags);
		if (IS(hipStreamCreateWithFlags(&s, flags), "%s", what) == hipSuccess)
			says(what, s);
	}
	for (int p = -5; p <= 5; p++) {
		char what[64];
		snprintf(what, sizeof what, "priority %d", p);
		if (IS(hipStreamCreateWithPriority(&s, 0, p), "%s", what) == hipSuccess)
			says(what, s);
	}
	uint32_t mask[2] = {0xff, 0};
	if (IS(hipExtStreamCreateWithCUMask(&s, 1, mask), "with a CU mask") == hipSuccess)
		says("with a CU mask", s);
	IS(hipExtStreamCreateWithCUMask(&s, 0, mask), "with no CU mask");
	IS(hipExtStreamCreateWithCUMask(&s, 2, &mask[1]), "with a short CU mask");
	MUST(hipStreamCreate(&s));
	struct gate g;
	hold(s, &g);
	IS(hipStreamQuery(s), "busy");
	IS(hipStreamAddCallback(s, 0, 0, 0), "callback of null");
	IS(hipLaunchHostFunc(s, 0, 0), "host function of null");
	g.open = 1;
	IS(hipStreamSynchronize(s), "no longer busy, synchronize");
	IS(hipStreamQuery(s), "no longer busy");
	for (unsigned flags = 0; flags < 3; flags++)
		IS(hipStreamAttachMemAsync(s, 0, 0, flags), "attach null, flags %u", flags);
}

/* busy says whether a stream's work is held up while another stream's is, and lets it end. */
static void busy(const char *what, hipStream_t held, hipStream_t asked)
{
	struct gate g;
	void *p;
	MUST(hipMalloc(&p, 64));
	MUST(hipMemset(p, 0, 64));
	MUST(hipDeviceSynchronize());
	hold(held, &g);
	IS(hipMemsetAsync(p, 1, 64, asked), "%s, memset", what);
	hipError_t e = hipSuccess;
	if (begin("%s, is held up", what)) {
		for (int i = 0; i < 200 && (e = hipStreamQuery(asked)) == hipErrorNotReady; i++)
			nanosleep(&(struct timespec){0, 1000000}, 0);
		answered(e);
	}
	g.open = 1;
	IS(hipDeviceSynchronize(), "%s, synchronize", what);
	(void)hipFree(p);
}

void default_stream(void)
{
	hipStream_t a, b, free;
	MUST(hipStreamCreate(&a));
	MUST(hipStreamCreate(&b));
	MUST(hipStreamCreateWithFlags(&free, hipStreamNonBlocking));
	struct { const char *name; hipStream_t s; } all[] = {{"null", 0}, {"legacy", hipStreamLegacy}, {"per thread", hipStreamPerThread}, {"blocking", a},
		{"other blocking", b}, {"non-blocking", free}};
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++) {
			char what[64];
			snprintf(what, sizeof what, "%s behind %s", all[k].name, all[i].name);
			if (i != 4)
				busy(what, all[i].s, all[k].s);
		}
	/* what waits, of what does not look as if it did */
	struct gate g;
	hipEvent_t e;
	MUST(hipEventCreate(&e));
	hold(a, &g);
	IS(hipEventRecord(e, 0), "record on null behind blocking");
	IS(hipEventQuery(e), "event on null behind blocking");
	IS(hipEventRecord(e, hipStreamPerThread), "record on per thread behind blocking");
	nanosleep(&(struct timespec){0, 50000000}, 0);
	IS(hipEventQuery(e), "event on per thread behind blocking");
	IS(hipEventRecord(e, free), "record on non-blocking behind blocking");
	IS(hipEventSynchronize(e), "synchronize non-blocking behind blocking");
	g.open = 1;
	IS(hipDeviceSynchronize(), "synchronize");
	IS(hipStreamWaitEvent(a, e, 1), "wait event with flags");
	IS(hipStreamWaitEvent(a, e, 0), "wait event");
	IS(hipStreamWaitEvent(0, e, 0), "null waits for an event");
}
