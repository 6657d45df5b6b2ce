/* How the tests of HSA load kernels and dispatch them by packets. */
#include <fcntl.h>
#include <stdatomic.h>

#include "hsa.h"

/* A kernel, and what a packet says of it. */
struct kernel {
	uint64_t object;
	uint32_t args, group, private;
};

static hsa_executable_t load(const char *path)
{
	hsa_code_object_reader_t reader;
	hsa_executable_t x = {0};
	int f = open(path, O_RDONLY);
	OK(hsa_code_object_reader_create_from_file(f, &reader));
	close(f);
	OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &x));
	OK(hsa_executable_load_agent_code_object(x, gpu, reader, NULL, NULL));
	OK(hsa_code_object_reader_destroy(reader));
	EXPECT(hsa_code_object_reader_destroy(reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
	OK(hsa_executable_freeze(x, NULL));
	EXPECT(hsa_executable_freeze(x, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	return x;
}

static struct kernel find(hsa_executable_t x, const char *name)
{
	struct kernel k = {0};
	hsa_executable_symbol_t s;
	hsa_symbol_kind_t kind;
	OK(hsa_executable_get_symbol_by_name(x, name, &gpu, &s));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
	SO(kind == HSA_SYMBOL_KIND_KERNEL);
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k.args));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k.group));
	OK(hsa_executable_symbol_get_info(s, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k.private));
	return k;
}

/* arguments makes a kernel's: those that it takes, and the size of the grid behind them, as compilers want it. */
static void *arguments(const struct kernel *k, const void *args, size_t size, uint32_t grid, uint16_t group)
{
	char *p;
	uint32_t blocks = grid / group;
	OK(hsa_amd_memory_pool_allocate(kernarg, k->args + 256, 0, (void **)&p));
	OK(hsa_amd_agents_allow_access(1, &gpu, NULL, p));
	memset(p, 0, k->args);
	memcpy(p, args, size);
	char *hidden = p + (size + 7) / 8 * 8;
	memcpy(hidden, (uint32_t[]){blocks, 1, 1}, 12);
	memcpy(hidden + 12, (uint16_t[]){group, 1, 1}, 6);
	return p;
}

static hsa_kernel_dispatch_packet_t packet(const struct kernel *k, void *args, uint32_t grid, uint16_t group, hsa_signal_t done)
{
	return (hsa_kernel_dispatch_packet_t){
		.header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER, .setup = 1, .workgroup_size_x = group, .workgroup_size_y = 1,
		.workgroup_size_z = 1, .grid_size_x = grid, .grid_size_y = 1, .grid_size_z = 1, .private_segment_size = k->private,
		.group_segment_size = k->group, .kernel_object = k->object, .kernarg_address = args, .completion_signal = done};
}

/* submit writes a packet, its header last, when there is room. */
static void submit(hsa_queue_t *q, const void *what)
{
	uint64_t at = hsa_queue_add_write_index_scacq_screl(q, 1);
	while (at - hsa_queue_load_read_index_scacquire(q) >= q->size)
		usleep(10);
	char *slot = (char *)q->base_address + at % q->size * 64;
	memcpy(slot + 2, (const char *)what + 2, 62);
	__atomic_store_n((uint16_t *)slot, *(const uint16_t *)what, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)at);
}

static _Atomic int queue_error;

static void on_error(hsa_status_t status, hsa_queue_t *q, void *data)
{
	SO(q != NULL && data == &queue_error);
	atomic_store(&queue_error, (int)status);
}

static hsa_queue_t *queue(uint32_t size)
{
	hsa_queue_t *q = NULL;
	OK(hsa_queue_create(gpu, size, HSA_QUEUE_TYPE_MULTI, on_error, &queue_error, UINT32_MAX, UINT32_MAX, &q));
	return q;
}
