/* What clang makes of <<<>>>: code embedded in the program, registered before
 * main, kernels named by host functions and variables by host variables. The
 * calls are written here as clang writes them, so that gcc builds the program. */
#include "bundle.h"
#include "test.h"

EMBED(vector_add);
EMBED(variables);

static void **adding, **numbers;
static float coefficients[8]; /* the host's shadow of the device variable */
static uint64_t big_table[64];

/* The host functions that stand for the kernels, as clang writes them. */
static void vector_add(const float *a, const float *b, float *c, int n)
{
	void *args[] = {&a, &b, &c, &n};
	dim3 grid, block;
	size_t shared;
	hipStream_t stream;
	if (__hipPopCallConfiguration(&grid, &block, &shared, &stream) == hipSuccess)
		(void)hipLaunchKernel((const void *)vector_add, grid, block, args, shared, stream);
}

static void polynomial(const float *in, float *out, uint32_t n)
{
	void *args[] = {&in, &out, &n};
	dim3 grid, block;
	size_t shared;
	hipStream_t stream;
	if (__hipPopCallConfiguration(&grid, &block, &shared, &stream) == hipSuccess)
		(void)hipLaunchKernel((const void *)polynomial, grid, block, args, shared, stream);
}

static void never_compiled(void) {}

__attribute__((destructor)) static void unregister(void)
{
	__hipUnregisterFatBinary(adding);
	__hipUnregisterFatBinary(numbers);
}

__attribute__((constructor)) static void register_all(void)
{
	static struct fat_binary a, v;
	adding = __hipRegisterFatBinary(fat(&a, vector_add_gfx90a, vector_add_gfx942));
	__hipRegisterFunction(adding, (const void *)vector_add, "vector_add", "vector_add", (unsigned int)-1, NULL, NULL, NULL, NULL, NULL);
	__hipRegisterFunction(adding, (const void *)never_compiled, "never_compiled", "never_compiled", (unsigned int)-1, NULL, NULL, NULL, NULL, NULL);
	numbers = __hipRegisterFatBinary(fat(&v, variables_gfx90a, variables_gfx942));
	__hipRegisterFunction(numbers, (const void *)polynomial, "polynomial", "polynomial", (unsigned int)-1, NULL, NULL, NULL, NULL, NULL);
	__hipRegisterVar(numbers, coefficients, "coefficients", "coefficients", 0, sizeof coefficients, 1, 0);
	__hipRegisterVar(numbers, big_table, "big_table", "big_table", 0, sizeof big_table, 0, 0);
}

/* LAUNCH is kernel<<<grid, block>>>(...). */
#define LAUNCH(kernel, g, b, ...) \
	do { \
		CHECK(__hipPushCallConfiguration((dim3){g, 1, 1}, (dim3){b, 1, 1}, 0, NULL)); \
		kernel(__VA_ARGS__); \
		CHECK(hipGetLastError()); \
	} while (0)

/* every form of a launch by the host function gives the same sums */
static void launches(float *a, float *b, float *c, int n, const float *want)
{
	void *args[] = {&a, &b, &c, &n};
	const void *f = (const void *)vector_add;
	dim3 grid = {(unsigned int)(n + 127) / 128, 1, 1}, block = {128, 1, 1};
	float *got = malloc((size_t)n * sizeof *got);
	for (int form = 0; form < 5; form++) {
		CHECK(hipMemset(c, 0, (size_t)n * sizeof *c));
		switch (form) {
		case 0: CHECK(hipLaunchKernel_spt(f, grid, block, args, 0, NULL)); break;
		case 1: CHECK(hipExtLaunchKernel(f, grid, block, args, 0, NULL, NULL, NULL, 0)); break;
		case 2: CHECK(hipLaunchCooperativeKernel(f, grid, block, args, 0, NULL)); break;
		case 3: CHECK(hipLaunchCooperativeKernel_spt(f, grid, block, args, 0, NULL)); break;
		case 4: {
			hipLaunchParams p = {.func = (void *)f, .gridDim = grid, .blockDim = block, .args = args};
			hipStream_t s;
			CHECK(hipStreamCreate(&s));
			p.stream = s;
			CHECK(hipLaunchCooperativeKernelMultiDevice(&p, 1, 0));
			CHECK(hipStreamSynchronize(s));
			CHECK(hipStreamDestroy(s));
		}
		}
		CHECK(hipDeviceSynchronize());
		CHECK(hipMemcpy(got, c, (size_t)n * sizeof *c, hipMemcpyDeviceToHost));
		if (memcmp(got, want, (size_t)n * sizeof *c) != 0)
			FAIL("launch of form %d", form);
	}
	free(got);
	int with = 0, without = -1;
	CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&without, f, 256, 0));
	CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with, f, 256, 0, hipOccupancyDefault));
	ASSERT(with > 0 && with == without);
	CHECK(hipFuncSetCacheConfig(f, hipFuncCachePreferL1));
	CHECK(hipFuncSetSharedMemConfig(f, hipSharedMemBankSizeFourByte));
}

