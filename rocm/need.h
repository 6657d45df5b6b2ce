/* What the functions share that the table does not make. */
#ifndef ROCWIRE_ROCM_NEED_H
#define ROCWIRE_ROCM_NEED_H

#include <stdint.h>
#include "library.h"

#define HANDLE(type, v) ((type)(uintptr_t)(v))

/* NEED ends a function whose own the library does not have, and selects the device. */
#define NEED(name)                                                          \
	do {                                                                \
		hipError_t need = hipErrorNotSupported;                     \
		if (!table->name || (need = rocm_device(table, device)))    \
			return need;                                        \
	} while (0)

#endif
