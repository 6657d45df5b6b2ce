/* Signals that other processes have, too (HSA_AMD_SIGNAL_IPC): each begins a page of a card's memory that they share. What other
 * processes may write there is not believed: that a signal is one, and who uses it here, this process keeps itself. */
#ifndef RW_HSA_SIGNAL_SHARED_H
#define RW_HSA_SIGNAL_SHARED_H

#include "signal.h"

struct rw_shared {
	struct rw_signal *s; /* NULL: a free entry */
	uint32_t users;      /* of this process, as in struct rw_signal */
};

/* The last bit of users says that the signal has ended; who is last gives its memory back. */
enum { ENDED = 1, USER = 2 };

/* rw_hsa_share enters a signal; false if there are too many. */
bool rw_hsa_share(struct rw_signal *s);

/* rw_hsa_shared is the entry of a signal that others have, too; NULL for all other signals. */
struct rw_shared *rw_hsa_shared(struct rw_signal *s);

/* rw_hsa_shared_end is for who was the last to use a signal that has ended here. */
void rw_hsa_shared_end(struct rw_shared *k);

/* rw_hsa_shared_end_all ends all here, so that who waits for one goes on; rw_hsa_shared_used says whether somebody does still. */
void rw_hsa_shared_end_all(void);
bool rw_hsa_shared_used(void);

/* rw_hsa_shared_forget forgets all, without giving their memory back. */
void rw_hsa_shared_forget(void);

/* rw_hsa_shared_interrupt wakes who waits for any of them. */
void rw_hsa_shared_interrupt(void);

/* rw_hsa_most_nap is how long who waits for several signals, or for handlers' conditions, sleeps at most. */
uint64_t rw_hsa_most_nap(void);

#endif
