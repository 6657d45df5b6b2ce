/* Arrays, textures and surfaces: what a program of HIP's does with images, and what a card without them answers. Of what HIP leaves
 * undefined (objects that were destroyed) it does nothing: AMD's library ends there. */
#include "../../examples/tests/test.h"

EMBED(texture);

enum { W = 20, H = 12, D = 5, LANES = 64 };

typedef struct { unsigned c[4]; } four;

static unsigned char in[D][H][W][4], out[D][H][W][4];
static four *at, *got;

static unsigned bits(float f)
{
	unsigned u;
	memcpy(&u, &f, sizeof u);
	return u;
}

/* run has a kernel work with an object at places, and says what it got; a kernel that writes takes it from there. */
static void run(const char *name, void *object, const four *places, four *values)
{
	void *args[] = {&object, &at, &got};
	CHECK(hipMemcpy(at, places, LANES * sizeof *at, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(got, values, LANES * sizeof *got, hipMemcpyHostToDevice));
	CHECK(hipModuleLaunchKernel(kernel(IMAGE(texture), name), 1, 1, 1, LANES, 1, 1, 0, NULL, args, NULL));
	CHECK(hipMemcpy(values, got, LANES * sizeof *got, hipMemcpyDeviceToHost));
}

/* boxes copies a volume in, a part of it to another, and that out. */
static void boxes(unsigned flags)
{
	hipChannelFormatDesc f = {8, 8, 8, 8, hipChannelFormatKindUnsigned};
	hipArray_t a, b;
	hipExtent e = {W, H, D}, part = {7, 4, 3};
	CHECK(hipMalloc3DArray(&a, &f, e, flags));
	CHECK(hipMalloc3DArray(&b, &f, e, flags));
	memset(out, 0, sizeof out);
	hipMemcpy3DParms up = {.srcPtr = {in, W * 4, W, H}, .dstArray = a, .extent = e, .kind = hipMemcpyHostToDevice};
	hipMemcpy3DParms zero = {.srcPtr = {out, W * 4, W, H}, .dstArray = b, .extent = e, .kind = hipMemcpyHostToDevice};
	hipMemcpy3DParms over = {.srcArray = a, .srcPos = {3, 2, 1}, .dstArray = b, .dstPos = {1, 5, 2}, .extent = part, .kind = hipMemcpyDeviceToDevice};
	hipMemcpy3DParms down = {.srcArray = b, .dstPtr = {out, W * 4, W, H}, .extent = e, .kind = hipMemcpyDeviceToHost};
	CHECK(hipMemcpy3D(&up));
	CHECK(hipMemcpy3D(&zero));
	CHECK(hipMemcpy3D(&over));
	CHECK(hipMemcpy3D(&down));
	int wrong = 0;
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				const unsigned char none[4] = {0}, *want = none;
				if (x >= 1 && x < 8 && y >= 5 && y < 9 && z >= 2)
					want = in[z - 1][y - 3][x + 2];
				wrong += memcmp(out[z][y][x], want, 4) != 0;
			}
	ASSERT(wrong == 0);
	CHECK(hipFreeArray(a));
	CHECK(hipFreeArray(b));
}

/* sampled reads an array by texels, by normalized coordinates that wrap, and between texels. */
static void sampled(void)
{
	hipChannelFormatDesc f = {8, 8, 8, 8, hipChannelFormatKindUnsigned}, number = {32, 0, 0, 0, hipChannelFormatKindFloat};
	hipArray_t a, n;
	four places[LANES], values[LANES] = {{{0}}};
	hipTextureObject_t o;
	CHECK(hipMallocArray(&a, &f, W, H, 0));
	CHECK(hipMemcpy2DToArray(a, 0, 0, in, W * 4, W * 4, H, hipMemcpyHostToDevice));
	struct hipResourceDesc res = {.resType = hipResourceTypeArray, .res.array.array = a};
	struct hipTextureDesc tex = {.addressMode = {hipAddressModeClamp, hipAddressModeClamp, hipAddressModeClamp}, .readMode = hipReadModeElementType};
	CHECK(hipCreateTextureObject(&o, &res, &tex, NULL));
	for (int i = 0; i < LANES; i++)
		places[i] = (four){{bits((float)(i - 5) + 0.5f), bits((float)(i % H) + 0.5f)}};
	run("texture_sample", o, places, values);
	for (int i = 0; i < LANES; i++) {
		int x = i < 5 ? 0 : i - 5 < W ? i - 5 : W - 1;
		for (int c = 0; c < 4; c++)
			ASSERT(values[i].c[c] == in[0][i % H][x][c]);
	}
	CHECK(hipDestroyTextureObject(o));
	tex.addressMode[0] = tex.addressMode[1] = hipAddressModeWrap;
	tex.normalizedCoords = 1;
	tex.readMode = hipReadModeNormalizedFloat;
	CHECK(hipCreateTextureObject(&o, &res, &tex, NULL));
	for (int i = 0; i < LANES; i++)
		places[i] = (four){{bits(((float)i + 0.5f) / W), bits(((float)(i % H) + 0.5f) / H - 2)}};
	run("texture_sample", o, places, values);
	for (int i = 0; i < LANES; i++)
		ASSERT(values[i].c[1] == bits((float)in[0][i % H][i % W][1] / 255));
	CHECK(hipDestroyTextureObject(o));
	CHECK(hipFreeArray(a));

	float ramp[W];
	for (int i = 0; i < W; i++)
		ramp[i] = (float)(i * 8);
	CHECK(hipMallocArray(&n, &number, W, 1, 0));
	CHECK(hipMemcpy2DToArray(n, 0, 0, ramp, sizeof ramp, sizeof ramp, 1, hipMemcpyHostToDevice));
	res.res.array.array = n;
	tex = (struct hipTextureDesc){.addressMode = {hipAddressModeClamp, hipAddressModeClamp, hipAddressModeClamp}, .filterMode = hipFilterModeLinear,
		.readMode = hipReadModeElementType};
	CHECK(hipCreateTextureObject(&o, &res, &tex, NULL));
	for (int i = 0; i < LANES; i++)
		places[i] = (four){{bits(0.5f + (float)i / 4), bits(0.5f)}};
	run("texture_sample", o, places, values);
	for (int i = 0; i < LANES; i++)
		ASSERT(values[i].c[0] == bits((float)(i * 2)));
	CHECK(hipDestroyTextureObject(o));
	CHECK(hipFreeArray(n));
}

