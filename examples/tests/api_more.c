/* The less common calls: volumes and offsets, the default stream per thread,
 * contexts, functions by name. */
#include "test.h"

enum { W = 30, H = 7, D = 5 };

static void volumes(void)
{
	unsigned char host[D][H][W], back[D][H][W], *rows;
	hipPitchedPtr p = {0}, q = {0};
	hipExtent all = {W, H, D}, part = {10, 3, 2};
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				host[z][y][x] = (unsigned char)(z * 50 + y * 7 + x);
	CHECK(hipMalloc3D(&p, all));
	ASSERT(p.pitch >= W && p.xsize == W && p.ysize == H);
	CHECK(hipMalloc3D(&q, all));
	hipPitchedPtr h = {host, W, W, H}, b = {back, W, W, H};
	hipMemcpy3DParms in = {.srcPtr = h, .dstPtr = p, .extent = all, .kind = hipMemcpyHostToDevice};
	hipMemcpy3DParms out = {.srcPtr = q, .dstPtr = b, .extent = all, .kind = hipMemcpyDeviceToHost};
	CHECK(hipMemcpy3D(&in));
	CHECK(hipMemset3D(q, 0xee, all));
	/* a box from (2,3,1) of one volume to (4,1,2) of the other */
	hipMemcpy3DParms box = {.srcPtr = p, .srcPos = {2, 3, 1}, .dstPtr = q, .dstPos = {4, 1, 2}, .extent = part, .kind = hipMemcpyDeviceToDevice};
	CHECK(hipMemcpy3D(&box));
	CHECK(hipMemcpy3DAsync(&out, NULL));
	CHECK(hipStreamSynchronize(NULL));
	int wrong = 0;
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				int inside = x >= 4 && x < 14 && y >= 1 && y < 4 && z >= 2 && z < 4;
				wrong += back[z][y][x] != (inside ? host[z - 1][y + 2][x - 2] : 0xee);
			}
	ASSERT(wrong == 0);
	box.extent.width = W * 100;
	EXPECT(hipMemcpy3D(&box), hipErrorInvalidValue); /* beyond the rows */
	EXPECT(hipMemcpy3D(NULL), hipErrorInvalidValue);
	EXPECT(hipMalloc3D(NULL, all), hipErrorInvalidValue);

	/* a rectangle of the driver API, from the middle of a slice */
	rows = malloc(10 * 3);
	hip_Memcpy2D rect = {.srcXInBytes = 2, .srcY = 3, .srcMemoryType = hipMemoryTypeDevice, .srcDevice = p.ptr, .srcPitch = p.pitch,
		.dstMemoryType = hipMemoryTypeHost, .dstHost = rows, .dstPitch = 10, .WidthInBytes = 10, .Height = 3};
	CHECK(hipMemcpyParam2D(&rect));
	for (int y = 0; y < 3; y++)
		ASSERT(memcmp(rows + y * 10, &host[0][3 + y][2], 10) == 0);
	EXPECT(hipMemcpyParam2D(NULL), hipErrorInvalidValue);
	free(rows);
	CHECK(hipFree(p.ptr));
	CHECK(hipFree(q.ptr));
}

/* The _spt functions work on the thread's own stream, not on the null stream. */
static void per_thread(void)
{
	uint32_t host[256], back[256];
	void *d;
	hipEvent_t e;
	unsigned int flags = 99;
	for (int i = 0; i < 256; i++)
		host[i] = (uint32_t)i * 3;
	CHECK(hipMalloc(&d, sizeof host));
	CHECK(hipEventCreate(&e));
	CHECK(hipMemcpy_spt(d, host, sizeof host, hipMemcpyHostToDevice));
	CHECK(hipMemsetAsync_spt(d, 0xff, 16, NULL));
	CHECK(hipEventRecord_spt(e, NULL));
	CHECK(hipMemcpyAsync_spt(back, d, sizeof back, hipMemcpyDeviceToHost, NULL));
	CHECK(hipStreamSynchronize_spt(NULL));
	EXPECT(hipEventQuery(e), hipSuccess);
	EXPECT(hipStreamQuery_spt(NULL), hipSuccess);
	ASSERT(back[3] == 0xffffffff && memcmp(back + 4, host + 4, sizeof host - 16) == 0);
	CHECK(hipMemset_spt(d, 0, sizeof host));
	CHECK(hipMemcpy2D_spt(back, 64, d, 64, 64, 16, hipMemcpyDeviceToHost));
	ASSERT(back[0] == 0 && back[255] == 0);
	CHECK(hipStreamGetFlags_spt(NULL, &flags));
	ASSERT(flags == hipStreamDefault);
	CHECK(hipStreamWaitEvent_spt(NULL, e, 0));
	CHECK(hipEventRecordWithFlags(e, NULL, hipEventRecordDefault));
	CHECK(hipEventRecordWithFlags(e, NULL, hipEventRecordExternal));
	EXPECT(hipEventRecordWithFlags(e, NULL, 77), hipErrorInvalidValue);
	CHECK(hipDeviceSynchronize());
	CHECK(hipEventDestroy(e));
	CHECK(hipFree(d));
}

static void by_name(void)
{
	hipError_t (*count)(int *) = NULL;
	void *p = NULL, *q = NULL;
	hipDriverProcAddressQueryResult found = HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	int n = 0, v = 0;
	CHECK(hipRuntimeGetVersion(&v));
	CHECK(hipGetProcAddress("hipGetDeviceCount", (void **)&count, v, 0, &found));
	ASSERT(found == HIP_GET_PROC_ADDRESS_SUCCESS && count && count(&n) == hipSuccess && n > 0);
	CHECK(hipGetProcAddress("hipGetDeviceProperties", &p, v, 0, NULL));
	CHECK(hipGetProcAddress("hipGetDeviceProperties", &q, 506, 0, NULL)); /* as HIP 5 has it */
	ASSERT(p && q && p != q);
	CHECK(hipGetProcAddress("hipMemcpy", &p, v, 0, NULL));
	CHECK(hipGetProcAddress("hipMemcpy", &q, v, 2, NULL));
	ASSERT(p && q && p != q);
	EXPECT(hipGetProcAddress("hipNoSuchFunction", &p, v, 0, &found), hipErrorInvalidValue);
	ASSERT(p == NULL && found == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	EXPECT(hipGetProcAddress("malloc", &p, v, 0, NULL), hipErrorInvalidValue);
	EXPECT(hipGetProcAddress("", &p, v, 0, NULL), hipErrorInvalidValue);
	EXPECT(hipGetProcAddress("hipMalloc", &p, v, 3, NULL), hipErrorInvalidValue);
	EXPECT(hipGetProcAddress(NULL, &p, v, 0, NULL), hipErrorInvalidValue);
	EXPECT(hipGetProcAddress("hipMalloc", NULL, v, 0, NULL), hipErrorInvalidValue);
}

int main(void)
{
	volumes();
	per_thread();
	by_name();
	return result("api_more");
}
