#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "library.h"

void *rocm_open(const char *path, struct rocm_table *table, char *why, size_t size)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		snprintf(why, size, "%s", dlerror());
		return NULL;
	}
#define LOAD(name) table->name = (__typeof__(table->name))dlsym(lib, #name);
	ROCM_FUNCTIONS(LOAD)
	if (!table->hipSetDevice || !table->hipGetDeviceCount || !table->hipMalloc) {
		snprintf(why, size, "%s: not a HIP runtime (hipSetDevice, hipGetDeviceCount or hipMalloc is missing)", path);
		dlclose(lib);
		return NULL;
	}
	return lib;
}

hipError_t rocm_device(const struct rocm_table *table, int device)
{
	/* Not cached: another user of the library may have changed the thread's
	 * device, and the call is a store in the real library. */
	return table->hipSetDevice(device);
}

hipError_t rocm_load(const struct rocm_table *table, int32_t device, const void *image, uint64_t *module)
{
	hipModule_t m = NULL;
	hipError_t e;

	if (!table->hipModuleLoadData)
		return hipErrorNotSupported;
	if ((e = rocm_device(table, device)) != hipSuccess)
		return e;
	e = table->hipModuleLoadData(&m, image);
	*module = (uint64_t)(uintptr_t)m;
	return e;
}

hipError_t rocm_launch(const struct rocm_table *table, int32_t device, const struct rocm_launch *l,
		       void *args, size_t size, const uint32_t *offsets, size_t count)
{
	hipFunction_t f = (hipFunction_t)(uintptr_t)l->function;
	hipStream_t s = (hipStream_t)(uintptr_t)l->stream;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
	hipError_t e = rocm_device(table, device);

	if (e != hipSuccess)
		return e;
	if (l->flags & 1) { /* hip.LaunchCooperative: takes the arguments one by one */
		if (!table->hipModuleLaunchCooperativeKernel)
			return hipErrorNotSupported;
		void **params = calloc(count + 1, sizeof(*params));
		if (!params)
			return hipErrorOutOfMemory;
		for (size_t i = 0; i < count; i++)
			params[i] = (char *)args + offsets[i];
		e = table->hipModuleLaunchCooperativeKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
							     l->block[2], l->shared, s, params);
		free(params);
		return e;
	}
	if (l->start || l->stop || l->global[0]) {
		if (!table->hipExtModuleLaunchKernel)
			return hipErrorNotSupported;
		return table->hipExtModuleLaunchKernel(f, l->global[0], l->global[1], l->global[2], l->block[0], l->block[1],
						       l->block[2], l->shared, s, NULL, extra,
						       (hipEvent_t)(uintptr_t)l->start, (hipEvent_t)(uintptr_t)l->stop, 0);
	}
	if (!table->hipModuleLaunchKernel)
		return hipErrorNotSupported;
	return table->hipModuleLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
					    l->shared, s, NULL, extra);
}

hipError_t rocm_launch_multi(const struct rocm_table *table, int32_t device, const struct rocm_multi_part *parts,
			     size_t n, uint32_t flags)
{
	hipFunctionLaunchParams *list;
	void **params, **next;
	size_t args = 0;
	hipError_t e;

	if (!table->hipModuleLaunchCooperativeKernelMultiDevice)
		return hipErrorNotSupported;
	if ((e = rocm_device(table, device)) != hipSuccess)
		return e;
	for (size_t i = 0; i < n; i++)
		args += parts[i].count + 1;
	list = calloc(n, sizeof(*list));
	next = params = calloc(args, sizeof(*params));
	e = list && params ? hipSuccess : hipErrorOutOfMemory;
	for (size_t i = 0; e == hipSuccess && i < n; i++) {
		const struct rocm_launch *l = &parts[i].launch;

		list[i] = (hipFunctionLaunchParams){
			.function = (hipFunction_t)(uintptr_t)l->function,
			.gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2],
			.blockDimX = l->block[0], .blockDimY = l->block[1], .blockDimZ = l->block[2],
			.sharedMemBytes = l->shared,
			.hStream = (hipStream_t)(uintptr_t)l->stream,
			.kernelParams = next,
		};
		for (size_t k = 0; k < parts[i].count; k++)
			next[k] = (char *)parts[i].args + parts[i].offsets[k];
		next += parts[i].count + 1;
	}
	if (e == hipSuccess)
		e = table->hipModuleLaunchCooperativeKernelMultiDevice(list, (unsigned int)n, flags);
	free(params);
	free(list);
	return e;
}

void rocm_store(uint64_t address, uint64_t value)
{
	__atomic_store_n((uint64_t *)(uintptr_t)address, value, __ATOMIC_SEQ_CST);
}
