#include "callback.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static LogCallbackFunc current; /* under guard */
static unsigned running;        /* calls of it under way; under guard */
static _Thread_local unsigned own;

static atomic_bool is_gone;

static void forked(void)
{
	atomic_store(&is_gone, true);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

bool rw_accel_gone(void)
{
	return atomic_load_explicit(&is_gone, memory_order_relaxed);
}

static bool others_run(void)
{
	pthread_mutex_lock(&guard);
	bool run = running > own;
	pthread_mutex_unlock(&guard);
	return run;
}

void rw_accel_register(LogCallbackFunc callback)
{
	pthread_mutex_lock(&guard);
	current = callback;
	pthread_mutex_unlock(&guard);
	const struct timespec pause = {.tv_nsec = 1000000};
	/* A host that holds a lock here which its callback waits for would hang for ever. */
	for (int i = 0; i < 1000 && others_run(); i++)
		nanosleep(&pause, NULL);
}

bool rw_accel_tell(const char *level, const char *message)
{
	pthread_mutex_lock(&guard);
	LogCallbackFunc callback = current;
	if (callback)
		running++;
	pthread_mutex_unlock(&guard);
	if (!callback)
		return false;
	own++;
	callback(level, message);
	own--;
	pthread_mutex_lock(&guard);
	running--;
	pthread_mutex_unlock(&guard);
	return true;
}
