/* The exports as the generated table lists them. */
#ifndef ROCWIRE_HIPABI_TABLE_H
#define ROCWIRE_HIPABI_TABLE_H

#include <stddef.h>

typedef void (*rw_function)(void);

struct rw_table {
	size_t count;
	const rw_function *functions;
	const char *const *names; /* of the functions, in the same order */
};

extern const struct rw_table rw_hip_table;

#endif
