/* What zz_hsa_garbage.c calls HSA's functions with: for each parameter a value that is right, or as right as can be known, and then wrong
 * ones. Handles are believed by nobody; memory that a pointer leads to is there and large enough, as for any C library. */
#ifndef HSA_GARBAGE_H
#define HSA_GARBAGE_H
#include <limits.h>

#include "hsa.h"

#define NO_STATUS (-1L) /* the function returns no hsa_status_t */

enum { WORKS, REFUSED, EARLY }; /* EARLY: before hsa_init, too */

/* A function: for each parameter a letter, and '!' if it may not be null; the call with value v[i] of parameter i. */
struct function {
	const char *name, *letters, *needed;
	int kind;
	long (*run)(const int *v);
};
extern const struct function functions[];

struct objects {
	hsa_agent_t agent;
	hsa_cache_t cache;
	hsa_signal_t signal;
	hsa_signal_group_t signal_group;
	hsa_region_t region;
	hsa_isa_t isa;
	hsa_wavefront_t wavefront;
	hsa_amd_memory_pool_t amd_memory_pool;
	hsa_code_object_reader_t code_object_reader;
	hsa_code_object_t code_object;
	hsa_code_symbol_t code_symbol;
	hsa_executable_t executable, unfrozen;
	hsa_executable_symbol_t executable_symbol;
	hsa_ext_image_t ext_image;
	hsa_ext_sampler_t ext_sampler;
	hsa_ext_program_t ext_program;
	hsa_ven_amd_pcs_t ven_amd_pcs;
	hsa_amd_vmem_alloc_handle_t amd_vmem_alloc_handle;
	hsa_callback_data_t callback_data;
	hsa_queue_t *queue;
	char *memory, *reserved;
};
extern struct objects live, stale;

enum { MEMORY = 65536, VMEM = 2 << 20 }; /* bytes of every buffer; of what is mapped */
extern char buffers[16][MEMORY];
extern char file[1 << 20];
extern size_t file_size;

/* right fills a buffer with what a type's pointer should lead to. */
void right(const char *type, void *p);

static inline hsa_status_t nothing(void) { return HSA_STATUS_SUCCESS; }
static inline void *calls(int v) { return v ? 0 : (void *)nothing; }

static inline const char *text(int v, const char *name)
{
	static char *deep;
	switch (v) {
	case 0:
		return !strcmp(name, "options") || !strcmp(name, "module_name") ? 0 : !strcmp(name, "name") ? "amdgcn-amd-amdhsa--gfx90a" : "coefficients";
	case 1: return 0;
	case 2: return "";
	case 3: return "%s%n nothing of that name\xff\xc0";
	}
	if (!deep)
		deep = memset(calloc(1, 1 << 20), 'x', (1 << 20) - 1);
	return deep;
}

static inline uint64_t handle(int v, uint64_t right_one, uint64_t old)
{
	switch (v) {
	case 0: return right_one;
	case 1: return 0;
	case 2: return old ? old : 0x5a5a5a50; /* there is no more */
	case 3: return (uint64_t)(uintptr_t)buffers[14];
	case 4: return UINT64_MAX;
	case 5: return right_one + (1ull << 40);
	default: return right_one == live.signal.handle ? live.agent.handle : live.signal.handle; /* of another kind */
	}
}

static inline hsa_queue_t *queue_of(int v)
{
	switch (v) {
	case 0: return live.queue;
	case 1: return 0;
	case 2: return stale.queue;
	case 3: return (hsa_queue_t *)buffers[14];
	default: return (hsa_queue_t *)(uintptr_t)0x7f5a5a5a5a50;
	}
}

static inline void *buffer(int k, int v, const char *type)
{
	if (v == 1)
		return 0;
	memset(buffers[k], v == 2 ? 0xff : v == 3 ? 0x5a : 0, MEMORY);
	if (v == 0)
		right(type, buffers[k]);
	return buffers[k];
}

static inline void *address(int v)
{
	switch (v) {
	case 0: return live.memory;
	case 1: return 0;
	case 2: return stale.memory;
	case 3: return buffers[15]; /* the program's own */
	case 4: return live.memory + 1;
	case 5: return live.memory + MEMORY - 4;
	case 6: return (void *)(uintptr_t)8;
	case 7: return (void *)(uintptr_t)0x7f5a5a5a5a50;
	default: return (void *)(UINTPTR_MAX - 4095);
	}
}

static inline void *own(int v)
{
	switch (v) {
	case 0: return buffers[15];
	case 1: return 0;
	case 2: return stale.memory;
	case 3: return live.memory;
	default: return address(v);
	}
}

static inline void *reserved(int v) { return v == 0 ? live.reserved : v == 4 ? live.reserved + 4096 : address(v); }
static inline void *file_at(int v) { return v == 0 ? file : v == 1 ? 0 : v == 2 ? buffer(13, v, "") : address(v + 3); }

static inline uint64_t size(int v)
{
	static const uint64_t all[] = {4096, 0, 1, UINT64_MAX, 1ull << 63, UINT64_MAX - 4095, 1ull << 46, 100};
	return all[v];
}

static inline uint64_t size_of_file(int v) { return v == 0 ? file_size : v < 4 ? (uint64_t[]){0, 0, 1, 64}[v] : file_size - (uint64_t)v * 64; }

static inline int64_t integer(int v)
{
	static const int64_t all[] = {0, 1, 2, -1, INT_MAX, INT_MIN, INT64_MAX, 0x5a5a};
	return all[v];
}

static inline uint32_t count(int v) { return v == 0; }
static inline uint64_t patience(int v) { return v ? v == 1 ? 1 : 1000000 : 0; }

static inline int descriptor(int v)
{
	static const int all[] = {0, -1, 9999, INT_MAX, INT_MIN};
	if (v)
		return all[v];
	char path[] = "/tmp/hsa_garbageXXXXXX";
	int fd = mkstemp(path);
	SO(fd >= 0 && write(fd, file, file_size) == (ssize_t)file_size);
	unlink(path);
	return fd;
}
#endif
