#include "ready.h"

#include <stdatomic.h>

char rw_smi_processors[RW_SMI_MOST];
char rw_smi_sockets[RW_SMI_MOST];
char rw_smi_node[1];

static atomic_bool is_ready;

bool rw_smi_ready(void)
{
	return atomic_load_explicit(&is_ready, memory_order_acquire);
}

void rw_smi_set_ready(bool ready)
{
	atomic_store_explicit(&is_ready, ready, memory_order_release);
}
