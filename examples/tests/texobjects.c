/* Texture objects by the driver's calls: made of all that a kernel can read,
 * seen through other formats, and asked what they are. A device without images
 * has none. */
#include "test.h"

EMBED(texture);

enum { W = 16, H = 8, THREADS = 64 };

typedef unsigned words[4];

static unsigned char pixels[H][4 * W]; /* of 4 bytes */
static hipFunction_t sample, fetch;
static void *places, *results;

/* see has a kernel read texels at x, y, which lie in their middle, or by number. */
static void see(hipFunction_t f, hipTextureObject_t o, int x, int y, words got)
{
	float at[2] = {(float)x + 0.5f, (float)y + 0.5f};
	words all[THREADS] = {{0}};
	void *args[] = {&o, &places, &results};
	if (f == fetch)
		all[0][0] = (unsigned)x;
	else
		memcpy(all[0], at, sizeof at);
	CHECK(hipMemcpy(places, all, sizeof all, hipMemcpyHostToDevice));
	CHECK(hipModuleLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL));
	CHECK(hipMemcpy(all, results, sizeof all, hipMemcpyDeviceToHost));
	memcpy(got, all[0], sizeof(words));
}

static int is(words got, unsigned a, unsigned b, unsigned c, unsigned d)
{
	if (got[0] == a && got[1] == b && got[2] == c && got[3] == d)
		return 1;
	fprintf(stderr, "%#x %#x %#x %#x, not %#x %#x %#x %#x\n", got[0], got[1], got[2], got[3], a, b, c, d);
	return 0;
}

