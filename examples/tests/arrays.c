/* Arrays by the driver's calls, and every form of a copy to one, from one and
 * between two. A device without images has none, and says so. */
#include "test.h"

enum { W = 24, H = 10, ROW = 2 * W }; /* elements of 2 bytes */

static unsigned char in[H][ROW], out[H][ROW];
static hipStream_t stream;

static const HIP_ARRAY_DESCRIPTOR shorts = {W, H, HIP_AD_FORMAT_UNSIGNED_INT16, 1};

static void fill(int seed)
{
	for (int i = 0; i < H; i++)
		for (int j = 0; j < ROW; j++)
			in[i][j] = (unsigned char)((i * ROW + j) * 11 + seed);
	memset(out, 0xee, sizeof out);
}

/* part says that out has a rectangle of in at its start and nothing else. */
static int part(int x, int y, int width, int height)
{
	for (int i = 0; i < H; i++)
		for (int j = 0; j < ROW; j++) {
			unsigned char want = i < height && j < width ? in[i + y][j + x] : 0xee;
			if (out[i][j] != want) {
				fprintf(stderr, "row %d, byte %d: %d, not %d\n", i, j, out[i][j], want);
				return 0;
			}
		}
	return 1;
}

/* All of an array as it is. */
static void read_all(hipArray_t a) { CHECK(hipMemcpy2DFromArray(out, ROW, a, 0, 0, ROW, H, hipMemcpyDeviceToHost)); }

/* made gives an array with in of a seed. */
static hipArray_t made(int seed)
{
	hipArray_t a = NULL;
	fill(seed);
	CHECK(hipArrayCreate(&a, &shorts));
	CHECK(hipMemcpy2DToArray(a, 0, 0, in, ROW, ROW, H, hipMemcpyHostToDevice));
	return a;
}

static void descriptors(void)
{
	hipArray_t a = NULL, b = NULL, none = NULL;
	HIP_ARRAY_DESCRIPTOR d = {0, 0, 0, 0}, wrong = {W, H, HIP_AD_FORMAT_FLOAT, 3};
	HIP_ARRAY3D_DESCRIPTOR three = {W, H, 5, HIP_AD_FORMAT_HALF, 4, hipArrayLayered}, got;
	CHECK(hipArrayCreate(&a, &shorts));
	CHECK(hipArrayGetDescriptor(&d, a));
	ASSERT(d.Width == W && d.Height == H && d.Format == HIP_AD_FORMAT_UNSIGNED_INT16 && d.NumChannels == 1);
	CHECK(hipArray3DCreate(&b, &three));
	CHECK(hipArray3DGetDescriptor(&got, b));
	ASSERT(got.Width == W && got.Height == H && got.Depth == 5 && got.Format == HIP_AD_FORMAT_HALF && got.NumChannels == 4 && got.Flags == hipArrayLayered);
	EXPECT(hipArrayCreate(NULL, &shorts), hipErrorInvalidValue);
	EXPECT(hipArrayCreate(&none, NULL), hipErrorInvalidValue);
	EXPECT(hipArrayCreate(&none, &wrong), hipErrorInvalidValue);
	three.Flags = hipArrayCubemap;
	EXPECT(hipArray3DCreate(&none, &three), hipErrorInvalidValue);
	EXPECT(hipArray3DCreate(&none, NULL), hipErrorInvalidValue);
	ASSERT(none == NULL);
	EXPECT(hipArrayGetDescriptor(NULL, a), hipErrorInvalidValue);
	EXPECT(hipArrayGetDescriptor(&d, NULL), hipErrorInvalidHandle);
	CHECK(hipArrayDestroy(b));
	CHECK(hipArrayDestroy(a));
	EXPECT(hipArrayDestroy(a), hipErrorContextIsDestroyed);
	EXPECT(hipArrayGetDescriptor(&d, a), hipErrorInvalidHandle);
}

