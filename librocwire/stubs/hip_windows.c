/* The code that a program, or a library of it, registers when it is loaded, and takes
 * back when it is unloaded. In that moment nothing may be opened, and nothing may wait
 * for a thread that begins or ends; so what is registered is kept, and told to
 * rocwire.dll in the same order by the next call of anything. */
#include "lazy_windows.h"

#include <windows.h>

#include <stdint.h>
#include <stdlib.h>

#include "hip/hip_runtime_api.h"
#include "../../hipabi/managed.h"

extern void **rw_next___hipRegisterFatBinary(const void *data);
extern void rw_next___hipUnregisterFatBinary(void **handle);
extern void rw_next___hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit,
	void *tid, void *bid, dim3 *block, dim3 *grid, int *warp);
extern void rw_next___hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global);
extern void rw_next___hipRegisterManagedVar(void **handle, void **pointer, void *init, const char *name, size_t size, unsigned int align);
extern void rw_next___hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext);
extern void rw_next___hipRegisterSurface(void **handle, void *var, char *host, char *device, int type, int ext);

/* What a handle points to. */
struct binary {
	void **real; /* the handle that rocwire.dll gave */
	const void *data;
};

/* One thing to tell. */
struct event {
	struct event *next;
	enum { REGISTER, UNREGISTER, FUNCTION, VARIABLE, MANAGED, TEXTURE, SURFACE } kind;
	struct binary *binary;
	void *host;
	char *name, *device;
	void *init;
	size_t size;
	int a, b, c; /* what else there is, in the order of the parameters */
};

static SRWLOCK lock = SRWLOCK_INIT;
static CONDITION_VARIABLE told = CONDITION_VARIABLE_INIT;
static struct event *first, **last = &first;
static struct binary *telling; /* whose event is being told */

static void tell(const struct event *e)
{
	struct binary *b = e->binary;
	switch (e->kind) {
	case REGISTER:
		b->real = rw_next___hipRegisterFatBinary(b->data);
		return;
	case UNREGISTER:
		rw_next___hipUnregisterFatBinary(b->real);
		return;
	default:
		break;
	}
	if (!b->real)
		return;
	switch (e->kind) {
	case FUNCTION:
		rw_next___hipRegisterFunction(b->real, e->host, e->device, e->name, e->a, NULL, NULL, NULL, NULL, NULL);
		break;
	case VARIABLE:
		rw_next___hipRegisterVar(b->real, e->host, e->name, e->device, e->a, e->size, e->b, e->c);
		break;
	case MANAGED:
		rw_next___hipRegisterManagedVar(b->real, e->host, e->init, e->name, e->size, e->a);
		break;
	case TEXTURE:
		rw_next___hipRegisterTexture(b->real, e->host, e->name, e->device, e->a, e->b, e->c);
		break;
	default:
		rw_next___hipRegisterSurface(b->real, e->host, e->name, e->device, e->a, e->b);
	}
}

void rw_catch_up(void)
{
	struct event *e;
	AcquireSRWLockExclusive(&lock);
	while ((e = first)) {
		first = e->next;
		if (!first)
			last = &first;
		telling = e->binary;
		ReleaseSRWLockExclusive(&lock);
		tell(e);
		if (e->kind == UNREGISTER)
			free(e->binary);
		free(e);
		AcquireSRWLockExclusive(&lock);
		telling = NULL;
		WakeAllConditionVariable(&told);
	}
	rw_table = rw_opened;
	ReleaseSRWLockExclusive(&lock);
}

/* happened keeps an event. Called with the lock. */
static void happened(struct event *e)
{
	e->next = NULL;
	*last = e;
	last = &e->next;
	rw_table = NULL;
}

static void add(void **handle, struct event e)
{
	struct event *copy = handle ? malloc(sizeof *copy) : NULL;
	if (!copy)
		return;
	*copy = e;
	copy->binary = (struct binary *)handle;
	AcquireSRWLockExclusive(&lock);
	happened(copy);
	ReleaseSRWLockExclusive(&lock);
}

void **__hipRegisterFatBinary(const void *data)
{
	struct binary *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->data = data;
	add((void **)b, (struct event){.kind = REGISTER});
	return (void **)b;
}

/* What was not told of the binary may not be any more: its names go with it. */
void __hipUnregisterFatBinary(void **handle)
{
	struct binary *b = (struct binary *)handle;
	struct event *e = b ? calloc(1, sizeof *e) : NULL, *gone = NULL;
	if (!e)
		return;
	AcquireSRWLockExclusive(&lock);
	for (struct event **at = &first, *x; (x = *at);) {
		if (x->binary != b) {
			at = &x->next;
			continue;
		}
		*at = x->next;
		x->next = gone;
		gone = x;
	}
	for (last = &first; *last; last = &(*last)->next)
		;
	while (telling == b)
		SleepConditionVariableSRW(&told, &lock, INFINITE, 0);
	if (b->real) {
		*e = (struct event){.kind = UNREGISTER, .binary = b};
		happened(e);
		e = NULL;
		b = NULL;
	}
	ReleaseSRWLockExclusive(&lock);
	free(e);
	free(b);
	while (gone) {
		e = gone;
		gone = e->next;
		free(e);
	}
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit,
	void *tid, void *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add(handle, (struct event){.kind = FUNCTION, .host = (void *)host, .device = device, .name = (char *)name, .a = (int)limit});
}

void __hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global)
{
	add(handle, (struct event){.kind = VARIABLE, .host = host, .name = name, .device = device, .size = size, .a = ext, .b = constant, .c = global});
}

/* The program may use a managed variable before it calls anything. */
void __hipRegisterManagedVar(void **handle, void **pointer, void *init, const char *name, size_t size, unsigned int align)
{
	static SRWLOCK placing = SRWLOCK_INIT;
	AcquireSRWLockExclusive(&placing);
	if (handle && pointer && !*pointer)
		*pointer = managed_memory(init, size, align);
	ReleaseSRWLockExclusive(&placing);
	add(handle, (struct event){.kind = MANAGED, .host = pointer, .init = init, .name = (char *)name, .size = size, .a = (int)align});
}

void __hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext)
{
	add(handle, (struct event){.kind = TEXTURE, .host = var, .name = host, .device = device, .a = type, .b = norm, .c = ext});
}

void __hipRegisterSurface(void **handle, void *var, char *host, char *device, int type, int ext)
{
	add(handle, (struct event){.kind = SURFACE, .host = var, .name = host, .device = device, .a = type, .b = ext});
}
