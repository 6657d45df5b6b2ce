/* Copies to arrays, from arrays and between them as nodes of graphs: added,
 * captured, asked for their parameters and given others. A device without images
 * has no arrays. */
#include "test.h"

enum { W = 12, H = 6, D = 3, ROW = 4 * W }; /* elements of 4 bytes */

static unsigned char in[D][H][ROW], out[D][H][ROW];
static hipStream_t stream;

static void fill(int seed)
{
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < ROW; x++)
				in[z][y][x] = (unsigned char)(z * 83 + y * 29 + x * 3 + seed);
	memset(out, 0, sizeof out);
}

/* same says that out is in; only its first slice if depth is 1. */
static int same(int depth) { return memcmp(in, out, (size_t)depth * sizeof in[0]) == 0 && (depth == D || out[depth][0][0] == 0); }

static hipArray_t array(unsigned depth, unsigned flags)
{
	hipArray_t a = NULL;
	HIP_ARRAY3D_DESCRIPTOR d = {W, H, depth, HIP_AD_FORMAT_SIGNED_INT32, 1, flags};
	CHECK(hipArray3DCreate(&a, &d));
	return a;
}

/* launched makes a graph executable, launches it on a stream and on none, and ends it. */
static void launched(hipGraph_t g)
{
	hipGraphExec_t x;
	CHECK(hipGraphInstantiate(&x, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(x, stream));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipGraphExecDestroy(x));
}

static hipMemcpy3DParms up(hipArray_t a) { return (hipMemcpy3DParms){.srcPtr = {in, ROW, W, H}, .dstArray = a, .extent = {W, H, D}, .kind = hipMemcpyHostToDevice}; }
static hipMemcpy3DParms down(hipArray_t a) { return (hipMemcpy3DParms){.srcArray = a, .dstPtr = {out, ROW, W, H}, .extent = {W, H, D}, .kind = hipMemcpyDeviceToHost}; }