/* symbols is every other form of a copy from and to a variable. */
static void symbols(void)
{
	float v = 0;
	hipStream_t s;
	CHECK(hipStreamCreate(&s));
	for (int form = 0; form < 3; form++) {
		float w = (float)(100 + form);
		switch (form) {
		case 0:
			CHECK(hipMemcpyToSymbolAsync(coefficients, &w, 4, 8, hipMemcpyHostToDevice, s));
			CHECK(hipMemcpyFromSymbolAsync(&v, coefficients, 4, 8, hipMemcpyDeviceToHost, s));
			break;
		case 1:
			CHECK(hipMemcpyToSymbolAsync_spt(coefficients, &w, 4, 8, hipMemcpyHostToDevice, NULL));
			CHECK(hipMemcpyFromSymbolAsync_spt(&v, coefficients, 4, 8, hipMemcpyDeviceToHost, NULL));
			break;
		case 2:
			CHECK(hipMemcpyToSymbol_spt(coefficients, &w, 4, 8, hipMemcpyHostToDevice));
			CHECK(hipMemcpyFromSymbol_spt(&v, coefficients, 4, 8, hipMemcpyDeviceToHost));
		}
		CHECK(hipDeviceSynchronize());
		if (v != w)
			FAIL("symbol of form %d: %g, not %g", form, v, w);
	}
	CHECK(hipStreamDestroy(s));
}

enum { N = 3000 };

int main(void)
{
	float a[N], b[N], c[N], coeff[8], *da, *db, *dc;
	int wrong = 0;
	void *p;
	size_t size;
	for (int i = 0; i < N; i++) {
		a[i] = (float)i / 1024;
		b[i] = (float)(N - i);
	}
	CHECK(hipMalloc((void **)&da, sizeof a));
	CHECK(hipMalloc((void **)&db, sizeof b));
	CHECK(hipMalloc((void **)&dc, sizeof c));
	CHECK(hipMemcpy(da, a, sizeof a, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(db, b, sizeof b, hipMemcpyHostToDevice));
	LAUNCH(vector_add, (N + 127) / 128, 128, da, db, dc, N);
	CHECK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		wrong += c[i] != a[i] + b[i];
	ASSERT(wrong == 0);

	launches(da, db, dc, N, c);

	/* the older way to launch */
	CHECK(hipMemset(dc, 0, sizeof c));
	CHECK(hipConfigureCall((dim3){(N + 127) / 128, 1, 1}, (dim3){128, 1, 1}, 0, NULL));
	int n = N;
	CHECK(hipSetupArgument(&da, 8, 0));
	CHECK(hipSetupArgument(&db, 8, 8));
	CHECK(hipSetupArgument(&dc, 8, 16));
	CHECK(hipSetupArgument(&n, 4, 24));
	CHECK(hipLaunchByPtr((const void *)vector_add));
	CHECK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		wrong += c[i] != a[i] + b[i];
	ASSERT(wrong == 0);
	EXPECT(hipLaunchByPtr((const void *)vector_add), hipErrorMissingConfiguration);
	EXPECT(hipGetLastError(), hipErrorMissingConfiguration);

	/* variables */
	CHECK(hipGetSymbolSize(&size, coefficients));
	ASSERT(size == sizeof coefficients);
	CHECK(hipGetSymbolAddress(&p, coefficients));
	CHECK(hipMemcpyFromSymbol(coeff, coefficients, sizeof coeff, 0, hipMemcpyDeviceToHost));
	ASSERT(coeff[0] == 1 && coeff[7] == 11);
	coeff[1] = 2;
	CHECK(hipMemcpyToSymbol(coefficients, &coeff[1], 4, 4, hipMemcpyHostToDevice));
	LAUNCH(polynomial, (N + 127) / 128, 128, da, dc, N);
	CHECK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
	wrong = 0;
	for (int i = 0; i < N; i++) {
		float y = 0;
		for (int k = 7; k >= 0; k--)
			y = __builtin_fmaf(y, a[i], coeff[k]);
		wrong += c[i] != y + coeff[i & 7];
	}
	ASSERT(wrong == 0);
	EXPECT(hipMemcpyToSymbol(coefficients, coeff, sizeof coeff, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
	EXPECT(hipMemcpyToSymbol(&wrong, coeff, 4, 0, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
	EXPECT(hipGetSymbolAddress(&p, &wrong), hipErrorInvalidSymbol);

	symbols();

	struct hipFuncAttributes attr;
	CHECK(hipFuncGetAttributes(&attr, (const void *)vector_add));
	ASSERT(attr.maxThreadsPerBlock == 1024 && attr.sharedSizeBytes == 0);
	hipFunction_t f;
	CHECK(hipGetFuncBySymbol(&f, (const void *)vector_add));
	ASSERT(strcmp(hipKernelNameRef(f), "vector_add") == 0);
	ASSERT(strcmp(hipKernelNameRefByPtr((const void *)vector_add, NULL), "vector_add") == 0);
	EXPECT(hipLaunchKernel((const void *)never_compiled, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL), hipErrorInvalidDeviceFunction);
	hipGetLastError();
	int block, grid;
	CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, (const void *)vector_add, 0, 0));
	ASSERT(block == 1024 && grid > 0);
	/* after a reset embedded code is loaded again */
	CHECK(hipDeviceReset());
	CHECK(hipMalloc((void **)&da, sizeof a));
	CHECK(hipMalloc((void **)&dc, sizeof c));
	CHECK(hipMemcpy(da, a, sizeof a, hipMemcpyHostToDevice));
	LAUNCH(vector_add, (N + 127) / 128, 128, da, da, dc, N);
	CHECK(hipMemcpy(c, dc, sizeof c, hipMemcpyDeviceToHost));
	ASSERT(c[N - 1] == 2 * a[N - 1]);
	CHECK(hipFree(da));
	CHECK(hipFree(dc));
	return result("registration");
}
