/* Graphs: what may be added, what is said of nodes and edges, what can be instantiated, changed and launched. */
#include "groups.h"

static void nothing(void *unused) { (void)unused; }

static void *device;
static char host[8192];

static const char *kind_of(hipGraphNode_t n)
{
	static char s[64];
	hipGraphNodeType k = (hipGraphNodeType)99;
	hipError_t e = hipGraphNodeGetType(n, &k);
	snprintf(s, sizeof s, "%s %d", hipGetErrorName(e), k);
	return s;
}

static hipMemsetParams fill(void *dst, unsigned size, size_t width, size_t height)
{
	return (hipMemsetParams){.dst = dst, .elementSize = size, .width = width, .height = height, .pitch = width * size, .value = 1};
}

static void adding(hipGraph_t g)
{
	hipGraphNode_t n = 0, empty = 0, foreign = 0;
	hipGraph_t o;
	MUST(hipGraphCreate(&o, 0));
	MUST(hipGraphAddEmptyNode(&foreign, o, 0, 0));
	MUST(hipGraphAddEmptyNode(&empty, g, 0, 0));
	IS(hipGraphAddEmptyNode(&n, g, &empty, 1), "empty, one dependency");
	hipGraphNode_t twice[] = {empty, empty}, none[] = {0};
	IS(hipGraphAddEmptyNode(&n, g, twice, 2), "empty, one dependency twice");
	IS(hipGraphAddEmptyNode(&n, g, none, 1), "empty, dependency null");
	IS(hipGraphAddEmptyNode(&n, g, &foreign, 1), "empty, dependency of another graph");
	IS(hipGraphAddEmptyNode(&n, g, 0, 1), "empty, dependencies null");
	IS(hipGraphAddEmptyNode(&n, g, &empty, 0), "empty, no dependencies");
	for (unsigned size = 0; size < 9; size++) {
		hipMemsetParams p = fill(device, size, 4, 1);
		IS(hipGraphAddMemsetNode(&n, g, 0, 0, &p), "memset, elements of %u", size);
	}
	struct { const char *what; hipMemsetParams p; } fills[] = {{"null", fill(0, 1, 4, 1)}, {"of the host", fill(host, 1, 4, 1)}, {"width 0", fill(device, 1, 0, 1)},
		{"height 0", fill(device, 1, 4, 0)}, {"too long", fill(device, 1, 8192, 1)}, {"too high", fill(device, 1, 64, 1000)}, {"2-D", fill(device, 4, 16, 4)}};
	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
		IS(hipGraphAddMemsetNode(&n, g, 0, 0, &fills[i].p), "memset %s", fills[i].what);
	struct { const char *what; void *dst; const void *src; size_t n; int kind; } copies[] = {
		{"host to device", device, host, 64, 1}, {"device to host", host, device, 64, 2}, {"device to device", device, (char *)device + 64, 64, 3}, {"host to host", host, host + 64, 64, 0},
		{"default", device, host, 64, 4}, {"no kind", device, host, 64, 9}, {"kind -1", device, host, 64, -1}, {"nothing", device, host, 0, 1}, {"to null", 0, host, 64, 1},
		{"from null", device, 0, 64, 1}, {"the wrong way", device, host, 64, 2}, {"too much", device, host, 8192, 1}, {"device to device, of the host", device, host, 64, 3},
		{"onto itself", device, device, 64, 3}, {"over itself", device, (char *)device + 8, 64, 3}};
	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
		IS(hipGraphAddMemcpyNode1D(&n, g, 0, 0, copies[i].dst, copies[i].src, copies[i].n, (hipMemcpyKind)copies[i].kind), "copy %s", copies[i].what);
	hipHostNodeParams h = {nothing, 0}, bad = {0, 0};
	IS(hipGraphAddHostNode(&n, g, 0, 0, &h), "host");
	IS(hipGraphAddHostNode(&n, g, 0, 0, &bad), "host, no function");
	hipFunction_t f = kernel("vector_add", "vector_add");
	int zero = 0;
	void *args[] = {&device, &device, &device, &zero};
	struct { const char *what; hipKernelNodeParams p; } kernels[] = {
		{"", {.func = f, .gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args}}, {"no function", {.gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args}},
		{"no arguments", {.func = f, .gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}}}, {"grid 0", {.func = f, .gridDim = {0, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args}},
		{"block 0", {.func = f, .gridDim = {1, 1, 1}, .blockDim = {0, 1, 1}, .kernelParams = args}}, {"block too big", {.func = f, .gridDim = {1, 1, 1}, .blockDim = {1025, 1, 1}, .kernelParams = args}},
		{"block too deep", {.func = f, .gridDim = {1, 1, 1}, .blockDim = {32, 32, 2}, .kernelParams = args}},
		{"too much local memory", {.func = f, .gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args, .sharedMemBytes = 1 << 20}},
		{"a grid of 2^32 threads", {.func = f, .gridDim = {1 << 26, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args}}};
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		IS(hipGraphAddKernelNode(&n, g, 0, 0, &kernels[i].p), "kernel %s", kernels[i].what);
	IS(hipGraphAddChildGraphNode(&n, g, 0, 0, o), "child");
	IS(hipGraphAddChildGraphNode(&n, g, 0, 0, g), "child, itself");
	hipMemAllocNodeParams a = {.poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}}, .bytesize = 4096};
	struct { const char *what; int type, location, id, handle; size_t n; } allocs[] = {{"", 1, 1, 0, 0, 4096}, {"of no type", 0, 1, 0, 0, 4096}, {"nowhere", 1, 0, 0, 0, 4096},
		{"on no device", 1, 1, 77, 0, 4096}, {"on device -1", 1, 1, -1, 0, 4096}, {"of nothing", 1, 1, 0, 0, 0}, {"to be shared", 1, 1, 0, 1, 4096}, {"too much", 1, 1, 0, 0, 1ull << 50}};
	for (size_t i = 0; i < sizeof allocs / sizeof *allocs; i++) {
		a.poolProps.allocType = (hipMemAllocationType)allocs[i].type;
		a.poolProps.location.type = (hipMemLocationType)allocs[i].location;
		a.poolProps.location.id = allocs[i].id;
		a.poolProps.handleTypes = (hipMemAllocationHandleType)allocs[i].handle;
		a.bytesize = allocs[i].n;
		a.dptr = 0;
		if (begin("alloc %s", allocs[i].what)) {
			hipError_t e = hipGraphAddMemAllocNode(&n, g, 0, 0, &a);
			answer("%s, %s", hipGetErrorName(e), a.dptr ? "an address" : "none");
		}
	}
	IS(hipGraphAddMemFreeNode(&n, g, 0, 0, 0), "free of null");
	IS(hipGraphAddMemFreeNode(&n, g, 0, 0, device), "free of hipMalloc's");
	IS(hipGraphAddMemFreeNode(&n, g, 0, 0, host), "free of the host's");
	for (int k = -1; k < 17; k++) {
		hipGraphNodeParams p = {0};
		p.type = (hipGraphNodeType)k;
		IS(hipGraphAddNode(&n, g, 0, 0, &p), "hipGraphAddNode of type %d, all 0", k);
	}
	IS(hipGraphDestroy(o), "destroy another graph");
}

