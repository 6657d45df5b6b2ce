/* What libamdhip64 does before anything is opened: it keeps what the program's code
 * registers before main. */
#include "lazy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hip/hip_runtime_api.h"
#include "../../hipabi/managed.h"

#pragma GCC visibility push(hidden)
extern void **rw_next___hipRegisterFatBinary(const void *data);
extern void rw_next___hipUnregisterFatBinary(void **handle);
extern void rw_next___hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit,
	void *tid, void *bid, dim3 *block, dim3 *grid, int *warp);
extern void rw_next___hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global);
extern void rw_next___hipRegisterManagedVar(void **handle, void **pointer, void *init, const char *name, size_t size, unsigned int align);
extern void rw_next___hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext);
extern void rw_next___hipRegisterSurface(void **handle, void *var, char *host, char *device, int type, int ext);
#pragma GCC visibility pop

/* One thing that a binary registers. */
struct entry {
	struct entry *next;
	enum { FUNCTION, VARIABLE, MANAGED, TEXTURE, SURFACE } kind;
	void *host;
	char *name, *device;
	void *init;
	size_t size;
	int a, b, c; /* what else there is, in the order of the parameters */
};

/* What a handle points to. */
struct binary {
	void **real; /* the handle that the shared object gave */
	const void *data;
	struct entry *first, **last;
	struct binary *next, **before;
};

static struct binary *binaries, **end = &binaries;

static void pass(struct binary *b, const struct entry *e)
{
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
	case SURFACE:
		rw_next___hipRegisterSurface(b->real, e->host, e->name, e->device, e->a, e->b);
		break;
	}
}

void rw_replay(void)
{
	for (struct binary *b = binaries; b; b = b->next) {
		b->real = rw_next___hipRegisterFatBinary(b->data);
		while (b->first) {
			struct entry *e = b->first;
			b->first = e->next;
			pass(b, e);
			free(e);
		}
		b->last = &b->first;
	}
}

void **__hipRegisterFatBinary(const void *data)
{
	struct binary *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->data = data;
	b->last = &b->first;
	rw_lock();
	if (rw_opened) {
		b->real = rw_next___hipRegisterFatBinary(data);
		if (!b->real) {
			rw_unlock();
			free(b);
			return NULL;
		}
	}
	b->before = end;
	*end = b;
	end = &b->next;
	rw_unlock();
	return (void **)b;
}

void __hipUnregisterFatBinary(void **handle)
{
	struct binary *b = (struct binary *)handle;
	if (!b)
		return;
	rw_lock();
	*b->before = b->next;
	if (b->next)
		b->next->before = b->before;
	else
		end = b->before;
	if (rw_opened && b->real)
		rw_next___hipUnregisterFatBinary(b->real);
	rw_unlock();
	while (b->first) {
		struct entry *e = b->first;
		b->first = e->next;
		free(e);
	}
	free(b);
}

static void add(void **handle, struct entry e)
{
	struct binary *b = (struct binary *)handle;
	struct entry *copy;
	if (!b)
		return;
	rw_lock();
	if (rw_opened) {
		pass(b, &e);
	} else if ((copy = malloc(sizeof *copy))) {
		*copy = e;
		*b->last = copy;
		b->last = &copy->next;
	}
	rw_unlock();
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit,
	void *tid, void *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add(handle, (struct entry){.kind = FUNCTION, .host = (void *)host, .device = device, .name = (char *)name, .a = (int)limit});
}

void __hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global)
{
	add(handle, (struct entry){.kind = VARIABLE, .host = host, .name = name, .device = device, .size = size, .a = ext, .b = constant, .c = global});
}

/* The program may use a managed variable before it calls anything. */
void __hipRegisterManagedVar(void **handle, void **pointer, void *init, const char *name, size_t size, unsigned int align)
{
	if (handle && pointer && !*pointer)
		*pointer = managed_memory(init, size, align);
	add(handle, (struct entry){.kind = MANAGED, .host = pointer, .init = init, .name = (char *)name, .size = size, .a = (int)align});
}

void __hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext)
{
	add(handle, (struct entry){.kind = TEXTURE, .host = var, .name = host, .device = device, .a = type, .b = norm, .c = ext});
}

void __hipRegisterSurface(void **handle, void *var, char *host, char *device, int type, int ext)
{
	add(handle, (struct entry){.kind = SURFACE, .host = var, .name = host, .device = device, .a = type, .b = ext});
}
