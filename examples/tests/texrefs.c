/* Texture references, HIP's older textures: their fields, those of a module and
 * those of the program's own, bound to all that a kernel can read. A device
 * without images has none. */
#include "test.h"

#include "bundle.h"

EMBED(texture);

enum { W = 16, H = 8, THREADS = 64 };

typedef float words[4];

static textureReference ref, own; /* own is registered, as clang registers texture<> */
static void **texture_code;
static unsigned char pixels[H][W];
static void *places, *results;

__attribute__((constructor)) static void register_own(void)
{
	static struct fat_binary f;
	texture_code = __hipRegisterFatBinary(fat(&f, texture_gfx90a, texture_gfx942));
	__hipRegisterTexture(texture_code, &own, "own", "reference", 2, 0, 0);
	__hipRegisterFunction(texture_code, (const void *)register_own, "reference_sample", "reference_sample", (unsigned int)-1, NULL, NULL, NULL, NULL, NULL);
	__hipRegisterFunction(texture_code, (const void *)&own, "reference_fetch", "reference_fetch", (unsigned int)-1, NULL, NULL, NULL, NULL, NULL);
}

__attribute__((destructor)) static void unregister(void) { __hipUnregisterFatBinary(texture_code); }

static void fields(void)
{
	hipArray_Format format = HIP_AD_FORMAT_HALF;
	enum hipTextureFilterMode filter = hipFilterModePoint;
	enum hipTextureAddressMode mode = hipAddressModeWrap;
	int channels = 0, most = 0;
	float bias = 0, low = 0, high = 0, color[4] = {0};
	const textureReference *same = NULL;
	unsigned flags = 99;
	size_t offset = 99;
	CHECK(hipTexRefSetFormat(&ref, HIP_AD_FORMAT_UNSIGNED_INT16, 2));
	CHECK(hipTexRefGetFormat(&format, &channels, &ref));
	ASSERT(format == HIP_AD_FORMAT_UNSIGNED_INT16 && channels == 2);
	EXPECT(hipTexRefGetFormat(NULL, &channels, &ref), hipErrorInvalidValue);
	EXPECT(hipTexRefSetFormat(NULL, HIP_AD_FORMAT_FLOAT, 1), hipErrorInvalidValue);
	CHECK(hipTexRefSetFilterMode(&ref, hipFilterModeLinear));
	CHECK(hipTexRefGetFilterMode(&filter, &ref));
	ASSERT(filter == hipFilterModeLinear);
	CHECK(hipTexRefSetAddressMode(&ref, 1, hipAddressModeMirror));
	CHECK(hipTexRefGetAddressMode(&mode, &ref, 1));
	ASSERT(mode == hipAddressModeMirror);
	EXPECT(hipTexRefSetAddressMode(&ref, 3, hipAddressModeMirror), hipErrorInvalidValue);
	EXPECT(hipTexRefGetAddressMode(&mode, &ref, 2), hipErrorInvalidValue);
	CHECK(hipTexRefSetFlags(&ref, HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES));
	CHECK(hipTexRefGetFlags(&flags, &ref));
	ASSERT(flags == (HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES));
	CHECK(hipTexRefSetMaxAnisotropy(&ref, 8));
	CHECK(hipTexRefGetMaxAnisotropy(&most, &ref));
	ASSERT(most == 8);
	/* AMD's library answers these three, and says that they are wrong. */
	CHECK(hipTexRefSetMipmapFilterMode(&ref, hipFilterModeLinear));
	filter = hipFilterModePoint;
	EXPECT(hipTexRefGetMipmapFilterMode(&filter, &ref), hipErrorInvalidValue);
	ASSERT(filter == hipFilterModeLinear);
	CHECK(hipTexRefSetMipmapLevelBias(&ref, 1.5f));
	EXPECT(hipTexRefGetMipmapLevelBias(&bias, &ref), hipErrorInvalidValue);
	ASSERT(bias == 1.5f);
	CHECK(hipTexRefSetMipmapLevelClamp(&ref, 2, 3));
	EXPECT(hipTexRefGetMipmapLevelClamp(&low, &high, &ref), hipErrorInvalidValue);
	ASSERT(low == 2 && high == 3);
	CHECK(hipTexRefSetBorderColor(&ref, color));
	EXPECT(hipTexRefSetBorderColor(&ref, NULL), hipErrorInvalidValue);
	CHECK(hipTexRefGetBorderColor(color, &ref));
	EXPECT(hipTexRefGetBorderColor(NULL, &ref), hipErrorInvalidValue);
	CHECK(hipGetTextureReference(&same, &own));
	ASSERT(same == &own);
	EXPECT(hipGetTextureReference(NULL, &own), hipErrorInvalidValue);
	CHECK(hipGetTextureAlignmentOffset(&offset, &own));
	ASSERT(offset == 0);
}

