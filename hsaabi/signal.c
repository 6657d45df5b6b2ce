#include "signal.h"
#include "signal_shared.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_ROOMS = 64,
	MOST_GOING = 1000, /* ms that who was woken may take to go */
};

static struct room {
	uintptr_t base, size;
} rooms[MOST_ROOMS];
static int roomed; /* how many there are */
static struct rw_signal *unused;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

uint32_t rw_hsa_any;

struct rw_signal *rw_hsa_signal(hsa_signal_t h)
{
	struct rw_signal *s = (struct rw_signal *)(uintptr_t)h.handle;
	int n = __atomic_load_n(&roomed, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		uintptr_t off = h.handle - rooms[i].base;
		if (off < rooms[i].size)
			return off % sizeof *s == 0 && __atomic_load_n(&s->s.kind, __ATOMIC_RELAXED) != AMD_SIGNAL_KIND_INVALID ? s : NULL;
	}
	struct rw_shared *k = rw_hsa_shared(s);
	return k && !(__atomic_load_n(&k->users, __ATOMIC_SEQ_CST) & ENDED) ? s : NULL;
}

void rw_hsa_signal_room(void *base, uint64_t size)
{
	pthread_mutex_lock(&mu);
	if (roomed < MOST_ROOMS) {
		struct rw_signal *s = base;
		rooms[roomed] = (struct room){(uintptr_t)base, size / sizeof *s * sizeof *s};
		for (uint64_t i = size / sizeof *s; i-- > 0;) {
			s[i].next = unused;
			unused = &s[i];
		}
		__atomic_store_n(&roomed, roomed + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&mu);
}

void rw_hsa_signal_end_all(void)
{
	int n = __atomic_load_n(&roomed, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		struct rw_signal *s = (struct rw_signal *)rooms[i].base, *end = (struct rw_signal *)(rooms[i].base + rooms[i].size);
		for (; s < end; s++)
			if (__atomic_load_n(&s->s.kind, __ATOMIC_SEQ_CST) != AMD_SIGNAL_KIND_INVALID)
				rw_hsa_signal_end(s);
	}
	rw_hsa_shared_end_all();
}

/* used says whether somebody waits for a signal still. */
static bool used(void)
{
	int n = __atomic_load_n(&roomed, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		struct rw_signal *s = (struct rw_signal *)rooms[i].base, *end = (struct rw_signal *)(rooms[i].base + rooms[i].size);
		for (; s < end; s++)
			if (__atomic_load_n(&s->users, __ATOMIC_SEQ_CST))
				return true;
	}
	return rw_hsa_shared_used();
}

void rw_hsa_signal_forget(void)
{
	for (int i = 0; i < MOST_GOING && used(); i++)
		usleep(1000);
	pthread_mutex_lock(&mu);
	__atomic_store_n(&roomed, 0, __ATOMIC_RELEASE);
	unused = NULL;
	rw_hsa_shared_forget();
	pthread_mutex_unlock(&mu);
}

struct rw_signal *rw_hsa_signal_new(int64_t value, amd_signal_kind64_t kind)
{
	struct rw_signal *s;
	pthread_mutex_lock(&mu);
	s = unused;
	if (s)
		unused = s->next;
	pthread_mutex_unlock(&mu);
	if (!s)
		return NULL;
	memset(&s->s, 0, sizeof s->s);
	s->s.value = value;
	s->seq++;
	__atomic_store_n(&s->s.kind, kind, __ATOMIC_RELEASE);
	return s;
}

static void give(struct rw_signal *s)
{
	pthread_mutex_lock(&mu);
	s->next = unused;
	unused = s;
	pthread_mutex_unlock(&mu);
}

void rw_hsa_signal_end(struct rw_signal *s)
{
	struct rw_shared *k = rw_hsa_shared(s);
	uint32_t before, *users = k ? &k->users : &s->users;
	if (!k)
		__atomic_store_n(&s->s.kind, AMD_SIGNAL_KIND_INVALID, __ATOMIC_SEQ_CST);
	before = __atomic_fetch_or(users, ENDED, __ATOMIC_SEQ_CST);
	rw_hsa_wake(s);
	if (before == 0 && k)
		rw_hsa_shared_end(k);
	else if (before == 0 && __atomic_exchange_n(users, 0, __ATOMIC_SEQ_CST) == ENDED)
		give(s);
}

void rw_hsa_signal_enter(struct rw_signal *s)
{
	struct rw_shared *k = rw_hsa_shared(s);
	__atomic_add_fetch(k ? &k->users : &s->users, USER, __ATOMIC_SEQ_CST);
}

void rw_hsa_signal_leave(struct rw_signal *s)
{
	struct rw_shared *k = rw_hsa_shared(s);
	uint32_t *users = k ? &k->users : &s->users;
	if (__atomic_sub_fetch(users, USER, __ATOMIC_SEQ_CST) != ENDED)
		return;
	if (k)
		rw_hsa_shared_end(k);
	else if (__atomic_exchange_n(users, 0, __ATOMIC_SEQ_CST) == ENDED)
		give(s);
}

bool rw_hsa_ended(struct rw_signal *s)
{
	struct rw_shared *k = rw_hsa_shared(s);
	return k ? __atomic_load_n(&k->users, __ATOMIC_SEQ_CST) & ENDED : s->s.kind == AMD_SIGNAL_KIND_INVALID;
}

uint64_t rw_hsa_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void rw_hsa_sleep(uint32_t *word, uint32_t as_long_as, uint64_t ns, bool shared)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	syscall(SYS_futex, word, shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, as_long_as, &t, NULL, 0);
}

