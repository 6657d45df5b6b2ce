/* Graph nodes that copy from and to a program's device variables, and the
 * attributes of kernel nodes. */
#include "bundle.h"
#include "test.h"

EMBED(variables);
EMBED(vector_add);

static float coefficients[8]; /* the host's shadow of the device variable */
static uint64_t big_table[64];
static void **numbers;

__attribute__((constructor)) static void register_all(void)
{
	static struct fat_binary f;
	numbers = __hipRegisterFatBinary(fat(&f, variables_gfx90a, variables_gfx942));
	__hipRegisterVar(numbers, coefficients, "coefficients", "coefficients", 0, sizeof coefficients, 1, 0);
	__hipRegisterVar(numbers, big_table, "big_table", "big_table", 0, sizeof big_table, 0, 0);
}

__attribute__((destructor)) static void unregister(void) { __hipUnregisterFatBinary(numbers); }

static hipStream_t s;

static void launch(hipGraphExec_t e)
{
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
}

static void host_copies(void)
{
	static float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, other[8] = {11, 12, 13, 14, 15, 16, 17, 18}, out[8], all[8];
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t up, down;
	hipGraphNodeType type;
	CHECK(hipGraphCreate(&g, 0));
	EXPECT(hipGraphAddMemcpyNodeToSymbol(NULL, g, NULL, 0, coefficients, in, 16, 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, NULL, NULL, 0, coefficients, in, 16, 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 1, coefficients, in, 16, 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, NULL, in, 16, 8, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, in, in, 16, 8, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, coefficients, NULL, 16, 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, coefficients, in, 0, 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, coefficients, in, 32, 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeFromSymbol(&down, g, NULL, 0, out, NULL, 16, 8, hipMemcpyDeviceToHost), hipErrorInvalidSymbol);
	EXPECT(hipGraphAddMemcpyNodeFromSymbol(&down, g, NULL, 0, NULL, coefficients, 16, 8, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeFromSymbol(&down, g, NULL, 0, out, coefficients, 0, 8, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipGraphAddMemcpyNodeFromSymbol(&down, g, NULL, 0, out, coefficients, 16, 24, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	CHECK(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, coefficients, in, 16, 8, hipMemcpyHostToDevice));
	CHECK(hipGraphAddMemcpyNodeFromSymbol(&down, g, &up, 1, out, coefficients, 16, 8, hipMemcpyDeviceToHost));
	CHECK(hipGraphNodeGetType(up, &type));
	ASSERT(type == hipGraphNodeTypeMemcpy);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	launch(e);
	ASSERT(out[0] == 1 && out[3] == 4 && out[4] == 0);
	CHECK(hipMemcpyFromSymbol(all, coefficients, sizeof all, 0, hipMemcpyDeviceToHost));
	ASSERT(all[0] == 1 && all[2] == 1 && all[5] == 4 && all[7] == 11); /* the rest is as the program has it */

	/* the executable graph's node by itself */
	CHECK(hipGraphExecMemcpyNodeSetParamsToSymbol(e, up, coefficients, other, 32, 0, hipMemcpyHostToDevice));
	CHECK(hipGraphExecMemcpyNodeSetParamsFromSymbol(e, down, out, coefficients, 24, 8, hipMemcpyDeviceToHost));
	launch(e);
	ASSERT(out[0] == 13 && out[5] == 18 && out[6] == 0);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(NULL, up, coefficients, other, 32, 0, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(e, NULL, coefficients, other, 32, 0, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(e, up, NULL, other, 32, 0, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(e, up, coefficients, NULL, 32, 0, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(e, up, coefficients, coefficients, 32, 0, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(e, up, coefficients, other, 33, 0, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsToSymbol(e, up, coefficients, other, 32, 0, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsFromSymbol(NULL, down, out, coefficients, 32, 0, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsFromSymbol(e, NULL, out, coefficients, 32, 0, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsFromSymbol(e, down, NULL, coefficients, 32, 0, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsFromSymbol(e, down, out, NULL, 32, 0, hipMemcpyDeviceToHost), hipErrorInvalidSymbol);
	EXPECT(hipGraphExecMemcpyNodeSetParamsFromSymbol(e, down, out, coefficients, 32, 8, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipGraphExecMemcpyNodeSetParamsFromSymbol(e, down, out, coefficients, 32, 0, hipMemcpyHostToDevice), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
}

static void device_copies(void)
{
	uint64_t words[64], out[64];
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t up, down;
	char *d;
	for (int i = 0; i < 64; i++)
		words[i] = (uint64_t)i << 33 | 5;
	CHECK(hipMalloc((void **)&d, 2 * sizeof words));
	CHECK(hipMemcpy(d, words, sizeof words, hipMemcpyHostToDevice));
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemcpyNodeToSymbol(&up, g, NULL, 0, big_table, d, sizeof words, 0, hipMemcpyDeviceToDevice));
	CHECK(hipGraphAddMemcpyNodeFromSymbol(&down, g, &up, 1, d + sizeof words, big_table, sizeof words / 2, 0, hipMemcpyDeviceToDevice));
	CHECK(hipGraphMemcpyNodeSetParamsFromSymbol(down, d + sizeof words, big_table, sizeof words, 0, hipMemcpyDeviceToDevice));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	launch(e);
	CHECK(hipMemcpy(out, d + sizeof words, sizeof out, hipMemcpyDeviceToHost));
	ASSERT(memcmp(out, words, sizeof out) == 0);
	CHECK(hipGraphExecDestroy(e));

	CHECK(hipGraphMemcpyNodeSetParamsToSymbol(up, big_table, d, 8, 16, hipMemcpyDeviceToDevice));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	launch(e);
	CHECK(hipMemcpy(out, d + sizeof words, sizeof out, hipMemcpyDeviceToHost));
	ASSERT(out[1] == words[1] && out[2] == words[0] && out[3] == words[3]);
	EXPECT(hipGraphMemcpyNodeSetParamsToSymbol(up, NULL, d, 8, 16, hipMemcpyDeviceToDevice), hipErrorInvalidSymbol);
	EXPECT(hipGraphMemcpyNodeSetParamsToSymbol(NULL, big_table, d, 8, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParamsToSymbol(up, big_table, NULL, 8, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParamsToSymbol(up, big_table, d, 0, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParamsToSymbol(up, big_table, coefficients, 8, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParamsFromSymbol(down, d, NULL, 8, 16, hipMemcpyDeviceToDevice), hipErrorInvalidSymbol);
	EXPECT(hipGraphMemcpyNodeSetParamsFromSymbol(NULL, d, big_table, 8, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParamsFromSymbol(down, d, big_table, sizeof words, 16, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipGraphMemcpyNodeSetParamsFromSymbol(down, d, big_table, 8, 16, hipMemcpyHostToDevice), hipErrorInvalidMemcpyDirection);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
}

/* attributes of kernel nodes: the last that was set is the one they have. */
static void attributes(void)
{
	static int n = 256;
	static float ones[256], out[256];
	hipLaunchAttributeValue v, got;
	hipKernelNodeParams k;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t a, b, set;
	hipMemsetParams m;
	void *d, *r;
	CHECK(hipMalloc(&d, sizeof ones));
	CHECK(hipMalloc(&r, sizeof ones));
	for (int i = 0; i < n; i++)
		ones[i] = 1;
	CHECK(hipMemcpy(d, ones, sizeof ones, hipMemcpyHostToDevice));
	void *args[] = {&d, &d, &r, &n};
	memset(&k, 0, sizeof k);
	k.func = (void *)kernel(IMAGE(vector_add), "vector_add");
	k.gridDim = (dim3){2, 1, 1};
	k.blockDim = (dim3){128, 1, 1};
	k.kernelParams = args;
	memset(&m, 0, sizeof m);
	m.dst = r;
	m.elementSize = 1;
	m.width = sizeof ones;
	m.height = 1;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemsetNode(&set, g, NULL, 0, &m));
	CHECK(hipGraphAddKernelNode(&a, g, &set, 1, &k));
	CHECK(hipGraphAddKernelNode(&b, g, &a, 1, &k));
	memset(&v, 0, sizeof v);
	memset(&got, 0, sizeof got);
	CHECK(hipGraphKernelNodeGetAttribute(a, hipLaunchAttributeCooperative, &got));
	ASSERT(got.cooperative == 0);
	v.cooperative = 1;
	CHECK(hipGraphKernelNodeSetAttribute(a, hipLaunchAttributeCooperative, &v));
	CHECK(hipGraphKernelNodeGetAttribute(a, hipLaunchAttributeCooperative, &got));
	ASSERT(got.cooperative == 1);
	EXPECT(hipGraphKernelNodeGetAttribute(a, hipLaunchAttributeAccessPolicyWindow, &got), hipErrorInvalidValue);
	CHECK(hipGraphKernelNodeCopyAttributes(a, b));
	memset(&got, 0, sizeof got);
	CHECK(hipGraphKernelNodeGetAttribute(b, hipLaunchAttributeCooperative, &got));
	ASSERT(got.cooperative == 1);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	launch(e);
	CHECK(hipMemcpy(out, r, sizeof out, hipMemcpyDeviceToHost));
	ASSERT(out[0] == 2 && out[n - 1] == 2);

	memset(&v, 0, sizeof v);
	v.accessPolicyWindow.base_ptr = d;
	v.accessPolicyWindow.hitRatio = 0.5f;
	CHECK(hipGraphKernelNodeSetAttribute(b, hipLaunchAttributeAccessPolicyWindow, &v));
	memset(&got, 0, sizeof got);
	CHECK(hipGraphKernelNodeGetAttribute(b, hipLaunchAttributeAccessPolicyWindow, &got));
	ASSERT(got.accessPolicyWindow.base_ptr == d && got.accessPolicyWindow.hitRatio == 0.5f);
	EXPECT(hipGraphKernelNodeCopyAttributes(a, b), hipErrorInvalidContext); /* of another kind */
	v.accessPolicyWindow.hitRatio = 1.5f;
	EXPECT(hipGraphKernelNodeSetAttribute(b, hipLaunchAttributeAccessPolicyWindow, &v), hipErrorInvalidValue);
	v.accessPolicyWindow.hitRatio = 0;
	v.accessPolicyWindow.num_bytes = 64;
	EXPECT(hipGraphKernelNodeSetAttribute(b, hipLaunchAttributeAccessPolicyWindow, &v), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeSetAttribute(NULL, hipLaunchAttributeCooperative, &v), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeSetAttribute(a, (hipLaunchAttributeID)77, &v), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeSetAttribute(a, hipLaunchAttributeCooperative, NULL), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeSetAttribute(set, hipLaunchAttributeCooperative, &v), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeGetAttribute(NULL, hipLaunchAttributeCooperative, &v), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeGetAttribute(a, (hipLaunchAttributeID)77, &v), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeGetAttribute(a, hipLaunchAttributeCooperative, NULL), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeCopyAttributes(NULL, b), hipErrorInvalidValue);
	EXPECT(hipGraphKernelNodeCopyAttributes(a, NULL), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
	CHECK(hipFree(r));
}

int main(void)
{
	CHECK(hipStreamCreate(&s));
	host_copies();
	device_copies();
	attributes();
	CHECK(hipStreamDestroy(s));
	return result("graph symbols");
}
