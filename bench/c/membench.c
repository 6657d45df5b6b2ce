/* Memory in "make bench": an ordinary HIP program like hipbench.c, for copies of every size, host memory that kernels use, and modules.
 *
 *   to BYTES         median and least ns of a blocking hipMemcpy to the device
 *   from BYTES       the same from the device
 *   issue BYTES      median ns of a hipMemcpyAsync to the device from pinned memory, of as many in a row as 8 MiB are, at least one
 *   exposed BYTES    ns to launch a kernel that does nothing while so many bytes of pinned memory are there for kernels, unchanged, each of 25 in
 *                    a row; and alone, with one byte of them changed before it
 *   pulled BYTES     ns of a launch and hipDeviceSynchronize while they are there, unchanged; and when the kernel has written one page
 *   hidden COUNT     ns of a blocking hipMemcpy of 1 MiB to the device beside so many pinned regions that no kernel has been shown
 *   touch BYTES      ns to write to each page of new memory of hipHostMalloc
 *   module BYTES     ns of hipModuleLoadData of an image of so many bytes that no earlier one was like, and of the same once more
 *
 * Built in the repository's root: it carries kernels' code objects. */
#include "clock.h"
#include "hip.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define KERNELS "examples/kernels/"
__asm__(".section .rodata\n.balign 4096\nkernel_gfx90a: .incbin \"" KERNELS "gfx90a/vector_add.co\"\nend_gfx90a:\n"
	".balign 4096\nkernel_gfx942: .incbin \"" KERNELS "gfx942/vector_add.co\"\nend_gfx942:\n.previous\n");
extern const unsigned char kernel_gfx90a[], end_gfx90a[], kernel_gfx942[], end_gfx942[];

static const unsigned char *object, *object_end;
static hipFunction_t kernel;

static double middle(double *t, size_t n)
{
	qsort(t, n, sizeof *t, by_value);
	return t[n / 2];
}

/* fill writes what does not compress: otherwise a busy machine, whose own network is slow, would be measured with and without that by chance. */
static void fill(void *p, size_t n)
{
	uint64_t x = 88172645463325252u;
	for (size_t i = 0; i < n; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		((unsigned char *)p)[i] = (unsigned char)x;
	}
}

static void copy(size_t n, hipMemcpyKind kind)
{
	static double t[1000];
	size_t times = (256u << 20) / (n + 4096);
	char *host = malloc(n);
	void *device;
	times = times < 5 ? 5 : times > 1000 ? 1000 : times;
	if (!host)
		exit(1);
	fill(host, n);
	CHECK(hipMalloc(&device, n));
	CHECK(hipMemcpy(device, host, n, hipMemcpyHostToDevice));
	CHECK(hipDeviceSynchronize());
	for (size_t i = 0; i < times; i++) {
		double start = now();
		if (kind == hipMemcpyHostToDevice)
			CHECK(hipMemcpy(device, host, n, kind));
		else
			CHECK(hipMemcpy(host, device, n, kind));
		t[i] = now() - start;
	}
	CHECK(hipDeviceSynchronize());
	CHECK(hipFree(device));
	free(host);
	printf("%.0f ", middle(t, times));
	printf("%.0f\n", t[0]);
}

static void issue(size_t n)
{
	static double t[1000];
	size_t row = n < (8u << 20) ? (8u << 20) / n : 1, times = 0;
	void *host, *device;
	CHECK(hipHostMalloc(&host, n, 0));
	fill(host, n);
	CHECK(hipMalloc(&device, n));
	CHECK(hipMemset(device, 2, n));
	CHECK(hipDeviceSynchronize());
	for (size_t rows = 0; rows < 8; rows++) {
		for (size_t i = 0; i < row && times < 1000; i++) {
			double start = now();
			CHECK(hipMemcpyAsync(device, host, n, hipMemcpyHostToDevice, NULL));
			t[times++] = now() - start;
		}
		CHECK(hipDeviceSynchronize());
	}
	CHECK(hipFree(device));
	CHECK(hipHostFree(host));
	printf("%.0f\n", middle(t, times));
}

static void launch(void *p, int n)
{
	void *args[] = {&p, &p, &p, &n};
	CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
}

/* exposed is pinned memory of n bytes that kernels may use, with everything at rest. */
static char *exposed(size_t n)
{
	void *p, *device;
	CHECK(hipHostMalloc(&p, n ? n : 1, 0));
	memset(p, 1, n);
	if (n)
		CHECK(hipHostGetDevicePointer(&device, p, 0));
	for (int i = 0; i < 4; i++) {
		launch(NULL, 0);
		CHECK(hipDeviceSynchronize());
		usleep(30000);
	}
	return p;
}

