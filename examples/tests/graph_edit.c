/* What graphs and executable graphs are told of their nodes, and what they say
 * of them. */
#include "test.h"

#include <stdatomic.h>
#include <unistd.h>

EMBED(vector_add);

enum { N = 1 << 10, BYTES = N * 4 };

static hipStream_t s;

static void run(hipGraphExec_t e)
{
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
}

static int all(const int *v, int x)
{
	for (int i = 0; i < N; i++)
		if (v[i] != x)
			return 0;
	return 1;
}

static atomic_int called;

static void call(void *data) { atomic_fetch_add(&called, *(int *)data); }

static int one = 1, ten = 10, hundred = 100;

/* host nodes, and graphs made with parameters. */
static void host(void)
{
	hipGraphInstantiateParams how;
	hipHostNodeParams p = {call, &one}, got = {NULL, NULL};
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t n;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddHostNode(&n, g, NULL, 0, &p));
	CHECK(hipGraphHostNodeGetParams(n, &got));
	ASSERT(got.fn == call && got.userData == &one);
	p.userData = &ten;
	CHECK(hipGraphHostNodeSetParams(n, &p));
	CHECK(hipGraphHostNodeGetParams(n, &got));
	ASSERT(got.userData == &ten);
	EXPECT(hipGraphHostNodeGetParams(n, NULL), hipErrorInvalidValue);
	EXPECT(hipGraphHostNodeGetParams(NULL, &got), hipErrorInvalidValue);
	EXPECT(hipGraphHostNodeSetParams(n, NULL), hipErrorInvalidValue);
	memset(&how, 0, sizeof how);
	how.result_out = hipGraphInstantiateError;
	CHECK(hipGraphInstantiateWithParams(&e, g, &how));
	ASSERT(how.result_out == hipGraphInstantiateSuccess && how.errNode_out == NULL);
	EXPECT(hipGraphInstantiateWithParams(NULL, g, &how), hipErrorInvalidValue);
	EXPECT(hipGraphInstantiateWithParams(&e, g, NULL), hipErrorInvalidValue);
	run(e);
	ASSERT(atomic_load(&called) == 10);
	p.userData = &hundred;
	CHECK(hipGraphExecHostNodeSetParams(e, n, &p)); /* the graph keeps its own */
	run(e);
	ASSERT(atomic_load(&called) == 110);
	CHECK(hipGraphHostNodeGetParams(n, &got));
	ASSERT(got.userData == &ten);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
}

/* memsets. */
static void sets(int *d)
{
	static int out[N];
	hipMemsetParams p = {d, 4, 1, 0, 5, N}, got;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t n, m;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemsetNode(&n, g, NULL, 0, &p));
	CHECK(hipGraphAddMemcpyNode1D(&m, g, &n, 1, out, d, BYTES, hipMemcpyDeviceToHost));
	memset(&got, 0, sizeof got);
	CHECK(hipGraphMemsetNodeGetParams(n, &got));
	ASSERT(got.dst == d && got.elementSize == 4 && got.value == 5 && got.width == N && got.height == 1);
	p.value = 6;
	CHECK(hipGraphMemsetNodeSetParams(n, &p));
	CHECK(hipGraphMemsetNodeGetParams(n, &got));
	ASSERT(got.value == 6);
	EXPECT(hipGraphMemsetNodeGetParams(m, &got), hipErrorInvalidValue);
	EXPECT(hipGraphMemsetNodeGetParams(n, NULL), hipErrorInvalidValue);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	run(e);
	ASSERT(all(out, 6));
	p.value = 7;
	CHECK(hipGraphExecMemsetNodeSetParams(e, n, &p));
	run(e);
	ASSERT(all(out, 7));
	p.elementSize = 3;
	EXPECT(hipGraphMemsetNodeSetParams(n, &p), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
}

