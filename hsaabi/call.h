/* Calls of the program's functions. */
#ifndef RW_HSA_CALL_H
#define RW_HSA_CALL_H

#include "hsa/hsa.h"

/* rw_hsa_call calls a function that takes a handle. */
static inline hsa_status_t rw_hsa_call(void *f, uint64_t handle, void *data)
{
	return ((hsa_status_t (*)(hsa_agent_t, void *))f)((hsa_agent_t){handle}, data);
}

/* rw_hsa_call_symbol calls a function that takes an executable and a symbol, and rw_hsa_call_agent_symbol one that takes the agent, too. */
static inline hsa_status_t rw_hsa_call_symbol(void *f, uint64_t executable, uint64_t symbol, void *data)
{
	return ((hsa_status_t (*)(hsa_executable_t, hsa_executable_symbol_t, void *))f)((hsa_executable_t){executable}, (hsa_executable_symbol_t){symbol}, data);
}

static inline hsa_status_t rw_hsa_call_agent_symbol(void *f, uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	return ((hsa_status_t (*)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *))f)((hsa_executable_t){executable}, (hsa_agent_t){agent},
		(hsa_executable_symbol_t){symbol}, data);
}

/* rw_hsa_call_code_symbol calls a function that takes a code object and a symbol of it. */
static inline hsa_status_t rw_hsa_call_code_symbol(void *f, uint64_t code, uint64_t symbol, void *data)
{
	return ((hsa_status_t (*)(hsa_code_object_t, hsa_code_symbol_t, void *))f)((hsa_code_object_t){code}, (hsa_code_symbol_t){symbol}, data);
}

/* rw_hsa_call_alloc calls a function that gives memory for a code object. */
static inline hsa_status_t rw_hsa_call_alloc(void *f, size_t size, uint64_t data, void *address)
{
	return ((hsa_status_t (*)(size_t, hsa_callback_data_t, void **))f)(size, (hsa_callback_data_t){data}, (void **)address);
}

/* rw_hsa_call_event calls a function that takes an event. */
static inline hsa_status_t rw_hsa_call_event(void *f, const void *event, void *data)
{
	return ((hsa_status_t (*)(const hsa_amd_event_t *, void *))f)(event, data);
}

/* rw_hsa_alloc calls the program's allocator. */
static inline void *rw_hsa_alloc(void *f, size_t size)
{
	return ((void *(*)(size_t))f)(size);
}

#endif
