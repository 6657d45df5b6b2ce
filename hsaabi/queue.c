#include "queue.h"

bool rw_hsa_await_packet(struct rw_signal *doorbell, uint16_t *header)
{
	uint64_t nap = FIRST_NAP;
	for (unsigned round = 0;; round++) {
		bool sleeps = round >= SPINS, over;
		uint32_t seq = 0;
		if (sleeps) {
			__atomic_add_fetch(&doorbell->waiters, 1, __ATOMIC_SEQ_CST);
			seq = __atomic_load_n(&doorbell->seq, __ATOMIC_SEQ_CST);
		}
		over = __atomic_load_n(&doorbell->s.kind, __ATOMIC_SEQ_CST) == AMD_SIGNAL_KIND_INVALID;
		bool there = (__atomic_load_n(header, __ATOMIC_SEQ_CST) & 0xff) != HSA_PACKET_TYPE_INVALID;
		if (sleeps) {
			if (!over && !there)
				rw_hsa_sleep(&doorbell->seq, seq, nap, false);
			if (nap < MOST_NAP)
				nap *= 2;
			__atomic_sub_fetch(&doorbell->waiters, 1, __ATOMIC_SEQ_CST);
		}
		if (over)
			return false;
		if (there)
			return true;
		if (!sleeps)
			rw_hsa_relax();
	}
}
