/* What clang puts into a program beside its host code: a bundle of the code
 * objects of both GPUs, and the calls that register it. */
#ifndef ROCWIRE_BUNDLE_H
#define ROCWIRE_BUNDLE_H

#include <hip/hip_runtime_api.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include "windows.h"
#endif

/* The bundle is laid out as clang-offload-bundler does it. */
#define MAGIC "__CLANG_OFFLOAD_BUNDLE__"

struct fat_binary {
	uint32_t magic, version;
	const void *image, *unused;
};

void **__hipRegisterFatBinary(const void *data);
void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit, void *tid, void *bid, dim3 *block, dim3 *grid, int *warp);
void __hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global);
void __hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext);
void __hipUnregisterFatBinary(void **handle);

static size_t elf_size(const unsigned char *elf)
{
	/* the section headers are last */
	uint64_t shoff;
	uint16_t shentsize, shnum;
	memcpy(&shoff, elf + 0x28, 8);
	memcpy(&shentsize, elf + 0x3a, 2);
	memcpy(&shnum, elf + 0x3c, 2);
	return shoff + (uint64_t)shentsize * shnum;
}

static unsigned char *bundle(const unsigned char *gfx90a, const unsigned char *gfx942)
{
	static const char *const targets[3] = {"host-x86_64-unknown-linux-gnu-", "hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx942"};
	const unsigned char *images[3] = {NULL, gfx90a, gfx942};
	uint64_t sizes[3] = {0, elf_size(gfx90a), elf_size(gfx942)}, offset = 4096, n = 3;
	unsigned char *b = NULL, *p;
	if (posix_memalign((void **)&b, 4096, 4096 + sizes[1] + sizes[2] + 8192))
		abort();
	memset(b, 0, 4096);
	memcpy(b, MAGIC, 24);
	memcpy(b + 24, &n, 8);
	p = b + 32;
	for (int i = 0; i < 3; i++) {
		uint64_t length = strlen(targets[i]);
		memcpy(p, &offset, 8);
		memcpy(p + 8, &sizes[i], 8);
		memcpy(p + 16, &length, 8);
		memcpy(p + 24, targets[i], length);
		p += 24 + length;
		if (images[i])
			memcpy(b + offset, images[i], sizes[i]);
		offset = (offset + sizes[i] + 4095) & ~(uint64_t)4095;
	}
	return b;
}

/* fat is what __hipRegisterFatBinary takes. */
static const void *fat(struct fat_binary *f, const unsigned char *gfx90a, const unsigned char *gfx942)
{
	*f = (struct fat_binary){0x48495046, 1, bundle(gfx90a, gfx942), NULL};
	return f;
}

#endif
