/* hello_hip adds two vectors on a GPU.
 *
 *   hello_hip                 adds 2^20 elements, checks each, prints PASSED
 *   hello_hip --spin SECONDS  then keeps the GPU busy for about that long
 *
 * It is an ordinary HIP program in C: built with gcc against HIP's header, linked
 * with libamdhip64.so.6, its kernels compiled by clang (examples/kernels) and
 * carried inside it for two kinds of GPU. Build it in the repository's root. */
#include <hip/hip_runtime_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#define READ_ONLY ".section .rdata, \"dr\"\n"
#define BACK ".text\n"
#else
#define READ_ONLY ".section .rodata\n"
#define BACK ".previous\n"
#endif

/* EMBED(name, file) makes the file's bytes the array name. */
#define EMBED(name, file) \
	__asm__(READ_ONLY ".balign 4096\n.global " #name "\n" #name ":\n.incbin \"" file "\"\n.byte 0\n" BACK); \
	extern const unsigned char name[]

#define KERNELS "examples/kernels/"
EMBED(vector_add_gfx90a, KERNELS "gfx90a/vector_add.co");
EMBED(vector_add_gfx942, KERNELS "gfx942/vector_add.co");
EMBED(spin_gfx90a, KERNELS "gfx90a/spin.co");
EMBED(spin_gfx942, KERNELS "gfx942/spin.co");

#define CHECK(call) \
	do { \
		hipError_t e_ = (call); \
		if (e_ != hipSuccess) { \
			fprintf(stderr, "%s: %s (%d): %s\n", #call, hipGetErrorName(e_), (int)e_, hipGetErrorString(e_)); \
			exit(1); \
		} \
	} while (0)

enum { N = 1 << 20, BLOCK = 256 };

static int is(const hipDeviceProp_t *gpu, const char *arch)
{
	size_t n = strlen(arch);
	return strncmp(gpu->gcnArchName, arch, n) == 0 && (gpu->gcnArchName[n] == 0 || gpu->gcnArchName[n] == ':');
}

static hipFunction_t load(const unsigned char *image, const char *name)
{
	hipModule_t module;
	hipFunction_t f;
	CHECK(hipModuleLoadData(&module, image));
	CHECK(hipModuleGetFunction(&f, module, name));
	return f;
}

static void add_vectors(hipFunction_t vector_add)
{
	size_t bytes = N * sizeof(float);
	float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
	void *da, *db, *dc;
	int n = N;
	if (!a || !b || !c) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = 2.0f * (float)i + 1.0f;
	}
	CHECK(hipMalloc(&da, bytes));
	CHECK(hipMalloc(&db, bytes));
	CHECK(hipMalloc(&dc, bytes));
	CHECK(hipMemcpy(da, a, bytes, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(db, b, bytes, hipMemcpyHostToDevice));
	void *args[] = {&da, &db, &dc, &n};
	CHECK(hipModuleLaunchKernel(vector_add, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemcpy(c, dc, bytes, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		if (c[i] != a[i] + b[i]) {
			printf("FAILED: c[%d] is %g, not %g\n", i, c[i], a[i] + b[i]);
			exit(1);
		}
	printf("PASSED: %d elements; c[0] = %.0f, c[%d] = %.0f, c[%d] = %.0f\n", N, c[0], N / 2, c[N / 2], N - 1, c[N - 1]);
	CHECK(hipFree(da));
	CHECK(hipFree(db));
	CHECK(hipFree(dc));
	free(a);
	free(b);
	free(c);
}

/* turned is what the kernel's generator makes of x in some rounds: the round
 * x*m + a, composed with itself. */
static uint32_t turned(uint32_t x, uint64_t rounds)
{
	uint32_t m = 1664525u, a = 1013904223u;
	for (; rounds; rounds >>= 1) {
		if (rounds & 1)
			x = x * m + a;
		a = a * m + a;
		m *= m;
	}
	return x;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep_busy(hipFunction_t spin, double seconds, unsigned int units)
{
	uint32_t n = units * BLOCK, *out = malloc(n * sizeof *out);
	void *d;
	if (!out) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	CHECK(hipMalloc(&d, n * sizeof *out));
	double begin = now(), end = begin + seconds;
	uint64_t rounds = 1000, launches = 0;
	do { /* launches of about 0.2 s */
		double t = now();
		void *args[] = {&d, &rounds, &n};
		CHECK(hipModuleLaunchKernel(spin, units, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL));
		CHECK(hipDeviceSynchronize());
		CHECK(hipMemcpy(out, d, n * sizeof *out, hipMemcpyDeviceToHost));
		for (uint32_t i = 0; i < n; i++)
			if (out[i] != turned(i * 2654435761u + 12345u, rounds)) {
				printf("FAILED: lane %u after %llu rounds\n", i, (unsigned long long)rounds);
				exit(1);
			}
		launches++;
		if (now() - t < 0.1)
			rounds *= 2;
	} while (now() < end);
	printf("PASSED: %llu launches of spin, %u threads each, in %.1f s\n", (unsigned long long)launches, n, now() - begin);
	CHECK(hipFree(d));
	free(out);
}

int main(int argc, char **argv)
{
	double seconds = 0;
	if (argc == 3 && strcmp(argv[1], "--spin") == 0) {
		seconds = atof(argv[2]);
	} else if (argc != 1) {
		fprintf(stderr, "usage: %s [--spin SECONDS]\n", argv[0]);
		return 2;
	}
	int count = 0;
	hipDeviceProp_t gpu;
	CHECK(hipGetDeviceCount(&count));
	CHECK(hipGetDeviceProperties(&gpu, 0));
	printf("%d device%s; device 0: %s, %s, %.1f GiB\n", count, count == 1 ? "" : "s", gpu.name, gpu.gcnArchName,
		(double)gpu.totalGlobalMem / (1 << 30));
	int gfx90a = is(&gpu, "gfx90a");
	if (!gfx90a && !is(&gpu, "gfx942")) {
		fprintf(stderr, "no kernels for %s in here\n", gpu.gcnArchName);
		return 1;
	}
	add_vectors(load(gfx90a ? vector_add_gfx90a : vector_add_gfx942, "vector_add"));
	if (seconds > 0)
		keep_busy(load(gfx90a ? spin_gfx90a : spin_gfx942, "spin"), seconds, (unsigned int)gpu.multiProcessorCount);
	return 0;
}
