/*
 * A program that makes known calls: one step of its arguments for each line it reads,
 * answered by a line. It ends with its input.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct { uint32_t x, y, z; } dim3;
typedef struct { size_t width, height, depth; } hipExtent;
typedef struct { void *ptr; size_t pitch, xsize, ysize; } hipPitchedPtr;
typedef struct { size_t x, y, z; } hipPos;
typedef struct {
	void *srcArray; hipPos srcPos; hipPitchedPtr srcPtr;
	void *dstArray; hipPos dstPos; hipPitchedPtr dstPtr;
	hipExtent extent; int kind;
} hipMemcpy3DParms;
typedef struct {
	size_t srcXInBytes, srcY; int srcMemoryType; const void *srcHost; void *srcDevice, *srcArray; size_t srcPitch;
	size_t dstXInBytes, dstY; int dstMemoryType; void *dstHost, *dstDevice, *dstArray; size_t dstPitch;
	size_t WidthInBytes, Height;
} hip_Memcpy2D;
typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD; int srcMemoryType; const void *srcHost; void *srcDevice, *srcArray; size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD; int dstMemoryType; void *dstHost, *dstDevice, *dstArray; size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} HIP_MEMCPY3D;
typedef struct { dim3 gridDim, blockDim; size_t shared; void *stream, *attrs; unsigned numAttrs; } hipLaunchConfig_t;
typedef struct { void *func; dim3 gridDim, blockDim; void **args; size_t sharedMem; void *stream; } hipLaunchParams;

extern int stub_result;
extern uintptr_t stub_next;
int hipMalloc(void **, size_t), hipMallocAsync(void **, size_t, void *), hipExtMallocWithFlags(void **, size_t, unsigned);
int hipMallocManaged(void **, size_t, unsigned), hipHostMalloc(void **, size_t, unsigned), hipMallocHost(void **, size_t);
int hipMallocPitch(void **, size_t *, size_t, size_t), hipMalloc3D(hipPitchedPtr *, hipExtent);
int hipMemCreate(void **, size_t, const void *, unsigned long long), hipMemRelease(void *);
int hipFree(void *), hipFreeAsync(void *, void *), hipHostFree(void *), hipDeviceReset(void);
int hipMemcpy(void *, const void *, size_t, int), hipMemcpyAsync(void *, const void *, size_t, int, void *);
int hipMemcpyWithStream(void *, const void *, size_t, int, void *);
int hipMemcpyHtoD(void *, void *, size_t), hipMemcpyDtoHAsync(void *, void *, size_t, void *), hipMemcpyDtoD(void *, void *, size_t);
int hipMemcpyAtoH(void *, void *, size_t, size_t), hipMemcpyAtoA(void *, size_t, void *, size_t, size_t);
int hipMemcpyPeer(void *, int, const void *, int, size_t), hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int hipMemcpyFromArray(void *, const void *, size_t, size_t, size_t, int);
int hipMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int hipMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
int hipMemcpy2DArrayToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, size_t, int);
int hipMemcpy3D(const hipMemcpy3DParms *), hipMemcpyParam2D(const hip_Memcpy2D *), hipDrvMemcpy3D(const HIP_MEMCPY3D *);
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int hipExtLaunchKernel(const void *, dim3, dim3, void **, size_t, void *, void *, void *, int);
int hipLaunchCooperativeKernel(const void *, dim3, dim3, void **, unsigned, void *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int hipExtModuleLaunchKernel(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, void *, void **, void **, void *, void *, uint32_t);
int hipLaunchKernelExC(const hipLaunchConfig_t *, const void *, void **), hipLaunchByPtr(const void *);
int hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *, int, unsigned);
int hipDeviceSynchronize(void), hipCtxSynchronize(void), hipStreamSynchronize(void *), hipEventSynchronize(void (*)(void)), hipGetDevice(int *);

static void *const x = (void *)0x1234;

static void allocate(void)
{
	void *p[8];
	size_t pitch;
	hipPitchedPtr pp;
	hipExtent e = {300, 10, 3};

	hipMalloc(&p[0], 1000);
	hipMallocAsync(&p[1], 2000, x);
	hipExtMallocWithFlags(&p[2], 3000, 1);
	hipMallocPitch(&p[3], &pitch, 100, 7); /* 256 * 7 */
	hipMalloc3D(&pp, e);		       /* 512 * 10 * 3 */
	hipMemCreate(&p[4], 1 << 21, 0, 0);
	hipMallocManaged(&p[5], 5000, 1);
	hipHostMalloc(&p[6], 6000, 0);
	hipMallocHost(&p[7], 7000); /* which calls hipHostMalloc */
	hipFree(p[0]);
	hipFree(x); /* nobody has allocated it */
	hipFree(0);
	stub_result = 1;
	hipFree(p[2]); /* stays */
	hipMalloc(&p[0], 1 << 30);
	stub_result = 0;
	hipFreeAsync(p[1], x);
	hipHostFree(p[6]);
}

