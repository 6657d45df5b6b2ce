/* The many forms of the same calls: typed copies, forms for the default stream per thread, forms with flags, old names. Each must do what
 * the form does that everybody uses. */
#include "test.h"

EMBED(vector_add);

enum { N = 1024, W = 24, H = 5, D = 3 };

/* filled says whether n bytes on the device are all v. */
static int filled(const void *at, int v, size_t n)
{
	unsigned char *b = malloc(n);
	size_t wrong = 0;
	CHECK(hipMemcpy(b, at, n, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++)
		wrong += b[i] != (unsigned char)v;
	free(b);
	return wrong == 0;
}

static void copies(void)
{
	unsigned char host[N], back[N];
	void *a, *b;
	for (int i = 0; i < N; i++)
		host[i] = (unsigned char)(i * 7);
	CHECK(hipMalloc(&a, N));
	CHECK(hipMalloc(&b, N));
	CHECK(hipMemcpyHtoDAsync(a, host, N, NULL));
	CHECK(hipMemcpyDtoDAsync(b, a, N, NULL));
	CHECK(hipMemcpyDtoHAsync(back, b, N, NULL));
	CHECK(hipStreamSynchronize(NULL));
	ASSERT(memcmp(host, back, N) == 0);
	CHECK(hipMemset(b, 0, N));
	CHECK(hipMemcpyDtoD(b, a, N / 2));
	CHECK(hipMemcpyDtoH(back, b, N));
	ASSERT(memcmp(host, back, N / 2) == 0 && back[N / 2] == 0 && back[N - 1] == 0);

	/* rectangles of 10 x 4 bytes in rows of 16 and 20 */
	hip_Memcpy2D in = {.srcMemoryType = hipMemoryTypeHost, .srcHost = host, .srcPitch = 20, .dstMemoryType = hipMemoryTypeDevice, .dstDevice = a,
		.dstPitch = 16, .WidthInBytes = 10, .Height = 4};
	hip_Memcpy2D out = {.srcMemoryType = hipMemoryTypeDevice, .srcDevice = a, .srcPitch = 16, .dstMemoryType = hipMemoryTypeHost, .dstHost = back,
		.dstPitch = 10, .WidthInBytes = 10, .Height = 4};
	CHECK(hipMemset(a, 0, N));
	CHECK(hipMemcpyParam2DAsync(&in, NULL));
	CHECK(hipStreamSynchronize(NULL));
	CHECK(hipDrvMemcpy2DUnaligned(&out));
	for (int y = 0; y < 4; y++)
		ASSERT(memcmp(back + 10 * y, host + 20 * y, 10) == 0);
	memset(back, 0, N);
	CHECK(hipMemcpy2DAsync_spt(back, 10, a, 16, 10, 4, hipMemcpyDeviceToHost, NULL));
	CHECK(hipStreamSynchronize_spt(NULL));
	for (int y = 0; y < 4; y++)
		ASSERT(memcmp(back + 10 * y, host + 20 * y, 10) == 0);
	CHECK(hipFree(a));
	CHECK(hipFree(b));
}

static void volumes(void)
{
	unsigned char host[D][H][W], back[D][H][W];
	hipExtent all = {W, H, D}, part = {W, H, 1};
	hipPitchedPtr p = {0};
	memset(host, 0x11, sizeof host);
	CHECK(hipMalloc3D(&p, all));
	size_t n = p.pitch * H * D;
	hipPitchedPtr whole = {p.ptr, p.pitch, p.pitch, H};
	hipExtent rows = {p.pitch, H, D};
	CHECK(hipMemset3D_spt(whole, 0x21, rows));
	ASSERT(filled(p.ptr, 0x21, n));
	CHECK(hipMemset3DAsync(whole, 0x22, rows, NULL));
	CHECK(hipStreamSynchronize(NULL));
	ASSERT(filled(p.ptr, 0x22, n));
	CHECK(hipMemset3DAsync_spt(whole, 0x23, rows, NULL));
	CHECK(hipStreamSynchronize_spt(NULL));
	ASSERT(filled(p.ptr, 0x23, n));
	CHECK(hipMemset2D_spt(p.ptr, p.pitch, 0x24, p.pitch, H * D));
	ASSERT(filled(p.ptr, 0x24, n));
	CHECK(hipMemset2DAsync_spt(p.ptr, p.pitch, 0x25, p.pitch, H * D, NULL));
	CHECK(hipStreamSynchronize_spt(NULL));
	ASSERT(filled(p.ptr, 0x25, n));
	hipMemcpy3DParms in = {.srcPtr = {host, W, W, H}, .dstPtr = p, .extent = part, .kind = hipMemcpyHostToDevice};
	hipMemcpy3DParms out = {.srcPtr = p, .dstPtr = {back, W, W, H}, .extent = all, .kind = hipMemcpyDeviceToHost};
	CHECK(hipMemcpy3D_spt(&in));
	CHECK(hipMemcpy3DAsync_spt(&out, NULL));
	CHECK(hipStreamSynchronize_spt(NULL));
	ASSERT(back[0][H - 1][W - 1] == 0x11 && back[1][0][0] == 0x25 && back[D - 1][H - 1][W - 1] == 0x25);
	CHECK(hipFree(p.ptr));
}

static void host_memory(void)
{
	void *p[3], *d;
	unsigned int flags = 99;
	CHECK(hipHostAlloc(&p[0], N, hipHostMallocPortable));
	CHECK(hipHostGetFlags(&flags, p[0]));
	ASSERT(flags & hipHostMallocPortable);
	CHECK(hipMallocHost(&p[1], N));
	CHECK(hipMemAllocHost(&p[2], N));
	CHECK(hipMalloc(&d, N));
	for (int i = 0; i < 3; i++) {
		hipPointerAttribute_t a;
		memset(p[i], i + 1, N);
		CHECK(hipMemcpy(d, p[i], N, hipMemcpyDefault));
		ASSERT(filled(d, i + 1, N));
		CHECK(hipPointerGetAttributes(&a, p[i]));
		ASSERT(a.type == hipMemoryTypeHost);
		CHECK(hipFreeHost(p[i]));
		EXPECT(hipFreeHost(p[i]), hipErrorInvalidValue);
	}
	CHECK(hipFree(d));
}

static int told;

static void callback(hipStream_t s, hipError_t e, void *data)
{
	(void)s;
	told += e == hipSuccess ? *(int *)data : -1000;
}

static void function(void *data) { told += *(int *)data; }

static void per_thread(void)
{
	int one = 1, ten = 10, priority = 99;
	void *d;
	hipGraph_t g;
	hipGraphExec_t e;
	hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
	CHECK(hipStreamAddCallback_spt(NULL, callback, &one, 0));
	CHECK(hipLaunchHostFunc_spt(NULL, function, &ten));
	CHECK(hipStreamSynchronize_spt(NULL));
	ASSERT(told == 11);
	CHECK(hipStreamGetPriority_spt(NULL, &priority));
	ASSERT(priority == 0);
	CHECK(hipMalloc(&d, N));
	CHECK(hipMemset(d, 1, N));
	CHECK(hipStreamIsCapturing_spt(NULL, &status));
	ASSERT(status == hipStreamCaptureStatusNone);
	CHECK(hipStreamBeginCapture_spt(NULL, hipStreamCaptureModeThreadLocal));
	CHECK(hipStreamIsCapturing_spt(NULL, &status));
	ASSERT(status == hipStreamCaptureStatusActive);
	CHECK(hipMemsetAsync_spt(d, 2, N, NULL));
	CHECK(hipStreamEndCapture_spt(NULL, &g));
	ASSERT(filled(d, 1, N));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch_spt(e, NULL));
	CHECK(hipStreamSynchronize_spt(NULL));
	ASSERT(filled(d, 2, N));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipFree(d));
}

