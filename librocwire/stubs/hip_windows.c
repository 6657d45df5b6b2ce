/* The code that a program, or a library of it, registers when it is loaded, and takes
 * back when it is unloaded. In that moment nothing may be opened, and nothing may wait
 * for a thread that begins or ends; so what is registered is kept, and told to
 * rocwire.dll in the same order by the next call of anything. */
#include "lazy_windows.h"

#include <windows.h>

#include "register.h"

/* What a handle points to. */
struct binary {
	void **real; /* the handle that rocwire.dll gave */
	const void *data;
};

/* One thing to tell. */
struct event {
	struct event *next;
	enum { REGISTER, UNREGISTER, ENTRY } kind;
	struct binary *binary;
	struct entry entry;
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
		break;
	case UNREGISTER:
		rw_next___hipUnregisterFatBinary(b->real);
		break;
	case ENTRY:
		if (b->real)
			pass(b->real, &e->entry);
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

static void keep(struct binary *b, struct event e)
{
	struct event *copy = b ? malloc(sizeof *copy) : NULL;
	if (!copy)
		return;
	*copy = e;
	copy->binary = b;
	AcquireSRWLockExclusive(&lock);
	happened(copy);
	ReleaseSRWLockExclusive(&lock);
}

static void add(void **handle, struct entry e)
{
	keep((struct binary *)handle, (struct event){.kind = ENTRY, .entry = e});
}

static void place(void **pointer, void *init, size_t size, unsigned int align)
{
	static SRWLOCK placing = SRWLOCK_INIT;
	AcquireSRWLockExclusive(&placing);
	if (!*pointer)
		*pointer = managed_memory(init, size, align);
	ReleaseSRWLockExclusive(&placing);
}

void **__hipRegisterFatBinary(const void *data)
{
	struct binary *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->data = data;
	keep(b, (struct event){.kind = REGISTER});
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