/* Host, array, array, device, array, host: every kind of copy in a chain. */
static void by_hand(void)
{
	hipArray_t a = array(D, 0), b = array(D, hipArrayLayered), c = array(D, 0);
	hipGraph_t g;
	hipGraphNode_t n[5], two[2];
	hipGraphExec_t x;
	void *device;
	CHECK(hipMalloc(&device, sizeof in));
	CHECK(hipGraphCreate(&g, 0));
	hipMemcpy3DParms p[5] = {
		up(a),
		{.srcArray = a, .dstArray = b, .extent = {W, H, D}, .kind = hipMemcpyDeviceToDevice},
		{.srcArray = b, .dstPtr = {device, ROW, W, H}, .extent = {W, H, D}, .kind = hipMemcpyDeviceToDevice},
		{.srcPtr = {device, ROW, W, H}, .dstArray = c, .extent = {W, H, D}, .kind = hipMemcpyDeviceToDevice},
		down(c),
	};
	for (int i = 0; i < 5; i++)
		CHECK(hipGraphAddMemcpyNode(&n[i], g, i ? &n[i - 1] : NULL, i != 0, &p[i]));
	CHECK(hipGraphInstantiate(&x, g, NULL, NULL, 0));
	for (int round = 0; round < 3; round++) {
		fill(round);
		CHECK(hipGraphLaunch(x, stream));
		CHECK(hipStreamSynchronize(stream));
		ASSERT(same(D));
	}

	/* other places: only a part is brought, to another place of the host's */
	hipMemcpy3DParms part = down(c), got;
	part.srcPos = (hipPos){3, 2, 1};
	part.dstPos = (hipPos){4, 1, 0};
	part.extent = (hipExtent){W - 3, H - 2, 2};
	CHECK(hipGraphExecMemcpyNodeSetParams(x, n[4], &part));
	fill(7);
	CHECK(hipGraphLaunch(x, stream));
	CHECK(hipStreamSynchronize(stream));
	for (int z = 0; z < 2; z++)
		for (int y = 0; y < H - 2; y++)
			ASSERT(memcmp(&out[z][y + 1][4], &in[z + 1][y + 2][12], ROW - 12) == 0);
	ASSERT(out[0][0][4] == 0 && out[0][1][3] == 0 && out[2][1][4] == 0);
	/* the graph itself is as it was */
	CHECK(hipGraphMemcpyNodeGetParams(n[4], &got));
	ASSERT(got.srcArray == c && got.dstPtr.ptr == out && got.srcPos.x == 0 && got.extent.width == W && got.extent.depth == D);
	part.kind = hipMemcpyDefault;
	EXPECT(hipGraphExecMemcpyNodeSetParams(x, n[4], &part), hipErrorInvalidValue); /* another direction */
	part.kind = hipMemcpyDeviceToHost;
	part.extent.width = W;
	EXPECT(hipGraphExecMemcpyNodeSetParams(x, n[4], &part), hipErrorInvalidValue); /* beyond the array */
	EXPECT(hipGraphMemcpyNodeSetParams(n[4], &part), hipErrorInvalidValue);
	part.extent.width = W - 3;
	part.srcArray = NULL;
	EXPECT(hipGraphExecMemcpyNodeSetParams(x, n[4], &part), hipErrorInvalidValue); /* from nowhere */

	/* a node set anew, and an update of the executable graph from it */
	hipGraphNode_t at;
	hipGraphExecUpdateResult why;
	part = p[3];
	part.extent.depth = 1;
	CHECK(hipGraphMemcpyNodeSetParams(n[3], &part));
	CHECK(hipGraphMemcpyNodeSetParams(n[4], &p[4]));
	CHECK(hipGraphExecUpdate(x, g, &at, &why));
	ASSERT(why == hipGraphExecUpdateSuccess);
	unsigned char before[H][ROW];
	memcpy(before, in[1], sizeof before);
	fill(9);
	CHECK(hipGraphLaunch(x, stream));
	CHECK(hipStreamSynchronize(stream));
	ASSERT(memcmp(out[0], in[0], sizeof in[0]) == 0 && memcmp(out[1], before, sizeof before) == 0);
	CHECK(hipGraphExecDestroy(x));

	/* a clone, and what cannot be added */
	hipGraph_t clone;
	CHECK(hipGraphMemcpyNodeSetParams(n[3], &p[3]));
	CHECK(hipGraphClone(&clone, g));
	CHECK(hipGraphDestroy(g));
	fill(11);
	launched(clone);
	ASSERT(same(D));
	hipMemcpy3DParms bad = up(a);
	bad.srcArray = b;
	EXPECT(hipGraphAddMemcpyNode(two, clone, NULL, 0, &bad), hipErrorInvalidValue); /* two sources */
	bad = up(a);
	bad.dstPos.y = 1;
	EXPECT(hipGraphAddMemcpyNode(two, clone, NULL, 0, &bad), hipErrorInvalidValue); /* beyond the array */
	bad = up(a);
	bad.kind = (hipMemcpyKind)77;
	EXPECT(hipGraphAddMemcpyNode(two, clone, NULL, 0, &bad), hipErrorInvalidMemcpyDirection);
	CHECK(hipGraphDestroy(clone));
	CHECK(hipFree(device));
	CHECK(hipArrayDestroy(a));
	CHECK(hipArrayDestroy(b));
	CHECK(hipArrayDestroy(c));
}

