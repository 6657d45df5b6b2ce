/* What a packet processor does in C: it waits, and calls back. */
#ifndef RW_HSA_QUEUE_H
#define RW_HSA_QUEUE_H

#include "signal.h"

/* rw_hsa_await_packet waits until there is a packet in a slot; false if the doorbell has ended. */
bool rw_hsa_await_packet(struct rw_signal *doorbell, uint16_t *header);

/* rw_hsa_clear_packet makes the slot free, and then the read index the next. */
static inline void rw_hsa_clear_packet(void *queue, uint16_t *header)
{
	__atomic_store_n(header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
	__atomic_fetch_add(&((amd_queue_t *)queue)->read_dispatch_id, 1, __ATOMIC_RELEASE);
}

static inline void rw_hsa_queue_error(void *callback, hsa_status_t status, void *queue, void *data)
{
	((void (*)(hsa_status_t, hsa_queue_t *, void *))callback)(status, queue, data);
}

#endif