static void edges(void)
{
	hipGraph_t g;
	hipGraphNode_t n[4], out[8];
	MUST(hipGraphCreate(&g, 0));
	for (int i = 0; i < 4; i++)
		MUST(hipGraphAddEmptyNode(&n[i], g, 0, 0));
	IS(hipGraphAddDependencies(g, &n[0], &n[1], 1), "edge");
	IS(hipGraphAddDependencies(g, &n[0], &n[1], 1), "edge again");
	IS(hipGraphAddDependencies(g, &n[0], &n[0], 1), "edge to itself");
	IS(hipGraphAddDependencies(g, &n[1], &n[2], 1), "second edge");
	IS(hipGraphAddDependencies(g, &n[2], &n[0], 1), "edge of a circle");
	hipGraphExec_t x = 0;
	hipGraphNode_t at = 0;
	char log[100] = "untouched";
	IS(hipGraphInstantiate(&x, g, &at, log, sizeof log), "instantiate a circle");
	IS(hipGraphRemoveDependencies(g, &n[2], &n[0], 1), "remove it");
	IS(hipGraphRemoveDependencies(g, &n[2], &n[0], 1), "remove it again");
	IS(hipGraphAddDependencies(g, 0, 0, 0), "no edges");
	IS(hipGraphRemoveDependencies(g, 0, 0, 0), "remove no edges");
	IS(hipGraphAddDependencies(g, 0, &n[0], 1), "from null");
	size_t k = 99;
	struct { const char *name; size_t room; } rooms[] = {{"no list", 99}, {"0", 0}, {"1", 1}, {"8", 8}};
	for (int i = 0; i < 4; i++) {
		hipGraphNode_t *list = i ? out : 0;
		struct { const char *what; hipError_t e; size_t n; hipGraphNode_t last; } seen[5];
#define ASK(j, w, c) memset(out, 0, sizeof out), k = rooms[i].room, seen[j].what = w, seen[j].e = c, seen[j].n = k, seen[j].last = out[7]
		if (!begin("lists with room for %s", rooms[i].name))
			continue;
		ASK(0, "nodes", hipGraphGetNodes(g, list, &k));
		ASK(1, "roots", hipGraphGetRootNodes(g, list, &k));
		ASK(2, "dependencies", hipGraphNodeGetDependencies(n[1], list, &k));
		ASK(3, "dependents", hipGraphNodeGetDependentNodes(n[0], list, &k));
		ASK(4, "edges", hipGraphGetEdges(g, list, list ? list + 4 : 0, &k));
		char s[512] = "";
		for (int j = 0; j < 5; j++)
			snprintf(s + strlen(s), sizeof s - strlen(s), "%s %s %zu; ", seen[j].what, hipGetErrorName(seen[j].e), seen[j].n);
		answer("%s", s);
	}
	IS(hipGraphDestroyNode(n[1]), "destroy a node");
	IS(hipGraphDestroyNode(n[1]), "destroy it again");
	IS(hipGraphGetEdges(g, 0, 0, &k), "edges after that");
	SAW("number of edges after that", "%zu", k);
	IS(hipGraphNodeGetDependentNodes(n[0], 0, &k), "dependents after that");
	SAW("number of dependents after that", "%zu", k);
	hipGraph_t c = 0;
	IS(hipGraphClone(&c, g), "clone");
	hipGraphNode_t found = 0;
	IS(hipGraphNodeFindInClone(&found, n[0], c), "find in the clone");
	IS(hipGraphNodeFindInClone(&found, n[0], g), "find in the original");
	IS(hipGraphNodeFindInClone(&found, found, c), "find the clone's in the clone");
	IS(hipGraphDestroyNode(n[3]), "destroy the original's node");
	IS(hipGraphGetNodes(c, 0, &k), "the clone's nodes");
	SAW("number of the clone's nodes", "%zu", k);
	IS(hipGraphDestroy(g), "destroy");
	IS(hipGraphDestroy(g), "destroy again");
	IS(hipGraphGetNodes(g, 0, &k), "nodes of none");
	IS(hipGraphGetNodes(c, 0, &k), "the clone's nodes after that");
	if (begin("type of a node of none"))
		answer("%s", kind_of(n[0]));
	IS(hipGraphDebugDotPrint(c, "/nowhere/at/all", 0), "print to nowhere");
	for (unsigned flags = 0; flags < 3; flags++)
		IS(hipGraphCreate(&g, flags), "create with flags %u", flags);
}