static void release(void)
{
	void *p;
	stub_next = 0x7e0000000000;
	hipMalloc(&p, 100); /* and freed in a way that is not watched: */
	stub_next = 0x7e0000000000;
	hipMalloc(&p, 40);
	hipDeviceReset();
	hipFree(p); /* which the reset has freed */
	stub_next = 0x7e0000000000;
	hipMalloc(&p, 64);
}

static void copy(void)
{
	hipMemcpy3DParms p3 = {.extent = {100, 10, 2}, .kind = 1};
	hip_Memcpy2D p2 = {.srcMemoryType = 2, .dstMemoryType = 1, .WidthInBytes = 30, .Height = 20};
	HIP_MEMCPY3D d3 = {.srcMemoryType = 2, .dstMemoryType = 10, .WidthInBytes = 7, .Height = 5, .Depth = 3};

	hipMemcpy(x, x, 1, 0);
	hipMemcpyAsync(x, x, 1 << 20, 1, x);
	hipMemcpyWithStream(x, x, 3, 4, x);
	hipMemcpyHtoD(x, x, 10);
	hipMemcpyDtoHAsync(x, x, 20, x);
	hipMemcpyDtoD(x, x, 30);
	hipMemcpyAtoH(x, x, 999, 40);
	hipMemcpyAtoA(x, 999, x, 999, 50);
	hipMemcpyPeer(x, 1, x, 2, 60);
	hipMemcpyToSymbol(x, x, 70, 999, 1);
	hipMemcpyFromArray(x, x, 999, 999, 80, 2);
	hipMemcpy2D(x, 999, x, 999, 9, 10, 3);
	hipMemcpy2DToArray(x, 999, 999, x, 999, 11, 12, 1);
	hipMemcpy2DArrayToArray(x, 999, 999, x, 999, 999, 13, 14, 3);
	hipMemcpy3D(&p3);
	hipMemcpyParam2D(&p2);
	hipDrvMemcpy3D(&d3);
	hipMemcpy(x, x, 5, 1024);
	stub_result = 1;
	hipMemcpy(x, x, 1 << 30, 1);
	stub_result = 719;
	hipMemcpy(x, x, 1 << 30, 1);
	stub_result = -5;
	hipMemcpy(x, x, 1 << 30, 1);
	stub_result = 0;
}

