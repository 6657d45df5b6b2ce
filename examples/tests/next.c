/* libamdhip64.so.7: linked with it, what HIP 7 has beside what HIP 6 had. */
#include "test.h"

#include <unistd.h>

EMBED(saxpy);
EMBED(vector_add);

static hipStream_t s;

enum { N = 1 << 12 };
#include "floats.h"

/* libraries are loaded when they are asked for something. */
static hipKernel_t libraries(hipLibrary_t *lib)
{
	hipLibrary_t bad = NULL, file = NULL;
	hipKernel_t k = NULL, none = NULL;
	unsigned int count = 0;
	char path[64];
	EXPECT(hipLibraryLoadData(NULL, IMAGE(vector_add), NULL, NULL, 0, NULL, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipLibraryLoadData(&bad, NULL, NULL, NULL, 0, NULL, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipLibraryLoadData(&bad, IMAGE(vector_add), NULL, NULL, 1, NULL, NULL, 0), hipErrorInvalidValue);
	CHECK(hipLibraryLoadData(&bad, "call me what you like, this is no code", NULL, NULL, 0, NULL, NULL, 0));
	EXPECT(hipLibraryGetKernel(&none, bad, "vector_add"), hipErrorInvalidImage);
	CHECK(hipLibraryUnload(bad));
	EXPECT(hipLibraryUnload(NULL), hipErrorInvalidHandle);

	CHECK(hipLibraryLoadData(lib, IMAGE(vector_add), NULL, NULL, 0, NULL, NULL, 0));
	CHECK(hipLibraryGetKernelCount(&count, *lib));
	ASSERT(count > 0);
	EXPECT(hipLibraryGetKernelCount(NULL, *lib), hipErrorInvalidValue);
	EXPECT(hipLibraryGetKernelCount(&count, NULL), hipErrorInvalidValue);
	CHECK(hipLibraryGetKernel(&k, *lib, "vector_add"));
	EXPECT(hipLibraryGetKernel(&none, *lib, "no_such_kernel"), hipErrorNotFound);
	EXPECT(hipLibraryGetKernel(NULL, *lib, "vector_add"), hipErrorInvalidValue);
	EXPECT(hipLibraryGetKernel(&none, *lib, NULL), hipErrorInvalidValue);
	EXPECT(hipLibraryGetKernel(&none, NULL, "vector_add"), hipErrorInvalidValue);

	EXPECT(hipLibraryLoadFromFile(&file, "/nonexistent/code.co", NULL, NULL, 0, NULL, NULL, 0), hipErrorInvalidValue);
	snprintf(path, sizeof path, "/tmp/next-%d.co", (int)getpid());
	FILE *f = fopen(path, "w");
	fwrite(IMAGE(saxpy), 1, 1 << 12, f); /* cut off */
	fclose(f);
	CHECK(hipLibraryLoadFromFile(&file, path, NULL, NULL, 0, NULL, NULL, 0));
	EXPECT(hipLibraryGetKernelCount(&count, file), hipErrorInvalidImage);
	CHECK(hipLibraryUnload(file));
	EXPECT(hipLibraryLoadFromFile(NULL, path, NULL, NULL, 0, NULL, NULL, 0), hipErrorInvalidValue);
	unlink(path);
	return k;
}

/* launches of a library's kernel, with and without attributes. */
static void launches(hipKernel_t k)
{
	void *x, *y;
	int n = N;
	CHECK(hipMalloc(&x, BYTES));
	CHECK(hipMalloc(&y, BYTES));
	fill(x, 3);
	void *args[] = {&x, &x, &y, &n};
	hipLaunchAttribute together, other;
	memset(&together, 0, sizeof together);
	together.id = hipLaunchAttributeCooperative;
	together.val.cooperative = 1;
	memset(&other, 0, sizeof other);
	other.id = hipLaunchAttributePriority;
	hipLaunchConfig_t c = {.gridDim = {N / 256, 1, 1}, .blockDim = {256, 1, 1}, .stream = s};
	HIP_LAUNCH_CONFIG d = {.gridDimX = N / 256, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1, .hStream = s};
	for (int form = 0; form < 5; form++) {
		CHECK(hipMemset(y, 0, BYTES));
		CHECK(hipDeviceSynchronize());
		c.attrs = d.attrs = form % 2 ? &together : NULL;
		c.numAttrs = d.numAttrs = form % 2;
		switch (form) {
		case 0:
		case 1: CHECK(hipDrvLaunchKernelEx(&d, (hipFunction_t)k, args, NULL)); break;
		case 2:
		case 3: CHECK(hipLaunchKernelExC(&c, (const void *)k, args)); break;
		case 4: CHECK(hipLaunchKernel((const void *)k, c.gridDim, c.blockDim, args, 0, s)); break;
		}
		CHECK(hipStreamSynchronize(s));
		ASSERT(all(y, 6));
	}
	c.attrs = d.attrs = &other; /* AMD's library knows none but the first */
	c.numAttrs = d.numAttrs = 1;
	EXPECT(hipDrvLaunchKernelEx(&d, (hipFunction_t)k, args, NULL), hipErrorInvalidConfiguration);
	EXPECT(hipLaunchKernelExC(&c, (const void *)k, args), hipErrorInvalidConfiguration);
	EXPECT(hipDrvLaunchKernelEx(NULL, (hipFunction_t)k, args, NULL), hipErrorInvalidValue);
	EXPECT(hipDrvLaunchKernelEx(&d, NULL, args, NULL), hipErrorInvalidHandle);
	EXPECT(hipLaunchKernelExC(NULL, (const void *)k, args), hipErrorInvalidConfiguration);
	EXPECT(hipLaunchKernelExC(&c, NULL, args), hipErrorInvalidDeviceFunction);
	(void)hipGetLastError();

	hipDeviceProp_t p;
	size_t one = 0, two = 0, many = 0;
	CHECK(hipGetDeviceProperties(&p, 0));
	CHECK(hipOccupancyAvailableDynamicSMemPerBlock(&one, (const void *)k, 1, 256));
	CHECK(hipOccupancyAvailableDynamicSMemPerBlock(&two, (const void *)k, 2, 256));
	CHECK(hipOccupancyAvailableDynamicSMemPerBlock(&many, (const void *)k, 1000, 256));
	ASSERT(one > 0 && one <= p.sharedMemPerBlock && two <= one && many > 0 && many < two);
	EXPECT(hipOccupancyAvailableDynamicSMemPerBlock(NULL, (const void *)k, 1, 256), hipErrorInvalidValue);
	EXPECT(hipOccupancyAvailableDynamicSMemPerBlock(&one, (const void *)k, 0, 256), hipErrorInvalidValue);
	EXPECT(hipOccupancyAvailableDynamicSMemPerBlock(&one, (const void *)k, 1, 0), hipErrorInvalidValue);
	EXPECT(hipOccupancyAvailableDynamicSMemPerBlock(&one, (const void *)&one, 1, 256), hipErrorInvalidDeviceFunction);
	CHECK(hipFree(x));
	CHECK(hipFree(y));
}

/* batches of copies: the whole in the stream's order. */
static void batches(void)
{
	static float in[N], out[N];
	size_t sizes[3] = {BYTES, BYTES, BYTES}, from[3] = {0, 2, 3}, failed = 77;
	hipMemcpyAttributes attrs[3];
	void *a, *b, *dsts[3], *srcs[3];
	CHECK(hipMalloc(&a, BYTES));
	CHECK(hipMalloc(&b, BYTES));
	fill(a, 5);
	for (int i = 0; i < N; i++)
		in[i] = 7;
	memset(attrs, 0, sizeof attrs);
	for (int i = 0; i < 3; i++)
		attrs[i].srcAccessOrder = hipMemcpySrcAccessOrderStream;
	dsts[0] = b;
	srcs[0] = in;
	dsts[1] = out;
	srcs[1] = a;
	CHECK(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attrs, from, 1, &failed, s));
	ASSERT(failed == SIZE_MAX);
	CHECK(hipStreamSynchronize(s));
	ASSERT(all(b, 7) && out[0] == 5 && out[N - 1] == 5);
	dsts[0] = a;
	srcs[0] = b;
	CHECK(hipMemcpyBatchAsync(dsts, srcs, sizes, 1, NULL, NULL, 0, NULL, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(all(a, 7));
	sizes[1] = 0;
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, NULL, NULL, 0, &failed, s), hipErrorInvalidValue);
	ASSERT(failed == 1);
	sizes[1] = BYTES;
	EXPECT(hipMemcpyBatchAsync(NULL, srcs, sizes, 2, NULL, NULL, 0, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, NULL, sizes, 2, NULL, NULL, 0, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, NULL, 2, NULL, NULL, 0, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 0, NULL, NULL, 0, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, NULL, from, 1, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attrs, NULL, 1, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attrs, from, 2, &failed, s), hipErrorInvalidValue); /* beyond the copies */
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attrs, from, 3, &failed, s), hipErrorInvalidValue);
	from[0] = 1;
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attrs, from, 1, &failed, s), hipErrorInvalidValue);
	from[0] = 0;
	attrs[0].srcAccessOrder = hipMemcpySrcAccessOrderInvalid;
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, attrs, from, 1, &failed, s), hipErrorInvalidValue);
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, NULL, NULL, 0, &failed, (hipStream_t)0x1234567), hipErrorInvalidHandle);
	dsts[1] = NULL;
	EXPECT(hipMemcpyBatchAsync(dsts, srcs, sizes, 2, NULL, NULL, 0, &failed, s), hipErrorInvalidValue);

	/* boxes: rows of 64 of which 32 are copied, and what the copy is large */
	static unsigned char box[4][8][32], back[4][8][32];
	hipMemcpy3DBatchOp ops[2];
	unsigned char *d;
	CHECK(hipMalloc((void **)&d, 4 * 8 * 64));
	CHECK(hipMemset(d, 0xee, 4 * 8 * 64));
	for (int i = 0; i < 4 * 8 * 32; i++)
		((unsigned char *)box)[i] = (unsigned char)(i * 3);
	memset(ops, 0, sizeof ops);
	ops[0].src.type = ops[0].dst.type = ops[1].src.type = ops[1].dst.type = hipMemcpyOperandTypePointer;
	ops[0].extent = ops[1].extent = (hipExtent){32, 8, 4};
	ops[0].srcAccessOrder = ops[1].srcAccessOrder = hipMemcpySrcAccessOrderStream;
	ops[0].src.op.ptr.ptr = box;
	ops[0].dst.op.ptr.ptr = d;
	ops[0].dst.op.ptr.rowLength = 64;
	ops[0].dst.op.ptr.layerHeight = 8;
	ops[1].src.op = ops[0].dst.op;
	ops[1].dst.op.ptr.ptr = back;
	CHECK(hipMemcpy3DBatchAsync(1, ops, &failed, 0, s));
	ASSERT(failed == SIZE_MAX);
	CHECK(hipMemcpy3DBatchAsync(1, ops + 1, &failed, 0, s));
	CHECK(hipStreamSynchronize(s));
	ASSERT(memcmp(box, back, sizeof box) == 0);
	static unsigned char rows[4 * 8 * 64];
	CHECK(hipMemcpy(rows, d, sizeof rows, hipMemcpyDeviceToHost));
	ASSERT(rows[31] == box[0][0][31] && rows[32] == 0xee && rows[63] == 0xee && rows[64] == box[0][1][0]);
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	if (images) { /* 8 x 8 floats from the middle of an array of 16 x 16, as rows of 12 */
		hipChannelFormatDesc f = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
		static float whole[16][16], part[8][12];
		hipMemcpy3DBatchOp op;
		hipArray_t array;
		for (int i = 0; i < 256; i++)
			((float *)whole)[i] = (float)i;
		CHECK(hipMallocArray(&array, &f, 16, 16, 0));
		CHECK(hipMemcpy2DToArray(array, 0, 0, whole, 64, 64, 16, hipMemcpyHostToDevice));
		memset(&op, 0, sizeof op);
		op.src.type = hipMemcpyOperandTypeArray;
		op.src.op.array.array = array;
		op.src.op.array.offset = (hipOffset3D){4, 5, 0};
		op.dst.type = hipMemcpyOperandTypePointer;
		op.dst.op.ptr.ptr = part;
		op.dst.op.ptr.rowLength = 12;
		op.extent = (hipExtent){8, 8, 1};
		op.srcAccessOrder = hipMemcpySrcAccessOrderStream;
		CHECK(hipMemcpy3DBatchAsync(1, &op, NULL, 0, s));
		CHECK(hipStreamSynchronize(s));
		ASSERT(part[0][0] == whole[5][4] && part[7][7] == whole[12][11] && part[0][8] == 0 && part[7][11] == 0);
		CHECK(hipFreeArray(array));
	}
	ops[1].src.type = (hipMemcpy3DOperandType)9;
	EXPECT(hipMemcpy3DBatchAsync(2, ops, &failed, 0, s), hipErrorInvalidValue);
	ASSERT(failed == 1);
	EXPECT(hipMemcpy3DBatchAsync(0, ops, &failed, 0, s), hipErrorInvalidValue);
	EXPECT(hipMemcpy3DBatchAsync(1, NULL, &failed, 0, s), hipErrorInvalidValue);
	EXPECT(hipMemcpy3DBatchAsync(1, ops, &failed, 1, s), hipErrorInvalidValue);
	EXPECT(hipMemcpy3DBatchAsync(1, ops, &failed, 0, (hipStream_t)0x1234567), hipErrorInvalidHandle);
	CHECK(hipStreamSynchronize(s));
	CHECK(hipFree(d));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
}

