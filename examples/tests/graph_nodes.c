/* Graphs made by hand: nodes of every kind, their parameters, executable graphs
 * that are changed, clones, memory, user objects, capture into a graph. */
#include "test.h"

#include <stdatomic.h>

EMBED(vector_add);

enum { N = 1 << 12, BYTES = N * sizeof(float) };

static hipFunction_t add;

static hipKernelNodeParams addition(void **args)
{
	hipKernelNodeParams p;
	memset(&p, 0, sizeof p);
	p.func = (void *)add;
	p.gridDim = (dim3){N / 256, 1, 1};
	p.blockDim = (dim3){256, 1, 1};
	p.kernelParams = args;
	return p;
}

static atomic_int called;

static void call(void *data) { atomic_fetch_add(&called, *(int *)data); }

static float *fill(float *v, float x)
{
	for (int i = 0; i < N; i++)
		v[i] = x;
	return v;
}

static int is(const float *v, float x)
{
	for (int i = 0; i < N; i++)
		if (v[i] != x) {
			fprintf(stderr, "element %d is %g, not %g\n", i, v[i], x);
			return 0;
		}
	return 1;
}

/* chain is in -> a; a + b -> c; c -> out; a function, with the nodes in n. */
static hipGraph_t chain(void *a, void *b, void *c, float *in, float *out, hipGraphNode_t n[4])
{
	static int one = 1, count = N;
	hipGraph_t g;
	void *args[] = {&a, &b, &c, &count};
	hipKernelNodeParams k = addition(args);
	hipHostNodeParams h = {call, &one};
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemcpyNode1D(&n[0], g, NULL, 0, a, in, BYTES, hipMemcpyHostToDevice));
	CHECK(hipGraphAddKernelNode(&n[1], g, n, 1, &k));
	CHECK(hipGraphAddMemcpyNode1D(&n[2], g, n + 1, 1, out, c, BYTES, hipMemcpyDeviceToHost));
	CHECK(hipGraphAddHostNode(&n[3], g, n + 2, 1, &h));
	return g;
}

static void nodes(hipStream_t s)
{
	static float in[N], other[N], out[N];
	void *a, *b, *c, *d;
	hipGraphNode_t n[4], twin, list[8], from[8], to[8];
	hipGraph_t g, clone, second;
	hipGraphExec_t e;
	hipGraphNodeType type;
	hipGraphExecUpdateResult why;
	hipKernelNodeParams k;
	unsigned int on = 7;
	size_t count = 8;
	CHECK(hipMalloc(&a, BYTES));
	CHECK(hipMalloc(&b, BYTES));
	CHECK(hipMalloc(&c, BYTES));
	CHECK(hipMalloc(&d, BYTES));
	CHECK(hipMemcpy(b, fill(other, 2), BYTES, hipMemcpyHostToDevice));
	g = chain(a, b, c, fill(in, 1), out, n);

	CHECK(hipGraphGetNodes(g, list, &count));
	ASSERT(count == 4 && list[0] == n[0] && list[3] == n[3]);
	count = 8;
	CHECK(hipGraphGetEdges(g, from, to, &count));
	ASSERT(count == 3 && from[1] == n[1] && to[1] == n[2]);
	CHECK(hipGraphNodeGetType(n[3], &type));
	ASSERT(type == hipGraphNodeTypeHost);
	CHECK(hipGraphKernelNodeGetParams(n[1], &k));
	ASSERT(k.func == (void *)add && k.blockDim.x == 256 && k.kernelParams && *(void **)k.kernelParams[1] == b);

	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	for (int i = 1; i <= 3; i++) {
		fill(in, (float)i);
		CHECK(hipGraphLaunch(e, s));
		CHECK(hipStreamSynchronize(s));
		ASSERT(is(out, (float)i + 2) && atomic_load(&called) == i);
	}
	/* One node of the executable graph has other arguments, then is left out. */
	*(void **)k.kernelParams[1] = a;
	CHECK(hipGraphExecKernelNodeSetParams(e, n[1], &k));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(is(out, 6));
	CHECK(hipGraphNodeSetEnabled(e, n[1], 0));
	CHECK(hipGraphNodeGetEnabled(e, n[1], &on));
	ASSERT(on == 0);
	CHECK(hipMemset(c, 0, BYTES));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(is(out, 0));
	CHECK(hipGraphNodeSetEnabled(e, n[1], 1));
	EXPECT(hipGraphNodeSetEnabled(e, n[3], 0), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParams1D(e, n[0], a, in, BYTES, hipMemcpyDeviceToHost), hipErrorInvalidValue);

	/* A clone is changed; the executable graph takes over what it has. */
	CHECK(hipGraphClone(&clone, g));
	CHECK(hipGraphNodeFindInClone(&twin, n[0], clone));
	CHECK(hipGraphMemcpyNodeSetParams1D(twin, a, fill(other, 30), BYTES, hipMemcpyHostToDevice));
	CHECK(hipGraphExecUpdate(e, clone, &twin, &why));
	ASSERT(why == hipGraphExecUpdateSuccess && twin == NULL);
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(is(out, 32));
	CHECK(hipGraphDestroyNode(n[3]));
	EXPECT(hipGraphExecUpdate(e, g, &twin, &why), hipErrorGraphExecUpdateFailure);
	ASSERT(why == hipGraphExecUpdateErrorTopologyChanged);

	/* A child graph, a memset, and events. */
	hipEvent_t v;
	hipMemsetParams m = {d, 4, 1, 0, 0x3f800000, N}; /* 1 */
	CHECK(hipEventCreate(&v));
	CHECK(hipGraphCreate(&second, 0));
	hipGraphNode_t w[5];
	CHECK(hipGraphAddChildGraphNode(&w[0], second, NULL, 0, clone));
	CHECK(hipGraphAddMemsetNode(&w[1], second, NULL, 0, &m));
	CHECK(hipGraphAddEmptyNode(&w[2], second, w, 2));
	CHECK(hipGraphAddEventRecordNode(&w[3], second, w + 2, 1, v));
	CHECK(hipGraphAddMemcpyNode1D(&w[4], second, w + 3, 1, out, d, BYTES, hipMemcpyDeviceToHost));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphInstantiate(&e, second, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipEventSynchronize(v));
	CHECK(hipStreamSynchronize(s));
	ASSERT(is(out, 1));
	CHECK(hipGraphAddDependencies(second, &w[4], &w[1], 1)); /* a circle */
	hipGraphExec_t none;
	EXPECT(hipGraphInstantiate(&none, second, NULL, NULL, 0), hipErrorInvalidValue);
	CHECK(hipGraphRemoveDependencies(second, &w[4], &w[1], 1));
	EXPECT(hipGraphRemoveDependencies(second, &w[4], &w[1], 1), hipErrorInvalidValue);

	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(second));
	CHECK(hipGraphDestroy(clone));
	CHECK(hipGraphDestroy(g));
	EXPECT(hipGraphDestroy(g), hipErrorIllegalState);
	CHECK(hipEventDestroy(v));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	CHECK(hipFree(c));
	CHECK(hipFree(d));
}

