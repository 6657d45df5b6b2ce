/* The nodes that the driver API makes, and batches of memory operations: what
 * they are told, what they say of themselves, and what a launch does. */
#include "test.h"

enum { WIDTH = 64, HEIGHT = 8, DEPTH = 4, BOX = WIDTH * HEIGHT * DEPTH };

static hipStream_t s;
static hipCtx_t ctx;

static void run(hipGraph_t g)
{
	hipGraphExec_t e;
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	CHECK(hipGraphExecDestroy(e));
}

static void launch(hipGraphExec_t e)
{
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
}

/* from and to are a copy of the box between packed host memory and rows that
 * are pitch bytes apart on the device. */
static HIP_MEMCPY3D from(unsigned char *host, void *device, size_t pitch)
{
	HIP_MEMCPY3D p;
	memset(&p, 0, sizeof p);
	p.srcMemoryType = hipMemoryTypeDevice;
	p.srcDevice = device;
	p.srcPitch = pitch;
	p.srcHeight = HEIGHT;
	p.dstMemoryType = hipMemoryTypeHost;
	p.dstHost = host;
	p.dstPitch = WIDTH;
	p.dstHeight = HEIGHT;
	p.WidthInBytes = WIDTH;
	p.Height = HEIGHT;
	p.Depth = DEPTH;
	return p;
}

static HIP_MEMCPY3D to(void *device, size_t pitch, const unsigned char *host)
{
	HIP_MEMCPY3D p;
	memset(&p, 0, sizeof p);
	p.srcMemoryType = hipMemoryTypeHost;
	p.srcHost = host;
	p.srcPitch = WIDTH;
	p.srcHeight = HEIGHT;
	p.dstMemoryType = hipMemoryTypeDevice;
	p.dstDevice = device;
	p.dstPitch = pitch;
	p.dstHeight = HEIGHT;
	p.WidthInBytes = WIDTH;
	p.Height = HEIGHT;
	p.Depth = DEPTH;
	return p;
}

