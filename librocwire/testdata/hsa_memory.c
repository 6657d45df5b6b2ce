/* Memory of HSA's that a program puts together itself, and shares. The exit status is the number of things that were not so. */
#include "hsa.h"

enum { PIECE = 2 << 20 };

static hsa_amd_vmem_alloc_handle_t piece(void)
{
	hsa_amd_vmem_alloc_handle_t h = {0};
	OK(hsa_amd_vmem_handle_create(coarse, PIECE, MEMORY_TYPE_PINNED, 0, &h));
	return h;
}

static void allow(void *p, size_t size, hsa_agent_t who, hsa_access_permission_t what)
{
	hsa_amd_memory_access_desc_t d = {what, who};
	hsa_access_permission_t now = 9;
	OK(hsa_amd_vmem_set_access(p, size, &d, 1));
	if (who.handle == gpu.handle) {
		OK(hsa_amd_vmem_get_access(p, &now, who));
		SO(now == what);
	}
}

/* One memory at two addresses, and two side by side. */
static void mapped(void)
{
	hsa_amd_vmem_alloc_handle_t a = piece(), b = piece(), same = {0};
	hsa_amd_memory_pool_t pool;
	hsa_amd_memory_type_t type;
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	uint32_t *p, *q, n;
	hsa_agent_t *who;
	SO(b.handle - a.handle >= PIECE && a.handle - b.handle >= PIECE); /* AMD's HIP takes them for addresses */
	OK(hsa_amd_vmem_get_alloc_properties_from_handle(a, &pool, &type));
	SO(pool.handle == coarse.handle && type == MEMORY_TYPE_PINNED);
	OK(hsa_amd_vmem_address_reserve((void **)&p, 2 * PIECE, 0, 0));
	OK(hsa_amd_vmem_address_reserve_align((void **)&q, PIECE, 0, 1 << 24, 0));
	SO((uintptr_t)q % (1 << 24) == 0);
	OK(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL));
	SO(info.type == HSA_EXT_POINTER_TYPE_RESERVED_ADDR && info.sizeInBytes == 2 * PIECE);
	OK(hsa_amd_vmem_map(p, PIECE, 0, a, 0));
	OK(hsa_amd_vmem_map((char *)p + PIECE, PIECE, 0, b, 0));
	OK(hsa_amd_vmem_map(q, PIECE, 0, a, 0));
	EXPECT(hsa_amd_memory_fill(p, 1, 4), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* nobody may yet */
	allow(p, 2 * PIECE, gpu, HSA_ACCESS_PERMISSION_RW);
	OK(hsa_amd_memory_fill((char *)p + PIECE - 16, 4711, 8)); /* over the seam */
	allow(q, PIECE, cpu, HSA_ACCESS_PERMISSION_RW); /* where only the processor may */
	SO(q[PIECE / 4 - 1] == 4711);
	q[0] = 12;
	allow(q, PIECE, cpu, HSA_ACCESS_PERMISSION_RO);
	SO(q[0] == 12);
	OK(hsa_amd_agents_allow_access(1, &gpu, NULL, q));
	OK(hsa_amd_memory_fill(q + 1, 13, 1));
	SO(p[0] == 12 && p[1] == 13);
	OK(hsa_amd_pointer_info(q + 1, &info, malloc, &n, &who));
	SO(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == q && info.agentOwner.handle == gpu.handle && n == 2);
	free(who);

	OK(hsa_amd_vmem_retain_alloc_handle(&same, q));
	SO(same.handle == a.handle);
	EXPECT(hsa_amd_vmem_retain_alloc_handle(&same, q + 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_vmem_handle_release(a));
	OK(hsa_amd_vmem_handle_release(a));
	EXPECT(hsa_amd_vmem_handle_release(a), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_vmem_retain_alloc_handle(&same, q)); /* what is mapped can be had again */
	EXPECT(hsa_amd_vmem_address_free(q, PIECE), HSA_STATUS_ERROR_RESOURCE_FREE);
	OK(hsa_amd_vmem_unmap(p, PIECE));
	OK(hsa_amd_vmem_unmap(q, PIECE));
	OK(hsa_amd_vmem_map(q, 4096, 0, a, 0)); /* a part of it, and it has kept what it was */
	allow(q, 4096, gpu, HSA_ACCESS_PERMISSION_RO);
	SO(q[0] == 12);
	EXPECT(hsa_amd_memory_fill(q, 1, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_vmem_handle_release(a));
	OK(hsa_amd_vmem_unmap(q, 4096));
	EXPECT(hsa_amd_vmem_map(q, PIECE, 0, a, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* it is gone */
	OK(hsa_amd_vmem_unmap((char *)p + PIECE, PIECE));
	OK(hsa_amd_vmem_handle_release(b));
	OK(hsa_amd_vmem_address_free(p, 2 * PIECE));
	OK(hsa_amd_vmem_address_free(q, PIECE));
}

static void mistakes(void)
{
	hsa_amd_vmem_alloc_handle_t a = piece(), none = {77};
	hsa_amd_memory_access_desc_t d = {HSA_ACCESS_PERMISSION_RW, gpu}, nobody = {HSA_ACCESS_PERMISSION_RW, {5}}, odd = {9, gpu};
	hsa_access_permission_t now;
	hsa_amd_memory_pool_t pool;
	hsa_amd_memory_type_t type;
	char *p, mine[64];
	EXPECT(hsa_amd_vmem_address_reserve((void **)&p, 0, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_address_reserve(NULL, PIECE, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_address_reserve((void **)&p, SIZE_MAX, 0, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	EXPECT(hsa_amd_vmem_address_reserve((void **)&p, (size_t)1 << 60, 0, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	EXPECT(hsa_amd_vmem_address_reserve_align((void **)&p, PIECE, 0, 3, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_address_free(mine, PIECE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_vmem_handle_create(coarse, 100, MEMORY_TYPE_NONE, 0, &a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_handle_create(coarse, 0, MEMORY_TYPE_NONE, 0, &a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_handle_create(coarse, PIECE, 7, 0, &a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_handle_create((hsa_amd_memory_pool_t){3}, PIECE, MEMORY_TYPE_NONE, 0, &a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_handle_create(coarse, (size_t)1 << 46, MEMORY_TYPE_NONE, 0, &a), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
	EXPECT(hsa_amd_vmem_handle_release(none), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_vmem_get_alloc_properties_from_handle(none, &pool, &type), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_vmem_address_reserve((void **)&p, PIECE, 0, 0));
	EXPECT(hsa_amd_vmem_map(p, PIECE, 0, none, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_map(mine, 64, 0, a, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_map(p + 4096, PIECE, 0, a, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* behind the end */
	EXPECT(hsa_amd_vmem_set_access(p, PIECE, &d, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_vmem_map(p, PIECE, 0, a, 0));
	EXPECT(hsa_amd_vmem_map(p + 4096, 4096, 0, a, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* over another */
	EXPECT(hsa_amd_vmem_set_access(p, PIECE, &nobody, 1), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_amd_vmem_set_access(p, PIECE, &odd, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_set_access(p, 2 * PIECE, &d, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_set_access(p, PIECE, &d, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_get_access(mine, &now, gpu), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_vmem_get_access(p, &now, cpu), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_amd_vmem_unmap(p, 4096), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_vmem_unmap(p + 4096, PIECE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_vmem_unmap(p, PIECE));
	EXPECT(hsa_amd_vmem_address_free(p, 4096), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_vmem_address_free(p, PIECE));
	OK(hsa_amd_vmem_handle_release(a));
}

/* A descriptor is the memory: in this process under its own handle, from elsewhere as new memory. */
static void descriptors(void)
{
	hsa_amd_vmem_alloc_handle_t a = piece(), b = {0};
	char *p, *q;
	int fd = -1, pipes[2];
	OK(hsa_amd_vmem_export_shareable_handle(&fd, a, 0));
	SO(fd >= 0);
	OK(hsa_amd_vmem_import_shareable_handle(fd, &b));
	SO(b.handle == a.handle);
	OK(hsa_amd_vmem_handle_release(b));
	OK(hsa_amd_vmem_address_reserve((void **)&p, PIECE, 0, 0));
	OK(hsa_amd_vmem_map(p, PIECE, 0, a, 0));
	allow(p, PIECE, gpu, HSA_ACCESS_PERMISSION_RW);
	OK(hsa_amd_memory_fill(p, 0x41424344, 2));
	OK(hsa_amd_vmem_unmap(p, PIECE));
	OK(hsa_amd_vmem_handle_release(a));
	OK(hsa_amd_vmem_import_shareable_handle(fd, &b)); /* now the descriptor alone has it */
	SO(b.handle != a.handle);
	OK(hsa_amd_vmem_address_reserve((void **)&q, PIECE, (uint64_t)p + PIECE, 0));
	OK(hsa_amd_vmem_map(q, PIECE, 0, b, 0));
	allow(q, PIECE, gpu, HSA_ACCESS_PERMISSION_RW);
	SO(!memcmp(q, "DCBADCBA", 8));
	OK(hsa_amd_vmem_unmap(q, PIECE));
	OK(hsa_amd_vmem_handle_release(b));
	OK(hsa_amd_vmem_address_free(p, PIECE));
	OK(hsa_amd_vmem_address_free(q, PIECE));
	close(fd);
	EXPECT(hsa_amd_vmem_export_shareable_handle(&fd, a, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	SO(fd == -1);
	EXPECT(hsa_amd_vmem_import_shareable_handle(-1, &b), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	SO(pipe(pipes) == 0);
	EXPECT(hsa_amd_vmem_import_shareable_handle(pipes[0], &b), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	close(pipes[0]);
	close(pipes[1]);
}

/* What the program said of its own memory: kernels reach it then, and what was said is answered. */
static void attributes(void)
{
	enum { PAGES = 8, SIZE = PAGES * 4096 };
	char *p = aligned_alloc(4096, SIZE);
	hsa_signal_t done;
	hsa_amd_svm_attribute_pair_t set[] = {{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle}, {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, cpu.handle}},
		part[] = {{HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 7}, {HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED},
			{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu.handle}, {HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 99}};
	memset(p, 1, SIZE);
	OK(hsa_amd_svm_attributes_set(p, SIZE, set, 2));
	OK(hsa_amd_memory_fill(p, 0x02020202, SIZE / 8)); /* by the card */
	SO(p[0] == 2 && p[SIZE / 2 - 1] == 2 && p[SIZE / 2] == 1);
	OK(hsa_amd_svm_attributes_set(p + 4096 + 5, 4096, part, 4)); /* two pages, of which each has a part */
	for (int i = 0; i < 4; i++) { /* one of them, one of none, both kinds, all */
		size_t at = (size_t[]){1, 5, 2, 0}[i] * 4096, n = (size_t[]){1, 1, 2, PAGES}[i] * 4096;
		hsa_amd_svm_attribute_pair_t get[] = {{HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 5}, {HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 5}, {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu.handle},
			{HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 5}, {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, cpu.handle}, {HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 5},
			{HSA_AMD_SVM_ATTRIB_READ_ONLY, 5}, {HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 5}};
		OK(hsa_amd_svm_attributes_get(p + at, n, get, 8));
		SO(get[0].value == (i == 0));
		const uint64_t grains[] = {HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED, HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED, HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE, HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE};
		SO(get[1].value == grains[i]);
		SO(get[2].attribute == (i == 0 ? HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE : HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE) && get[2].value == gpu.handle);
		SO(get[3].value == cpu.handle);
		SO(get[4].attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
		SO(get[5].value == (i == 0 ? 18 : 9));
		SO(get[6].value == 0 && get[7].value == 0);
	}
	OK(hsa_signal_create(1, 0, NULL, &done));
	OK(hsa_amd_svm_prefetch_async(p, SIZE, gpu, 0, NULL, done));
	SO(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
	hsa_amd_svm_attribute_pair_t where = {HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0}, nothing = {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu.handle};
	OK(hsa_amd_svm_attributes_get(p + 100, SIZE - 100, &where, 1));
	SO(where.value == gpu.handle);
	where.value = 0;
	OK(hsa_amd_svm_prefetch_async(p, 4096, cpu, 0, NULL, (hsa_signal_t){0}));
	OK(hsa_amd_svm_attributes_get(p, SIZE, &where, 1)); /* not one place */
	SO(where.value == 0);
	static char other[4096] __attribute__((aligned(4096)));
	OK(hsa_amd_svm_attributes_get(other, 4096, &nothing, 1)); /* nothing was said of it */
	SO(nothing.attribute == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);

	void *twin;
	OK(hsa_amd_memory_lock(p, SIZE, &gpu, 1, &twin)); /* and unlocked it is reached as before */
	OK(hsa_amd_memory_unlock(p));
	OK(hsa_amd_memory_fill(p, 0, 1));
	hsa_amd_svm_attribute_pair_t twice[] = {{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle}, {HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu.handle}};
	EXPECT(hsa_amd_svm_attributes_set(p, SIZE, twice, 2), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	hsa_amd_svm_attribute_pair_t odd[] = {{77, 0}}, nobody[] = {{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, 3}}, grain[] = {{HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 9}};
	EXPECT(hsa_amd_svm_attributes_set(p, SIZE, odd, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_svm_attributes_get(p, SIZE, odd, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_svm_attributes_set(p, SIZE, nobody, 1), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_amd_svm_attributes_set(p, SIZE, grain, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_svm_attributes_set(p, 0, set, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_svm_attributes_set((void *)8, 4096, set, 2), HSA_STATUS_ERROR); /* no memory */
	EXPECT(hsa_amd_svm_prefetch_async(p, SIZE, (hsa_agent_t){3}, 0, NULL, done), HSA_STATUS_ERROR_INVALID_AGENT);
	EXPECT(hsa_amd_svm_prefetch_async(p, SIZE, gpu, 0, NULL, (hsa_signal_t){3}), HSA_STATUS_ERROR_INVALID_SIGNAL);
	OK(hsa_signal_destroy(done));
	free(p);
	void *pooled[2], *freed; /* what the driver has mapped is not the program's own, nor are addresses of nothing */
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, &pooled[0]));
	OK(hsa_amd_memory_pool_allocate(fine, 4096, 0, &pooled[1]));
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, &freed));
	OK(hsa_amd_memory_pool_free(freed));
	void *not_own[] = {pooled[0], pooled[1], freed, (void *)((uintptr_t)other + (1ull << 40))};
	for (int i = 0; i < 4; i++) {
		EXPECT(hsa_amd_svm_attributes_set(not_own[i], 4096, part, 2), HSA_STATUS_ERROR);
		EXPECT(hsa_amd_svm_attributes_get(not_own[i], 4096, &where, 1), HSA_STATUS_ERROR);
		OK(hsa_amd_svm_attributes_get(not_own[i], 4096, &where, 0));
	}
	OK(hsa_amd_memory_pool_free(pooled[0]));
	OK(hsa_amd_memory_pool_free(pooled[1]));
}

/* other runs this program again with a word and a handle, and waits for it. */
static int other(const char *program, const char *word, const hsa_amd_ipc_memory_t *h)
{
	char hex[65], command[4096];
	for (int i = 0; i < 32; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)h)[i]);
	snprintf(command, sizeof command, "'%s' %s %s", program, word, hex);
	fflush(stdout);
	return system(command);
}

static void shared(const char *program)
{
	hsa_amd_ipc_memory_t h, wrong;
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	uint64_t offset = 9;
	uint32_t got = 0;
	char *p, *q, *mine = malloc(64);
	int fd = -1;
	OK(hsa_amd_memory_pool_allocate(coarse, 5000, 0, (void **)&p));
	OK(hsa_amd_memory_fill(p, 0x51525354, 1250));
	OK(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL));
	SO(info.sizeInBytes == 5000);
	OK(hsa_amd_ipc_memory_create(p, 5000, &h));
	OK(hsa_amd_ipc_memory_create(p, 8192, &h)); /* or in whole pages */
	SO(other(program, "attach", &h) == 0);
	OK(hsa_memory_copy(&got, p + 4, 4));
	SO(got == 4711);
	OK(hsa_amd_ipc_memory_attach(&h, 5000, 0, NULL, (void **)&q)); /* in this process, too */
	SO(q != p && *(uint32_t *)(q + 4) == 4711);
	OK(hsa_amd_ipc_memory_detach(q));

	OK(hsa_amd_portable_export_dmabuf(p + 100, 200, &fd, &offset));
	SO(fd >= 0 && offset == 100);
	OK(hsa_amd_portable_close_dmabuf(fd));
	EXPECT(hsa_amd_portable_close_dmabuf(-1), HSA_STATUS_ERROR_RESOURCE_FREE);
	EXPECT(hsa_amd_portable_export_dmabuf(p, 5001, &fd, &offset), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_portable_export_dmabuf(mine, 64, &fd, &offset), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_ipc_memory_create(p, 100, &wrong), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_ipc_memory_create(p + 4096, 904, &wrong), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_ipc_memory_create(mine, 64, &wrong), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_ipc_memory_detach(p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_ipc_memory_attach(&h, 9000, 0, NULL, (void **)&q), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	for (int i = 0; i < 24; i++) { /* each word of a handle counts */
		wrong = h;
		if (i % 8 == 0)
			wrong.handle[0] = 0x7fffffff - (uint32_t)i; /* no process: a bit away may be a thread of this one */
		else
			wrong.handle[i % 8] ^= 1u << i;
		EXPECT(hsa_amd_ipc_memory_attach(&wrong, 5000, 0, NULL, (void **)&q), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	}
	OK(hsa_amd_memory_pool_free(p));
	EXPECT(hsa_amd_ipc_memory_attach(&h, 5000, 0, NULL, (void **)&q), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	SO(other(program, "gone", &h) == 0);
	free(mine);
}

/* again is the other process. */
static void again(const char *word, const char *hex)
{
	hsa_amd_ipc_memory_t h;
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	uint32_t *q, four[4];
	for (int i = 0; i < 32; i++)
		sscanf(hex + 2 * i, "%2hhx", (uint8_t *)&h + i);
	if (!strcmp(word, "gone")) {
		EXPECT(hsa_amd_ipc_memory_attach(&h, 5000, 0, NULL, (void **)&q), HSA_STATUS_ERROR_INVALID_ARGUMENT);
		return;
	}
	OK(hsa_amd_ipc_memory_attach(&h, 5000, 1, &gpu, (void **)&q));
	OK(hsa_amd_pointer_info(q, &info, NULL, NULL, NULL));
	SO(info.type == HSA_EXT_POINTER_TYPE_IPC && info.agentBaseAddress == q && info.sizeInBytes == 5000);
	OK(hsa_memory_copy(four, q, 16));
	SO(four[0] == 0x51525354 && four[3] == 0x51525354);
	OK(hsa_amd_memory_fill(q + 1, 4711, 1));
	EXPECT(hsa_amd_memory_pool_free(q), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	EXPECT(hsa_amd_ipc_memory_create(q, 5000, &h), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* it is not ours to give */
	OK(hsa_amd_ipc_memory_detach(q));
	EXPECT(hsa_amd_ipc_memory_detach(q), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(int argc, char **argv)
{
	OK(hsa_init());
	look();
	if (argc == 3) {
		again(argv[1], argv[2]);
		return failures;
	}
	mapped();
	mistakes();
	descriptors();
	attributes();
	shared(argv[0]);
	OK(hsa_shut_down());
	printf(failures ? "hsa memory: %d failures\n" : "hsa memory: ok\n", failures);
	return failures > 99 ? 99 : failures;
}