/* see has a kernel read by a reference at the first places, and brings what it
 * read. */
static void see(hipFunction_t f, const void *host, const words *at, words *got, int n)
{
	words all[THREADS] = {{0}};
	void *args[] = {&places, &results};
	memcpy(all, at, sizeof(words) * (size_t)n);
	CHECK(hipMemcpy(places, all, sizeof all, hipMemcpyHostToDevice));
	if (f)
		CHECK(hipModuleLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL));
	else
		CHECK(hipLaunchKernel(host, (dim3){1, 1, 1}, (dim3){THREADS, 1, 1}, args, 0, NULL));
	CHECK(hipMemcpy(all, results, sizeof all, hipMemcpyDeviceToHost));
	memcpy(got, all, sizeof(words) * (size_t)n);
}

/* corners says that a kernel sees three pixels of the picture as numbers from 0
 * to 1. */
static int corners(hipFunction_t f, const void *host)
{
	static const words at[3] = {{0.5f, 0.5f, 0, 0}, {W - 0.5f, H - 0.5f, 0, 0}, {5.25f, 3.75f, 0, 0}};
	static const int x[3] = {0, W - 1, 5}, y[3] = {0, H - 1, 3};
	words got[3];
	see(f, host, at, got, 3);
	for (int i = 0; i < 3; i++) {
		float want = (float)pixels[y[i]][x[i]] / 255;
		if (got[i][0] != want || got[i][3] != 1) {
			fprintf(stderr, "place %d: %g, not %g\n", i, got[i][0], want);
			return 0;
		}
	}
	return 1;
}

/* numbers says that a kernel fetches bytes as integers. */
static int numbers(hipFunction_t f, const void *host, const unsigned char *want)
{
	static const int at[3] = {0, 77, W * H - 1};
	words in[3], got[3];
	int ok = 1;
	for (int i = 0; i < 3; i++)
		memcpy(in[i], &at[i], sizeof at[i]);
	see(f, host, (const words *)in, got, 3);
	for (int i = 0; i < 3; i++) {
		int v;
		memcpy(&v, got[i], sizeof v);
		ok &= v == want[at[i]];
	}
	return ok;
}

static hipArray_t picture(int seed)
{
	hipArray_t a;
	HIP_ARRAY_DESCRIPTOR d = {W, H, HIP_AD_FORMAT_UNSIGNED_INT8, 1};
	for (int i = 0; i < H; i++)
		for (int j = 0; j < W; j++)
			pixels[i][j] = (unsigned char)((i * W + j) * 5 + seed);
	CHECK(hipArrayCreate(&a, &d));
	CHECK(hipMemcpy2DToArray(a, 0, 0, pixels, W, W, H, hipMemcpyHostToDevice));
	return a;
}