/* boxes between devices; between one and itself where there is no other. */
static void peers(void)
{
	static unsigned char in[16 * 8 * 4], out[16 * 8 * 4];
	hipMemcpy3DPeerParms p;
	int n = 0, other;
	void *a, *b;
	CHECK(hipGetDeviceCount(&n));
	other = n > 1;
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (unsigned char)(i * 5 + 1);
	CHECK(hipMalloc(&a, sizeof in));
	CHECK(hipMemcpy(a, in, sizeof in, hipMemcpyHostToDevice));
	CHECK(hipSetDevice(other));
	CHECK(hipMalloc(&b, sizeof in));
	CHECK(hipSetDevice(0));
	memset(&p, 0, sizeof p);
	p.srcPtr = (hipPitchedPtr){a, 16, 16, 8};
	p.dstPtr = (hipPitchedPtr){b, 16, 16, 8};
	p.dstDevice = other;
	p.extent = (hipExtent){16, 8, 4};
	for (int async = 0; async < 2; async++) {
		CHECK(hipMemset(b, 0, sizeof in));
		CHECK(hipDeviceSynchronize());
		CHECK(hipSetDevice(other));
		CHECK(hipDeviceSynchronize());
		CHECK(hipSetDevice(0));
		if (async)
			CHECK(hipMemcpy3DPeerAsync(&p, s));
		else
			CHECK(hipMemcpy3DPeer(&p));
		CHECK(hipStreamSynchronize(async ? s : NULL));
		memset(out, 0, sizeof out);
		CHECK(hipMemcpy(out, b, sizeof out, hipMemcpyDefault));
		ASSERT(memcmp(in, out, sizeof in) == 0);
	}
	EXPECT(hipMemcpy3DPeer(NULL), hipErrorInvalidValue);
	EXPECT(hipMemcpy3DPeerAsync(NULL, s), hipErrorInvalidValue);
	p.dstDevice = n;
	EXPECT(hipMemcpy3DPeer(&p), hipErrorInvalidDevice);
	EXPECT(hipMemcpy3DPeerAsync(&p, s), hipErrorInvalidDevice);
	p.dstDevice = other;
	p.srcDevice = -1;
	EXPECT(hipMemcpy3DPeer(&p), hipErrorInvalidDevice);
	int fd = -1;
	EXPECT(hipMemGetHandleForAddressRange(&fd, NULL, 4096, hipMemRangeHandleTypeDmaBufFd, 0), hipErrorInvalidValue);
	EXPECT(hipMemGetHandleForAddressRange(&fd, a, 0, hipMemRangeHandleTypeDmaBufFd, 0), hipErrorInvalidValue);
	EXPECT(hipMemGetHandleForAddressRange(&fd, a, sizeof in, (hipMemRangeHandleType)0, 0), hipErrorInvalidValue);
	CHECK(hipFree(a));
	CHECK(hipFree(b));
}

