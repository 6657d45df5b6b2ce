#include "signal_shared.h"

#include <pthread.h>
#include <stddef.h>

#include "_cgo_export.h"

/* Memory is given back when so many more signals have ended: a program that destroys one while another thread begins to use it does not fault for it. */
enum { MOST_SHARED = 1024, LATE = 64 };

static struct rw_shared table[MOST_SHARED];
static int entries; /* of the table that have been used */
static struct rw_shared *late[LATE];
static unsigned next_late;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

bool rw_hsa_share(struct rw_signal *s)
{
	bool kept = false;
	pthread_mutex_lock(&mu);
	for (int i = 0; i < MOST_SHARED && !kept; i++) {
		if (__atomic_load_n(&table[i].s, __ATOMIC_RELAXED))
			continue;
		table[i].users = 0;
		__atomic_store_n(&table[i].s, s, __ATOMIC_RELEASE);
		if (i >= entries)
			__atomic_store_n(&entries, i + 1, __ATOMIC_RELEASE);
		kept = true;
	}
	pthread_mutex_unlock(&mu);
	return kept;
}

struct rw_shared *rw_hsa_shared(struct rw_signal *s)
{
	int n = __atomic_load_n(&entries, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n && s; i++)
		if (__atomic_load_n(&table[i].s, __ATOMIC_ACQUIRE) == s)
			return &table[i];
	return NULL;
}

void rw_hsa_shared_end(struct rw_shared *k)
{
	struct rw_shared *gone;
	struct rw_signal *s = NULL;
	pthread_mutex_lock(&mu);
	gone = late[next_late];
	late[next_late] = k;
	next_late = (next_late + 1) % LATE;
	if (gone) {
		s = gone->s;
		__atomic_store_n(&gone->s, NULL, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&mu);
	if (s)
		rw_hsa_unshare((uintptr_t)s);
}

void rw_hsa_shared_end_all(void)
{
	int n = __atomic_load_n(&entries, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		struct rw_signal *s = __atomic_load_n(&table[i].s, __ATOMIC_ACQUIRE);
		if (s) {
			__atomic_fetch_or(&table[i].users, ENDED, __ATOMIC_SEQ_CST);
			rw_hsa_wake(s);
		}
	}
}

bool rw_hsa_shared_used(void)
{
	int n = __atomic_load_n(&entries, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++)
		if (__atomic_load_n(&table[i].s, __ATOMIC_ACQUIRE) && __atomic_load_n(&table[i].users, __ATOMIC_SEQ_CST) & ~ENDED)
			return true;
	return false;
}

void rw_hsa_shared_forget(void)
{
	pthread_mutex_lock(&mu);
	for (int i = 0; i < entries; i++)
		__atomic_store_n(&table[i].s, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&entries, 0, __ATOMIC_RELEASE);
	for (int i = 0; i < LATE; i++)
		late[i] = NULL;
	pthread_mutex_unlock(&mu);
}

void rw_hsa_shared_interrupt(void)
{
	int n = __atomic_load_n(&entries, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		struct rw_signal *s = __atomic_load_n(&table[i].s, __ATOMIC_ACQUIRE);
		if (s && __atomic_load_n(&s->waiters, __ATOMIC_RELAXED))
			rw_hsa_wake_all(&s->seq, true);
	}
}

uint64_t rw_hsa_most_nap(void)
{
	return __atomic_load_n(&entries, __ATOMIC_ACQUIRE) ? SHARED_NAP : MOST_NAP;
}
