/* hipGetProcAddress: the library's own functions by name. */
#include <stdio.h>
#include <string.h>

#include "table.h"
#include "thread.h"

/* Names whose plain symbol is kept for programs of HIP 5, with what they have
 * stood for since. */
static const char *const renamed[][2] = {
	{"hipGetDeviceProperties", "hipGetDevicePropertiesR0600"},
	{"hipChooseDevice", "hipChooseDeviceR0600"},
};

#define RENAMED_SINCE 60000000 /* in the numbers of hipRuntimeGetVersion */
#define PER_THREAD 2           /* the flag that asks for the _spt functions */

static void *find(const char *name)
{
	for (size_t i = 0; i < rw_hip_table.count; i++)
		if (strcmp(rw_hip_table.names[i], name) == 0)
			return (void *)rw_hip_table.functions[i];
	return NULL;
}

hipError_t hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags, hipDriverProcAddressQueryResult *status)
{
	char own[256];
	void *p = NULL;
	if (!symbol || !pfn || flags > PER_THREAD)
		return rw_finish(hipErrorInvalidValue);
	if (version >= RENAMED_SINCE)
		for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
			if (strcmp(symbol, renamed[i][0]) == 0)
				symbol = renamed[i][1];
	if (strncmp(symbol, "hip", 3) == 0 || strncmp(symbol, "__hip", 5) == 0) {
		if (flags == PER_THREAD && snprintf(own, sizeof own, "%s_spt", symbol) < (int)sizeof own)
			p = find(own);
		if (!p)
			p = find(symbol);
	}
	*pfn = p;
	if (status)
		*status = p ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return rw_finish(p ? hipSuccess : hipErrorNotFound);
}

hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags)
{
	if (flags == hipEventRecordDefault)
		return hipEventRecord(event, stream);
	if (flags == hipEventRecordExternal) /* of a capture that another one waits for */
		return rw_unsupported("hipEventRecordWithFlags: hipEventRecordExternal");
	return rw_finish(hipErrorInvalidValue);
}