/* linear reads memory that is no array: elements by their number, and rows. */
static void linear(void)
{
	four places[LANES] = {{{0}}}, values[LANES] = {{{0}}};
	hipTextureObject_t o;
	void *mem;
	size_t pitch;
	CHECK(hipMalloc(&mem, sizeof in));
	CHECK(hipMemcpy(mem, in, sizeof in, hipMemcpyHostToDevice));
	struct hipResourceDesc res = {.resType = hipResourceTypeLinear,
		.res.linear = {.devPtr = mem, .desc = {8, 8, 8, 8, hipChannelFormatKindUnsigned}, .sizeInBytes = sizeof in}};
	struct hipTextureDesc tex = {.readMode = hipReadModeElementType};
	CHECK(hipCreateTextureObject(&o, &res, &tex, NULL));
	for (int i = 0; i < LANES; i++)
		places[i].c[0] = (unsigned)i * 17;
	run("texture_fetch", o, places, values);
	for (int i = 0; i < LANES; i++)
		ASSERT(values[i].c[2] == (&in[0][0][0][0])[i * 17 * 4 + 2]);
	CHECK(hipDestroyTextureObject(o));
	CHECK(hipFree(mem));

	CHECK(hipMallocPitch(&mem, &pitch, W * 4, H));
	CHECK(hipMemcpy2D(mem, pitch, in, W * 4, W * 4, H, hipMemcpyHostToDevice));
	res = (struct hipResourceDesc){.resType = hipResourceTypePitch2D,
		.res.pitch2D = {.devPtr = mem, .desc = {8, 8, 8, 8, hipChannelFormatKindUnsigned}, .width = W, .height = H, .pitchInBytes = pitch}};
	tex.addressMode[0] = tex.addressMode[1] = hipAddressModeClamp;
	CHECK(hipCreateTextureObject(&o, &res, &tex, NULL));
	for (int i = 0; i < LANES; i++)
		places[i] = (four){{bits((float)(i % W) + 0.5f), bits((float)(i % H) + 0.5f)}};
	run("texture_sample", o, places, values);
	for (int i = 0; i < LANES; i++)
		ASSERT(values[i].c[3] == in[0][i % H][i % W][3]);
	CHECK(hipDestroyTextureObject(o));
	CHECK(hipFree(mem));
}

/* surfaces writes an array and reads it back, by kernels and by a copy. */
static void surfaces(void)
{
	hipChannelFormatDesc f = {32, 32, 32, 32, hipChannelFormatKindUnsigned};
	static four all[H][W];
	four places[LANES], values[LANES], seen[LANES] = {{{0}}};
	hipArray_t a;
	hipSurfaceObject_t o;
	CHECK(hipMallocArray(&a, &f, W, H, hipArraySurfaceLoadStore));
	struct hipResourceDesc res = {.resType = hipResourceTypeArray, .res.array.array = a};
	CHECK(hipCreateSurfaceObject(&o, &res));
	for (int i = 0; i < LANES; i++) {
		places[i] = (four){{(unsigned)(i * 7) % W, (unsigned)i % H}};
		values[i] = (four){{places[i].c[0], places[i].c[1], 4711, 0xdeadbeef}};
	}
	run("surface_write", o, places, values);
	run("surface_read", o, places, seen);
	ASSERT(memcmp(seen, values, sizeof seen) == 0);
	CHECK(hipMemcpy2DFromArray(all, W * sizeof(four), a, 0, 0, W * sizeof(four), H, hipMemcpyDeviceToHost));
	for (int i = 0; i < LANES; i++)
		ASSERT(all[places[i].c[1]][places[i].c[0]].c[3] == 0xdeadbeef);
	CHECK(hipDestroySurfaceObject(o));
	CHECK(hipFreeArray(a));
}

static void without(void)
{
	hipChannelFormatDesc f = {8, 8, 8, 8, hipChannelFormatKindUnsigned};
	hipArray_t a;
	hipTextureObject_t o;
	struct hipResourceDesc res = {.resType = hipResourceTypeLinear, .res.linear = {.devPtr = at, .desc = f, .sizeInBytes = 256}};
	struct hipTextureDesc tex = {.readMode = hipReadModeElementType};
	EXPECT(hipMallocArray(&a, &f, W, H, 0), hipErrorNotSupported);
	EXPECT(hipCreateTextureObject(&o, &res, &tex, NULL), hipErrorNotSupported);
}

int main(void)
{
	int images = 0;
	CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	ASSERT(images == is_gfx90a());
	for (size_t i = 0; i < sizeof in; i++)
		(&in[0][0][0][0])[i] = (unsigned char)(i * 13 + i / 101);
	CHECK(hipMalloc((void **)&at, LANES * sizeof *at));
	CHECK(hipMalloc((void **)&got, LANES * sizeof *got));
	if (images) {
		boxes(hipArrayDefault);
		boxes(hipArrayLayered);
		sampled();
		linear();
		surfaces();
	} else {
		without();
	}
	return result("textures");
}
