/* What the tests of HSA begin with: checks, and the agents and pools that they use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hsa/hsa.h"

static int failures;

#define EXPECT(call, want) \
	do { \
		int got_ = (call); \
		if (got_ != (int)(want)) \
			printf("%d: %s: %#x, not %#x\n", __LINE__, #call, (unsigned)got_, (unsigned)(want)), failures++; \
	} while (0)
#define OK(call) EXPECT(call, HSA_STATUS_SUCCESS)
#define SO(what) \
	do { \
		if (!(what)) \
			printf("%d: not so: %s\n", __LINE__, #what), failures++; \
	} while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t fine, kernarg, coarse;

static hsa_status_t on_agent(hsa_agent_t a, void *data)
{
	hsa_device_type_t t;
	(void)data;
	OK(hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &t));
	if (t == HSA_DEVICE_TYPE_CPU)
		cpu = a;
	else if (!gpu.handle)
		gpu = a;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t p, void *data)
{
	uint32_t segment, flags;
	OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	OK(hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	if (data) {
		if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
			coarse = p;
	} else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
		kernarg = p;
	} else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) {
		fine = p;
	}
	return HSA_STATUS_SUCCESS;
}

/* look finds the agents and pools. */
static inline void look(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	OK(hsa_iterate_agents(on_agent, NULL));
	OK(hsa_amd_agent_iterate_memory_pools(cpu, on_pool, NULL));
	OK(hsa_amd_agent_iterate_memory_pools(gpu, on_pool, &gpu));
}