/* The references of modules, by the driver's calls. */
static void of_modules(void)
{
	hipModule_t m;
	hipFunction_t sample, fetch;
	textureReference *r = NULL, *again = NULL;
	hipArray_t a = picture(1), b, got = NULL;
	hipMipmappedArray_t mipmap = NULL;
	hipDeviceptr_t p = NULL;
	enum hipTextureAddressMode mode = hipAddressModeWrap;
	hipArray_Format format = HIP_AD_FORMAT_HALF;
	HIP_ARRAY_DESCRIPTOR d = {W, H, HIP_AD_FORMAT_UNSIGNED_INT8, 1};
	size_t offset = 99, pitch = 0;
	unsigned flags = 99;
	int channels = 0;
	void *linear, *pitched;
	CHECK(hipModuleLoadData(&m, IMAGE(texture)));
	CHECK(hipModuleGetFunction(&sample, m, "reference_sample"));
	CHECK(hipModuleGetFunction(&fetch, m, "reference_fetch"));
	EXPECT(hipModuleGetTexRef(NULL, m, "reference"), hipErrorInvalidValue);
	EXPECT(hipModuleGetTexRef(&r, m, NULL), hipErrorInvalidValue);
	EXPECT(hipModuleGetTexRef(&r, m, ""), hipErrorInvalidValue);
	EXPECT(hipModuleGetTexRef(&r, NULL, "reference"), hipErrorInvalidResourceHandle);
	EXPECT(hipModuleGetTexRef(&r, m, "nothing"), hipErrorNotFound);
	EXPECT(hipModuleGetTexRef(&r, m, "small"), hipErrorNotFound);
	CHECK(hipModuleGetTexRef(&r, m, "reference"));
	CHECK(hipTexRefGetFormat(&format, &channels, r));
	CHECK(hipTexRefGetFlags(&flags, r));
	CHECK(hipTexRefGetAddressMode(&mode, r, 0));
	ASSERT(format == HIP_AD_FORMAT_FLOAT && channels == 1 && flags == 0 && mode == hipAddressModeClamp);
	EXPECT(hipTexRefGetArray(&got, r), hipErrorInvalidValue); /* nothing is bound */
	EXPECT(hipTexRefGetAddress(&p, r), hipErrorInvalidValue);
	EXPECT(hipTexRefGetMipMappedArray(&mipmap, r), hipErrorInvalidValue);

	/* an array, and another in its place */
	EXPECT(hipTexRefSetArray(r, a, 0), hipErrorInvalidValue);
	EXPECT(hipTexRefSetArray(r, NULL, HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
	EXPECT(hipTexRefSetArray(NULL, a, HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
	EXPECT(hipTexRefSetArray(&ref, a, HIP_TRSA_OVERRIDE_FORMAT), hipErrorNotFound); /* no module's */
	CHECK(hipTexRefSetArray(r, a, HIP_TRSA_OVERRIDE_FORMAT));
	ASSERT(corners(sample, NULL));
	CHECK(hipTexRefGetArray(&got, r));
	ASSERT(got == a);
	CHECK(hipTexRefGetFormat(&format, &channels, r));
	ASSERT(format == HIP_AD_FORMAT_UNSIGNED_INT8 && channels == 1);
	EXPECT(hipTexRefGetAddress(&p, r), hipErrorInvalidValue);
	EXPECT(hipTexRefGetMipMappedArray(&mipmap, r), hipErrorInvalidValue);
	EXPECT(hipTexRefGetArray(NULL, r), hipErrorInvalidValue);
	b = picture(2);
	CHECK(hipTexRefSetArray(r, b, HIP_TRSA_OVERRIDE_FORMAT));
	ASSERT(corners(sample, NULL));

	/* memory of pitched rows */
	CHECK(hipMallocPitch(&pitched, &pitch, W, H));
	picture(3);
	CHECK(hipMemcpy2D(pitched, pitch, pixels, W, W, H, hipMemcpyHostToDevice));
	CHECK(hipTexRefSetAddress2D(r, &d, pitched, pitch));
	ASSERT(corners(sample, NULL));
	CHECK(hipTexRefGetAddress(&p, r));
	ASSERT(p == pitched);
	EXPECT(hipTexRefGetArray(&got, r), hipErrorInvalidValue);
	EXPECT(hipTexRefGetAddress(NULL, r), hipErrorInvalidValue);
	EXPECT(hipTexRefSetAddress2D(r, NULL, pitched, pitch), hipErrorInvalidValue);
	EXPECT(hipTexRefSetAddress2D(NULL, &d, pitched, pitch), hipErrorInvalidValue);
	EXPECT(hipTexRefSetAddress2D(&ref, &d, pitched, pitch), hipErrorNotFound);
	EXPECT(hipTexRefSetAddress2D(r, &d, pitched, W), hipErrorInvalidValue); /* no multiple of the pitch's alignment */

	/* memory without rows: its elements by their number */
	CHECK(hipMalloc(&linear, 4096));
	picture(4);
	CHECK(hipMemcpy((char *)linear + 256, pixels, sizeof pixels, hipMemcpyHostToDevice));
	CHECK(hipTexRefSetFormat(r, HIP_AD_FORMAT_UNSIGNED_INT8, 1));
	CHECK(hipTexRefSetFlags(r, HIP_TRSF_READ_AS_INTEGER));
	CHECK(hipTexRefSetAddress(&offset, r, (char *)linear + 256, sizeof pixels));
	ASSERT(offset == 0);
	ASSERT(numbers(fetch, NULL, pixels[0]));
	CHECK(hipTexRefGetAddress(&p, r));
	ASSERT(p == (hipDeviceptr_t)((char *)linear + 256));
	CHECK(hipTexRefSetAddress(NULL, r, (char *)linear + 256, sizeof pixels));
	EXPECT(hipTexRefSetAddress(NULL, r, (char *)linear + 4, sizeof pixels), hipErrorInvalidValue); /* not aligned, and nowhere to say so */
	EXPECT(hipTexRefSetAddress(&offset, NULL, linear, sizeof pixels), hipErrorInvalidValue);
	EXPECT(hipTexRefSetAddress(&offset, &ref, linear, sizeof pixels), hipErrorNotFound);

	/* arrays with levels: there are none */
	EXPECT(hipTexRefSetMipmappedArray(r, NULL, HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
	EXPECT(hipTexRefSetMipmappedArray(NULL, (hipMipmappedArray_t)&d, HIP_TRSA_OVERRIDE_FORMAT), hipErrorInvalidValue);
	EXPECT(hipTexRefSetMipmappedArray(r, (hipMipmappedArray_t)&d, 0), hipErrorInvalidValue);
	EXPECT(hipTexRefSetMipmappedArray(&ref, (hipMipmappedArray_t)&d, HIP_TRSA_OVERRIDE_FORMAT), hipErrorNotFound);
	EXPECT(hipTexRefSetMipmappedArray(r, (hipMipmappedArray_t)&d, HIP_TRSA_OVERRIDE_FORMAT), hipErrorNotSupported);
	EXPECT(hipTexRefGetMipMappedArray(NULL, r), hipErrorInvalidValue);

	CHECK(hipModuleGetTexRef(&again, m, "reference"));
	CHECK(hipFree(linear));
	CHECK(hipFree(pitched));
	CHECK(hipArrayDestroy(a));
	CHECK(hipArrayDestroy(b));
	CHECK(hipModuleUnload(m));
	EXPECT(hipModuleGetTexRef(&r, m, "reference"), hipErrorNotFound);
}

/* The reference that the program declares itself, by the runtime's calls. */
static void of_the_program(void)
{
	const void *sample = (const void *)register_own, *fetch = (const void *)&own;
	hipChannelFormatDesc bytes = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
	hipArray_t a = picture(5);
	size_t offset = 99, pitch = 0;
	void *linear, *pitched;
	own.readMode = hipReadModeNormalizedFloat;
	own.addressMode[0] = own.addressMode[1] = hipAddressModeClamp;
	EXPECT(hipBindTextureToArray(NULL, a, &bytes), hipErrorInvalidValue);
	EXPECT(hipBindTextureToArray(&own, NULL, &bytes), hipErrorInvalidValue);
	EXPECT(hipBindTextureToArray(&own, a, NULL), hipErrorInvalidValue);
	EXPECT(hipBindTextureToArray(&ref, a, &bytes), hipErrorInvalidSymbol);
	CHECK(hipBindTextureToArray(&own, a, &bytes));
	ASSERT(own.textureObject != NULL);
	ASSERT(corners(NULL, sample));

	/* its modes count when it is bound next */
	words at[2] = {{1.0f + 2.5f / W, -1.0f / H, 0, 0}, {-0.5f / W, 0.5f / H, 0, 0}}, got[2];
	own.normalized = 1;
	own.addressMode[0] = own.addressMode[1] = hipAddressModeMirror;
	CHECK(hipBindTextureToArray(&own, a, &bytes));
	see(NULL, sample, (const words *)at, got, 2);
	ASSERT(got[0][0] == (float)pixels[0][W - 3] / 255 || got[0][0] == (float)pixels[1][W - 3] / 255);
	ASSERT(got[1][0] == (float)pixels[0][0] / 255);
	own.normalized = 0;
	own.addressMode[0] = own.addressMode[1] = hipAddressModeClamp;

	CHECK(hipMallocPitch(&pitched, &pitch, W, H));
	picture(6);
	CHECK(hipMemcpy2D(pitched, pitch, pixels, W, W, H, hipMemcpyHostToDevice));
	CHECK(hipBindTexture2D(&offset, &own, pitched, &bytes, W, H, pitch));
	ASSERT(offset == 0);
	ASSERT(corners(NULL, sample));
	EXPECT(hipBindTexture2D(&offset, &own, pitched, &bytes, W, H, 0), hipErrorInvalidValue);
	EXPECT(hipBindTexture2D(&offset, &own, NULL, &bytes, W, H, pitch), hipErrorInvalidValue);
	EXPECT(hipBindTexture2D(&offset, &own, pitched, NULL, W, H, pitch), hipErrorInvalidValue);
	EXPECT(hipBindTexture2D(&offset, &ref, pitched, &bytes, W, H, pitch), hipErrorInvalidSymbol);

	CHECK(hipMalloc(&linear, 4096));
	picture(7);
	CHECK(hipMemcpy(linear, pixels, sizeof pixels, hipMemcpyHostToDevice));
	own.readMode = hipReadModeElementType;
	CHECK(hipBindTexture(NULL, &own, linear, &bytes, sizeof pixels));
	ASSERT(numbers(NULL, fetch, pixels[0]));
	EXPECT(hipBindTexture(NULL, &own, NULL, &bytes, sizeof pixels), hipErrorInvalidValue);
	EXPECT(hipBindTexture(NULL, &own, linear, NULL, sizeof pixels), hipErrorInvalidValue);
	EXPECT(hipBindTexture(NULL, &own, (char *)linear + 8, &bytes, sizeof pixels), hipErrorInvalidValue);
	EXPECT(hipBindTexture(NULL, &ref, linear, &bytes, sizeof pixels), hipErrorInvalidSymbol);

	EXPECT(hipBindTextureToMipmappedArray(&own, NULL, &bytes), hipErrorInvalidValue);
	EXPECT(hipBindTextureToMipmappedArray(&own, (hipMipmappedArray_t)&bytes, NULL), hipErrorInvalidValue);
	EXPECT(hipBindTextureToMipmappedArray(&ref, (hipMipmappedArray_t)&bytes, &bytes), hipErrorInvalidSymbol);
	EXPECT(hipBindTextureToMipmappedArray(&own, (hipMipmappedArray_t)&bytes, &bytes), hipErrorNotSupported);

	CHECK(hipBindTextureToArray(&own, a, &bytes));
	CHECK(hipUnbindTexture(&own));
	ASSERT(own.textureObject == NULL);
	CHECK(hipUnbindTexture(&own)); /* nothing is bound, and that is fine */
	EXPECT(hipUnbindTexture(NULL), hipErrorInvalidValue);
	CHECK(hipFree(linear));
	CHECK(hipFree(pitched));
	CHECK(hipArrayDestroy(a));
}

static void without(void)
{
	hipModule_t m;
	textureReference *r = NULL;
	const textureReference *same = NULL;
	hipArray_Format format;
	enum hipTextureFilterMode filter;
	enum hipTextureAddressMode mode;
	hipChannelFormatDesc bytes = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
	hipArray_t a;
	hipMipmappedArray_t mipmap;
	hipDeviceptr_t p;
	float color[4];
	int n;
	EXPECT(hipTexRefSetFormat(&ref, HIP_AD_FORMAT_FLOAT, 1), hipErrorNotSupported);
	EXPECT(hipTexRefGetFormat(&format, &n, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefSetFilterMode(&ref, hipFilterModeLinear), hipErrorNotSupported);
	EXPECT(hipTexRefGetFilterMode(&filter, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefSetAddressMode(&ref, 0, hipAddressModeWrap), hipErrorNotSupported);
	EXPECT(hipTexRefGetAddressMode(&mode, &ref, 0), hipErrorNotSupported);
	EXPECT(hipTexRefGetMaxAnisotropy(&n, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefGetBorderColor(color, &ref), hipErrorNotSupported);
	EXPECT(hipTexRefSetFormat(NULL, HIP_AD_FORMAT_FLOAT, 1), hipErrorInvalidValue);
	EXPECT(hipGetTextureReference(&same, &own), hipErrorNotSupported);
	EXPECT(hipUnbindTexture(&own), hipErrorNotSupported);
	CHECK(hipModuleLoadData(&m, IMAGE(texture)));
	EXPECT(hipModuleGetTexRef(&r, NULL, "reference"), hipErrorInvalidResourceHandle);
	EXPECT(hipModuleGetTexRef(&r, m, "reference"), hipErrorNotSupported);
	CHECK(hipModuleUnload(m));
	/* AMD's library looks for what is bound before it looks for images, but here: */
	EXPECT(hipTexRefGetArray(&a, &ref), hipErrorInvalidValue);
	EXPECT(hipTexRefGetAddress(&p, &ref), hipErrorInvalidValue);
	EXPECT(hipTexRefGetMipMappedArray(&mipmap, &ref), hipErrorNotSupported);
	/* A reference of the program's own is there, a texture to bind it to is not. */
	EXPECT(hipBindTexture(NULL, &own, places, &bytes, 64), hipErrorNotSupported);
	EXPECT(hipBindTexture2D(NULL, &own, places, &bytes, 8, 8, 256), hipErrorNotSupported);
	EXPECT(hipBindTexture(NULL, &ref, places, &bytes, 64), hipErrorInvalidSymbol);
	ASSERT(own.textureObject == NULL);
}

int main(void)
{
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	CHECK(hipMalloc(&places, THREADS * sizeof(words)));
	CHECK(hipMalloc(&results, THREADS * sizeof(words)));
	if (images) {
		fields();
		of_modules();
		of_the_program();
	} else {
		without();
	}
	CHECK(hipFree(places));
	CHECK(hipFree(results));
	return result("texture references");
}