static void copies(void)
{
	static unsigned char in[BOX], other[BOX], out[BOX], rows[2 * BOX];
	HIP_MEMCPY3D p, q, got, half;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t up, down, twin;
	hipGraphNodeType type;
	void *d;
	for (int i = 0; i < BOX; i++) {
		in[i] = (unsigned char)(i * 7);
		other[i] = (unsigned char)(i * 11 + 5);
	}
	CHECK(hipMalloc(&d, 2 * BOX));
	CHECK(hipMemset(d, 0xee, 2 * BOX));
	p = to(d, 2 * WIDTH, in);
	q = from(out, d, 2 * WIDTH);
	CHECK(hipGraphCreate(&g, 0));
	EXPECT(hipDrvGraphAddMemcpyNode(NULL, g, NULL, 0, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemcpyNode(&up, NULL, NULL, 0, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemcpyNode(&up, g, NULL, 1, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemcpyNode(&up, g, NULL, 0, NULL, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemcpyNode(&up, g, NULL, 0, &p, NULL), hipErrorInvalidValue);
	CHECK(hipDrvGraphAddMemcpyNode(&up, g, NULL, 0, &p, ctx));
	CHECK(hipDrvGraphAddMemcpyNode(&down, g, &up, 1, &q, ctx));
	CHECK(hipGraphNodeGetType(up, &type));
	ASSERT(type == hipGraphNodeTypeMemcpy);
	memset(&got, 0x55, sizeof got);
	CHECK(hipDrvGraphMemcpyNodeGetParams(up, &got));
	ASSERT(got.srcHost == in && got.dstDevice == d && got.dstPitch == 2 * WIDTH && got.Depth == DEPTH && got.srcMemoryType == hipMemoryTypeHost);
	EXPECT(hipDrvGraphMemcpyNodeGetParams(up, NULL), hipErrorInvalidValue);
	EXPECT(hipDrvGraphMemcpyNodeGetParams(NULL, &got), hipErrorInvalidValue);
	run(g);
	ASSERT(memcmp(in, out, BOX) == 0);
	CHECK(hipMemcpy(rows, d, 2 * BOX, hipMemcpyDeviceToHost));
	for (int i = 0; i < HEIGHT * DEPTH; i++) /* what lies between the rows is as it was */
		ASSERT(memcmp(rows + 2 * WIDTH * i, in + WIDTH * i, WIDTH) == 0 && rows[2 * WIDTH * i + WIDTH] == 0xee && rows[2 * WIDTH * (i + 1) - 1] == 0xee);

	/* the graph's node, and the executable graph's by itself */
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	p.srcHost = other;
	CHECK(hipDrvGraphMemcpyNodeSetParams(up, &p));
	CHECK(hipDrvGraphMemcpyNodeGetParams(up, &got));
	ASSERT(got.srcHost == other);
	EXPECT(hipDrvGraphMemcpyNodeSetParams(up, NULL), hipErrorInvalidValue);
	EXPECT(hipDrvGraphMemcpyNodeSetParams(NULL, &p), hipErrorInvalidValue);
	launch(e);
	ASSERT(memcmp(in, out, BOX) == 0);
	run(g);
	ASSERT(memcmp(other, out, BOX) == 0);
	half = p;
	half.Depth = DEPTH / 2;
	half.srcHost = in;
	CHECK(hipMemset(d, 0, 2 * BOX));
	CHECK(hipDrvGraphExecMemcpyNodeSetParams(e, up, &half, ctx));
	launch(e);
	ASSERT(memcmp(in, out, BOX / 2) == 0 && out[BOX / 2] == 0 && out[BOX - 1] == 0);
	CHECK(hipDrvGraphMemcpyNodeGetParams(up, &got));
	ASSERT(got.srcHost == other && got.Depth == DEPTH);
	EXPECT(hipDrvGraphExecMemcpyNodeSetParams(e, up, NULL, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphExecMemcpyNodeSetParams(NULL, up, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphExecMemcpyNodeSetParams(e, NULL, &p, ctx), hipErrorInvalidValue);
	p.srcHost = NULL;
	EXPECT(hipDrvGraphExecMemcpyNodeSetParams(e, up, &p, ctx), hipErrorInvalidValue);
	p.srcHost = other;
	CHECK(hipDrvGraphExecMemcpyNodeSetParams(e, up, &p, ctx));
	launch(e);
	ASSERT(memcmp(other, out, BOX) == 0);
	/* a clone has the same parameters */
	hipGraph_t clone;
	CHECK(hipGraphClone(&clone, g));
	CHECK(hipGraphNodeFindInClone(&twin, up, clone));
	CHECK(hipDrvGraphMemcpyNodeGetParams(twin, &got));
	ASSERT(got.srcHost == other && got.dstDevice == d);
	CHECK(hipGraphDestroy(clone));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
}

static void sets(void)
{
	static unsigned short out[WIDTH * HEIGHT];
	HIP_MEMSET_NODE_PARAMS p;
	hipMemsetParams got;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t n;
	hipGraphNodeType type;
	void *d;
	CHECK(hipMalloc(&d, sizeof out));
	CHECK(hipMemset(d, 0, sizeof out));
	memset(&p, 0, sizeof p);
	p.dst = d;
	p.pitch = WIDTH * 2;
	p.value = 0x1234;
	p.elementSize = 2;
	p.width = WIDTH / 2;
	p.height = HEIGHT;
	CHECK(hipGraphCreate(&g, 0));
	EXPECT(hipDrvGraphAddMemsetNode(NULL, g, NULL, 0, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemsetNode(&n, NULL, NULL, 0, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemsetNode(&n, g, NULL, 1, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemsetNode(&n, g, NULL, 0, NULL, ctx), hipErrorInvalidValue);
	p.elementSize = 3;
	EXPECT(hipDrvGraphAddMemsetNode(&n, g, NULL, 0, &p, ctx), hipErrorInvalidValue);
	p.elementSize = 2;
	CHECK(hipDrvGraphAddMemsetNode(&n, g, NULL, 0, &p, ctx));
	CHECK(hipGraphNodeGetType(n, &type));
	ASSERT(type == hipGraphNodeTypeMemset);
	CHECK(hipGraphMemsetNodeGetParams(n, &got));
	ASSERT(got.dst == d && got.value == 0x1234 && got.elementSize == 2 && got.width == WIDTH / 2 && got.height == HEIGHT && got.pitch == WIDTH * 2);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	launch(e);
	CHECK(hipMemcpy(out, d, sizeof out, hipMemcpyDeviceToHost));
	for (int i = 0; i < HEIGHT; i++)
		ASSERT(out[WIDTH * i] == 0x1234 && out[WIDTH * i + WIDTH / 2 - 1] == 0x1234 && out[WIDTH * i + WIDTH / 2] == 0);
	p.value = 0x4321;
	CHECK(hipDrvGraphExecMemsetNodeSetParams(e, n, &p, ctx));
	launch(e);
	CHECK(hipMemcpy(out, d, sizeof out, hipMemcpyDeviceToHost));
	ASSERT(out[0] == 0x4321 && out[WIDTH * HEIGHT - WIDTH / 2 - 1] == 0x4321 && out[WIDTH * HEIGHT - 1] == 0);
	EXPECT(hipDrvGraphExecMemsetNodeSetParams(e, n, NULL, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphExecMemsetNodeSetParams(NULL, n, &p, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphExecMemsetNodeSetParams(e, NULL, &p, ctx), hipErrorInvalidValue);
	p.dst = NULL;
	EXPECT(hipDrvGraphExecMemsetNodeSetParams(e, n, &p, ctx), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
}

static uint64_t memory_figure(hipGraphMemAttributeType a)
{
	uint64_t v = 1;
	CHECK(hipDeviceGetGraphMemAttribute(0, a, &v));
	return v;
}

/* memory that a graph allocates, uses and frees. */
static void memory(void)
{
	static unsigned char out[4096];
	hipMemAllocNodeParams p;
	hipMemsetParams m;
	hipGraph_t g;
	hipGraphNode_t a, b, c, f;
	uint64_t zero = 0, one = 1;
	memset(&p, 0, sizeof p);
	p.bytesize = sizeof out;
	p.poolProps.allocType = hipMemAllocationTypePinned;
	p.poolProps.location.type = hipMemLocationTypeDevice;
	CHECK(hipGraphCreate(&g, 0));
	CHECK(hipGraphAddMemAllocNode(&a, g, NULL, 0, &p));
	memset(&m, 0, sizeof m);
	m.dst = p.dptr;
	m.elementSize = 1;
	m.width = sizeof out;
	m.height = 1;
	m.value = 0x5a;
	CHECK(hipGraphAddMemsetNode(&b, g, &a, 1, &m));
	CHECK(hipGraphAddMemcpyNode1D(&c, g, &b, 1, out, p.dptr, sizeof out, hipMemcpyDeviceToHost));
	EXPECT(hipDrvGraphAddMemFreeNode(NULL, g, &c, 1, p.dptr), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemFreeNode(&f, NULL, &c, 1, p.dptr), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemFreeNode(&f, g, NULL, 1, p.dptr), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemFreeNode(&f, g, &c, 0, p.dptr), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemFreeNode(&f, g, &c, 1, NULL), hipErrorInvalidValue);
	CHECK(hipDrvGraphAddMemFreeNode(&f, g, &c, 1, p.dptr));
	EXPECT(hipDrvGraphAddMemFreeNode(&f, g, &c, 1, p.dptr), hipErrorInvalidValue); /* again */
	run(g);
	ASSERT(out[0] == 0x5a && out[sizeof out - 1] == 0x5a);
	ASSERT(memory_figure(hipGraphMemAttrUsedMemCurrent) == 0);
	ASSERT(memory_figure(hipGraphMemAttrUsedMemHigh) >= sizeof out);

	/* The highest values begin again, at what there is now. */
	CHECK(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &zero));
	ASSERT(memory_figure(hipGraphMemAttrUsedMemHigh) == 0);
	CHECK(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrReservedMemHigh, &zero));
	EXPECT(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &one), hipErrorInvalidValue);
	EXPECT(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &zero), hipErrorInvalidValue);
	EXPECT(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrReservedMemCurrent, &zero), hipErrorInvalidValue);
	EXPECT(hipDeviceSetGraphMemAttribute(0, (hipGraphMemAttributeType)99, &zero), hipErrorInvalidValue);
	EXPECT(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, NULL), hipErrorInvalidValue);
	EXPECT(hipDeviceSetGraphMemAttribute(-1, hipGraphMemAttrUsedMemHigh, &zero), hipErrorInvalidDevice);
	EXPECT(hipDeviceSetGraphMemAttribute(1000, hipGraphMemAttrUsedMemHigh, &zero), hipErrorInvalidDevice);
	CHECK(hipGraphDestroy(g));
	CHECK(hipDeviceGraphMemTrim(0));
}

static hipStreamBatchMemOpParams operation(hipStreamBatchMemOpType type, void *p, uint64_t value, unsigned int flags)
{
	hipStreamBatchMemOpParams o;
	memset(&o, 0, sizeof o);
	o.pad[0] = type;
	o.pad[1] = (uint64_t)(uintptr_t)p;
	o.pad[2] = value;
	o.pad[3] = flags;
	return o;
}

/* batches of memory operations. */
static void batches(void)
{
	hipStreamBatchMemOpParams ops[257];
	hipBatchMemOpNodeParams p, got;
	hipGraph_t g;
	hipGraphExec_t e;
	hipGraphNode_t n, m;
	hipGraphNodeType type;
	uint64_t out[2] = {0, 0};
	char *d;
	CHECK(hipMalloc((void **)&d, sizeof out));
	CHECK(hipMemset(d, 0, sizeof out));
	memset(ops, 0, sizeof ops);
	ops[0] = operation(hipStreamMemOpWriteValue32, d, 7, 0);
	ops[1] = operation(hipStreamMemOpWaitValue32, d, 7, hipStreamWaitValueEq);
	ops[2] = operation(hipStreamMemOpWriteValue64, d + 8, 0x100000002, 0);
	memset(&p, 0, sizeof p);
	p.ctx = ctx;
	p.count = 3;
	p.paramArray = ops;
	CHECK(hipGraphCreate(&g, 0));
	EXPECT(hipGraphAddBatchMemOpNode(NULL, g, NULL, 0, &p), hipErrorInvalidValue);
	EXPECT(hipGraphAddBatchMemOpNode(&n, NULL, NULL, 0, &p), hipErrorInvalidValue);
	EXPECT(hipGraphAddBatchMemOpNode(&n, g, NULL, 1, &p), hipErrorInvalidValue);
	EXPECT(hipGraphAddBatchMemOpNode(&n, g, NULL, 0, NULL), hipErrorInvalidValue);
	for (int wrong = 0; wrong < 5; wrong++) {
		hipBatchMemOpNodeParams q = p;
		switch (wrong) {
		case 0: q.count = 0; break;
		case 1: q.count = 257; break;
		case 2: q.paramArray = NULL; break;
		case 3: q.flags = 1; break;
		case 4: q.ctx = NULL; break;
		}
		EXPECT(hipGraphAddBatchMemOpNode(&n, g, NULL, 0, &q), hipErrorInvalidValue);
	}
	CHECK(hipGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
	CHECK(hipGraphAddMemcpyNode1D(&m, g, &n, 1, out, d, sizeof out, hipMemcpyDeviceToHost));
	CHECK(hipGraphNodeGetType(n, &type));
	ASSERT(type == hipGraphNodeTypeBatchMemOp);
	memset(&got, 0, sizeof got);
	CHECK(hipGraphBatchMemOpNodeGetParams(n, &got));
	ASSERT(got.count == 3 && got.ctx == ctx && got.flags == 0 && got.paramArray && memcmp(got.paramArray, ops, 3 * sizeof *ops) == 0);
	EXPECT(hipGraphBatchMemOpNodeGetParams(NULL, &got), hipErrorInvalidValue);
	EXPECT(hipGraphBatchMemOpNodeGetParams(n, NULL), hipErrorInvalidValue);
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	launch(e);
	ASSERT((uint32_t)out[0] == 7 && out[1] == 0x100000002);

	ops[2] = operation(hipStreamMemOpWriteValue64, d + 8, 99, 0);
	CHECK(hipGraphBatchMemOpNodeSetParams(n, &p));
	CHECK(hipGraphBatchMemOpNodeGetParams(n, &got));
	ASSERT(got.count == 3 && got.paramArray[2].pad[2] == 99);
	launch(e); /* it has its own */
	ASSERT(out[1] == 0x100000002);
	run(g);
	ASSERT(out[1] == 99);
	ops[0] = operation(hipStreamMemOpWriteValue32, d, 8, 0);
	p.count = 1;
	CHECK(hipGraphExecBatchMemOpNodeSetParams(e, n, &p));
	launch(e);
	ASSERT((uint32_t)out[0] == 8 && out[1] == 99);
	EXPECT(hipGraphBatchMemOpNodeSetParams(NULL, &p), hipErrorInvalidValue);
	EXPECT(hipGraphBatchMemOpNodeSetParams(n, NULL), hipErrorInvalidValue);
	EXPECT(hipGraphExecBatchMemOpNodeSetParams(NULL, n, &p), hipErrorInvalidValue);
	EXPECT(hipGraphExecBatchMemOpNodeSetParams(e, NULL, &p), hipErrorInvalidValue);
	EXPECT(hipGraphExecBatchMemOpNodeSetParams(e, n, NULL), hipErrorInvalidValue);
	/* the host's memory, which it waits for */
	volatile uint64_t *host;
	CHECK(hipHostMalloc((void **)&host, 64, 0));
	*host = 0;
	ops[0] = operation(hipStreamMemOpWriteValue64, (void *)host, 0x500000001, 0);
	CHECK(hipGraphExecBatchMemOpNodeSetParams(e, n, &p));
	launch(e);
	ASSERT(*host == 0x500000001);
	CHECK(hipHostFree((void *)host));
	p.count = 257;
	EXPECT(hipGraphBatchMemOpNodeSetParams(n, &p), hipErrorInvalidValue);
	EXPECT(hipGraphExecBatchMemOpNodeSetParams(e, n, &p), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
}

int main(void)
{
	CHECK(hipInit(0));
	CHECK(hipDevicePrimaryCtxRetain(&ctx, 0));
	CHECK(hipStreamCreate(&s));
	copies();
	sets();
	memory();
	batches();
	CHECK(hipStreamDestroy(s));
	CHECK(hipDevicePrimaryCtxRelease(0));
	return result("graph driver");
}
