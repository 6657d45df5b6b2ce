/* Signals that processes share: hsa_ipc starts itself again as the other process. The exit status is the number of things that were not so. */
#include <pthread.h>

#include "hsa.h"

#define MINUTE (60 * UINT64_C(1000000000)) /* of a time stamp */

/* is waits for a value without a spin, a minute at most. */
static bool is(hsa_signal_t s, hsa_signal_value_t v)
{
	return hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, v, MINUTE, HSA_WAIT_STATE_BLOCKED) == v;
}

static hsa_signal_t made(hsa_signal_value_t v, hsa_amd_ipc_signal_t *h)
{
	hsa_signal_t s = {0};
	OK(hsa_amd_signal_create(v, 0, NULL, HSA_AMD_SIGNAL_IPC, &s));
	OK(hsa_amd_ipc_signal_create(s, h));
	return s;
}

static int called;

static bool handler(hsa_signal_value_t v, void *arg)
{
	SO(v == 40);
	__atomic_store_n(&called, 1, __ATOMIC_SEQ_CST);
	hsa_signal_store_screlease(*(hsa_signal_t *)arg, 41);
	return false;
}

static FILE *other(const char *program, const hsa_amd_ipc_signal_t *h)
{
	char hex[65], command[4096];
	for (int i = 0; i < 32; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)h)[i]);
	snprintf(command, sizeof command, "'%s' %s", program, hex);
	fflush(stdout);
	return popen(command, "w");
}

/* Each waits for the other, in all the ways that there are. */
static void between(const char *program)
{
	hsa_amd_ipc_signal_t h;
	hsa_signal_t s = made(1, &h), local;
	hsa_signal_condition_t eq[2] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ};
	hsa_signal_value_t v[2] = {0, 20}, got = 0;
	OK(hsa_signal_create(1, 0, NULL, &local));
	FILE *f = other(program, &h);
	SO(is(s, 10));
	hsa_signal_store_screlease(s, 11);
	SO(hsa_amd_signal_wait_any(2, (hsa_signal_t[]){local, s}, eq, v, MINUTE, HSA_WAIT_STATE_BLOCKED, &got) == 1 && got == 20);
	OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_EQ, 40, handler, &s));
	hsa_signal_store_screlease(s, 30); /* the other one copies now: 30 less 1 */
	SO(is(s, 50));
	SO(__atomic_load_n(&called, __ATOMIC_SEQ_CST));
	hsa_signal_store_screlease(s, 60);
	OK(hsa_signal_destroy(s)); /* the other one has it still */
	EXPECT(hsa_signal_destroy(s), HSA_STATUS_ERROR_INVALID_SIGNAL);
	SO(pclose(f) == 0);
	EXPECT(hsa_amd_ipc_signal_attach(&h, &s), HSA_STATUS_SUCCESS); /* until its memory is given back */
	OK(hsa_signal_destroy(s));
	OK(hsa_signal_destroy(local));
}

/* again is the other process. */
static void again(const char *hex)
{
	hsa_amd_ipc_signal_t h, same;
	hsa_signal_t s;
	char *p, *q;
	for (int i = 0; i < 32; i++)
		sscanf(hex + 2 * i, "%2hhx", (uint8_t *)&h + i);
	OK(hsa_amd_ipc_signal_attach(&h, &s));
	SO(hsa_signal_load_scacquire(s) == 1);
	OK(hsa_amd_ipc_signal_create(s, &same));
	SO(memcmp(&same, &h, sizeof h) == 0);
	hsa_signal_add_screlease(s, 9);
	SO(is(s, 11));
	hsa_signal_store_screlease(s, 20);
	SO(is(s, 30));
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, (void **)&p));
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, (void **)&q));
	OK(hsa_amd_memory_async_copy(p, gpu, q, gpu, 4096, 0, NULL, s));
	SO(is(s, 29));
	hsa_signal_store_screlease(s, 40);
	SO(is(s, 41));
	hsa_signal_store_screlease(s, 50);
	SO(is(s, 60));
	hsa_signal_store_screlease(s, 70);
	SO(hsa_signal_load_scacquire(s) == 70);
	OK(hsa_signal_destroy(s));
}

static void *waits(void *s)
{
	hsa_signal_wait_scacquire(*(hsa_signal_t *)s, HSA_SIGNAL_CONDITION_EQ, -1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	return NULL;
}

static void mistakes(void)
{
	hsa_amd_ipc_signal_t h = {{0}};
	hsa_amd_ipc_memory_t m;
	hsa_signal_t plain, s;
	char *p;
	OK(hsa_signal_create(1, 0, NULL, &plain));
	EXPECT(hsa_amd_ipc_signal_create(plain, &h), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	EXPECT(hsa_amd_ipc_signal_create((hsa_signal_t){4711}, &h), HSA_STATUS_ERROR_INVALID_SIGNAL);
	EXPECT(hsa_amd_ipc_signal_attach(&h, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	OK(hsa_amd_memory_pool_allocate(coarse, 4096, 0, (void **)&p));
	OK(hsa_amd_ipc_memory_create(p, 4096, &m));
	EXPECT(hsa_amd_ipc_signal_attach(&m, &s), HSA_STATUS_ERROR_INVALID_ARGUMENT); /* memory is no signal */
	OK(hsa_amd_memory_pool_free(p));
	OK(hsa_signal_destroy(plain));

	/* twice in one process, and destroyed under who waits */
	hsa_signal_t a = made(1, &h);
	OK(hsa_amd_ipc_signal_attach(&h, &s));
	SO(s.handle != a.handle);
	hsa_signal_store_relaxed(s, 9);
	SO(hsa_signal_load_relaxed(a) == 9);
	pthread_t t;
	pthread_create(&t, NULL, waits, &s);
	usleep(2000);
	hsa_signal_t gone = s;
	OK(hsa_signal_destroy(gone));
	pthread_join(t, NULL);
	SO(hsa_signal_load_relaxed(a) == 9 && hsa_signal_load_relaxed(gone) == 0);
	OK(hsa_signal_destroy(a));

	/* more than there may be at a time, one after another */
	for (int i = 0; i < 1200; i++)
		OK(hsa_signal_destroy(made(i, &h)));
	/* all at a time */
	static hsa_signal_t many[2000];
	int n = 0;
	while (n < 2000 && hsa_amd_signal_create(n, 0, NULL, HSA_AMD_SIGNAL_IPC, &many[n]) == HSA_STATUS_SUCCESS)
		n++;
	SO(n > 500 && n < 2000);
	for (int i = 0; i < n; i++) {
		SO(hsa_signal_load_relaxed(many[i]) == i);
		OK(hsa_signal_destroy(many[i]));
	}
}

int main(int argc, char **argv)
{
	OK(hsa_init());
	look();
	if (argc == 2) {
		again(argv[1]);
		return failures;
	}
	between(argv[0]);
	mistakes();
	OK(hsa_shut_down());
	OK(hsa_init()); /* and nothing is left of them */
	hsa_amd_ipc_signal_t h;
	OK(hsa_signal_destroy(made(3, &h)));
	OK(hsa_shut_down());
	printf(failures ? "hsa ipc: %d not so\n" : "hsa ipc: ok\n", failures);
	return failures > 99 ? 99 : failures;
}