static unsigned bits(float f)
{
	unsigned u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static HIP_TEXTURE_DESC sampling(unsigned flags)
{
	HIP_TEXTURE_DESC d;
	memset(&d, 0, sizeof d);
	d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = HIP_TR_ADDRESS_MODE_CLAMP;
	d.filterMode = HIP_TR_FILTER_MODE_POINT;
	d.flags = flags;
	return d;
}

static hipArray_t picture(void)
{
	hipArray_t a;
	HIP_ARRAY_DESCRIPTOR d = {W, H, HIP_AD_FORMAT_UNSIGNED_INT8, 4};
	CHECK(hipArrayCreate(&a, &d));
	CHECK(hipMemcpy2DToArray(a, 0, 0, pixels, sizeof pixels[0], sizeof pixels[0], H, hipMemcpyHostToDevice));
	return a;
}

static void of_an_array(void)
{
	hipArray_t a = picture();
	HIP_RESOURCE_DESC res, got;
	HIP_TEXTURE_DESC tex = sampling(HIP_TRSF_READ_AS_INTEGER), tex_got;
	HIP_RESOURCE_VIEW_DESC view, view_got;
	hipResourceViewDesc runtime_view;
	hipResourceDesc runtime_res;
	hipTextureObject_t o = NULL;
	words w;
	const unsigned char *p = &pixels[5][4 * 9];
	memset(&res, 0, sizeof res);
	memset(&got, 0xee, sizeof got);
	memset(&view, 0, sizeof view);
	res.resType = HIP_RESOURCE_TYPE_ARRAY;
	res.res.array.hArray = a;
	CHECK(hipTexObjectCreate(&o, &res, &tex, NULL));
	see(sample, o, 9, 5, w);
	ASSERT(is(w, p[0], p[1], p[2], p[3]));
	CHECK(hipTexObjectGetResourceDesc(&got, o));
	ASSERT(got.resType == HIP_RESOURCE_TYPE_ARRAY && got.res.array.hArray == a);
	CHECK(hipGetTextureObjectResourceDesc(&runtime_res, o));
	ASSERT(runtime_res.resType == hipResourceTypeArray && runtime_res.res.array.array == a);
	CHECK(hipTexObjectGetTextureDesc(&tex_got, o));
	ASSERT(tex_got.flags == HIP_TRSF_READ_AS_INTEGER && tex_got.addressMode[0] == HIP_TR_ADDRESS_MODE_CLAMP);
	/* an object without a view tells of an empty one */
	memset(&view_got, 0xee, sizeof view_got);
	memset(&runtime_view, 0xee, sizeof runtime_view);
	CHECK(hipTexObjectGetResourceViewDesc(&view_got, o));
	ASSERT(view_got.format == HIP_RES_VIEW_FORMAT_NONE && view_got.width == 0 && view_got.lastLayer == 0);
	CHECK(hipGetTextureObjectResourceViewDesc(&runtime_view, o));
	ASSERT(runtime_view.format == hipResViewFormatNone && runtime_view.height == 0 && runtime_view.firstLayer == 0);
	CHECK(hipTexObjectDestroy(o));
	EXPECT(hipTexObjectGetResourceDesc(&got, o), hipErrorInvalidValue);
	EXPECT(hipTexObjectDestroy(o), hipErrorInvalidValue);

	/* as numbers from 0 to 1 */
	tex = sampling(0);
	CHECK(hipTexObjectCreate(&o, &res, &tex, NULL));
	see(sample, o, 9, 5, w);
	ASSERT(is(w, bits((float)p[0] / 255), bits((float)p[1] / 255), bits((float)p[2] / 255), bits((float)p[3] / 255)));
	CHECK(hipTexObjectDestroy(o));

	/* four bytes as one number */
	view.format = HIP_RES_VIEW_FORMAT_UINT_1X32;
	view.width = W;
	view.height = H;
	tex = sampling(HIP_TRSF_READ_AS_INTEGER);
	CHECK(hipTexObjectCreate(&o, &res, &tex, &view));
	see(sample, o, 9, 5, w);
	ASSERT(is(w, p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24, 0, 0, 1));
	CHECK(hipTexObjectGetResourceViewDesc(&view_got, o));
	ASSERT(view_got.format == HIP_RES_VIEW_FORMAT_UINT_1X32 && view_got.width == W && view_got.height == H && view_got.depth == 0);
	CHECK(hipGetTextureObjectResourceViewDesc(&runtime_view, o));
	ASSERT(runtime_view.format == hipResViewFormatUnsignedInt1 && runtime_view.width == W && runtime_view.height == H);
	CHECK(hipDestroyTextureObject(o));
	view.format = HIP_RES_VIEW_FORMAT_SINT_2X16;
	CHECK(hipTexObjectCreate(&o, &res, &tex, &view));
	see(sample, o, 3, 7, w);
	int16_t two[2];
	memcpy(two, &pixels[7][12], sizeof two);
	ASSERT(is(w, (unsigned)two[0], (unsigned)two[1], 0, 1));
	CHECK(hipTexObjectDestroy(o));
	view.format = HIP_RES_VIEW_FORMAT_UINT_2X32; /* elements of another size */
	EXPECT(hipTexObjectCreate(&o, &res, &tex, &view), hipErrorInvalidValue);

	EXPECT(hipTexObjectCreate(NULL, &res, &tex, NULL), hipErrorInvalidValue);
	EXPECT(hipTexObjectCreate(&o, NULL, &tex, NULL), hipErrorInvalidValue);
	EXPECT(hipTexObjectCreate(&o, &res, NULL, NULL), hipErrorInvalidValue);
	tex.maxAnisotropy = 4;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorNotSupported);
	tex = sampling(0);
	tex.mipmapLevelBias = 1;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorNotSupported);
	tex = sampling(0);
	res.res.array.hArray = NULL;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorInvalidValue);
	res.resType = HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorNotSupported);
	CHECK(hipTexObjectDestroy(NULL));
	EXPECT(hipTexObjectGetResourceDesc(NULL, o), hipErrorInvalidValue);
	EXPECT(hipTexObjectGetResourceDesc(&got, NULL), hipErrorInvalidValue);
	EXPECT(hipTexObjectGetResourceViewDesc(NULL, o), hipErrorInvalidValue);
	EXPECT(hipTexObjectGetResourceViewDesc(&view_got, NULL), hipErrorInvalidValue);
	EXPECT(hipGetTextureObjectResourceViewDesc(NULL, o), hipErrorInvalidValue);
	EXPECT(hipGetTextureObjectResourceViewDesc(&runtime_view, NULL), hipErrorInvalidValue);
	CHECK(hipArrayDestroy(a));
}