/* Rectangles, at once and on streams. */
static void rectangles(void)
{
	hipArray_t a = made(1), b = NULL;
	void *pinned, *device;
	CHECK(hipArrayCreate(&b, &shorts));
	CHECK(hipHostMalloc(&pinned, sizeof in, 0));
	CHECK(hipMalloc(&device, sizeof in));

	/* a's rectangle of 30 x 6 at (8, 3) to b's at (4, 2), and that back */
	CHECK(hipMemcpy2DArrayToArray(b, 4, 2, a, 8, 3, 30, 6, hipMemcpyDeviceToDevice));
	CHECK(hipMemcpy2DFromArray(out, ROW, b, 4, 2, 30, 6, hipMemcpyDeviceToHost));
	ASSERT(part(8, 3, 30, 6));
	EXPECT(hipMemcpy2DArrayToArray(b, 4, 2, a, 20, 3, 30, 6, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
	EXPECT(hipMemcpy2DArrayToArray(NULL, 4, 2, a, 8, 3, 30, 6, hipMemcpyDeviceToDevice), hipErrorInvalidHandle);
	EXPECT(hipMemcpy2DArrayToArray(b, 4, 2, NULL, 8, 3, 30, 6, hipMemcpyDeviceToDevice), hipErrorInvalidHandle);
	EXPECT(hipMemcpy2DArrayToArray(b, 4, 2, a, 8, 3, 30, 6, (hipMemcpyKind)99), hipErrorInvalidMemcpyDirection);

	/* memory of each kind, in order on a stream: pageable, pinned, of the device */
	for (int form = 0; form < 6; form++) {
		void *from = form / 2 == 0 ? (void *)in : form / 2 == 1 ? pinned : device;
		int spt = form % 2;
		hipMemcpyKind to_array = form / 2 == 2 ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice;
		hipMemcpyKind from_array = form / 2 == 2 ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost;
		fill(10 + form);
		CHECK(hipMemcpy(from, in, sizeof in, hipMemcpyDefault));
		if (spt) {
			CHECK(hipMemcpy2DToArrayAsync_spt(a, 2, 1, from, ROW, 20, 7, to_array, NULL));
			CHECK(hipMemcpy2DFromArrayAsync_spt(form / 2 == 2 ? device : (void *)out, ROW, a, 2, 1, 20, 7, from_array, NULL));
			CHECK(hipStreamSynchronize_spt(NULL));
		} else {
			CHECK(hipMemcpy2DToArrayAsync(a, 2, 1, from, ROW, 20, 7, to_array, stream));
			CHECK(hipMemcpy2DFromArrayAsync(form / 2 == 2 ? device : (void *)out, ROW, a, 2, 1, 20, 7, from_array, stream));
			CHECK(hipStreamSynchronize(stream));
		}
		if (form / 2 == 2)
			CHECK(hipMemcpy2D(out, ROW, device, ROW, 20, 7, hipMemcpyDeviceToHost));
		ASSERT(part(0, 0, 20, 7));
	}
	EXPECT(hipMemcpy2DToArrayAsync(NULL, 0, 0, in, ROW, 20, 7, hipMemcpyHostToDevice, stream), hipErrorInvalidHandle);
	EXPECT(hipMemcpy2DToArrayAsync(a, 0, 0, NULL, ROW, 20, 7, hipMemcpyHostToDevice, stream), hipErrorInvalidValue);
	EXPECT(hipMemcpy2DToArrayAsync(a, 0, 0, in, 19, 20, 7, hipMemcpyHostToDevice, stream), hipErrorInvalidPitchValue);
	EXPECT(hipMemcpy2DFromArrayAsync(out, ROW, a, 0, 4, 20, 7, hipMemcpyDeviceToHost, stream), hipErrorInvalidValue);
	EXPECT(hipMemcpy2DFromArrayAsync_spt(out, 19, a, 0, 0, 20, 7, hipMemcpyDeviceToHost, NULL), hipErrorInvalidPitchValue);

	fill(20);
	CHECK(hipMemcpy2DToArray_spt(a, 6, 2, in, ROW, 24, 5, hipMemcpyHostToDevice));
	CHECK(hipMemcpy2DFromArray_spt(out, ROW, a, 6, 2, 24, 5, hipMemcpyDeviceToHost));
	ASSERT(part(0, 0, 24, 5));
	EXPECT(hipMemcpy2DToArray_spt(a, 26, 2, in, ROW, 24, 5, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipMemcpy2DFromArray_spt(out, ROW, NULL, 6, 2, 24, 5, hipMemcpyDeviceToHost), hipErrorInvalidHandle);
	CHECK(hipFree(device));
	CHECK(hipHostFree(pinned));
	CHECK(hipArrayDestroy(a));
	CHECK(hipArrayDestroy(b));
}

/* Bytes in a row: offsets and counts are rounded down to whole elements. */
static void in_rows(void)
{
	hipArray_t a = made(30), b = made(31);
	void *device;
	fill(32);
	CHECK(hipMalloc(&device, ROW));
	CHECK(hipMemcpy(device, in, ROW, hipMemcpyHostToDevice));
	CHECK(hipMemcpyDtoA(a, 4, device, 12));
	CHECK(hipMemcpyAtoH(out, a, 4, 12));
	ASSERT(part(0, 0, 12, 1));
	CHECK(hipMemcpyAtoA(b, 9, a, 5, 11)); /* from 4 to 8, of 10 bytes */
	CHECK(hipMemset(device, 0xee, ROW));
	CHECK(hipMemcpyAtoD(device, b, 8, 10));
	memset(out, 0xee, sizeof out);
	CHECK(hipMemcpyDtoH(out, device, ROW));
	ASSERT(part(0, 0, 10, 1));

	fill(33);
	CHECK(hipMemcpyHtoAAsync(a, 16, in[1], 14, stream));
	CHECK(hipMemcpyAtoHAsync(out, a, 16, 14, stream));
	CHECK(hipStreamSynchronize(stream));
	ASSERT(part(0, 1, 14, 1));

	EXPECT(hipMemcpyDtoA(a, ROW - 10, device, 12), hipErrorInvalidValue);
	EXPECT(hipMemcpyDtoA(NULL, 0, device, 12), hipErrorInvalidValue);
	EXPECT(hipMemcpyDtoA(a, 0, NULL, 12), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoD(device, NULL, 0, 12), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoD(NULL, a, 0, 12), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoD(device, a, ROW, 2), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoA(b, 0, NULL, 0, 2), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoA(NULL, 0, a, 0, 2), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoA(b, 0, a, 0, 0), hipErrorInvalidValue);
	EXPECT(hipMemcpyHtoAAsync(a, 0, NULL, 12, stream), hipErrorInvalidValue);
	EXPECT(hipMemcpyHtoAAsync(a, 0, in, 1, stream), hipErrorInvalidValue); /* no element */
	EXPECT(hipMemcpyAtoHAsync(NULL, a, 0, 12, stream), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoHAsync(out, a, 0, ROW + 2, stream), hipErrorInvalidValue);
	CHECK(hipFree(device));
	CHECK(hipArrayDestroy(a));
	CHECK(hipArrayDestroy(b));
}

/* Counts of bytes that fill whole rows, HIP 1's copies. */
static void counts(void)
{
	hipArray_t a = made(40);
	fill(41);
	CHECK(hipMemcpyToArray(a, 0, 0, in, sizeof in, hipMemcpyHostToDevice));
	read_all(a);
	ASSERT(part(0, 0, ROW, H));
	memset(out, 0xee, sizeof out);
	CHECK(hipMemcpyFromArray(out, a, 0, 0, sizeof out, hipMemcpyDeviceToHost));
	ASSERT(part(0, 0, ROW, H));
	memset(out, 0xee, sizeof out);
	CHECK(hipMemcpyFromArray_spt(out, a, 0, 0, sizeof out, hipMemcpyDeviceToHost));
	ASSERT(part(0, 0, ROW, H));

	/* As AMD's library has it: half of the bytes are half as many rows of half
	 * the bytes, close to each other in memory. */
	fill(42);
	CHECK(hipMemcpyToArray(a, 2, 3, in, sizeof in / 2, hipMemcpyHostToDevice));
	CHECK(hipMemcpy2DFromArray(out, ROW / 2, a, 2, 3, ROW / 2, H / 2, hipMemcpyDeviceToHost));
	ASSERT(memcmp(out, in, sizeof in / 4) == 0 && out[2][ROW / 2] == 0xee);
	memset(out, 0xee, sizeof out);
	CHECK(hipMemcpyFromArray(out, a, 2, 3, sizeof in / 2, hipMemcpyDeviceToHost));
	ASSERT(memcmp(out, in, sizeof in / 4) == 0 && out[2][ROW / 2] == 0xee);
	CHECK(hipMemcpyFromArray(out, a, 0, 0, ROW - 1, hipMemcpyDeviceToHost)); /* no row, nothing is copied */
	ASSERT(memcmp(out, in, sizeof in / 4) == 0);
	EXPECT(hipMemcpyToArray(NULL, 0, 0, in, ROW, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipMemcpyFromArray(out, NULL, 0, 0, ROW, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipMemcpyFromArray(out, a, 2, 0, sizeof out, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipMemcpyFromArray(NULL, a, 0, 0, sizeof out, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	CHECK(hipArrayDestroy(a));
}

/* AMD's library for Linux has no arrays with levels, whatever the device. */
static void mipmaps(void)
{
	hipMipmappedArray_t m = NULL;
	hipArray_t level = NULL;
	HIP_ARRAY3D_DESCRIPTOR d = {32, 32, 0, HIP_AD_FORMAT_FLOAT, 1, 0};
	hipChannelFormatDesc c = {32, 0, 0, 0, hipChannelFormatKindFloat};
	EXPECT(hipMipmappedArrayCreate(&m, &d, 3), hipErrorNotSupported);
	EXPECT(hipMipmappedArrayCreate(NULL, &d, 3), hipErrorNotSupported);
	EXPECT(hipMipmappedArrayCreate(&m, NULL, 3), hipErrorNotSupported);
	EXPECT(hipMallocMipmappedArray(&m, &c, (hipExtent){32, 32, 0}, 3, 0), hipErrorNotSupported);
	EXPECT(hipMallocMipmappedArray(&m, NULL, (hipExtent){32, 32, 0}, 3, 0), hipErrorInvalidValue);
	ASSERT(m == NULL);
	EXPECT(hipMipmappedArrayGetLevel(NULL, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipMipmappedArrayGetLevel(&level, NULL, 0), hipErrorInvalidHandle);
	EXPECT(hipGetMipmappedArrayLevel(NULL, NULL, 0), hipErrorInvalidValue);
	EXPECT(hipGetMipmappedArrayLevel(&level, NULL, 0), hipErrorInvalidHandle);
	ASSERT(level == NULL);
	EXPECT(hipMipmappedArrayDestroy(NULL), hipErrorInvalidValue);
	EXPECT(hipFreeMipmappedArray(NULL), hipErrorInvalidValue);
}

/* What a device without images answers. */
static void without(void)
{
	hipArray_t a = NULL;
	HIP_ARRAY_DESCRIPTOR d = {W, H, HIP_AD_FORMAT_FLOAT, 3};
	HIP_ARRAY3D_DESCRIPTOR three = {W, H, 5, HIP_AD_FORMAT_HALF, 4, hipArrayLayered};
	EXPECT(hipArrayCreate(&a, &shorts), hipErrorNotSupported);
	EXPECT(hipArrayCreate(&a, &d), hipErrorInvalidValue);
	EXPECT(hipArray3DCreate(&a, &three), hipErrorNotSupported);
	three.Flags = hipArrayCubemap;
	EXPECT(hipArray3DCreate(&a, &three), hipErrorInvalidValue);
	ASSERT(a == NULL);
	EXPECT(hipArrayDestroy(NULL), hipErrorInvalidValue);
	EXPECT(hipArrayGetDescriptor(&d, NULL), hipErrorInvalidHandle);
	EXPECT(hipMemcpyToArray(NULL, 0, 0, in, ROW, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipMemcpyFromArray(out, NULL, 0, 0, ROW, hipMemcpyDeviceToHost), hipErrorInvalidValue);
	EXPECT(hipMemcpy2DToArrayAsync(NULL, 0, 0, in, ROW, ROW, 1, hipMemcpyHostToDevice, stream), hipErrorInvalidHandle);
	EXPECT(hipMemcpy2DFromArrayAsync(out, ROW, NULL, 0, 0, ROW, 1, hipMemcpyDeviceToHost, stream), hipErrorInvalidHandle);
	EXPECT(hipMemcpy2DArrayToArray(NULL, 0, 0, NULL, 0, 0, 8, 1, hipMemcpyDeviceToDevice), hipErrorInvalidHandle);
	EXPECT(hipMemcpyAtoA(NULL, 0, NULL, 0, 8), hipErrorInvalidValue);
	EXPECT(hipMemcpyAtoHAsync(out, NULL, 0, 8, stream), hipErrorInvalidValue);
}

/* What kind of memory a pointer is to is told of arrays too; nothing else is. */
static void pointers(void)
{
	hipChannelFormatDesc d = {8, 0, 0, 0, hipChannelFormatKindSigned};
	hipArray_t a;
	unsigned type = 4711, ordinal = 4711;
	CHECK(hipMallocArray(&a, &d, 16, 4, hipArrayDefault));
	CHECK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, (hipDeviceptr_t)a));
	ASSERT(type == hipMemoryTypeArray);
	EXPECT(hipPointerGetAttribute(&ordinal, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (hipDeviceptr_t)a), hipErrorInvalidValue);
	CHECK(hipFreeArray(a));
	EXPECT(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, (hipDeviceptr_t)a), hipErrorInvalidValue);
	ASSERT(type == 0);
}

int main(void)
{
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	CHECK(hipStreamCreate(&stream));
	if (images) {
		descriptors();
		rectangles();
		in_rows();
		counts();
		pointers();
	} else {
		without();
	}
	mipmaps();
	CHECK(hipStreamDestroy(stream));
	return result("arrays");
}