static void executing(void)
{
	hipGraph_t g;
	hipGraphNode_t n, m;
	hipGraphExec_t x = 0, y = 0;
	hipStream_t s;
	MUST(hipStreamCreate(&s));
	MUST(hipGraphCreate(&g, 0));
	IS(hipGraphInstantiate(&x, g, 0, 0, 0), "instantiate an empty one");
	IS(hipGraphLaunch(x, s), "launch an empty one");
	IS(hipStreamSynchronize(s), "synchronize an empty one");
	hipMemsetParams p = fill(device, 1, 64, 1);
	MUST(hipGraphAddMemsetNode(&n, g, 0, 0, &p));
	hipHostNodeParams h = {nothing, 0};
	MUST(hipGraphAddHostNode(&m, g, &n, 1, &h));
	for (int flags = -1; flags < 17; flags++) {
		hipGraphExec_t z = 0;
		unsigned long long says = 99;
		if (!begin("instantiate with flags %d", flags))
			continue;
		hipError_t e = hipGraphInstantiateWithFlags(&z, g, (unsigned long long)flags);
		hipError_t f = e == hipSuccess ? hipGraphExecGetFlags(z, &says) : hipErrorUnknown;
		answer("%s; flags %s %llu", hipGetErrorName(e), hipGetErrorName(f), says);
	}
	for (int flags = 0; flags < 9; flags++) {
		hipGraphExec_t z = 0;
		hipGraphInstantiateParams ip = {.flags = (unsigned long long)flags, .result_out = (hipGraphInstantiateResult)99, .uploadStream = s};
		if (!begin("instantiate with params, flags %d", flags))
			continue;
		hipError_t e = hipGraphInstantiateWithParams(&z, g, &ip);
		answer("%s, result %d, node %s", hipGetErrorName(e), ip.result_out, ip.errNode_out ? "one" : "none");
	}
	IS(hipGraphInstantiate(&y, g, 0, 0, 0), "instantiate");
	IS(hipGraphUpload(y, s), "upload");
	IS(hipGraphLaunch(y, s), "launch");
	IS(hipGraphLaunch(y, s), "launch again");
	IS(hipGraphLaunch(y, 0), "launch on null");
	IS(hipGraphLaunch(y, hipStreamPerThread), "launch on per thread");
	IS(hipStreamSynchronize(s), "synchronize");
	IS(hipDeviceSynchronize(), "synchronize the device");
	unsigned on = 99;
	IS(hipGraphNodeGetEnabled(y, n, &on), "enabled, memset");
	SAW("memset is enabled", "%u", on);
	IS(hipGraphNodeGetEnabled(y, m, &on), "enabled, host");
	for (unsigned v = 0; v < 3; v++)
		IS(hipGraphNodeSetEnabled(y, n, v), "enable memset %u", v);
	IS(hipGraphNodeSetEnabled(y, m, 0), "disable host");
	p = fill(device, 1, 32, 1);
	IS(hipGraphExecMemsetNodeSetParams(y, n, &p), "set memset, shorter");
	p = fill(device, 1, 128, 1);
	IS(hipGraphExecMemsetNodeSetParams(y, n, &p), "set memset, longer");
	p = fill(device, 1, 64, 2);
	IS(hipGraphExecMemsetNodeSetParams(y, n, &p), "set memset, 2-D");
	p = fill(0, 1, 64, 1);
	IS(hipGraphExecMemsetNodeSetParams(y, n, &p), "set memset, null");
	p = fill(device, 4, 16, 1);
	IS(hipGraphExecMemsetNodeSetParams(y, n, &p), "set memset, other elements");
	IS(hipGraphExecMemsetNodeSetParams(y, m, &p), "set memset of a host node");
	IS(hipGraphMemsetNodeSetParams(m, &p), "set memset of a host node in the graph");
	IS(hipGraphExecHostNodeSetParams(y, n, &h), "set host of a memset node");
	IS(hipGraphHostNodeSetParams(n, &h), "set host of a memset node in the graph");
	IS(hipGraphHostNodeGetParams(n, &h), "get host of a memset node");
	IS(hipGraphMemsetNodeGetParams(m, &p), "get memset of a host node");
	hipKernelNodeParams kp;
	IS(hipGraphKernelNodeGetParams(n, &kp), "get kernel of a memset node");
	hipGraph_t child;
	IS(hipGraphChildGraphNodeGetGraph(n, &child), "get child of a memset node");
	hipEvent_t ev;
	IS(hipGraphEventRecordNodeGetEvent(n, &ev), "get record of a memset node");
	IS(hipGraphEventWaitNodeGetEvent(n, &ev), "get wait of a memset node");
	hipMemcpy3DParms mp;
	IS(hipGraphMemcpyNodeGetParams(n, &mp), "get copy of a memset node");
	hipMemAllocNodeParams ap;
	IS(hipGraphMemAllocNodeGetParams(n, &ap), "get alloc of a memset node");
	void *fp;
	IS(hipGraphMemFreeNodeGetParams(n, &fp), "get free of a memset node");
	IS(hipGraphDestroy(g), "destroy the graph");
	IS(hipGraphLaunch(y, s), "launch after that");
	IS(hipStreamSynchronize(s), "synchronize after that");
	IS(hipGraphExecDestroy(y), "destroy");
	IS(hipGraphExecDestroy(y), "destroy again");
	IS(hipGraphLaunch(y, s), "launch none");
}

