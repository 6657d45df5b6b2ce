//go:build !windows

/* The beginning and the end of threads and of the process, and forks. */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "_cgo_export.h"
#include "os.h"

RW_THREAD_LOCAL struct rw_state rw_tls;

static pthread_key_t end_key;
static int have_end_key;
static char lives, owns; /* what a thread has in its key */

static void thread_end(void *has)
{
	rw_thread_free(&rw_tls);
	if (has == &owns && !atomic_load(&rw_gone))
		rw_threadEnd(rw_thread());
}

static void forked(void)
{
	atomic_store(&rw_gone, 1);
	atomic_store(&rw_devices, -1);
}

__attribute__((constructor)) static void begin(void)
{
	have_end_key = pthread_key_create(&end_key, thread_end) == 0;
	pthread_atfork(NULL, NULL, forked);
}

void rw_thread_watch(void)
{
	if (have_end_key)
		pthread_setspecific(end_key, &lives);
}

void rw_thread_owns_streams(void)
{
	if (have_end_key)
		pthread_setspecific(end_key, &owns);
}

static void flush(void)
{
	if (!atomic_load(&rw_gone))
		rw_flush();
}

int rw_at_exit(void)
{
	return atexit(flush);
}

/* The library's own end comes after that of everything that depends on it. */
__attribute__((destructor)) static void end(void)
{
	if (!atomic_load(&rw_gone))
		rw_close();
}