static void modules(void)
{
	hipModule_t m;
	hipFunction_t f;
	int with = 0, without = -1, grid = 0, block = 0;
	float *a, *b, *c, sum[64];
	CHECK(hipModuleLoadDataEx(&m, IMAGE(vector_add), 0, NULL, NULL));
	CHECK(hipModuleGetFunction(&f, m, "vector_add"));
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&without, f, 256, 0));
	CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with, f, 256, 0, hipOccupancyDefault));
	ASSERT(with > 0 && with == without);
	CHECK(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, 0, 0, hipOccupancyDefault));
	ASSERT(grid > 0 && block == 1024);
	CHECK(hipMalloc((void **)&a, sizeof sum));
	CHECK(hipMalloc((void **)&b, sizeof sum));
	CHECK(hipMalloc((void **)&c, sizeof sum));
	for (int i = 0; i < 64; i++)
		sum[i] = (float)i;
	CHECK(hipMemcpy(a, sum, sizeof sum, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(b, sum, sizeof sum, hipMemcpyHostToDevice));
	int n = 64;
	void *args[] = {&a, &b, &c, &n};
	hipEvent_t start, stop;
	float ms = -1;
	CHECK(hipEventCreate(&start));
	CHECK(hipEventCreate(&stop));
	CHECK(hipHccModuleLaunchKernel(f, 64, 1, 1, 64, 1, 1, 0, NULL, args, NULL, start, stop)); /* sizes are in threads */
	CHECK(hipEventSynchronize(stop));
	CHECK(hipEventElapsedTime(&ms, start, stop));
	ASSERT(ms >= 0);
	CHECK(hipMemcpy(sum, c, sizeof sum, hipMemcpyDeviceToHost));
	ASSERT(sum[0] == 0 && sum[63] == 126);
	CHECK(hipEventDestroy(start));
	CHECK(hipEventDestroy(stop));
	CHECK(hipFree(a));
	CHECK(hipFree(b));
	CHECK(hipFree(c));
	CHECK(hipModuleUnload(m));
}

