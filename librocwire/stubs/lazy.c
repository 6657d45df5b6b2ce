/* Opens librocwire.so when something in it is first called. A program that only
 * links with a library of ours starts no Go runtime, whose threads do not survive a
 * fork: so a child may use the GPU if its parent has not. */
#define _GNU_SOURCE
#include "lazy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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

/* A fork waits for another thread's opening: the child finds all of it, or nothing. */
__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(rw_lock, rw_unlock, rw_unlock);
}

const rw_function *rw_open(void)
{
	rw_lock();
	if (!rw_opened) {
		/* It lies beside this library, whose search path says so. */
		void *object = dlopen("librocwire.so", RTLD_NOW | RTLD_LOCAL);
		const rw_function *t = object ? (const rw_function *)dlsym(object, rw_table_name) : NULL;
		if (!t) {
			fprintf(stderr, "rocwire: %s\n", dlerror());
			abort();
		}
		rw_opened = t;
		if (rw_replay)
			rw_replay();
		__atomic_store_n(&rw_table, t, __ATOMIC_RELEASE);
	}
	rw_unlock();
	return rw_opened;
}
