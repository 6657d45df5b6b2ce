/* Arrays, copies to and from them and of volumes, and what HIP says of textures
 * and surfaces. On a device without images the functions say so. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

#define IS(want, call) \
	do { \
		hipError_t e_ = (call); \
		if (e_ != (want)) { \
			printf("%d: %s: %s, want %s\n", __LINE__, #call, hipGetErrorName(e_), hipGetErrorName(want)); \
			wrong = 1; \
		} \
	} while (0)
#define OK(call) IS(hipSuccess, call)
#define THAT(cond) \
	do { \
		if (!(cond)) { \
			printf("%d: not %s\n", __LINE__, #cond); \
			wrong = 1; \
		} \
	} while (0)

enum { W = 24, H = 10, D = 6 };

static unsigned char in[D][H][W], out[D][H][W];

static void fill(int seed)
{
	unsigned char *p = &in[0][0][0];
	for (int i = 0; i < D * H * W; i++)
		p[i] = (unsigned char)(i * 7 + seed);
	memset(out, 0, sizeof out);
}

static const hipChannelFormatDesc bytes = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
static const hipChannelFormatDesc shorts = {16, 16, 0, 0, hipChannelFormatKindSigned};

/* Boxes between the host and the device, with and without gaps. */
static void volumes(void)
{
	hipPitchedPtr p;
	hipExtent e = {W, H, D};
	OK(hipMalloc3D(&p, e));
	fill(1);
	hipMemcpy3DParms c = {.srcPtr = {in, W, W, H}, .dstPtr = p, .extent = e, .kind = hipMemcpyHostToDevice};
	OK(hipMemcpy3D(&c));
	hipMemcpy3DParms b = {.srcPtr = p, .dstPtr = {out, W, W, H}, .extent = {W - 3, H - 2, D - 1}, .srcPos = {2, 1, 1}, .dstPos = {1, 2, 0}, .kind = hipMemcpyDeviceToHost};
	OK(hipMemcpy3DAsync(&b, NULL));
	OK(hipDeviceSynchronize());
	int same = 1;
	for (int z = 0; z < D - 1; z++)
		for (int y = 0; y < H - 2; y++)
			same &= !memcmp(&out[z][y + 2][1], &in[z + 1][y + 1][2], W - 3);
	THAT(same && out[0][1][5] == 0 && out[0][2][0] == 0);
	OK(hipMemset3D(p, 9, (hipExtent){W, H, 2}));
	b = (hipMemcpy3DParms){.srcPtr = p, .dstPtr = {out, W, W, H}, .extent = e, .kind = hipMemcpyDeviceToHost};
	OK(hipMemcpy3D(&b));
	THAT(out[1][H - 1][W - 1] == 9 && out[2][0][0] == in[2][0][0]);
	/* with gaps behind rows and slices, now and in a graph */
	hipStream_t s;
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipGraphNode_t node;
	size_t nodes = 1;
	b.dstPtr.ptr = out;
	OK(hipMemset3D(p, 4, (hipExtent){W - 1, H - 1, D}));
	OK(hipMemcpy3D(&b));
	THAT(out[D - 1][H - 2][W - 2] == 4 && out[0][H - 1][0] != 4 && out[0][0][W - 1] != 4 && out[D - 1][H - 1][0] != 4);
	OK(hipStreamCreate(&s));
	OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	OK(hipMemset3DAsync(p, 6, (hipExtent){W - 2, H - 2, D}, s));
	OK(hipStreamEndCapture(s, &graph));
	OK(hipGraphGetNodes(graph, &node, &nodes));
	THAT(nodes == 1);
	OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	OK(hipMemcpy3D(&b));
	THAT(out[0][0][0] == 4);
	OK(hipGraphLaunch(exec, s));
	OK(hipStreamSynchronize(s));
	OK(hipMemcpy3D(&b));
	THAT(out[0][0][0] == 6 && out[D - 1][H - 3][W - 3] == 6 && out[D - 1][H - 2][0] == 4 && out[1][0][W - 2] == 4);
	OK(hipGraphExecDestroy(exec));
	OK(hipGraphDestroy(graph));
	OK(hipStreamDestroy(s));
	IS(hipErrorInvalidValue, hipMemset3D(p, 1, (hipExtent){p.pitch + 1, H, D}));
	IS(hipErrorInvalidValue, hipMemset3D(p, 1, (hipExtent){W, H + 1, D}));
	OK(hipMemset3D(p, 9, (hipExtent){W, H, 2}));
	b.srcPtr.pitch = 1;
	IS(hipErrorInvalidPitchValue, hipMemcpy3D(&b));
	b.srcPtr = p;
	b.kind = (hipMemcpyKind)77;
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy3D(&b));
	b.kind = hipMemcpyDeviceToHost;
	b.extent.depth = D + 1;
	b.extent.height = 1 << 20;
	IS(hipErrorInvalidValue, hipMemcpy3D(&b));
	IS(hipErrorInvalidValue, hipMemcpy3D(NULL));
	hip_Memcpy2D r = {.srcMemoryType = hipMemoryTypeDevice, .srcDevice = p.ptr, .srcPitch = p.pitch, .srcXInBytes = 4, .srcY = 3,
		.dstMemoryType = hipMemoryTypeHost, .dstHost = out, .dstPitch = W, .WidthInBytes = 8, .Height = 5};
	memset(out, 0, sizeof out);
	OK(hipMemcpyParam2D(&r));
	THAT(out[0][4][7] == 9 && out[0][4][8] == 0 && out[0][5][0] == 0);
	OK(hipFree(p.ptr));
}