void rw_hsa_wake_all(uint32_t *word, bool shared)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

void rw_hsa_wake(struct rw_signal *s)
{
	if (__atomic_load_n(&s->waiters, __ATOMIC_SEQ_CST))
		rw_hsa_wake_all(&s->seq, rw_hsa_shared(s) != NULL);
	if (__atomic_load_n(&s->watched, __ATOMIC_SEQ_CST))
		rw_hsa_wake_all(&rw_hsa_any, false);
}

/* Which signal an interrupt is for is not looked for: they are few, and so are sleepers. */
void rw_hsa_interrupt(void)
{
	int n = __atomic_load_n(&roomed, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++) {
		struct rw_signal *s = (struct rw_signal *)rooms[i].base;
		for (uint64_t k = 0; k < rooms[i].size / sizeof *s; k++)
			if (__atomic_load_n(&s[k].waiters, __ATOMIC_RELAXED))
				rw_hsa_wake_all(&s[k].seq, false);
	}
	rw_hsa_shared_interrupt();
	rw_hsa_wake_all(&rw_hsa_any, false);
}

void rw_hsa_subtract(struct rw_signal *s, int64_t value)
{
	__atomic_fetch_sub(&s->s.value, value, __ATOMIC_ACQ_REL);
	rw_hsa_changed(s);
}

int64_t rw_hsa_wait(struct rw_signal *s, uint32_t condition, int64_t with, uint64_t timeout, bool active)
{
	uint64_t begin = 0, nap = FIRST_NAP;
	const bool shared = rw_hsa_shared(s) != NULL;
	int64_t v = __atomic_load_n(&s->s.value, __ATOMIC_ACQUIRE);
	if (rw_hsa_holds(v, condition, with) || timeout == 0)
		return v;
	rw_hsa_signal_enter(s);
	for (unsigned round = 0;; round++) {
		bool sleeps = !active && round >= SPINS;
		uint32_t seq = 0;
		if (sleeps) {
			__atomic_add_fetch(&s->waiters, 1, __ATOMIC_SEQ_CST);
			seq = __atomic_load_n(&s->seq, __ATOMIC_SEQ_CST);
		}
		v = __atomic_load_n(&s->s.value, __ATOMIC_SEQ_CST);
		bool over = rw_hsa_holds(v, condition, with) || rw_hsa_ended(s);
		if (!over && timeout != UINT64_MAX && (sleeps || round % 64 == 0)) {
			uint64_t now = rw_hsa_now();
			if (!begin)
				begin = now;
			over = now - begin >= timeout;
			if (!over && timeout - (now - begin) < nap)
				nap = timeout - (now - begin);
		}
		if (sleeps) {
			if (!over)
				rw_hsa_sleep(&s->seq, seq, nap, shared);
			if (nap < (shared ? SHARED_NAP : MOST_NAP))
				nap *= 2;
			__atomic_sub_fetch(&s->waiters, 1, __ATOMIC_SEQ_CST);
		}
		if (over)
			break;
		if (!sleeps)
			rw_hsa_relax();
	}
	rw_hsa_signal_leave(s);
	return v;
}
