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

int main(void)
{
	OK(hsa_init());
	look();
	mapped();
	mistakes();
	descriptors();
	OK(hsa_shut_down());
	printf(failures ? "hsa memory: %d failures\n" : "hsa memory: ok\n", failures);
	return failures > 99 ? 99 : failures;
}
