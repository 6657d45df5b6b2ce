/* The exports as the generated table lists them. */
#ifndef ROCWIRE_HSAABI_TABLE_H
#define ROCWIRE_HSAABI_TABLE_H

#include <stddef.h>

typedef void (*rw_function)(void);

struct rw_table {
	size_t count;
	const rw_function *functions;
	const char *const *names; /* of the functions, in the same order */
};

/* What librocwire/stubs find the functions by; librocwire.map names it elsewhere. */
#ifdef _WIN32
#define RW_EXPORTED __declspec(dllexport)
#else
#define RW_EXPORTED
#endif

extern const struct rw_table rw_hsa_table;

#endif