static void launch(void)
{
	dim3 grid = {3, 5, 7}, block = {2, 11, 13};
	hipLaunchConfig_t config = {.gridDim = {2, 3, 4}, .blockDim = {5, 6, 7}};
	hipLaunchParams list[3] = {{.gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}}, {.gridDim = {2, 1, 1}, .blockDim = {64, 1, 1}}, {.gridDim = {4, 1, 1}, .blockDim = {64, 1, 1}}};

	hipLaunchKernel(x, grid, block, 0, 999, x);
	hipExtLaunchKernel(x, grid, block, 0, 999, x, x, x, 999);
	hipLaunchCooperativeKernel(x, grid, block, 0, 999, x);
	hipModuleLaunchKernel(x, 3, 5, 7, 2, 11, 13, 999, x, 0, 0);
	hipExtModuleLaunchKernel(x, 600, 5, 7, 2, 11, 13, 999, x, 0, 0, x, x, 999); /* in threads */
	hipLaunchKernelExC(&config, x, 0);
	hipExtLaunchMultiKernelMultiDevice(list, 3, 0);
	hipLaunchByPtr(x);
	stub_result = 1;
	hipLaunchKernel(x, grid, block, 0, 0, x);
	stub_result = 0;
}

static jmp_buf back;
static void jump(void) { longjmp(back, 1); }
static void inner(void) { hipDeviceSynchronize(); }

/* away is deeper in the stack than what follows it. */
__attribute__((noinline)) static void away(void)
{
	volatile char deep[4096];
	deep[sizeof(deep) - 1] = deep[0] = 0;
	(void)deep[1];
	hipEventSynchronize(jump);
}

static void leave(void)
{
	int i;
	for (i = 0; i < 100; i++) /* left, and called again from the same place */
		if (!setjmp(back))
			hipEventSynchronize(jump);
	for (i = 0; i < 100; i++)
		if (!setjmp(back))
			away();
	hipEventSynchronize(inner); /* one call, whatever it does within */
	hipCtxSynchronize();	    /* one call, that ends in another function */
	hipDeviceSynchronize();
}

static void *thread(void *n)
{
	void *p;
	int i;
	for (i = 0; i < (intptr_t)n; i++) {
		hipMalloc(&p, 256);
		hipMemcpy(p, x, 100, 1);
		hipDeviceSynchronize();
		hipFree(p);
	}
	return 0;
}

static void threads(void)
{
	pthread_t t[16];
	int i, round;
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 16; i++)
			pthread_create(&t[i], 0, thread, (void *)(intptr_t)50);
		for (i = 0; i < 16; i++)
			pthread_join(t[i], 0);
	}
}

static void *quit(void *p) { hipEventSynchronize((void (*)(void))pthread_exit); return p; }

/* Threads that end within a call. */
static void quitters(void)
{
	pthread_t t;
	int i;
	for (i = 0; i < 50; i++) {
		pthread_create(&t, 0, quit, 0);
		pthread_join(t, 0);
	}
}

/* many calls of a function that does nothing, and how much time of a processor each took. */
static void many(void)
{
	struct timespec a, b;
	int i, d;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (i = 0; i < 20000; i++)
		hipGetDevice(&d);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%ld ", ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec) / 20000);
}

int main(int argc, char **argv)
{
	char line[100];
	int i;
	for (i = 1; fgets(line, sizeof(line), stdin); i++) {
		const char *step = i < argc ? argv[i] : "";
		if (!strcmp(step, "allocate")) allocate();
		else if (!strcmp(step, "release")) release();
		else if (!strcmp(step, "copy")) copy();
		else if (!strcmp(step, "launch")) launch();
		else if (!strcmp(step, "leave")) leave();
		else if (!strcmp(step, "threads")) threads();
		else if (!strcmp(step, "quitters")) quitters();
		else if (!strcmp(step, "many")) many();
		else if (!strcmp(step, "sync")) hipDeviceSynchronize();
		else if (!strcmp(step, "hang")) { puts("hanging"); fflush(stdout); hipStreamSynchronize((void *)600000000); }
		else if (!strcmp(step, "slow")) hipStreamSynchronize((void *)20000);
		else if (!strcmp(step, "exec")) { argv[i] = argv[0]; puts("executing"); fflush(stdout); execv("/proc/self/exe", argv + i); }
		puts("done");
		fflush(stdout);
	}
	return 0;
}