static void of_memory(void)
{
	HIP_RESOURCE_DESC res, got;
	HIP_TEXTURE_DESC tex = sampling(HIP_TRSF_READ_AS_INTEGER);
	HIP_RESOURCE_VIEW_DESC view;
	hipTextureObject_t o = NULL;
	void *linear, *pitched;
	size_t pitch;
	words w;
	const unsigned char *p = &pixels[2][4 * 11];
	memset(&res, 0, sizeof res);
	memset(&view, 0, sizeof view);
	CHECK(hipMalloc(&linear, sizeof pixels));
	CHECK(hipMemcpy(linear, pixels, sizeof pixels, hipMemcpyHostToDevice));
	res.resType = HIP_RESOURCE_TYPE_LINEAR;
	res.res.linear.devPtr = linear;
	res.res.linear.format = HIP_AD_FORMAT_SIGNED_INT16;
	res.res.linear.numChannels = 2;
	res.res.linear.sizeInBytes = sizeof pixels;
	CHECK(hipTexObjectCreate(&o, &res, &tex, NULL));
	see(fetch, o, 2 * W + 11, 0, w);
	int16_t two[2];
	memcpy(two, p, sizeof two);
	ASSERT(is(w, (unsigned)two[0], (unsigned)two[1], 0, 1));
	see(fetch, o, W * H, 0, w); /* behind the last: nothing, but one in what the format lacks */
	ASSERT(is(w, 0, 0, 0, 1));
	CHECK(hipTexObjectGetResourceDesc(&got, o));
	ASSERT(got.resType == HIP_RESOURCE_TYPE_LINEAR && got.res.linear.devPtr == linear && got.res.linear.format == HIP_AD_FORMAT_SIGNED_INT16 &&
		got.res.linear.numChannels == 2 && got.res.linear.sizeInBytes == sizeof pixels);
	CHECK(hipTexObjectDestroy(o));
	EXPECT(hipTexObjectCreate(&o, &res, &tex, &view), hipErrorInvalidValue); /* a view is of an array */
	res.res.linear.devPtr = (char *)linear + 8;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorInvalidValue);

	CHECK(hipMallocPitch(&pitched, &pitch, 4 * W, H));
	CHECK(hipMemcpy2D(pitched, pitch, pixels, sizeof pixels[0], sizeof pixels[0], H, hipMemcpyHostToDevice));
	memset(&res, 0, sizeof res);
	res.resType = HIP_RESOURCE_TYPE_PITCH2D;
	res.res.pitch2D.devPtr = pitched;
	res.res.pitch2D.format = HIP_AD_FORMAT_UNSIGNED_INT8;
	res.res.pitch2D.numChannels = 4;
	res.res.pitch2D.width = W;
	res.res.pitch2D.height = H;
	res.res.pitch2D.pitchInBytes = pitch;
	CHECK(hipTexObjectCreate(&o, &res, &tex, NULL));
	see(sample, o, 11, 2, w);
	ASSERT(is(w, p[0], p[1], p[2], p[3]));
	CHECK(hipTexObjectGetResourceDesc(&got, o));
	ASSERT(got.resType == HIP_RESOURCE_TYPE_PITCH2D && got.res.pitch2D.devPtr == pitched && got.res.pitch2D.width == W && got.res.pitch2D.height == H &&
		got.res.pitch2D.pitchInBytes == pitch && got.res.pitch2D.format == HIP_AD_FORMAT_UNSIGNED_INT8 && got.res.pitch2D.numChannels == 4);
	CHECK(hipTexObjectDestroy(o));
	res.res.pitch2D.pitchInBytes = pitch + 4;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorInvalidValue);
	CHECK(hipFree(linear));
	CHECK(hipFree(pitched));
}

static void without(void)
{
	HIP_RESOURCE_DESC res, got;
	HIP_TEXTURE_DESC tex = sampling(0);
	HIP_RESOURCE_VIEW_DESC view;
	hipResourceViewDesc runtime_view;
	hipTextureObject_t o = NULL;
	memset(&res, 0, sizeof res);
	res.resType = HIP_RESOURCE_TYPE_LINEAR;
	EXPECT(hipTexObjectCreate(&o, &res, &tex, NULL), hipErrorNotSupported);
	EXPECT(hipTexObjectCreate(NULL, &res, &tex, NULL), hipErrorInvalidValue);
	CHECK(hipTexObjectDestroy(NULL));
	EXPECT(hipTexObjectDestroy((hipTextureObject_t)&res), hipErrorNotSupported);
	EXPECT(hipTexObjectGetResourceDesc(&got, (hipTextureObject_t)&res), hipErrorNotSupported);
	EXPECT(hipTexObjectGetResourceDesc(&got, NULL), hipErrorInvalidValue);
	EXPECT(hipTexObjectGetResourceViewDesc(&view, (hipTextureObject_t)&res), hipErrorNotSupported);
	EXPECT(hipGetTextureObjectResourceViewDesc(&runtime_view, (hipTextureObject_t)&res), hipErrorNotSupported);
	ASSERT(o == NULL);
}

int main(void)
{
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	for (int i = 0; i < H; i++)
		for (int j = 0; j < 4 * W; j++)
			pixels[i][j] = (unsigned char)(i * 67 + j * 13);
	if (images) {
		sample = kernel(IMAGE(texture), "texture_sample");
		fetch = kernel(IMAGE(texture), "texture_fetch");
		CHECK(hipMalloc(&places, THREADS * sizeof(words)));
		CHECK(hipMalloc(&results, THREADS * sizeof(words)));
		of_an_array();
		of_memory();
	} else {
		without();
	}
	return result("texture objects");
}