static void memory_nodes(void)
{
	hipGraph_t g, c = 0;
	hipGraphNode_t n, f;
	hipGraphExec_t x = 0, y = 0;
	hipMemAllocNodeParams a = {.poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}}, .bytesize = 1 << 20};
	MUST(hipGraphCreate(&g, 0));
	MUST(hipGraphAddMemAllocNode(&n, g, 0, 0, &a));
	IS(hipGraphClone(&c, g), "clone one with memory");
	IS(hipGraphDestroyNode(n), "destroy an alloc node");
	hipGraphNode_t child;
	hipGraph_t outer;
	MUST(hipGraphCreate(&outer, 0));
	IS(hipGraphAddChildGraphNode(&child, outer, 0, 0, g), "child with memory");
	IS(hipGraphInstantiate(&x, g, 0, 0, 0), "instantiate one with memory");
	IS(hipGraphInstantiate(&y, g, 0, 0, 0), "instantiate it twice");
	IS(hipGraphLaunch(x, 0), "launch one with memory");
	IS(hipGraphLaunch(x, 0), "launch it again, not freed");
	IS(hipFreeAsync(a.dptr, 0), "free its memory");
	IS(hipGraphLaunch(x, 0), "launch it again, freed");
	IS(hipFree(a.dptr), "hipFree its memory");
	IS(hipDeviceSynchronize(), "synchronize");
	IS(hipGraphAddMemFreeNode(&f, g, &n, 1, a.dptr), "free node");
	IS(hipGraphAddMemFreeNode(&f, g, &n, 1, a.dptr), "free node again");
	IS(hipGraphExecDestroy(x), "destroy the executable");
	for (int at = -1; at < 5; at++) {
		uint64_t v = 99;
		if (begin("memory attribute %d", at)) {
			hipError_t e = hipDeviceGetGraphMemAttribute(0, (hipGraphMemAttributeType)at, &v);
			answer("%s, %s", hipGetErrorName(e), v == 99 ? "untouched" : v ? "some" : "0");
		}
		v = 0;
		IS(hipDeviceSetGraphMemAttribute(0, (hipGraphMemAttributeType)at, &v), "set memory attribute %d to 0", at);
		v = 5;
		IS(hipDeviceSetGraphMemAttribute(0, (hipGraphMemAttributeType)at, &v), "set memory attribute %d to 5", at);
	}
	IS(hipDeviceGraphMemTrim(0), "trim");
	IS(hipDeviceGraphMemTrim(77), "trim of no device");
}

