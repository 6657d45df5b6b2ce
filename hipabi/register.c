/* Registration of the code that clang embeds in a program, and the exports
 * whose C names or results the generator cannot make. */
#include "thread.h"

#include <stdlib.h>

#include "_cgo_export.h"

/* What clang's __hipRegisterFatBinary is given. */
struct fat_binary {
	uint32_t magic; /* "HIPF" */
	uint32_t version;
	const void *image;
	const void *unused;
};

#define FAT_BINARY_MAGIC 0x48495046u

/* A handle is a block of memory that holds the number that Go knows it by. */
void **__hipRegisterFatBinary(const void *data)
{
	const struct fat_binary *f = data;
	if (!f || f->magic != FAT_BINARY_MAGIC || f->version != 1 || !f->image) {
		rw_log("__hipRegisterFatBinary: not a fat binary");
		return NULL;
	}
	uint64_t *handle = malloc(sizeof *handle);
	if (handle)
		*handle = atomic_load(&rw_gone) ? 0 : rw_registerBinary((uintptr_t)f->image);
	return (void **)handle;
}

static uint64_t number(void **handle)
{
	return handle && !atomic_load(&rw_gone) ? *(uint64_t *)handle : 0;
}

void __hipUnregisterFatBinary(void **handle)
{
	uint64_t n = number(handle);
	if (n)
		rw_unregisterBinary(rw_thread(), n);
	free(handle);
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit,
	void *tid, void *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)name, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	uint64_t n = number(handle);
	if (n && host && device)
		rw_registerFunction(n, (uintptr_t)host, device);
}

void __hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global)
{
	(void)name, (void)ext, (void)constant, (void)global;
	uint64_t n = number(handle);
	if (n && host && device)
		rw_registerVar(n, (uintptr_t)host, device, size);
}

void __hipRegisterManagedVar(void **handle, void **pointer, void *init, const char *name, size_t size, unsigned int align)
{
	uint64_t n = number(handle);
	if (!n || !pointer || !name)
		return;
	if (align < sizeof(void *))
		align = sizeof(void *);
	rw_registerManaged(n, pointer, init, (char *)name, size, align);
}

void __hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext)
{
	(void)host, (void)type, (void)norm, (void)ext;
	uint64_t n = number(handle);
	if (n && var && device)
		rw_registerVar(n, (uintptr_t)var, device, sizeof(textureReference));
}

void __hipRegisterSurface(void **handle, void *var, char *host, char *device, int type, int ext)
{
	(void)host, (void)type, (void)ext;
	uint64_t n = number(handle);
	if (n && var && device)
		rw_registerVar(n, (uintptr_t)var, device, sizeof(struct surfaceReference));
}

const char *hipKernelNameRef(const hipFunction_t f)
{
	return atomic_load(&rw_gone) ? NULL : rw_kernelName((uint64_t)(uintptr_t)f);
}

const char *hipKernelNameRefByPtr(const void *host, hipStream_t stream)
{
	(void)stream;
	return atomic_load(&rw_gone) ? NULL : rw_kernelNameOf(rw_thread(), (uintptr_t)host);
}

int hipGetStreamDeviceId(hipStream_t stream)
{
	return atomic_load(&rw_gone) ? -1 : rw_streamDevice(rw_thread(), (uint64_t)(uintptr_t)stream);
}

/* Two launches were C++ functions once, and old programs import them by their
 * mangled names. */
hipError_t _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(hipFunction_t f,
	uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream,
	void **params, void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags)
{
	return hipExtModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra, start, stop, flags);
}

hipError_t _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(hipFunction_t f,
	uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream,
	void **params, void **extra, hipEvent_t start, hipEvent_t stop)
{
	return hipExtModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra, start, stop, 0);
}