/* The driver's nodes, whose places are in bytes. */
static void drivers(void)
{
	hipArray_t a = array(0, 0), b = array(0, 0);
	hipGraph_t g;
	hipGraphExec_t x;
	hipGraphNode_t n[4];
	hipCtx_t ctx;
	void *device;
	CHECK(hipCtxGetCurrent(&ctx));
	if (!ctx)
		CHECK(hipDevicePrimaryCtxRetain(&ctx, 0));
	CHECK(hipMalloc(&device, sizeof in));
	CHECK(hipGraphCreate(&g, 0));
	HIP_MEMCPY3D p[4] = {
		{.srcMemoryType = hipMemoryTypeHost, .srcHost = in, .srcPitch = ROW, .dstMemoryType = hipMemoryTypeArray, .dstArray = a, .WidthInBytes = ROW, .Height = H, .Depth = 1},
		{.srcMemoryType = hipMemoryTypeArray, .srcArray = a, .dstMemoryType = hipMemoryTypeDevice, .dstDevice = device, .dstPitch = ROW, .WidthInBytes = ROW, .Height = H, .Depth = 1},
		{.srcMemoryType = hipMemoryTypeDevice, .srcDevice = device, .srcPitch = ROW, .dstMemoryType = hipMemoryTypeArray, .dstArray = b, .WidthInBytes = ROW, .Height = H, .Depth = 1},
		{.srcMemoryType = hipMemoryTypeArray, .srcArray = b, .dstMemoryType = hipMemoryTypeHost, .dstHost = out, .dstPitch = ROW, .WidthInBytes = ROW, .Height = H, .Depth = 1},
	}, got;
	for (int i = 0; i < 4; i++)
		CHECK(hipDrvGraphAddMemcpyNode(&n[i], g, i ? &n[i - 1] : NULL, i != 0, &p[i], ctx));
	CHECK(hipDrvGraphMemcpyNodeGetParams(n[2], &got));
	ASSERT(got.srcDevice == device && got.dstArray == b && got.WidthInBytes == ROW && got.dstMemoryType == hipMemoryTypeArray);
	CHECK(hipGraphInstantiate(&x, g, NULL, NULL, 0));
	fill(21);
	CHECK(hipGraphLaunch(x, stream));
	CHECK(hipStreamSynchronize(stream));
	ASSERT(same(1));
	/* the last but one goes two elements and a row further, and its direction may change */
	got.dstXInBytes = 8;
	got.dstY = 1;
	got.WidthInBytes = ROW - 8;
	got.Height = H - 1;
	CHECK(hipDrvGraphExecMemcpyNodeSetParams(x, n[2], &got, ctx));
	fill(22);
	unsigned char corner = (unsigned char)(21 + 3);
	CHECK(hipGraphLaunch(x, stream));
	CHECK(hipStreamSynchronize(stream));
	ASSERT(out[0][0][1] == corner); /* of the launch before */
	for (int y = 1; y < H; y++)
		ASSERT(memcmp(&out[0][y][8], in[0][y - 1], ROW - 8) == 0);
	got.Height = H;
	EXPECT(hipDrvGraphExecMemcpyNodeSetParams(x, n[2], &got, ctx), hipErrorInvalidValue);
	EXPECT(hipDrvGraphMemcpyNodeSetParams(n[2], &got), hipErrorInvalidValue);
	EXPECT(hipDrvGraphAddMemcpyNode(&n[3], g, NULL, 0, &got, ctx), hipErrorInvalidValue);
	CHECK(hipGraphExecDestroy(x));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(device));
	CHECK(hipArrayDestroy(a));
	CHECK(hipArrayDestroy(b));
}

