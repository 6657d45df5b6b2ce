/* The memory of managed variables, which a program may use before any device is. */
#ifndef ROCWIRE_HIPABI_MANAGED_H
#define ROCWIRE_HIPABI_MANAGED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* managed_memory is size bytes with the contents of init, or zero; NULL if there is
 * no memory. */
static inline void *managed_memory(const void *init, uint64_t size, uint32_t align)
{
	void *p = NULL;
	if (posix_memalign(&p, align < 4096 ? 4096 : align, size ? size : 1) != 0)
		return NULL;
	if (init)
		memcpy(p, init, size);
	else
		memset(p, 0, size);
	return p;
}

#endif
