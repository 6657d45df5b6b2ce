/* What libamdhip64 does before anything is opened: it keeps what the program's code
 * registers before main. */
#include "lazy.h"
#include "register.h"

/* What is passed on later. */
struct kept {
	struct kept *next;
	struct entry entry;
};

/* What a handle points to. */
struct binary {
	void **real; /* the handle that the shared object gave */
	const void *data;
	struct kept *first, **last;
	struct binary *next, **before;
};

static struct binary *binaries, **end = &binaries;

void rw_replay(void)
{
	for (struct binary *b = binaries; b; b = b->next) {
		b->real = rw_next___hipRegisterFatBinary(b->data);
		while (b->first) {
			struct kept *e = b->first;
			b->first = e->next;
			pass(b->real, &e->entry);
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
		struct kept *e = b->first;
		b->first = e->next;
		free(e);
	}
	free(b);
}

static void add(void **handle, struct entry e)
{
	struct binary *b = (struct binary *)handle;
	struct kept *copy;
	if (!b)
		return;
	rw_lock();
	if (rw_opened) {
		pass(b->real, &e);
	} else if ((copy = malloc(sizeof *copy))) {
		*copy = (struct kept){.entry = e};
		*b->last = copy;
		b->last = &copy->next;
	}
	rw_unlock();
}

static void place(void **pointer, void *init, size_t size, unsigned int align)
{
	if (!*pointer)
		*pointer = managed_memory(init, size, align);
}
