/* What the test programs have of POSIX, for Windows. */
#ifndef ROCWIRE_TEST_WINDOWS_H
#define ROCWIRE_TEST_WINDOWS_H

#include <errno.h>
#include <stdlib.h>
#define WIN32_LEAN_AND_MEAN /* not its names for much else */
#define NOGDI
#define SIZE WINDOWS_SIZE /* a type; programs have numbers of that name */
#include <windows.h>
#undef SIZE

#define _SC_PAGESIZE 0

static inline long sysconf(int name)
{
	(void)name;
	return 4096;
}

static inline int setenv(const char *name, const char *value, int replace)
{
	(void)replace;
	return SetEnvironmentVariableA(name, value) ? 0 : -1;
}

/* Aligned to 64 KiB, and of whole pages. */
static inline void *aligned_alloc(size_t align, size_t size)
{
	return align <= 65536 ? VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) : NULL;
}

static inline int posix_memalign(void **p, size_t align, size_t size)
{
	*p = aligned_alloc(align, size);
	return *p ? 0 : ENOMEM;
}

/* Memory of malloc never begins where a reservation does. */
static inline void free_any(void *p)
{
	MEMORY_BASIC_INFORMATION m;
	if (p && VirtualQuery(p, &m, sizeof m) && m.AllocationBase == p)
		VirtualFree(p, 0, MEM_RELEASE);
	else
		free(p);
}
#define free free_any

#endif