static void arrays(void)
{
	hipArray_t a = NULL, b = NULL, n = NULL;
	hipChannelFormatDesc d;
	hipExtent e;
	unsigned flags = 99;
	OK(hipMallocArray(&a, &bytes, W, H, hipArrayDefault));
	OK(hipMalloc3DArray(&b, &shorts, (hipExtent){W / 4, H, D}, hipArrayDefault));
	IS(hipErrorInvalidValue, hipMallocArray(NULL, &bytes, W, H, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&n, NULL, W, H, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&n, &(hipChannelFormatDesc){8, 16, 0, 0, hipChannelFormatKindUnsigned}, W, H, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&n, &(hipChannelFormatDesc){8, 8, 8, 0, hipChannelFormatKindUnsigned}, W, H, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&n, &bytes, 0, H, 0));
	IS(hipErrorInvalidValue, hipMallocArray(&n, &bytes, W, H, hipArrayCubemap));
	IS(hipErrorNotSupported, hipMallocMipmappedArray((hipMipmappedArray_t *)&n, &bytes, (hipExtent){W, H, 0}, 2, 0));
	OK(hipArrayGetInfo(&d, &e, &flags, b));
	THAT(d.x == 16 && d.y == 16 && d.z == 0 && d.f == hipChannelFormatKindSigned && e.width == W / 4 && e.height == H && e.depth == D && flags == 0);
	OK(hipGetChannelDesc(&d, a));
	THAT(d.x == 8 && d.y == 0 && d.f == hipChannelFormatKindUnsigned);
	IS(hipErrorInvalidHandle, hipArrayGetInfo(&d, &e, &flags, NULL));
	HIP_ARRAY3D_DESCRIPTOR d3;
	OK(hipArray3DGetDescriptor(&d3, b));
	THAT(d3.Format == HIP_AD_FORMAT_SIGNED_INT16 && d3.NumChannels == 2 && d3.Depth == D);

	fill(2);
	OK(hipMemcpy2DToArray(a, 2, 1, in, W, W - 4, H - 3, hipMemcpyHostToDevice));
	OK(hipMemcpy2DFromArray(out, W, a, 2, 1, W - 4, H - 3, hipMemcpyDeviceToHost));
	THAT(!memcmp(out[0][H - 4], in[0][H - 4], W - 4) && out[0][0][W - 4] == 0);
	IS(hipErrorInvalidValue, hipMemcpy2DToArray(a, 5, 0, in, W, W, 1, hipMemcpyHostToDevice));
	IS(hipErrorInvalidPitchValue, hipMemcpy2DToArray(a, 0, 0, in, 3, W, 1, hipMemcpyHostToDevice));
	IS(hipErrorInvalidHandle, hipMemcpy2DToArray(NULL, 0, 0, in, W, W, 1, hipMemcpyHostToDevice));
	IS(hipErrorInvalidMemcpyDirection, hipMemcpy2DToArray(a, 0, 0, in, W, W, 1, (hipMemcpyKind)55));
	memset(out, 0, sizeof out);
	OK(hipMemcpyHtoA(a, 3, in, 7));
	OK(hipMemcpyAtoH(out, a, 3, 7));
	THAT(!memcmp(out, in, 7) && out[0][0][7] == 0);
	IS(hipErrorInvalidValue, hipMemcpyAtoH(out, a, W, 7));
	IS(hipErrorInvalidValue, hipMemcpyAtoH(out, a, 0, 0));

	hipMemcpy3DParms c = {.srcPtr = {in, W, W / 4, H}, .dstArray = b, .extent = {W / 4, H, D}, .kind = hipMemcpyHostToDevice};
	OK(hipMemcpy3D(&c));
	memset(out, 0, sizeof out);
	hipMemcpy3DParms f = {.srcArray = b, .dstPtr = {out, W, W / 4, H}, .srcPos = {1, 2, 3}, .extent = {W / 4 - 1, H - 2, D - 3}, .kind = hipMemcpyDeviceToHost};
	OK(hipMemcpy3D(&f));
	THAT(!memcmp(out[2][H - 3], &in[5][H - 1][4], W - 4) && out[0][0][W - 4] == 0);
	f.extent.depth = D;
	IS(hipErrorInvalidValue, hipMemcpy3D(&f));
	f.dstArray = a;
	IS(hipErrorInvalidValue, hipMemcpy3D(&f)); /* two destinations */

	hipGraph_t g;
	hipGraphExec_t x;
	hipGraphNode_t to, from;
	OK(hipGraphCreate(&g, 0));
	fill(3);
	f.dstArray = NULL;
	f.extent.depth = D - 3;
	OK(hipGraphAddMemcpyNode(&to, g, NULL, 0, &c));
	OK(hipGraphAddMemcpyNode(&from, g, &to, 1, &f));
	OK(hipGraphInstantiate(&x, g, NULL, NULL, 0));
	OK(hipGraphLaunch(x, NULL));
	OK(hipDeviceSynchronize());
	THAT(!memcmp(out[2][H - 3], &in[5][H - 1][4], W - 4) && out[0][0][W - 4] == 0);
	OK(hipGraphExecDestroy(x));
	OK(hipGraphDestroy(g));

	hipResourceDesc res = {.resType = hipResourceTypeArray, .res.array.array = b}, got;
	hipTextureDesc tex = {.readMode = hipReadModeNormalizedFloat, .normalizedCoords = 1, .addressMode = {hipAddressModeMirror}}, was;
	hipTextureObject_t t = NULL;
	hipSurfaceObject_t s = NULL;
	OK(hipCreateTextureObject(&t, &res, &tex, NULL));
	OK(hipGetTextureObjectResourceDesc(&got, t));
	OK(hipGetTextureObjectTextureDesc(&was, t));
	THAT(got.res.array.array == b && was.readMode == hipReadModeNormalizedFloat && was.addressMode[0] == hipAddressModeMirror);
	HIP_TEXTURE_DESC drv;
	OK(hipTexObjectGetTextureDesc(&drv, t));
	THAT(drv.flags == HIP_TRSF_NORMALIZED_COORDINATES);
	OK(hipDestroyTextureObject(t));
	OK(hipDestroyTextureObject(NULL));
	IS(hipErrorInvalidValue, hipDestroyTextureObject(t));
	tex.filterMode = hipFilterModeLinear;
	IS(hipErrorNotSupported, hipCreateTextureObject(&t, &res, &tex, NULL)); /* gfx90a has no linear filter in three dimensions */
	res.res.array.array = NULL;
	IS(hipErrorInvalidValue, hipCreateTextureObject(&t, &res, &tex, NULL));
	IS(hipErrorInvalidValue, hipCreateTextureObject(&t, NULL, &tex, NULL));
	res.res.array.array = a;
	OK(hipCreateSurfaceObject(&s, &res));
	OK(hipDestroySurfaceObject(s));
	res.resType = hipResourceTypeLinear;
	IS(hipErrorInvalidValue, hipCreateSurfaceObject(&s, &res));
	textureReference ref;
	memset(&ref, 0, sizeof ref);
	OK(hipTexRefSetFlags(&ref, HIP_TRSF_READ_AS_INTEGER));
	OK(hipTexRefGetFlags(&flags, &ref));
	THAT(flags == HIP_TRSF_READ_AS_INTEGER);
	IS(hipErrorNotFound, hipTexRefSetArray(&ref, a, HIP_TRSA_OVERRIDE_FORMAT)); /* no module's */
	IS(hipErrorInvalidSymbol, hipBindTexture(NULL, &ref, a, &bytes, 16));

	OK(hipFreeArray(a));
	OK(hipFreeArray(b));
	IS(hipErrorContextIsDestroyed, hipFreeArray(a));
	IS(hipErrorInvalidValue, hipFreeArray(NULL));
	IS(hipErrorInvalidHandle, hipArrayGetInfo(&d, &e, &flags, a));
}

static void without(void)
{
	hipArray_t a;
	hipTextureObject_t t;
	hipSurfaceObject_t s;
	hipResourceDesc res = {.resType = hipResourceTypeArray};
	hipTextureDesc tex = {.readMode = hipReadModeElementType};
	size_t n;
	IS(hipErrorNotSupported, hipMallocArray(&a, &bytes, W, H, 0));
	IS(hipErrorNotSupported, hipMalloc3DArray(&a, &bytes, (hipExtent){W, H, D}, 0));
	IS(hipErrorInvalidValue, hipMallocArray(NULL, &bytes, W, H, 0));
	IS(hipErrorNotSupported, hipCreateTextureObject(&t, &res, &tex, NULL));
	IS(hipErrorNotSupported, hipCreateSurfaceObject(&s, &res));
	IS(hipErrorNotSupported, hipGetTextureAlignmentOffset(&n, (const textureReference *)&n));
}

int main(void)
{
	int images = 0;
	OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	volumes();
	if (images)
		arrays();
	else
		without();
	puts(wrong ? "images: wrong" : "images: ok");
	return wrong;
}
