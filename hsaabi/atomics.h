/* The operations on signals and queues' indexes, as zz_atomics.c lists them. */
#include "signal.h"

#define SIGNAL_OPERATION(name, order, operation) \
	void name(hsa_signal_t signal, hsa_signal_value_t value) \
	{ \
		struct rw_signal *s = rw_hsa_signal(signal); \
		if (!s) \
			return; \
		__atomic_##operation(&s->s.value, value, order); \
		rw_hsa_changed(s); \
	}
#define SIGNAL_ADD(name, order) SIGNAL_OPERATION(name, order, fetch_add)
#define SIGNAL_SUBTRACT(name, order) SIGNAL_OPERATION(name, order, fetch_sub)
#define SIGNAL_AND(name, order) SIGNAL_OPERATION(name, order, fetch_and)
#define SIGNAL_OR(name, order) SIGNAL_OPERATION(name, order, fetch_or)
#define SIGNAL_XOR(name, order) SIGNAL_OPERATION(name, order, fetch_xor)
#define SIGNAL_STORE(name, order) SIGNAL_OPERATION(name, order, store_n)

#define SIGNAL_SILENT_STORE(name, order) \
	void name(hsa_signal_t signal, hsa_signal_value_t value) \
	{ \
		struct rw_signal *s = rw_hsa_signal(signal); \
		if (s) \
			__atomic_store_n(&s->s.value, value, order); \
	}

#define SIGNAL_LOAD(name, order) \
	hsa_signal_value_t name(hsa_signal_t signal) \
	{ \
		struct rw_signal *s = rw_hsa_signal(signal); \
		return s ? __atomic_load_n(&s->s.value, order) : 0; \
	}

#define SIGNAL_EXCHANGE(name, order) \
	hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t value) \
	{ \
		struct rw_signal *s = rw_hsa_signal(signal); \
		if (!s) \
			return 0; \
		value = __atomic_exchange_n(&s->s.value, value, order); \
		rw_hsa_changed(s); \
		return value; \
	}

/* The order is of the change; what only looks cannot release. */
#define LOOK(order) ((order) == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : (order) == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : (order))

#define SIGNAL_CAS(name, order) \
	hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value) \
	{ \
		struct rw_signal *s = rw_hsa_signal(signal); \
		if (s && __atomic_compare_exchange_n(&s->s.value, &expected, value, false, order, LOOK(order))) \
			rw_hsa_changed(s); \
		return expected; \
	}

#define SIGNAL_WAIT(name, order) \
	hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare_value, uint64_t timeout_hint, \
		hsa_wait_state_t wait_state_hint) \
	{ \
		struct rw_signal *s = rw_hsa_signal(signal); \
		return s ? rw_hsa_wait(s, condition, compare_value, timeout_hint, wait_state_hint == HSA_WAIT_STATE_ACTIVE) : 0; \
	}

/* A queue is memory that the program may read, so it is believed, but for null. */
#define INDEX(queue, index) (&((amd_queue_t *)(queue))->index##_dispatch_id)

#define QUEUE_LOAD(name, order, index) \
	uint64_t name(const hsa_queue_t *queue) { return queue ? __atomic_load_n(INDEX(queue, index), order) : 0; }
#define QUEUE_LOAD_READ_INDEX(name, order) QUEUE_LOAD(name, order, read)
#define QUEUE_LOAD_WRITE_INDEX(name, order) QUEUE_LOAD(name, order, write)

#define QUEUE_STORE(name, order, index) \
	void name(const hsa_queue_t *queue, uint64_t value) \
	{ \
		if (queue) \
			__atomic_store_n(INDEX(queue, index), value, order); \
	}
#define QUEUE_STORE_READ_INDEX(name, order) QUEUE_STORE(name, order, read)
#define QUEUE_STORE_WRITE_INDEX(name, order) QUEUE_STORE(name, order, write)

#define QUEUE_ADD_WRITE_INDEX(name, order) \
	uint64_t name(const hsa_queue_t *queue, uint64_t value) { return queue ? __atomic_fetch_add(INDEX(queue, write), value, order) : 0; }

#define QUEUE_CAS_WRITE_INDEX(name, order) \
	uint64_t name(const hsa_queue_t *queue, uint64_t expected, uint64_t value) \
	{ \
		if (!queue) \
			return 0; \
		__atomic_compare_exchange_n(INDEX(queue, write), &expected, value, false, order, LOOK(order)); \
		return expected; \
	}
