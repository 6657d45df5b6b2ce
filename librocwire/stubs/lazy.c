/* Opens librocwire.so when something in it is first called. A program that only
 * links with a library of ours starts no Go runtime, whose threads do not survive a
 * fork: so a child may use the GPU if its parent has not. */
#define _GNU_SOURCE
#include "lazy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* It lies beside this library. */
#ifdef __APPLE__
#define OBJECT "@loader_path/librocwire.dylib"
#else
#define OBJECT "librocwire.so" /* the search path says so */
#endif

extern const char rw_table_name[] __attribute__((visibility("hidden")));

const rw_function *rw_table;
const rw_function *rw_opened;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rw_lock(void)
{
	pthread_mutex_lock(&lock);
}

void rw_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Go's runtime ends the process when a signal comes to a thread that has called it
 * and has no signal stack. A program that sets one for a while (test frameworks do)
 * takes it away afterwards and puts back what was there before: so there is one from
 * the beginning, as there would be if the runtime were. It is never freed, as it may
 * be in use longer than this library. */
static void signal_stack(void)
{
	enum { SIZE = 64 << 10 };
	stack_t s;
	if (sigaltstack(NULL, &s) || !(s.ss_flags & SS_DISABLE))
		return;
	void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	s = (stack_t){.ss_sp = p, .ss_size = SIZE};
	if (sigaltstack(&s, NULL))
		munmap(p, SIZE);
}

/* A fork waits for another thread's opening: the child finds all of it, or nothing. */
__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(rw_lock, rw_unlock, rw_unlock);
	signal_stack();
}

const rw_function *rw_open(void)
{
	rw_lock();
	if (!rw_opened) {
		void *object = dlopen(OBJECT, RTLD_NOW | RTLD_LOCAL);
		const rw_function *t = object ? (const rw_function *)dlsym(object, rw_table_name) : NULL;
		if (!t) {
			fprintf(stderr, "rocwire: %s\n", dlerror());
			abort();
		}
		rw_opened = t;
		rw_replay();
		__atomic_store_n(&rw_table, t, __ATOMIC_RELEASE);
	}
	rw_unlock();
	return rw_opened;
}
