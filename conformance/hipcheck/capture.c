/* What each call does while a stream captures, in every mode, and the states that a capture goes through. */
#include "groups.h"
#include <pthread.h>

static hipStream_t s, other;
static hipEvent_t event, recorded, before; /* before is of s, from before the capture */
static void *memory_of, *more;
static hipFunction_t add;
static hipGraphExec_t exec;
static hipMemPool_t pool_of;
static char host[4096];

static void nothing(void *unused) { (void)unused; }
static void callback(hipStream_t st, hipError_t e, void *unused) { (void)st, (void)e, (void)unused; }

static hipError_t launched_on(hipStream_t st)
{
	int n = 0;
	void *args[] = {&memory_of, &memory_of, &memory_of, &n};
	return hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, st, args, 0);
}

static hipError_t launched(void) { return launched_on(s); }
static hipError_t launched_on_null(void) { return launched_on(0); }

/* CALLS are what is called on or beside the stream that captures; each is an expression. */
#define CALLS \
	X(hipMemcpy(memory_of, host, 64, hipMemcpyHostToDevice)) X(hipMemcpyAsync(memory_of, host, 64, hipMemcpyHostToDevice, s)) \
	X(hipMemcpyAsync(memory_of, host, 64, hipMemcpyHostToDevice, 0)) X(hipMemcpyAsync(memory_of, host, 64, hipMemcpyHostToDevice, other)) \
	X(hipMemcpyHtoD(memory_of, host, 64)) X(hipMemcpyDtoH(host, memory_of, 64)) X(hipMemcpyDtoD(more, memory_of, 64)) \
	X(hipMemcpyDtoDAsync(more, memory_of, 64, s)) X(hipMemcpyDtoHAsync(host, memory_of, 64, s)) X(hipMemcpyHtoDAsync(memory_of, host, 64, s)) \
	X(hipMemcpy2D(memory_of, 64, host, 64, 64, 2, hipMemcpyHostToDevice)) X(hipMemcpy2DAsync(memory_of, 64, host, 64, 64, 2, hipMemcpyHostToDevice, s)) \
	X(hipMemcpyWithStream(memory_of, host, 64, hipMemcpyHostToDevice, s)) X(hipMemcpyWithStream(memory_of, host, 64, hipMemcpyHostToDevice, other)) \
	X(hipMemset(memory_of, 0, 64)) X(hipMemsetAsync(memory_of, 0, 64, s)) X(hipMemsetAsync(memory_of, 0, 0, s)) X(hipMemsetAsync(0, 0, 64, s)) X(hipMemsetAsync(memory_of, 0, 64, other)) \
	X(hipMemsetD8(memory_of, 0, 64)) X(hipMemsetD32Async(memory_of, 0, 16, s)) X(hipMemset2DAsync(memory_of, 64, 0, 64, 2, s)) X(hipMemset2D(memory_of, 64, 0, 64, 2)) \
	X(hipMalloc(&more, 4096)) X(hipFree(0)) X(hipHostMalloc(&more, 64, 0)) X(hipMallocManaged(&more, 64, hipMemAttachGlobal)) \
	X(hipMallocAsync(&more, 64, s)) X(hipMallocAsync(&more, 64, other)) X(hipMallocFromPoolAsync(&more, 64, pool_of, s)) X(hipFreeAsync(memory_of, s)) X(hipFreeAsync(0, s)) \
	X(hipHostRegister(host, 4096, 0)) X(hipMallocPitch(&more, &(size_t){0}, 64, 64)) \
	X(hipDeviceSynchronize()) X(hipStreamSynchronize(s)) X(hipStreamSynchronize(other)) X(hipStreamSynchronize(0)) X(hipStreamQuery(s)) X(hipStreamQuery(other)) X(hipStreamQuery(0)) \
	X(hipEventRecord(event, s)) X(hipEventRecord(event, 0)) X(hipEventRecord(event, other)) X(hipEventSynchronize(recorded)) X(hipEventQuery(recorded)) \
	X(hipStreamWaitEvent(s, recorded, 0)) X(hipStreamWaitEvent(other, recorded, 0)) X(hipEventCreate(&(hipEvent_t){0})) X(hipEventElapsedTime(&(float){0}, recorded, recorded)) \
	X(hipStreamCreate(&(hipStream_t){0})) X(hipStreamDestroy(s)) X(hipStreamDestroy(other)) X(hipEventDestroy(event)) \
	X(hipLaunchHostFunc(s, nothing, 0)) X(hipLaunchHostFunc(other, nothing, 0)) X(hipStreamAddCallback(s, callback, 0, 0)) \
	X(launched()) X(hipModuleLoad(&(hipModule_t){0}, getenv("GARBAGE_MODULE"))) X(hipFuncGetAttribute(&(int){0}, HIP_FUNC_ATTRIBUTE_NUM_REGS, add)) \
	X(hipGraphLaunch(exec, s)) X(hipGraphLaunch(exec, other)) X(hipGraphUpload(exec, s)) X(hipGraphInstantiate(&(hipGraphExec_t){0}, 0, 0, 0, 0)) \
	X(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal)) X(hipStreamBeginCapture(other, hipStreamCaptureModeRelaxed)) X(hipStreamBeginCapture(0, hipStreamCaptureModeRelaxed)) \
	X(hipStreamEndCapture(other, &(hipGraph_t){0})) X(hipStreamGetFlags(s, &(unsigned){0})) X(hipStreamGetPriority(s, &(int){0})) X(hipStreamGetDevice(s, &(hipDevice_t){0})) \
	X(hipMemGetInfo(&(size_t){0}, &(size_t){0})) X(hipPointerGetAttributes(&(hipPointerAttribute_t){0}, memory_of)) X(hipSetDevice(0)) X(hipGetDevice(&(int){0})) \
	X(hipDeviceGetAttribute(&(int){0}, hipDeviceAttributeWarpSize, 0)) X(hipMemPoolTrimTo(pool_of, 0)) X(hipMemPoolCreate(&(hipMemPool_t){0}, 0)) X(hipCtxSynchronize()) \
	X(hipMemPrefetchAsync(memory_of, 64, 0, s)) X(hipStreamWriteValue32(s, memory_of, 1, 0)) X(hipStreamWaitValue32(s, memory_of, 0, 0, 0xffffffff)) X(hipStreamAttachMemAsync(s, memory_of, 0, 1)) \
	X(hipThreadExchangeStreamCaptureMode(&(hipStreamCaptureMode){hipStreamCaptureModeRelaxed})) X(hipStreamUpdateCaptureDependencies(s, 0, 0, 0)) X(hipStreamUpdateCaptureDependencies(s, 0, 0, 1)) \
	X(hipStreamWaitEvent(s, before, 0)) X(hipStreamWaitEvent(other, before, 0)) X(hipStreamWaitEvent(0, before, 0)) X(hipEventQuery(before)) X(hipEventSynchronize(before)) \
	X(hipEventRecordWithFlags(event, s, hipEventRecordExternal)) X(hipEventQuery(event)) X(hipEventSynchronize(event)) X(hipStreamWaitEvent(s, event, 0)) X(hipMemsetAsync(memory_of, 0, 64, 0)) X(hipMemsetD32Async(memory_of, 0, 16, 0)) X(hipMemcpy2DAsync(memory_of, 64, host, 64, 64, 2, hipMemcpyHostToDevice, 0)) \
	X(hipMemcpyDtoDAsync(more, memory_of, 64, 0)) X(hipMemcpyWithStream(memory_of, host, 64, hipMemcpyHostToDevice, 0)) X(launched_on_null()) \
	X(hipLaunchHostFunc(0, nothing, 0)) X(hipStreamAddCallback(0, callback, 0, 0)) X(hipMallocAsync(&more, 64, 0)) X(hipFreeAsync(memory_of, 0)) X(hipGraphLaunch(exec, 0)) \
	X(hipStreamWaitEvent(0, recorded, 0)) X(hipMemPrefetchAsync(memory_of, 64, 0, 0)) X(hipStreamWriteValue32(0, memory_of, 1, 0)) X(hipMemcpyPeerAsync(memory_of, 0, more, 0, 64, 0)) \
	X(hipMemcpyPeerAsync(memory_of, 0, more, 0, 64, s)) X(hipMemcpyPeer(memory_of, 0, more, 0, 64)) X(hipDeviceSetLimit(hipLimitStackSize, 1024)) X(hipGetLastError()) X(hipDeviceReset())