/* copies. */
static void copies(int *d)
{
	static int in[N], other[N], out[N];
	hipMemcpy3DParms p, got;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t n, m;
	for (int i = 0; i < N; i++) {
		in[i] = 3;
		other[i] = 4;
	}
	memset(&p, 0, sizeof p);
	p.srcPtr = (hipPitchedPtr){in, BYTES, BYTES, 1};
	p.dstPtr = (hipPitchedPtr){d, BYTES, BYTES, 1};
	p.extent = (hipExtent){BYTES, 1, 1};
	p.kind = hipMemcpyHostToDevice;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemcpyNode(&n, g, NULL, 0, &p));
	CHECK(hipGraphAddMemcpyNode1D(&m, g, &n, 1, out, d, BYTES, hipMemcpyDeviceToHost));
	memset(&got, 0, sizeof got);
	CHECK(hipGraphMemcpyNodeGetParams(n, &got));
	ASSERT(got.srcPtr.ptr == in && got.dstPtr.ptr == d && got.extent.width == BYTES && got.kind == hipMemcpyHostToDevice);
	EXPECT(hipGraphMemcpyNodeGetParams(n, NULL), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParams(n, NULL), hipErrorInvalidValue);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	run(e);
	ASSERT(all(out, 3));
	p.srcPtr.ptr = other;
	CHECK(hipGraphExecMemcpyNodeSetParams(e, n, &p));
	run(e);
	ASSERT(all(out, 4));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphMemcpyNodeSetParams(n, &p));
	CHECK(hipGraphMemcpyNodeGetParams(n, &got));
	ASSERT(got.srcPtr.ptr == other);
	CHECK(hipGraphDestroy(g));
}

/* events, child graphs, and what a graph looks like. */
static void others(int *d)
{
	hipEvent_t a, b, got = NULL;
	hipGraph_t g, child, inner = NULL;
	hipGraphExec_t e;
	hipGraphNode_t rec, wait, sub, set;
	hipMemsetParams p = {d, 4, 1, 0, 1, N};
	int value = 0;
	char name[] = "/tmp/graph-XXXXXX", text[32] = "";
	CHECK(hipEventCreate(&a));
	CHECK(hipEventCreate(&b));
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphCreate(&child, 0));
	CHECK(hipGraphAddMemsetNode(&set, child, NULL, 0, &p));
	CHECK(hipGraphAddChildGraphNode(&sub, g, NULL, 0, child));
	CHECK(hipGraphAddEventRecordNode(&rec, g, &sub, 1, a));
	CHECK(hipGraphAddEventWaitNode(&wait, g, &rec, 1, a));
	CHECK(hipGraphEventRecordNodeGetEvent(rec, &got));
	ASSERT(got == a);
	CHECK(hipGraphEventWaitNodeGetEvent(wait, &got));
	ASSERT(got == a);
	CHECK(hipGraphEventRecordNodeSetEvent(rec, b));
	CHECK(hipGraphEventRecordNodeGetEvent(rec, &got));
	ASSERT(got == b);
	CHECK(hipGraphEventWaitNodeSetEvent(wait, b));
	CHECK(hipGraphEventWaitNodeGetEvent(wait, &got));
	ASSERT(got == b);
	EXPECT(hipGraphEventRecordNodeGetEvent(wait, &got), hipErrorInvalidValue);
	EXPECT(hipGraphEventWaitNodeGetEvent(rec, &got), hipErrorInvalidValue);
	EXPECT(hipGraphEventRecordNodeSetEvent(rec, NULL), hipErrorInvalidValue);
	CHECK(hipGraphChildGraphNodeGetGraph(sub, &inner));
	ASSERT(inner != NULL);
	EXPECT(hipGraphChildGraphNodeGetGraph(sub, NULL), hipErrorInvalidValue);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphExecEventRecordNodeSetEvent(e, rec, a));
	CHECK(hipGraphExecEventWaitNodeSetEvent(e, wait, a));
	run(e);
	CHECK(hipEventSynchronize(a));
	CHECK(hipMemcpy(&value, d + N - 1, 4, hipMemcpyDeviceToHost));
	ASSERT(value == 1);
	p.value = 2;
	CHECK(hipGraphMemsetNodeSetParams(set, &p));
	CHECK(hipGraphExecChildGraphNodeSetParams(e, sub, child));
	run(e);
	CHECK(hipMemcpy(&value, d + N - 1, 4, hipMemcpyDeviceToHost));
	ASSERT(value == 2);

	close(mkstemp(name));
	CHECK(hipGraphDebugDotPrint(g, name, hipGraphDebugDotFlagsVerbose));
	FILE *f = fopen(name, "r");
	ASSERT(f && fgets(text, sizeof text, f) && strstr(text, "digraph"));
	if (f)
		fclose(f);
	unlink(name);
	EXPECT(hipGraphDebugDotPrint(g, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipGraphDebugDotPrint(NULL, name, 0), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipGraphDestroy(child));
	CHECK(hipEventDestroy(a));
	CHECK(hipEventDestroy(b));
}

