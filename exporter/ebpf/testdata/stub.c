/*
 * A HIP library that does nothing: functions as AMD's library has them, with its symbol
 * versions, whose results and addresses the caller chooses. The names of what the
 * functions are given are those of hip_runtime_api.h.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

typedef struct { uint32_t x, y, z; } dim3;
typedef struct { size_t width, height, depth; } hipExtent;
typedef struct { void *ptr; size_t pitch, xsize, ysize; } hipPitchedPtr;

/* What calls return, and the next address they give out. */
int stub_result;
uintptr_t stub_next = 0x7f0000000000;

static int give(void **ptr, size_t size)
{
	if (stub_result == 0) {
		*ptr = (void *)stub_next;
		stub_next += (size + 0xfff) & ~(size_t)0xfff;
	}
	return stub_result;
}

#define NOP(name) int name(void) { return stub_result; }

int hipMalloc(void **ptr, size_t size) { return give(ptr, size); }
int hipMallocAsync(void **ptr, size_t size, void *stream) { return give(ptr, size); }
int hipExtMallocWithFlags(void **ptr, size_t size, unsigned flags) { return give(ptr, size); }
int hipMallocManaged(void **ptr, size_t size, unsigned flags) { return give(ptr, size); }
int hipHostMalloc(void **ptr, size_t size, unsigned flags) { return give(ptr, size); }
int hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 255) & ~(size_t)255;
	return give(ptr, *pitch * height);
}
int hipMalloc3D(hipPitchedPtr *p, hipExtent e)
{
	p->pitch = (e.width + 255) & ~(size_t)255;
	p->xsize = e.width;
	p->ysize = e.height;
	return give(&p->ptr, p->pitch * e.height * e.depth);
}
int hipMemCreate(void **handle, size_t size, const void *prop, unsigned long long flags) { return give(handle, size); }

/* The library calling itself, as some versions do: through its own export. */
int hipMallocHost(void **ptr, size_t size) { return hipHostMalloc(ptr, size, 0); }

NOP(hipFree)
NOP(hipFreeAsync)
NOP(hipHostFree)
NOP(hipMemRelease)
NOP(hipDeviceReset)
NOP(hipMemcpy)
NOP(hipMemcpyAsync)
NOP(hipMemcpyWithStream)
NOP(hipMemcpyHtoD)
NOP(hipMemcpyDtoHAsync)
NOP(hipMemcpyDtoD)
NOP(hipMemcpyAtoH)
NOP(hipMemcpyAtoA)
NOP(hipMemcpyPeer)
NOP(hipMemcpyToSymbol)
NOP(hipMemcpyFromArray)
NOP(hipMemcpy2D)
NOP(hipMemcpy2DToArray)
NOP(hipMemcpy2DArrayToArray)
NOP(hipMemcpy3D)
NOP(hipMemcpyParam2D)
NOP(hipDrvMemcpy3D)
NOP(hipMemset)
NOP(hipLaunchKernel)
NOP(hipExtLaunchKernel)
NOP(hipLaunchCooperativeKernel)
NOP(hipModuleLaunchKernel)
NOP(hipExtModuleLaunchKernel)
NOP(hipHccModuleLaunchKernel)
NOP(hipLaunchKernelExC)
NOP(hipDrvLaunchKernelEx)
NOP(hipExtLaunchMultiKernelMultiDevice)
NOP(hipLaunchByPtr)
NOP(hipDeviceSynchronize)
NOP(hipGetDevice)

/* Slow enough to be within it. */
int hipStreamSynchronize(void *stream)
{
	usleep((useconds_t)(uintptr_t)stream);
	return stub_result;
}

/* What the caller wants to happen within a call. */
int hipEventSynchronize(void (*within)(void))
{
	within();
	return stub_result;
}

/* A function that ends in another one. */
__attribute__((naked)) int hipCtxSynchronize(void) { asm("jmp hipDeviceSynchronize@PLT"); }

const char *hipGetErrorString(int e) { return "text"; }
