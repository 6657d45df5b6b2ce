/* The exports by which code registers what it has, one thing at a time, for the file that
 * says what becomes of it. */
#include <stdlib.h>

#include "hip/hip_runtime_api.h"
#include "../../hipabi/managed.h"

#ifndef _WIN32
#pragma GCC visibility push(hidden)
#endif
extern void **rw_next___hipRegisterFatBinary(const void *data);
extern void rw_next___hipUnregisterFatBinary(void **handle);
extern void rw_next___hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned int limit,
	void *tid, void *bid, dim3 *block, dim3 *grid, int *warp);
extern void rw_next___hipRegisterVar(void **handle, void *host, char *name, char *device, int ext, size_t size, int constant, int global);
extern void rw_next___hipRegisterManagedVar(void **handle, void **pointer, void *init, const char *name, size_t size, unsigned int align);
extern void rw_next___hipRegisterTexture(void **handle, void *var, char *host, char *device, int type, int norm, int ext);
extern void rw_next___hipRegisterSurface(void **handle, void *var, char *host, char *device, int type, int ext);
#ifndef _WIN32
#pragma GCC visibility pop
#endif

/* One thing that a binary registers. */
struct entry {
	enum { FUNCTION, VARIABLE, MANAGED, TEXTURE, SURFACE } kind;
	void *host;
	char *name, *device;
	void *init;
	size_t size;
	int a, b, c; /* what else there is, in the order of the parameters */
};

/* add is told of every entry, with a handle of __hipRegisterFatBinary's or NULL. */
static void add(void **handle, struct entry e);

/* place makes a managed variable's memory, unless it has some. */
static void place(void **pointer, void *init, size_t size, unsigned int align);

/* pass tells the shared object of e, by its own handle. */
static void pass(void **real, const struct entry *e)
{
	switch (e->kind) {
	case FUNCTION:
		rw_next___hipRegisterFunction(real, e->host, e->device, e->name, e->a, NULL, NULL, NULL, NULL, NULL);
		break;
	case VARIABLE:
		rw_next___hipRegisterVar(real, e->host, e->name, e->device, e->a, e->size, e->b, e->c);
		break;
	case MANAGED:
		rw_next___hipRegisterManagedVar(real, e->host, e->init, e->name, e->size, e->a);
		break;
	case TEXTURE:
		rw_next___hipRegisterTexture(real, e->host, e->name, e->device, e->a, e->b, e->c);
		break;
	case SURFACE:
		rw_next___hipRegisterSurface(real, e->host, e->name, e->device, e->a, e->b);
		break;
	}
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
	if (handle && pointer)
		place(pointer, init, size, align);
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