static void in_mode(int mode, const char *text, hipError_t (*made)(void))
{
	hipStreamCaptureStatus status = (hipStreamCaptureStatus)99;
	hipGraph_t g = 0;
	size_t n = 99;
	if (!begin("%s, mode %d", text, mode))
		return;
	if (hipStreamCreate(&s) || hipStreamCreate(&other) || hipEventCreate(&event) || hipEventCreate(&recorded) || hipEventRecord(recorded, other) ||
	    hipEventCreate(&before) || hipEventRecord(before, s) || hipStreamSynchronize(s) || hipStreamSynchronize(other) || hipMalloc(&memory_of, 4096) || hipMalloc(&more, 4096) || hipStreamBeginCapture(s, (hipStreamCaptureMode)mode)) {
		answer("nothing could be captured");
		return;
	}
	hipError_t code = made(), asked = hipStreamIsCapturing(s, &status), end = hipStreamEndCapture(s, &g);
	if (end == hipSuccess && g && hipGraphGetNodes(g, 0, &n) != hipSuccess)
		n = 98;
	char nodes[32] = "";
	if (end == hipSuccess)
		snprintf(nodes, sizeof nodes, ", %zu nodes", n);
	answer("%s; %s %d; end %s, %s%s", hipGetErrorName(code), hipGetErrorName(asked), status, hipGetErrorName(end), g ? "a graph" : "none", nodes);
	(void)hipGetLastError();
	if (g)
		(void)hipGraphDestroy(g);
	(void)hipStreamEndCapture(other, &g);
	(void)hipGetLastError();
}

