/* What zz_garbage.c calls the library's functions with: for each parameter a value that is right, or as right as can be known, and
 * then wrong ones: null, stale and foreign handles and addresses, 0, huge and overflowing sizes. Nothing here is memory that may not be
 * read, or is shorter than what a function may write to it when it is told the truth. */
#ifndef GARBAGE_H
#define GARBAGE_H
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_CODE (-1L) /* the function returns no hipError_t */

/* What a function answers to one argument of its own that is wrong, by hip/api.json: an error, or one of these. */
#define UNKNOWN 0
#define LEGAL (-1)   /* it succeeds if it otherwise does */
#define REFUSED (-2) /* any error */
#define NOTHING (-3) /* it succeeds, whatever the rest is */
struct codes {
	int null, wrong, zero, huge;
};

/* A function: for each parameter a letter, whether it claims to work, the call with value v[i] of parameter i, what it answers to a wrong
 * one, and the order in which it looks at them. */
struct function {
	const char *name;
	const char *letters;
	int works;
	long (*run)(const int *v);
	struct codes codes[16];
	signed char order[17];
};
extern const struct function functions[];

struct objects {
	hipStream_t stream;
	hipEvent_t event;
	hipMemPool_t mempool;
	hipGraph_t graph;
	hipGraphNode_t graphnode;
	hipGraphExec_t graphexec;
	hipModule_t module;
	hipFunction_t function;
	hipArray_t array;
	hipUserObject_t userobject;
	hipCtx_t ctx;
	void *memory;
};
extern struct objects live, stale;

#define MEMORY 65536 /* bytes of every buffer */
extern char buffers[16][MEMORY], values[16][256];

static inline void nothing(void) {}

/* text is the name of a kernel, file of a code object. */
static inline const char *text(int v)
{
	return v == 0 ? getenv("GARBAGE_KERNEL") : v == 1 ? 0 : v == 2 ? "" : "nothing of that name";
}

static inline const char *file(int v)
{
	return v == 0 ? getenv("GARBAGE_MODULE") : text(v);
}

static inline uintptr_t address(int v)
{
	switch (v) {
	case 0: return (uintptr_t)live.memory;
	case 1: return 0;
	case 2: return (uintptr_t)stale.memory;
	case 3: return (uintptr_t)buffers[15]; /* the program's own */
	default: return (uintptr_t)live.memory + MEMORY - 1;
	}
}

static inline void *buffer(int k, int v)
{
	if (v == 1)
		return 0;
	memset(buffers[k], v == 2 ? 0xff : 0, MEMORY);
	return buffers[k];
}

static inline void *value(int k, int v)
{
	memset(values[k], v == 1 ? 0xff : 0, sizeof values[k]);
	if (v == 2)
		memset(values[k], 0x7f, sizeof values[k]);
	return values[k];
}

static inline void *handle(int v, void *right, void *old)
{
	switch (v) {
	case 0: return right;
	case 1: return 0;
	case 2: return old ? old : (void *)0x5a5a5a50;
	case 3: return (void *)0x7f5a5a5a5a50;
	default: return right == (void *)live.event ? (void *)live.stream : (void *)live.event; /* of another kind */
	}
}

static inline uint64_t size(int v)
{
	static const uint64_t all[] = {16, 0, 1, UINT64_MAX, 1ull << 63, UINT64_MAX - 15, 1ull << 40};
	return all[v];
}

static inline uint64_t length(int v)
{
	static const uint64_t all[] = {0, 1, UINT64_MAX, 1ull << 32}; /* of a list that may be empty */
	return all[v];
}

static inline int64_t integer(int v)
{
	static const int64_t all[] = {0, 1, -1, INT_MAX, INT_MIN};
	return all[v];
}

static inline int64_t count(int v)
{
	static const int64_t all[] = {1, 0, -1, INT_MAX, INT_MIN};
	return all[v];
}

static inline int ordinal(int v)
{
	static const int all[] = {0, -2, 2, INT_MAX, INT_MIN}; /* there are two; -1 is the host */
	return all[v];
}

static inline int peer(int v)
{
	return v == 0 ? 1 : ordinal(v);
}

static inline uint64_t bits(int v)
{
	static const uint64_t all[] = {0, 1, UINT64_MAX, INT_MAX};
	return all[v];
}

static inline int choice(int v)
{
	static const int all[] = {0, 1, 2, -1, INT_MAX};
	return all[v];
}

static inline float number(int v)
{
	static const float all[] = {0, -1, 3e38f};
	return all[v];
}
#endif