/* attributes of streams. */
static void attributes(void)
{
	hipStream_t t;
	hipStreamAttrValue v, got;
	CHECK(hipStreamCreateWithPriority(&t, hipStreamNonBlocking, -1));
	memset(&v, 0, sizeof v);
	memset(&got, 0x55, sizeof got);
	CHECK(hipStreamGetAttribute(s, hipStreamAttributeSynchronizationPolicy, &got));
	ASSERT(got.syncPolicy == hipSyncPolicyAuto);
	v.syncPolicy = hipSyncPolicyYield;
	CHECK(hipStreamSetAttribute(s, hipStreamAttributeSynchronizationPolicy, &v));
	CHECK(hipStreamGetAttribute(s, hipStreamAttributeSynchronizationPolicy, &got));
	ASSERT(got.syncPolicy == hipSyncPolicyYield);
	CHECK(hipStreamGetAttribute(t, hipStreamAttributePriority, &got));
	ASSERT(got.priority == -1);
	CHECK(hipStreamGetAttribute(t, hipStreamAttributeSynchronizationPolicy, &got));
	ASSERT(got.syncPolicy == hipSyncPolicyAuto);
	CHECK(hipStreamCopyAttributes(t, s));
	CHECK(hipStreamGetAttribute(t, hipStreamAttributeSynchronizationPolicy, &got));
	ASSERT(got.syncPolicy == hipSyncPolicyYield);
	CHECK(hipStreamGetAttribute(NULL, hipStreamAttributeSynchronizationPolicy, &got));
	ASSERT(got.syncPolicy == hipSyncPolicyAuto);
	EXPECT(hipStreamGetAttribute(s, hipStreamAttributeSynchronizationPolicy, NULL), hipErrorInvalidValue);
	EXPECT(hipStreamSetAttribute(s, hipStreamAttributeSynchronizationPolicy, NULL), hipErrorInvalidValue);
	EXPECT(hipStreamSetAttribute(s, hipStreamAttributePriority, &v), hipErrorInvalidValue);
	EXPECT(hipStreamGetAttribute(s, hipLaunchAttributeCooperative, &got), hipErrorInvalidValue);
	v.syncPolicy = (hipSynchronizationPolicy)5;
	EXPECT(hipStreamSetAttribute(s, hipStreamAttributeSynchronizationPolicy, &v), hipErrorInvalidValue);
	CHECK(hipStreamDestroy(t));
	v.syncPolicy = hipSyncPolicySpin;
	EXPECT(hipStreamSetAttribute(t, hipStreamAttributeSynchronizationPolicy, &v), hipErrorInvalidHandle);
	EXPECT(hipStreamGetAttribute(t, hipStreamAttributeSynchronizationPolicy, &got), hipErrorInvalidHandle);
	EXPECT(hipStreamCopyAttributes(s, t), hipErrorInvalidHandle);
	hipGraph_t g;
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal));
	EXPECT(hipStreamSetAttribute(s, hipStreamAttributeSynchronizationPolicy, &v), hipErrorStreamCaptureUnsupported);
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphDestroy(g));
}