/* What a stream is told while it captures. */
static void captured(void)
{
	hipArray_t a = array(0, 0), c = array(D, 0);
	hipGraph_t g;
	hipGraphExec_t x;
	hipGraphNode_t n[4];
	size_t count = 4;
	void *device;
	hipMemcpy3DParms p, to = up(c), from = down(c);
	CHECK(hipMalloc(&device, sizeof in[0]));
	CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	CHECK(hipMemcpy2DToArrayAsync(a, 4, 1, in, ROW, ROW - 4, H - 1, hipMemcpyHostToDevice, stream));
	CHECK(hipMemcpy2DFromArrayAsync(device, ROW, a, 4, 1, ROW - 4, H - 1, hipMemcpyDeviceToDevice, stream));
	CHECK(hipMemcpy2DAsync(out, ROW, device, ROW, ROW - 4, H - 1, hipMemcpyDeviceToHost, stream));
	CHECK(hipStreamEndCapture(stream, &g));
	fill(31);
	launched(g);
	for (int y = 0; y < H; y++)
		for (int b = 0; b < ROW; b++)
			ASSERT(out[0][y][b] == (y < H - 1 && b < ROW - 4 ? in[0][y][b] : 0));
	CHECK(hipGraphGetNodes(g, n, &count));
	ASSERT(count == 3);
	CHECK(hipGraphMemcpyNodeGetParams(n[0], &p));
	ASSERT(p.dstArray == a && p.srcArray == NULL && p.srcPtr.ptr == in && p.srcPtr.pitch == ROW && p.dstPos.x == 1 && p.dstPos.y == 1);
	ASSERT(p.extent.width == W - 1 && p.extent.height == H - 1 && p.extent.depth == 1 && p.kind == hipMemcpyHostToDevice);
	/* and the same parameters again, with another source */
	p.srcPtr.ptr = in[1];
	CHECK(hipGraphInstantiate(&x, g, NULL, NULL, 0));
	CHECK(hipGraphExecMemcpyNodeSetParams(x, n[0], &p));
	CHECK(hipGraphLaunch(x, stream));
	CHECK(hipStreamSynchronize(stream));
	ASSERT(memcmp(out[0][2], in[1][2], ROW - 4) == 0);
	CHECK(hipGraphExecDestroy(x));
	CHECK(hipGraphDestroy(g));

	CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	CHECK(hipMemcpyHtoAAsync(a, 8, in[2], 20, stream));
	CHECK(hipMemcpyAtoHAsync(out[1], a, 8, 20, stream));
	CHECK(hipMemcpy3DAsync(&to, stream));
	CHECK(hipStreamEndCapture(stream, &g));
	fill(32);
	launched(g);
	ASSERT(memcmp(out[1], in[2], 20) == 0 && out[1][0][20] == 0);
	CHECK(hipMemcpy3D(&from));
	ASSERT(same(D));
	CHECK(hipGraphDestroy(g));

	/* what is wrong with a copy is said when it is captured */
	CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	EXPECT(hipMemcpy2DToArrayAsync(a, 8, 1, in, ROW, ROW - 4, H - 1, hipMemcpyHostToDevice, stream), hipErrorInvalidValue);
	CHECK(hipStreamEndCapture(stream, &g));
	count = 4;
	CHECK(hipGraphGetNodes(g, NULL, &count));
	ASSERT(count == 0);
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(device));
	CHECK(hipArrayDestroy(a));
	CHECK(hipArrayDestroy(c));
}

/* Volumes without arrays go the same ways, with images or without. */
static void volumes(void)
{
	hipGraph_t g;
	hipGraphNode_t n[3];
	size_t count = 3;
	hipMemcpy3DParms p;
	void *a, *b;
	CHECK(hipMalloc(&a, sizeof in));
	CHECK(hipMalloc(&b, sizeof in));
	hipMemcpy3DParms to = {.srcPtr = {in, ROW, ROW, H}, .dstPtr = {a, ROW, ROW, H}, .extent = {ROW, H, D}, .kind = hipMemcpyHostToDevice};
	hipMemcpy3DParms over = {.srcPtr = {a, ROW, ROW, H}, .dstPtr = {b, ROW, ROW, H}, .extent = {ROW - 4, H - 1, D}, .kind = hipMemcpyDeviceToDevice};
	hipMemcpy3DParms from = {.srcPtr = {b, ROW, ROW, H}, .dstPtr = {out, ROW, ROW, H}, .extent = {ROW - 4, H - 1, D}, .kind = hipMemcpyDeviceToHost};
	CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	CHECK(hipMemcpy3DAsync(&to, stream));
	CHECK(hipMemcpy3DAsync(&over, stream));
	CHECK(hipMemcpy3DAsync(&from, stream));
	CHECK(hipStreamEndCapture(stream, &g));
	fill(41);
	launched(g);
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < ROW; x++)
				ASSERT(out[z][y][x] == (y < H - 1 && x < ROW - 4 ? in[z][y][x] : 0));
	CHECK(hipGraphGetNodes(g, n, &count));
	CHECK(hipGraphMemcpyNodeGetParams(n[1], &p));
	ASSERT(count == 3 && p.srcPtr.ptr == a && p.dstPtr.ptr == b && p.srcPtr.pitch == ROW && p.srcPtr.ysize == H && p.extent.width == ROW - 4 &&
		p.extent.height == H - 1 && p.extent.depth == D && p.kind == hipMemcpyDeviceToDevice);
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
}

int main(void)
{
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	CHECK(hipStreamCreate(&stream));
	volumes();
	if (images) {
		by_hand();
		drivers();
		captured();
	}
	CHECK(hipStreamDestroy(stream));
	return result("array graphs");
}
