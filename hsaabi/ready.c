#include "ready.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_bool is_ready, is_gone;

bool rw_hsa_ready(void)
{
	return atomic_load_explicit(&is_ready, memory_order_acquire);
}

void rw_hsa_set_ready(bool ready)
{
	atomic_store_explicit(&is_ready, ready, memory_order_release);
}

static void forked(void)
{
	atomic_store(&is_ready, false);
	atomic_store(&is_gone, true);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

bool rw_hsa_gone(void)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	if (!atomic_load_explicit(&is_gone, memory_order_relaxed))
		return false;
	if (!atomic_flag_test_and_set(&told))
		fputs("rocwire: HSA cannot be used in the child of a fork\n", stderr);
	return true;
}