void graph(void)
{
	hipGraph_t g;
	MUST(hipMalloc(&device, 4096));
	MUST(hipGraphCreate(&g, 0));
	adding(g);
	edges();
	executing();
	memory_nodes();
}

static const char *result(hipGraphExec_t x, hipGraph_t g)
{
	static char s[128];
	hipGraphNode_t at = 0;
	hipGraphExecUpdateResult r = (hipGraphExecUpdateResult)99;
	hipError_t e = hipGraphExecUpdate(x, g, &at, &r);
	snprintf(s, sizeof s, "%s, %d, %s", hipGetErrorName(e), r, at ? "a node" : "none");
	return s;
}

/* made is a graph by its kinds: m memset, M a longer one, c copy, h host, e empty, k kernel, K another kernel, b a bigger grid, s a child, a record. A later
 * letter depends on the one before it, unless a comma stands between them. */
static hipGraph_t made(const char *kinds)
{
	static hipFunction_t f, f2;
	static void *args[5];
	static int zero;
	static uint64_t offset;
	if (!f) {
		f = kernel("vector_add", "vector_add");
		f2 = kernel("fault", "store_at");
		args[0] = args[1] = args[2] = &device;
		args[3] = &zero;
	}
	hipGraph_t g, o;
	hipGraphNode_t n = 0, last = 0;
	hipEvent_t ev;
	MUST(hipGraphCreate(&g, 0));
	for (const char *k = kinds; *k; k++) {
		hipMemsetParams p = fill(device, 1, *k == 'M' ? 128 : 64, 1);
		hipHostNodeParams h = {nothing, 0};
		hipKernelNodeParams kp = {.func = f, .gridDim = {*k == 'b' ? 4 : 1, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args};
		static void *other[3];
		other[0] = &device, other[1] = &offset, other[2] = &zero;
		size_t d = last != 0;
		switch (*k) {
		case ',': last = 0; continue;
		case 'm': case 'M': MUST(hipGraphAddMemsetNode(&n, g, &last, d, &p)); break;
		case 'c': MUST(hipGraphAddMemcpyNode1D(&n, g, &last, d, device, host, 64, hipMemcpyHostToDevice)); break;
		case 'd': MUST(hipGraphAddMemcpyNode1D(&n, g, &last, d, device, (char *)device + 64, 64, hipMemcpyDeviceToDevice)); break;
		case 'h': MUST(hipGraphAddHostNode(&n, g, &last, d, &h)); break;
		case 'e': MUST(hipGraphAddEmptyNode(&n, g, &last, d)); break;
		case 'K': kp.func = f2, kp.kernelParams = other; /* fall through */
		case 'b': case 'k': MUST(hipGraphAddKernelNode(&n, g, &last, d, &kp)); break;
		case 's': MUST(hipGraphCreate(&o, 0)); MUST(hipGraphAddMemsetNode(&n, o, 0, 0, &p)); MUST(hipGraphAddChildGraphNode(&n, g, &last, d, o)); break;
		case 'S': MUST(hipGraphCreate(&o, 0)); MUST(hipGraphAddEmptyNode(&n, o, 0, 0)); MUST(hipGraphAddChildGraphNode(&n, g, &last, d, o)); break;
		case 'a': MUST(hipEventCreate(&ev)); MUST(hipGraphAddEventRecordNode(&n, g, &last, d, ev)); break;
		}
		last = n;
	}
	return g;
}

void graph_update(void)
{
	static const char *const kinds[] = {"", "m", "M", "c", "d", "h", "e", "k", "K", "b", "s", "S", "a", "mm", "m,m", "mh", "hm", "mmh", "m,mh", "kk", "k,k"};
	const int n = sizeof kinds / sizeof *kinds;
	MUST(hipMalloc(&device, 4096));
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			char what[64];
			snprintf(what, sizeof what, "\"%s\" to \"%s\"", kinds[i], kinds[k]);
			if (!begin("%s", what))
				continue;
			hipGraph_t g = made(kinds[i]), h = made(kinds[k]);
			hipGraphExec_t x = 0;
			if (hipGraphInstantiate(&x, g, 0, 0, 0) != hipSuccess) {
				answer("not instantiated");
				continue;
			}
			answer("%s", result(x, h));
		}
	hipGraph_t g = made("m");
	hipGraphExec_t x;
	MUST(hipGraphInstantiate(&x, g, 0, 0, 0));
	hipGraphNode_t at;
	hipGraphExecUpdateResult r;
	IS(hipGraphExecUpdate(x, g, 0, &r), "no place for the node");
	IS(hipGraphExecUpdate(x, g, &at, 0), "no place for the result");
	IS(hipGraphExecUpdate(0, g, &at, &r), "nothing to update");
	IS(hipGraphExecUpdate(x, 0, &at, &r), "no graph");
}
