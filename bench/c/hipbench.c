/* The HIP side of "make bench": an ordinary HIP program that reads what to measure from standard input, one command a line, and answers
 * each with a line of numbers.
 *
 *   sync CALLS      p50 and p99 in ns of a blocking copy of 4 bytes from the device, the smallest call that cannot be answered without it
 *   async CALLS     ns to issue hipMemsetD32Async of one word, and how many a second are executed
 *   launch CALLS    the same for hipModuleLaunchKernel of one workgroup that does nothing
 *   wait CALLS      p50 and p99 in ns of the same kernel, launched and waited for
 *   graph KERNELS   ns to launch so many of those kernels one by one, and as one graph
 *   graphrun KERNELS  the same until they are executed
 *   to BYTES        bytes/s of hipMemcpy to the device
 *   from BYTES      bytes/s of hipMemcpy from the device
 *
 * Built in the repository's root: it carries the kernel's code object. */
#include "clock.h"
#include "hip.h"

#include <string.h>

#define KERNELS "examples/kernels/"
__asm__(".section .rodata\n.balign 4096\nkernel_gfx90a: .incbin \"" KERNELS "gfx90a/vector_add.co\"\n"
	".balign 4096\nkernel_gfx942: .incbin \"" KERNELS "gfx942/vector_add.co\"\n.previous\n");
extern const unsigned char kernel_gfx90a[], kernel_gfx942[];

/* memory is n bytes whose pages are there. */
static void *memory(size_t n, int value)
{
	void *p = malloc(n);
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return memset(p, value, n);
}

static void sync_calls(size_t n)
{
	static unsigned int *word;
	double *t = calloc(n, sizeof *t);
	unsigned int out = 0;
	if (!word) {
		CHECK(hipMalloc((void **)&word, sizeof *word));
		CHECK(hipMemset(word, 0x5a, sizeof *word));
	}
	for (size_t i = 0; i < n; i++) {
		double start = now();
		CHECK(hipMemcpy(&out, word, sizeof out, hipMemcpyDeviceToHost));
		t[i] = now() - start;
		if (out != 0x5a5a5a5a) {
			fprintf(stderr, "wrong data\n");
			exit(1);
		}
	}
	qsort(t, n, sizeof *t, by_value);
	printf("%.0f %.0f\n", t[n / 2], t[n * 99 / 100]);
	free(t);
}

static void async_calls(size_t n, hipFunction_t kernel)
{
	static unsigned int *words;
	int none = 0;
	void *args[] = {&words, &words, &words, &none};
	if (!words)
		CHECK(hipMalloc((void **)&words, 4096));
	CHECK(hipDeviceSynchronize());
	double start = now();
	for (size_t i = 0; i < n; i++)
		if (kernel)
			CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
		else
			CHECK(hipMemsetD32Async(words + i % 1024, (int)i, 1, NULL));
	double issued = now() - start;
	CHECK(hipDeviceSynchronize());
	printf("%.1f %.0f\n", issued / (double)n, (double)n / (now() - start) * 1e9);
}

static void waited(size_t n, hipFunction_t kernel)
{
	unsigned int *none = NULL;
	int zero = 0;
	void *args[] = {&none, &none, &none, &zero};
	double *t = calloc(n, sizeof *t);
	for (size_t i = 0; i < n; i++) {
		double start = now();
		CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
		CHECK(hipStreamSynchronize(NULL));
		t[i] = now() - start;
	}
	qsort(t, n, sizeof *t, by_value);
	printf("%.0f %.0f\n", t[n / 2], t[n * 99 / 100]);
	free(t);
}

/* graph launches n kernels one by one, and as one graph; until they are executed, if run. */
static void graph(size_t n, hipFunction_t kernel, int run)
{
	static unsigned int *words;
	int none = 0;
	void *args[] = {&words, &words, &words, &none};
	hipStream_t s;
	hipGraph_t g;
	hipGraphExec_t e;
	if (!words)
		CHECK(hipMalloc((void **)&words, 4096));
	CHECK(hipStreamCreate(&s));
	CHECK(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
	for (size_t i = 0; i < n; i++)
		CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, s, args, NULL));
	CHECK(hipStreamEndCapture(s, &g));
	CHECK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
	CHECK(hipGraphLaunch(e, s));
	CHECK(hipStreamSynchronize(s));
	double start = now();
	for (size_t i = 0; i < n; i++)
		CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, s, args, NULL));
	if (run)
		CHECK(hipStreamSynchronize(s));
	double single = now() - start;
	CHECK(hipStreamSynchronize(s));
	start = now();
	CHECK(hipGraphLaunch(e, s));
	if (run)
		CHECK(hipStreamSynchronize(s));
	double whole = now() - start;
	CHECK(hipStreamSynchronize(s));
	CHECK(hipGraphExecDestroy(e));
	CHECK(hipGraphDestroy(g));
	CHECK(hipStreamDestroy(s));
	printf("%.1f %.1f\n", single, whole);
}

static void copy(size_t n, hipMemcpyKind kind)
{
	static void *host, *device;
	static size_t size;
	if (size != n) {
		free(host);
		CHECK(hipFree(device));
		host = memory(n, 1);
		CHECK(hipMalloc(&device, n));
		CHECK(hipMemset(device, 2, n));
		CHECK(hipDeviceSynchronize());
		size = n;
	}
	double start = now();
	if (kind == hipMemcpyHostToDevice)
		CHECK(hipMemcpy(device, host, n, kind));
	else
		CHECK(hipMemcpy(host, device, n, kind));
	printf("%.0f\n", (double)n / (now() - start) * 1e9);
}

int main(void)
{
	char what[16];
	size_t n;
	hipDeviceProp_t gpu;
	hipModule_t module;
	hipFunction_t kernel;
	CHECK(hipGetDeviceProperties(&gpu, 0));
	CHECK(hipModuleLoadData(&module, strncmp(gpu.gcnArchName, "gfx90a", 6) ? kernel_gfx942 : kernel_gfx90a));
	CHECK(hipModuleGetFunction(&kernel, module, "vector_add"));
	while (scanf("%15s %zu", what, &n) == 2) {
		if (!strcmp(what, "sync"))
			sync_calls(n);
		else if (!strcmp(what, "async"))
			async_calls(n, NULL);
		else if (!strcmp(what, "launch"))
			async_calls(n, kernel);
		else if (!strcmp(what, "wait"))
			waited(n, kernel);
		else if (!strcmp(what, "graph"))
			graph(n, kernel, 0);
		else if (!strcmp(what, "graphrun"))
			graph(n, kernel, 1);
		else if (!strcmp(what, "to"))
			copy(n, hipMemcpyHostToDevice);
		else if (!strcmp(what, "from"))
			copy(n, hipMemcpyDeviceToHost);
		else
			return 2;
		fflush(stdout);
	}
	return 0;
}
