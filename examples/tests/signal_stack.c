/* A program that has a signal stack of its own only while it calls HIP for the first
 * time, as test frameworks have: what it puts back afterwards must do for HIP. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

static pthread_t caller;
static volatile int over;

/* disturb sends what Go's runtime sends to its threads; nobody else minds it. */
static void *disturb(void *unused)
{
	(void)unused;
	while (!over) {
		pthread_kill(caller, SIGURG);
		usleep(20);
	}
	return NULL;
}

int main(void)
{
	static char stack[64 << 10];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, before;
	pthread_t t;
	int n = 0;
	void *p;
	caller = pthread_self();
	ASSERT(sigaltstack(&own, &before) == 0);
	CHECK(hipGetDeviceCount(&n));
	ASSERT(sigaltstack(&before, NULL) == 0);
	ASSERT(pthread_create(&t, NULL, disturb, NULL) == 0);
	for (int i = 0; i < 2000; i++) {
		CHECK(hipMalloc(&p, 4096 + i));
		CHECK(hipMemset(p, 1, 4096));
		CHECK(hipDeviceSynchronize());
		CHECK(hipFree(p));
	}
	over = 1;
	pthread_join(t, NULL);
	return result("signal stack");
}