/* kernels, and nodes of any kind. */
static void kernels(void)
{
	static float in[N], out[N];
	hipFunction_t add = kernel(IMAGE(vector_add), "vector_add");
	void *x, *y;
	int count = N;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t n, m, host_node;
	for (int i = 0; i < N; i++)
		in[i] = 3;
	CHECK(hipMalloc(&x, BYTES));
	CHECK(hipMalloc(&y, BYTES));
	CHECK(hipMemcpy(x, in, BYTES, hipMemcpyHostToDevice));
	void *args[] = {&x, &x, &y, &count};
	hipKernelNodeParams k;
	memset(&k, 0, sizeof k);
	k.func = (void *)add;
	k.gridDim = (dim3){1, 1, 1};
	k.blockDim = (dim3){256, 1, 1};
	k.kernelParams = args;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddKernelNode(&n, g, NULL, 0, &k));
	CHECK(hipGraphAddKernelNode(&m, g, NULL, 0, &k));
	k.gridDim.x = N / 256; /* all of them */
	CHECK(hipGraphKernelNodeSetParams(n, &k));
	EXPECT(hipGraphKernelNodeSetParams(n, NULL), hipErrorInvalidValue);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	run(e);
	CHECK(hipMemcpy(out, y, BYTES, hipMemcpyDeviceToHost));
	ASSERT(out[0] == 6 && out[N - 1] == 6);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));

	hipGraphNodeParams p;
	memset(&p, 0, sizeof p);
	p.type = hipGraphNodeTypeHost;
	p.host.fn = call;
	p.host.userData = &one;
	atomic_store(&called, 0);
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddNode(&host_node, g, NULL, 0, &p));
	p.host.userData = &ten;
	CHECK(hipGraphNodeSetParams(host_node, &p));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	run(e);
	ASSERT(atomic_load(&called) == 10);
	p.host.userData = &hundred;
	CHECK(hipGraphExecNodeSetParams(e, host_node, &p));
	run(e);
	ASSERT(atomic_load(&called) == 110);
	EXPECT(hipGraphAddNode(&host_node, g, NULL, 0, NULL), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
}

/* memory that a graph has. */
static void memory(void)
{
	hipMemAllocNodeParams p, got;
	hipGraph_t g;
	hipGraphNode_t a, f;
	void *q = NULL;
	memset(&p, 0, sizeof p);
	p.bytesize = 1 << 16;
	p.poolProps.allocType = hipMemAllocationTypePinned;
	p.poolProps.location.type = hipMemLocationTypeDevice;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemAllocNode(&a, g, NULL, 0, &p));
	CHECK(hipGraphAddMemFreeNode(&f, g, &a, 1, p.dptr));
	memset(&got, 0, sizeof got);
	CHECK(hipGraphMemAllocNodeGetParams(a, &got));
	ASSERT(got.dptr == p.dptr && got.bytesize == 1 << 16);
	CHECK(hipGraphMemFreeNodeGetParams(f, &q));
	ASSERT(q == p.dptr);
	EXPECT(hipGraphMemAllocNodeGetParams(a, NULL), hipErrorInvalidValue);
	EXPECT(hipGraphMemFreeNodeGetParams(f, NULL), hipErrorInvalidValue);
	CHECK(hipGraphDestroy(g));
}

int main(void)
{
	int *d;
	CHECK(hipStreamCreate(&s));
	CHECK(hipMalloc((void **)&d, BYTES));
	host();
	sets(d);
	copies(d);
	others(d);
	kernels();
	memory();
	CHECK(hipFree(d));
	CHECK(hipStreamDestroy(s));
	return result("graph edit");
}
