/* Signals: 64 bits that are waited for. A handle is the address of an amd_signal_t,
 * which device code and AMD's runtime read and write directly, followed by what this
 * library needs. They lie in rooms of memory that kernels reach and that last until
 * hsa_shut_down, so a handle that is no longer one, or never was, is found out and
 * touches nothing.
 *
 * Who waits for one signal sleeps on its own word. Who waits for any of several, and
 * the thread that calls handlers, sleep on one word for all, and mark the signals that
 * they look at as watched. What changes a signal looks for both kinds of sleepers
 * behind the change. Device code that changes a value wakes nobody unless it sends an
 * interrupt, so a sleeper looks again at growing intervals (at most MOST_NAP). */
#ifndef RW_HSA_SIGNAL_H
#define RW_HSA_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hsa/hsa.h"

enum {
	SPINS = 2000, /* looks at what is waited for before the first sleep */
	FIRST_NAP = 200 * 1000, /* ns */
	MOST_NAP = 20 * 1000 * 1000,
	SHARED_NAP = 1000 * 1000, /* where another process may change what is waited for */
};

struct rw_signal {
	amd_signal_t s;
	uint32_t seq;     /* changes when the value has and somebody sleeps */
	uint32_t waiters; /* who sleep on seq, or are about to */
	uint32_t watched; /* by how many who wait for several */
	uint32_t users;   /* calls that wait; the memory is not given to another signal before they are gone */
	struct rw_signal *next; /* of those that are free */
	uint64_t mark; /* what one begins with that processes share */
	uint64_t spare[4];
};
_Static_assert(sizeof(struct rw_signal) == 128, "two cache lines");

/* rw_hsa_signal_room has signals made in that memory, too. */
void rw_hsa_signal_room(void *base, uint64_t size);

/* rw_hsa_signal_end_all ends all signals, so that who waits for one goes on. */
void rw_hsa_signal_end_all(void);

/* rw_hsa_signal_forget forgets all signals, which have ended: their memory goes away. It waits for those who have been waiting for one to be gone,
 * but no longer than they need to look up. */
void rw_hsa_signal_forget(void);

/* rw_hsa_signal is the signal of a handle, NULL if there is none. */
struct rw_signal *rw_hsa_signal(hsa_signal_t h);

/* rw_hsa_signal_new makes one; NULL if there is no room. */
struct rw_signal *rw_hsa_signal_new(int64_t value, amd_signal_kind64_t kind);
void rw_hsa_signal_end(struct rw_signal *s);

/* A use of s, between rw_hsa_signal_enter and rw_hsa_signal_leave, keeps its memory from being given to another. */
void rw_hsa_signal_enter(struct rw_signal *s);
void rw_hsa_signal_leave(struct rw_signal *s);

/* rw_hsa_changed wakes who waits for s. Call it after a change. */
static inline void rw_hsa_changed(struct rw_signal *s);
void rw_hsa_wake(struct rw_signal *s);

static inline void rw_hsa_changed(struct rw_signal *s)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->waiters, __ATOMIC_RELAXED) || __atomic_load_n(&s->watched, __ATOMIC_RELAXED))
		rw_hsa_wake(s);
}

/* rw_hsa_ended says whether a signal that a use keeps has ended. */
bool rw_hsa_ended(struct rw_signal *s);

/* rw_hsa_holds compares a value as a condition says. */
static inline bool rw_hsa_holds(int64_t v, uint32_t condition, int64_t with)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return v == with;
	case HSA_SIGNAL_CONDITION_NE:
		return v != with;
	case HSA_SIGNAL_CONDITION_LT:
		return v < with;
	default:
		return v >= with;
	}
}

/* rw_hsa_wait waits until the condition holds, for at most timeout ns (UINT64_MAX: for
 * ever), or until the signal ends, and says what the value was last. */
int64_t rw_hsa_wait(struct rw_signal *s, uint32_t condition, int64_t with, uint64_t timeout, bool active);

/* rw_hsa_interrupt is what device code has sent: the signals with that event have changed. */
void rw_hsa_interrupt(void);

/* rw_hsa_now is the system's time stamp, in ns. */
uint64_t rw_hsa_now(void);

/* rw_hsa_subtract is what a packet processor does with a completion signal. */
void rw_hsa_subtract(struct rw_signal *s, int64_t value);

/* rw_hsa_relax is a moment of waiting without sleeping. */
static inline void rw_hsa_relax(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* What sleeps on a word, and wakes who does: in this process, or in all that have the word. */
void rw_hsa_sleep(uint32_t *word, uint32_t as_long_as, uint64_t ns, bool shared);
void rw_hsa_wake_all(uint32_t *word, bool shared);
extern uint32_t rw_hsa_any; /* what those who wait for several sleep on */

#endif