#define X(...) #__VA_ARGS__,
static const char *const texts[] = {CALLS};
#undef X

static int chosen;
static hipError_t make_chosen(void)
{
	int i = 0;
#define X(...) if (i++ == chosen) return __VA_ARGS__;
	CALLS
#undef X
	return hipErrorUnknown;
}

void capture(void)
{
	hipGraph_t g;
	hipGraphNode_t n;
	add = kernel("vector_add", "vector_add");
	MUST(hipGraphCreate(&g, 0));
	MUST(hipGraphAddEmptyNode(&n, g, 0, 0));
	MUST(hipGraphInstantiate(&exec, g, 0, 0, 0));
	MUST(hipDeviceGetDefaultMemPool(&pool_of, 0));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (int mode = 0; mode < 3; mode++) {
			chosen = (int)i;
			in_mode(mode, texts[i], make_chosen);
		}
}

static void *ends_elsewhere(void *st)
{
	hipGraph_t g = 0;
	IS(hipStreamEndCapture((hipStream_t)st, &g), "end in another thread");
	return 0;
}

static void *allocates_elsewhere(void *what)
{
	void *p;
	IS(hipMalloc(&p, 64), "hipMalloc in another thread, %s", (const char *)what);
	IS(hipStreamSynchronize(0), "synchronize null in another thread, %s", (const char *)what);
	return 0;
}

static void in_thread(void *(*f)(void *), void *arg)
{
	pthread_t t;
	pthread_create(&t, 0, f, arg);
	pthread_join(t, 0);
}

static void state(const char *when, hipStream_t st)
{
	hipStreamCaptureStatus status = (hipStreamCaptureStatus)99;
	unsigned long long id = 0;
	hipGraph_t g = 0;
	const hipGraphNode_t *deps = 0;
	size_t n = 99;
	if (begin("%s, capturing", when)) {
		hipError_t e = hipStreamIsCapturing(st, &status);
		answer("%s %d", hipGetErrorName(e), status);
	}
	if (begin("%s, info", when)) {
		hipError_t e = hipStreamGetCaptureInfo(st, &status, &id);
		answer("%s %d, %s", hipGetErrorName(e), status, id ? "a number" : "0");
	}
	if (begin("%s, info v2", when)) {
		hipError_t e = hipStreamGetCaptureInfo_v2(st, &status, &id, &g, &deps, &n);
		answer("%s %d, %s, %zu dependencies", hipGetErrorName(e), status, g ? "a graph" : "none", n);
	}
}