static void device(void)
{
	hipMemPool_t pool = NULL, again = NULL;
	hipDeviceProp_tR0000 wish = {0};
	hipSharedMemConfig banks = (hipSharedMemConfig)99;
	int chosen = -1, value = -1, devices = 0;
	void *p;
	CHECK(hipGetDeviceCount(&devices));
	CHECK(hipDeviceGetMemPool(&pool, 0));
	ASSERT(pool != NULL);
	CHECK(hipDeviceSetMemPool(0, pool));
	CHECK(hipDeviceGetMemPool(&again, 0));
	ASSERT(again == pool);
	CHECK(hipChooseDeviceR0000(&chosen, &wish));
	ASSERT(chosen >= 0 && chosen < devices);
	EXPECT(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 0), hipErrorInvalidDevice); /* two are needed */
	if (devices > 1) {
		CHECK(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 1));
		ASSERT(value == 0 || value == 1);
	}
	CHECK(hipDeviceGetSharedMemConfig(&banks));
	ASSERT(banks == hipSharedMemBankSizeFourByte || banks == hipSharedMemBankSizeDefault);
	hipChannelFormatDesc d = hipCreateChannelDesc(8, 16, 32, 0, hipChannelFormatKindFloat);
	ASSERT(d.x == 8 && d.y == 16 && d.z == 32 && d.w == 0 && d.f == hipChannelFormatKindFloat);
	ASSERT(strcmp(hipApiName(0), "unknown") == 0);
	ASSERT(strcmp(hipApiName(1), "__hipPopCallConfiguration") == 0);
	ASSERT(strcmp(hipApiName(50), "unknown") == 0); /* AMD keeps the number free */
	ASSERT(strcmp(hipApiName(365), "hipChooseDeviceR0600") == 0);
	ASSERT(strcmp(hipApiName(UINT32_MAX), "unknown") == 0);
	CHECK(hipMalloc(&p, N));
	CHECK(hipDevicePrimaryCtxReset(0)); /* which in HIP takes nothing away */
	CHECK(hipFree(p));
}

int main(void)
{
	copies();
	volumes();
	host_memory();
	per_thread();
	modules();
	device();
	return result("variants");
}