/* memory: a graph's own, freed in it or by the program. */
static void memory(hipStream_t s)
{
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t a, f;
	hipMemAllocNodeParams p;
	size_t used = 1;
	memset(&p, 0, sizeof p);
	p.bytesize = 1 << 20;
	p.poolProps.allocType = hipMemAllocationTypePinned;
	p.poolProps.location.type = hipMemLocationTypeDevice;
	for (int inside = 0; inside < 2; inside++) {
		CHECK(hipGraphCreate(&g, 0));
		CHECK(hipGraphAddMemAllocNode(&a, g, NULL, 0, &p));
		ASSERT(p.dptr != NULL);
		if (inside) {
			CHECK(hipGraphAddMemFreeNode(&f, g, &a, 1, p.dptr));
			EXPECT(hipGraphAddMemFreeNode(&f, g, &a, 1, p.dptr), hipErrorInvalidValue);
		}
		CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
		CHECK(hipGraphLaunch(e, s));
		CHECK(hipStreamSynchronize(s));
		CHECK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
		ASSERT(used == (inside ? 0 : 1 << 20));
		if (inside)
			CHECK(hipGraphLaunch(e, s));
		else {
			EXPECT(hipGraphLaunch(e, s), hipErrorInvalidValue);
			CHECK(hipMemset(p.dptr, 1, 1 << 20));
			CHECK(hipFree(p.dptr));
		}
		CHECK(hipStreamSynchronize(s));
		CHECK(hipGraphExecDestroy(e));
		CHECK(hipGraphDestroy(g));
	}
	CHECK(hipDeviceGraphMemTrim(0));
}

static void objects(void)
{
	static int ten = 10;
	hipUserObject_t o;
	hipGraph_t g;
	atomic_store(&called, 0);
	CHECK(hipUserObjectCreate(&o, &ten, call, 1, hipUserObjectNoDestructorSync));
	EXPECT(hipUserObjectCreate(&o, &ten, call, 1, 0), hipErrorInvalidValue);
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphRetainUserObject(g, o, 1, hipGraphUserObjectMove));
	ASSERT(atomic_load(&called) == 0);
	CHECK(hipGraphDestroy(g));
	ASSERT(atomic_load(&called) == 10);
}

/* into captures behind nodes that are there. */
static void into(hipStream_t s)
{
	static float out[N];
	void *d;
	hipGraph_t g, same;
	hipGraphExec_t e;
	hipGraphNode_t first, *deps;
	hipStreamCaptureStatus status;
	unsigned long long id;
	size_t n = 0, edges = 0;
	hipMemsetParams m;
	CHECK(hipMalloc(&d, BYTES));
	memset(&m, 0, sizeof m);
	m.dst = d;
	m.elementSize = 4;
	m.height = 1;
	m.value = 0x40000000; /* 2 */
	m.width = N;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemsetNode(&first, g, NULL, 0, &m));
	CHECK(hipStreamBeginCaptureToGraph(s, g, &first, NULL, 1, hipStreamCaptureModeGlobal));
	CHECK(hipMemsetD32Async(d, 0x40800000, N / 2, s)); /* 4 */
	CHECK(hipStreamGetCaptureInfo_v2(s, &status, &id, &same, (const hipGraphNode_t **)&deps, &n));
	ASSERT(status == hipStreamCaptureStatusActive && same == g && n == 1 && deps[0] != first);
	CHECK(hipMemcpyAsync(out, d, BYTES, hipMemcpyDeviceToHost, s));
	CHECK(hipStreamEndCapture(s, &same));
	ASSERT(same == g);
	CHECK(hipGraphGetEdges(g, NULL, NULL, &edges));
	ASSERT(edges == 2);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(out[0] == 4 && out[N / 2 - 1] == 4 && out[N / 2] == 2 && out[N - 1] == 2);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
}

int main(void)
{
	hipGraph_t g;
	hipStream_t s;
	CHECK(hipGraphCreate(&g, 0)); /* the first call of all */
	CHECK(hipGraphDestroy(g));
	add = kernel(IMAGE(vector_add), "vector_add");
	CHECK(hipStreamCreate(&s));
	nodes(s);
	memory(s);
	objects();
	into(s);
	CHECK(hipStreamDestroy(s));
	CHECK(hipDeviceSynchronize());
	return result("graph nodes");
}