/* fresh makes streams that no earlier capture has left in any state. */
static void fresh(hipStream_t *a, hipStream_t *b)
{
	MUST(hipStreamCreate(a));
	MUST(hipStreamCreate(b));
}

void capture_states(void)
{
	hipGraph_t g = 0, into = 0;
	hipGraphExec_t x = 0;
	hipStream_t a, b;
	hipEvent_t e, f;
	void *p;
	fresh(&a, &b);
	MUST(hipEventCreate(&e));
	MUST(hipEventCreate(&f));
	MUST(hipMalloc(&p, 4096));
	state("idle", a);
	state("null", 0);
	state("legacy", hipStreamLegacy);
	state("per thread", hipStreamPerThread);
	IS(hipStreamEndCapture(a, &g), "end, not begun");
	IS(hipStreamEndCapture(0, &g), "end of null");
	for (int mode = -1; mode < 5; mode++) {
		IS(hipStreamBeginCapture(0, (hipStreamCaptureMode)mode), "begin on null, mode %d", mode);
		IS(hipStreamBeginCapture(hipStreamLegacy, (hipStreamCaptureMode)mode), "begin on legacy, mode %d", mode);
	}
	IS(hipStreamBeginCapture(a, (hipStreamCaptureMode)3), "begin in no mode");
	IS(hipStreamBeginCapture(a, (hipStreamCaptureMode)-1), "begin in mode -1");
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal), "begin");
	state("begun", a);
	state("another while one captures", b);
	state("null while one captures", 0);
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal), "begin again");
	state("begun again", a);
	IS(hipStreamEndCapture(a, 0), "end into null");
	state("ended into null", a);
	IS(hipStreamEndCapture(a, &g), "end of nothing");
	IS(hipGraphInstantiate(&x, g, 0, 0, 0), "instantiate nothing");
	IS(hipGraphLaunch(x, a), "launch nothing");
	IS(hipStreamSynchronize(a), "synchronize");
	/* thread rules */
	fresh(&a, &b);
	for (int mode = 0; mode < 3; mode++) {
		char what[32];
		snprintf(what, sizeof what, "mode %d", mode);
		IS(hipStreamBeginCapture(a, (hipStreamCaptureMode)mode), "begin, %s", what);
		in_thread(allocates_elsewhere, what);
		state(what, a);
		IS(hipStreamEndCapture(a, &g), "end, %s", what);
	}
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeThreadLocal), "begin for another thread");
	in_thread(ends_elsewhere, a);
	state("ended elsewhere", a);
	IS(hipStreamEndCapture(a, &g), "end here after all");
	fresh(&a, &b);
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed), "begin relaxed for another thread");
	in_thread(ends_elsewhere, a);
	state("ended elsewhere, relaxed", a);
	(void)hipStreamEndCapture(a, &g);
	/* fork and join */
	fresh(&a, &b);
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed), "begin to query");
	IS(hipEventRecord(e, a), "record to query");
	IS(hipEventQuery(e), "query a captured event");
	state("queried", a);
	fresh(&a, &b);
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed), "begin to synchronize");
	IS(hipEventRecord(e, a), "record to synchronize");
	IS(hipEventSynchronize(e), "synchronize a captured event");
	state("synchronized", a);
	fresh(&a, &b);
	MUST(hipEventCreate(&e));
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed), "begin to fork");
	IS(hipMemsetAsync(p, 1, 64, a), "memset");
	state("one node", a);
	IS(hipEventRecord(e, a), "record in capture");
	IS(hipEventElapsedTime(&(float){0}, e, e), "elapsed of a captured event");
	IS(hipStreamWaitEvent(b, e, 0), "fork");
	state("forked", b);
	IS(hipMemsetAsync(p, 2, 64, b), "memset in the fork");
	IS(hipStreamWaitEvent(0, e, 0), "null waits for a captured event");
	state("null after that", 0);
	IS(hipStreamEndCapture(b, &g), "end the fork");
	state("a after that", a);
	IS(hipStreamEndCapture(a, &g), "end unjoined");
	state("unjoined", a);
	state("unjoined fork", b);
	IS(hipEventQuery(e), "query after the capture");
	(void)hipStreamEndCapture(b, &g);
	fresh(&a, &b);
	MUST(hipEventCreate(&e));
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed), "begin to join");
	IS(hipEventRecord(e, a), "record to fork");
	IS(hipStreamWaitEvent(b, e, 0), "fork again");
	IS(hipMemsetAsync(p, 2, 64, b), "memset in the second fork");
	IS(hipEventRecord(f, b), "record to join");
	IS(hipStreamWaitEvent(a, f, 0), "join");
	state("joined", a);
	hipError_t ended = IS(hipStreamEndCapture(a, &g), "end joined");
	state("joined fork", b);
	size_t n = 99;
	if (ended == hipSuccess) {
		IS(hipGraphGetNodes(g, 0, &n), "nodes");
		SAW("number of nodes", "%zu", n);
	}
	fresh(&a, &b);
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed), "begin while others");
	IS(hipStreamBeginCapture(b, hipStreamCaptureModeRelaxed), "begin a second");
	IS(hipEventRecord(e, a), "record in the first");
	IS(hipStreamWaitEvent(b, e, 0), "the second waits for the first");
	state("first", a);
	state("second", b);
	IS(hipStreamEndCapture(a, &g), "end the first");
	IS(hipStreamEndCapture(b, &g), "end the second");
	/* into a graph */
	fresh(&a, &b);
	hipGraphNode_t node;
	MUST(hipGraphCreate(&into, 0));
	MUST(hipGraphAddEmptyNode(&node, into, 0, 0));
	IS(hipStreamBeginCaptureToGraph(a, 0, 0, 0, 0, hipStreamCaptureModeGlobal), "begin to no graph");
	IS(hipStreamBeginCaptureToGraph(a, into, 0, 0, 1, hipStreamCaptureModeGlobal), "begin to a graph, dependencies null");
	(void)hipStreamEndCapture(a, &g);
	IS(hipStreamBeginCaptureToGraph(a, into, &node, 0, 1, hipStreamCaptureModeGlobal), "begin to a graph");
	state("to a graph", a);
	IS(hipMemsetAsync(p, 1, 64, a), "memset to a graph");
	g = 0;
	IS(hipStreamEndCapture(a, &g), "end to a graph");
	SAW("it is that graph", "%d", g == into);
	IS(hipGraphGetNodes(into, 0, &n), "its nodes");
	SAW("their number", "%zu", n);
	/* invalidated */
	fresh(&a, &b);
	IS(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal), "begin to be invalidated");
	IS(hipStreamSynchronize(a), "synchronize the captured stream");
	state("invalidated", a);
	IS(hipMemsetAsync(p, 1, 64, a), "memset, invalidated");
	IS(hipMalloc(&p, 64), "hipMalloc, invalidated");
	IS(hipStreamBeginCapture(b, hipStreamCaptureModeGlobal), "begin beside an invalidated one");
	IS(hipStreamEndCapture(b, &g), "end beside an invalidated one");
	g = (hipGraph_t)8;
	IS(hipStreamEndCapture(a, &g), "end, invalidated");
	SAW("graph of the invalidated", "%s", g == 0 ? "null" : g == (hipGraph_t)8 ? "untouched" : "some");
	state("after the invalidated", a);
	hipStreamCaptureMode m;
	for (int mode = -1; mode < 4; mode++) {
		m = (hipStreamCaptureMode)mode;
		IS(hipThreadExchangeStreamCaptureMode(&m), "exchange %d", mode);
		SAW(mode == -1 ? "was, -1" : mode == 0 ? "was, 0" : mode == 1 ? "was, 1" : mode == 2 ? "was, 2" : "was, 3", "%d", (int)m);
	}
}
