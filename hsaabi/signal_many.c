/* Waiting for any of several signals, and for all. */
#include <stdlib.h>

#include "ready.h"
#include "signal_shared.h"

/* many waits until one of the signals, or all, satisfy their conditions. It returns which it was, the first of all, or UINT32_MAX. */
static uint32_t many(bool all, uint32_t count, const hsa_signal_t *signals, const hsa_signal_condition_t *conds, const hsa_signal_value_t *values,
	uint64_t timeout, hsa_wait_state_t hint, hsa_signal_value_t *satisfying)
{
	uint64_t begin = rw_hsa_now(), nap = FIRST_NAP;
	uint32_t found = UINT32_MAX;
	struct rw_signal **s;
	if (!rw_hsa_ready() || count == 0 || !signals || !conds || !values || !(s = calloc(count, sizeof *s)))
		return UINT32_MAX;
	for (uint32_t i = 0; i < count; i++)
		if ((s[i] = rw_hsa_signal(signals[i]))) {
			rw_hsa_signal_enter(s[i]);
			__atomic_add_fetch(&s[i]->watched, 1, __ATOMIC_SEQ_CST);
		}
	for (unsigned round = 0;; round++) {
		uint32_t seq = __atomic_load_n(&rw_hsa_any, __ATOMIC_SEQ_CST), met = 0, live = 0;
		for (uint32_t i = 0; i < count && (all || found == UINT32_MAX); i++) {
			int64_t v;
			if (!s[i])
				continue;
			live += !rw_hsa_ended(s[i]);
			v = __atomic_load_n(&s[i]->s.value, __ATOMIC_SEQ_CST);
			if (!rw_hsa_holds(v, conds[i], values[i]))
				continue;
			met++;
			if (satisfying)
				satisfying[all ? i : 0] = v;
			if (!all)
				found = i;
		}
		if (all && met == count)
			found = 0;
		uint64_t spent = rw_hsa_now() - begin;
		if (found != UINT32_MAX || live == 0 || spent >= timeout)
			break;
		if (hint == HSA_WAIT_STATE_ACTIVE || round < SPINS) {
			rw_hsa_relax();
			continue;
		}
		rw_hsa_sleep(&rw_hsa_any, seq, timeout - spent < nap ? timeout - spent : nap, false);
		if (nap < rw_hsa_most_nap())
			nap *= 2;
	}
	for (uint32_t i = 0; i < count; i++)
		if (s[i]) {
			__atomic_sub_fetch(&s[i]->watched, 1, __ATOMIC_SEQ_CST);
			rw_hsa_signal_leave(s[i]);
		}
	free(s);
	return found;
}

uint32_t hsa_amd_signal_wait_any(uint32_t signal_count, hsa_signal_t *signals, hsa_signal_condition_t *conds, hsa_signal_value_t *values,
	uint64_t timeout_hint, hsa_wait_state_t wait_hint, hsa_signal_value_t *satisfying_value)
{
	return many(false, signal_count, signals, conds, values, timeout_hint, wait_hint, satisfying_value);
}

uint32_t hsa_amd_signal_wait_all(uint32_t signal_count, hsa_signal_t *signals, hsa_signal_condition_t *conds, hsa_signal_value_t *values,
	uint64_t timeout_hint, hsa_wait_state_t wait_hint, hsa_signal_value_t *satisfying_values)
{
	return many(true, signal_count, signals, conds, values, timeout_hint, wait_hint, satisfying_values);
}
