/* Handlers of signals: functions of the program's that are called, by one thread, when
 * a condition holds, and functions that it has called once. */
#include <pthread.h>
#include <stdlib.h>

#include "handler.h"
#include "ready.h"
#include "signal_shared.h"

struct handler {
	struct handler *next;
	struct rw_signal *s; /* NULL: call once */
	hsa_signal_condition_t condition;
	hsa_signal_value_t value;
	hsa_amd_signal_handler call;
	void (*once)(void *);
	void *arg;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct handler *handlers, **last = &handlers;
static bool running, ending;
static pthread_t thread;

/* due takes the first handler out whose condition holds, or whose signal has ended. */
static struct handler *due(int64_t *value)
{
	struct handler *h, **at;
	pthread_mutex_lock(&mu);
	for (at = &handlers; (h = *at); at = &h->next) {
		*value = h->s ? __atomic_load_n(&h->s->s.value, __ATOMIC_SEQ_CST) : 0;
		if (!h->s || rw_hsa_holds(*value, h->condition, h->value) || rw_hsa_ended(h->s)) {
			*at = h->next;
			if (!*at)
				last = at;
			break;
		}
	}
	pthread_mutex_unlock(&mu);
	return h;
}

static void keep(struct handler *h)
{
	h->next = NULL;
	pthread_mutex_lock(&mu);
	*last = h;
	last = &h->next;
	pthread_mutex_unlock(&mu);
}

static void drop(struct handler *h)
{
	if (h->s) {
		__atomic_sub_fetch(&h->s->watched, 1, __ATOMIC_SEQ_CST);
		rw_hsa_signal_leave(h->s);
	}
	free(h);
}

static void *run(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST)) {
		uint32_t seq = __atomic_load_n(&rw_hsa_any, __ATOMIC_SEQ_CST);
		int64_t value;
		struct handler *h = due(&value);
		if (!h) {
			rw_hsa_sleep(&rw_hsa_any, seq, rw_hsa_most_nap(), false);
			continue;
		}
		if (!h->s)
			h->once(h->arg);
		else if (!rw_hsa_ended(h->s) && h->call(value, h->arg)) {
			keep(h);
			continue;
		}
		drop(h);
	}
	return NULL;
}

/* add starts the thread with the first. */
static hsa_status_t add(struct handler like)
{
	struct handler *h = malloc(sizeof *h);
	hsa_status_t status = HSA_STATUS_SUCCESS;
	if (!h)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*h = like;
	if (h->s) {
		rw_hsa_signal_enter(h->s);
		__atomic_add_fetch(&h->s->watched, 1, __ATOMIC_SEQ_CST);
	}
	pthread_mutex_lock(&mu);
	if (!running) {
		__atomic_store_n(&ending, false, __ATOMIC_SEQ_CST);
		if (pthread_create(&thread, NULL, run, NULL) != 0)
			status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
		else
			running = true;
	}
	pthread_mutex_unlock(&mu);
	if (status != HSA_STATUS_SUCCESS) {
		drop(h);
		return status;
	}
	keep(h);
	rw_hsa_wake_all(&rw_hsa_any, false);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t cond, hsa_signal_value_t value, hsa_amd_signal_handler handler,
	void *arg)
{
	struct rw_signal *s = rw_hsa_signal(signal);
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handler)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!s)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	return add((struct handler){.s = s, .condition = cond, .value = value, .call = handler, .arg = arg});
}

hsa_status_t hsa_amd_async_function(void (*callback)(void *arg), void *arg)
{
	if (!rw_hsa_ready())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return add((struct handler){.once = callback, .arg = arg});
}

void rw_hsa_handlers_end(void)
{
	struct handler *h;
	pthread_mutex_lock(&mu);
	bool wait = running && !pthread_equal(thread, pthread_self());
	running = false;
	__atomic_store_n(&ending, true, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&mu);
	rw_hsa_wake_all(&rw_hsa_any, false);
	if (wait)
		pthread_join(thread, NULL);
	while ((h = handlers)) {
		handlers = h->next;
		drop(h);
	}
	last = &handlers;
}