int main(void)
{
	int v = 0;
	unsigned int count = 0;
	unsigned long long first = 0, second = 0, null = 0;
	hipStream_t a, b;
	hipModule_t m;
	hipDriverProcAddressQueryResult found;
	void *f = NULL, *own = NULL;
	uint16_t *d16, back[4][8];
	uint32_t *d32, words[3][4];
	CHECK(hipRuntimeGetVersion(&v));
	ASSERT(v / 10000000 == 7);
	CHECK(hipDriverGetVersion(&v));
	ASSERT(v / 10000000 == 7);
	EXPECT(hipRuntimeGetVersion(NULL), hipErrorInvalidValue);

	/* an error stays the last one until it is taken, whatever succeeds after it */
	CHECK(hipDriverGetVersion(&v));
	ASSERT(hipPeekAtLastError() == hipErrorInvalidValue);
	ASSERT(hipGetLastError() == hipErrorInvalidValue);
	ASSERT(hipGetLastError() == hipSuccess);

	CHECK(hipModuleLoadFatBinary(&m, IMAGE(saxpy)));
	CHECK(hipModuleGetFunctionCount(&count, m));
	ASSERT(count > 0);
	EXPECT(hipModuleGetFunctionCount(NULL, m), hipErrorInvalidValue);
	EXPECT(hipModuleGetFunctionCount(&count, (hipModule_t)&v), hipErrorInvalidHandle);
	CHECK(hipModuleUnload(m));

	CHECK(hipStreamCreate(&a));
	CHECK(hipStreamCreate(&b));
	CHECK(hipStreamGetId(a, &first));
	CHECK(hipStreamGetId(b, &second));
	CHECK(hipStreamGetId(NULL, &null));
	ASSERT(first != second && null != first && null != second);
	EXPECT(hipStreamGetId(a, NULL), hipErrorInvalidValue);
	CHECK(hipStreamDestroy(b));
	EXPECT(hipStreamGetId(b, &second), hipErrorContextIsDestroyed);

	CHECK(hipMalloc((void **)&d16, sizeof back));
	CHECK(hipMemsetD2D8(d16, 16, 0xff, 16, 4));
	CHECK(hipMemsetD2D16(d16 + 1, 16, 0x1234, 3, 4));
	CHECK(hipMemcpy(back, d16, sizeof back, hipMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		ASSERT(back[i][0] == 0xffff && back[i][1] == 0x1234 && back[i][3] == 0x1234 && back[i][4] == 0xffff);
	EXPECT(hipMemsetD2D16(d16, 16, 0, 9, 4), hipErrorInvalidValue);
	EXPECT(hipMemsetD2D8(NULL, 16, 0, 1, 1), hipErrorInvalidValue);
	CHECK(hipMalloc((void **)&d32, sizeof words));
	CHECK(hipMemsetD2D8Async(d32, 16, 0, 16, 3, a));
	CHECK(hipMemsetD2D32Async(d32, 16, 0xdeadbeef, 2, 3, a));
	CHECK(hipMemsetD2D16Async(d32 + 2, 16, 7, 2, 3, a));
	CHECK(hipStreamSynchronize(a));
	CHECK(hipMemcpy(words, d32, sizeof words, hipMemcpyDeviceToHost));
	ASSERT(words[2][0] == 0xdeadbeef && words[2][1] == 0xdeadbeef && words[2][2] == 0x70007 && words[2][3] == 0);
	CHECK(hipMemsetD2D32(d32, 16, 1, 4, 1));
	CHECK(hipMemcpy(words, d32, sizeof words, hipMemcpyDeviceToHost));
	ASSERT(words[0][3] == 1 && words[1][0] == 0xdeadbeef);
	CHECK(hipStreamDestroy(a));
	CHECK(hipFree(d16));
	CHECK(hipFree(d32));

	hipMemLocation device = {hipMemLocationTypeDevice, 0}, host = {(hipMemLocationType)2, 0}, none = {(hipMemLocationType)77, 0};
	char *p;
	int32_t where = 99;
	CHECK(hipMallocManaged((void **)&p, 4096, hipMemAttachGlobal));
	CHECK(hipMemAdvise_v2(p, 4096, hipMemAdviseSetPreferredLocation, host));
	CHECK(hipMemRangeGetAttribute(&where, 4, hipMemRangeAttributePreferredLocation, p, 4096));
	ASSERT(where == hipCpuDeviceId);
	CHECK(hipMemPrefetchAsync_v2(p, 4096, device, 0, 0));
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemRangeGetAttribute(&where, 4, hipMemRangeAttributeLastPrefetchLocation, p, 4096));
	ASSERT(where == 0);
	EXPECT(hipMemAdvise_v2(p, 4096, hipMemAdviseSetPreferredLocation, none), hipErrorInvalidValue);
	EXPECT(hipMemPrefetchAsync_v2(p, 4096, device, 1, 0), hipErrorInvalidValue);
	CHECK(hipFree(p));

	CHECK(hipGetDriverEntryPoint("hipMemcpy", &f, 0, &found));
	ASSERT(f && found == HIP_GET_PROC_ADDRESS_SUCCESS);
	CHECK(hipGetDriverEntryPoint_spt("hipMemcpy", &own, 0, &found));
	ASSERT(own && own != f);
	EXPECT(hipGetDriverEntryPoint("hipNoSuchFunction", &f, 0, &found), hipErrorInvalidValue);
	ASSERT(found == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);

	hipLibrary_t lib = NULL;
	CHECK(hipStreamCreate(&s));
	launches(libraries(&lib));
	CHECK(hipLibraryUnload(lib));
	EXPECT(hipLibraryUnload(lib), hipErrorInvalidHandle);
	batches();
	peers();
	attributes();
	CHECK(hipStreamDestroy(s));
	return result("next");
}