static void launches(size_t n)
{
	enum { TIMES = 40, BURST = 25 };
	double same[TIMES], changed[TIMES];
	char *p = exposed(n);
	size_t measured = 0;
	while (measured < TIMES) {
		int burst = measured && same[measured - 1] > 1e6 ? 1 : BURST;
		double start = now();
		for (int k = 0; k < burst; k++)
			launch(NULL, 0);
		same[measured++] = (now() - start) / burst;
		CHECK(hipDeviceSynchronize());
		if (same[measured - 1] > 1e6 && measured >= 5)
			break;
	}
	for (int i = 0; i < TIMES; i++) {
		if (n)
			p[(size_t)i * 5 * 4096 % n]++;
		double start = now();
		launch(NULL, 0);
		changed[i] = now() - start;
		CHECK(hipDeviceSynchronize());
	}
	printf("%.0f ", middle(same, measured));
	printf("%.0f\n", middle(changed, TIMES));
	CHECK(hipHostFree(p));
}

static void pulls(size_t n)
{
	enum { TIMES = 20 };
	double same[TIMES], changed[TIMES];
	char *p = exposed(n);
	for (int i = 0; i < TIMES; i++) {
		double start = now();
		launch(NULL, 0);
		CHECK(hipDeviceSynchronize());
		same[i] = now() - start;
	}
	for (int i = 0; i < TIMES && n; i++) {
		double start = now();
		CHECK(hipMemsetAsync(p + (size_t)i * 5 * 4096 % n, i, 1, NULL));
		CHECK(hipDeviceSynchronize());
		changed[i] = now() - start;
		if (p[(size_t)i * 5 * 4096 % n] != i) {
			fprintf(stderr, "wrong data\n");
			exit(1);
		}
	}
	printf("%.0f ", middle(same, TIMES));
	printf("%.0f\n", n ? middle(changed, TIMES) : 0);
	CHECK(hipHostFree(p));
}

static void hidden(size_t n)
{
	enum { TIMES = 60, SIZE = 1 << 20 };
	double t[TIMES];
	void **p = calloc(n + 1, sizeof *p), *device;
	char *host = malloc(SIZE);
	memset(host, 1, SIZE);
	for (size_t i = 0; i < n; i++)
		CHECK(hipHostMalloc(&p[i], 4096, 0));
	CHECK(hipMalloc(&device, SIZE));
	for (int i = 0; i < TIMES; i++) {
		double start = now();
		CHECK(hipMemcpy(device, host, SIZE, hipMemcpyHostToDevice));
		t[i] = now() - start;
	}
	CHECK(hipDeviceSynchronize());
	for (size_t i = 0; i < n; i++)
		CHECK(hipHostFree(p[i]));
	CHECK(hipFree(device));
	printf("%.0f\n", middle(t, TIMES));
	free(host);
	free(p);
}

static void touch(size_t n)
{
	char *p;
	CHECK(hipHostMalloc((void **)&p, n, 0));
	double start = now();
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
	printf("%.0f\n", now() - start);
	CHECK(hipHostFree(p));
}

/* module loads a code object that is made n bytes long by moving its section headers to the end. */
static void module(size_t n)
{
	static uint64_t serial;
	size_t size = (size_t)(object_end - object);
	uint64_t headers;
	uint16_t each, count;
	hipModule_t m;
	double t[2];
	unsigned char *image = malloc(n);
	if (!image)
		exit(1);
	memcpy(&headers, object + 0x28, 8);
	memcpy(&each, object + 0x3a, 2);
	memcpy(&count, object + 0x3c, 2);
	size_t tail = (size_t)each * count;
	uint64_t seed = (uint64_t)now() ^ (uint64_t)getpid() << 40 ^ ++serial;
	for (size_t i = 0; i + 8 <= n; i += 8) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(image + i, &seed, 8);
	}
	memcpy(image, object, size);
	uint64_t at = (n - tail) & ~(uint64_t)7;
	memcpy(image + at, object + headers, tail);
	memcpy(image + 0x28, &at, 8);
	for (int i = 0; i < 2; i++) {
		double start = now();
		CHECK(hipModuleLoadData(&m, image));
		t[i] = now() - start;
		CHECK(hipModuleUnload(m));
	}
	printf("%.0f %.0f\n", t[0], t[1]);
	free(image);
}

int main(void)
{
	char what[16];
	size_t n;
	hipDeviceProp_t gpu;
	hipModule_t loaded;
	CHECK(hipGetDeviceProperties(&gpu, 0));
	int old = !strncmp(gpu.gcnArchName, "gfx90a", 6);
	object = old ? kernel_gfx90a : kernel_gfx942;
	object_end = old ? end_gfx90a : end_gfx942;
	CHECK(hipModuleLoadData(&loaded, object));
	CHECK(hipModuleGetFunction(&kernel, loaded, "vector_add"));
	while (scanf("%15s %zu", what, &n) == 2) {
		if (!strcmp(what, "to"))
			copy(n, hipMemcpyHostToDevice);
		else if (!strcmp(what, "from"))
			copy(n, hipMemcpyDeviceToHost);
		else if (!strcmp(what, "issue"))
			issue(n);
		else if (!strcmp(what, "exposed"))
			launches(n);
		else if (!strcmp(what, "pulled"))
			pulls(n);
		else if (!strcmp(what, "hidden"))
			hidden(n);
		else if (!strcmp(what, "touch"))
			touch(n);
		else if (!strcmp(what, "module"))
			module(n);
		else
			return 2;
		fflush(stdout);
	}
	return 0;
}
