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

#define RENAMED_SINCE 600 /* HIP 6.0; a version as hipRuntimeGetVersion gives it is far above */

/* What flags may be: HIP has no names for them in this version. */
enum { DEFAULT, LEGACY_STREAM, PER_THREAD_STREAM };

static void *find(const char *name)
{
	if (strncmp(name, "rw_", 3) == 0) /* what only jumps lead to */
		return NULL;
	for (size_t i = 0; i < rw_hip_table.count; i++)
		if (strcmp(rw_hip_table.names[i], name) == 0)
			return (void *)rw_hip_table.functions[i];
	return NULL;
}

static const char *meant(const char *symbol, int version)
{
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (version >= RENAMED_SINCE && strcmp(symbol, renamed[i][0]) == 0)
			return renamed[i][1];
	return symbol;
}

hipError_t hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags, hipDriverProcAddressQueryResult *status)
{
	char own[256];
	void *p = NULL;
	if (!symbol || !*symbol || !pfn || flags > PER_THREAD_STREAM)
		return rw_finish(hipErrorInvalidValue);
	if (flags == PER_THREAD_STREAM && snprintf(own, sizeof own, "%s_spt", symbol) < (int)sizeof own)
		p = find(own);
	if (!p)
		p = find(meant(symbol, version));
	*pfn = p;
	if (status)
		*status = p ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return rw_finish(p ? hipSuccess : hipErrorInvalidValue);
}
