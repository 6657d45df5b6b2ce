/* Whether hsa_init was called: how often more than hsa_shut_down. */
#ifndef RW_HSA_READY_H
#define RW_HSA_READY_H

#include <stdbool.h>

bool rw_hsa_ready(void);
void rw_hsa_set_ready(bool ready);

/* rw_hsa_gone says whether this process is the child of a fork, and tells the person
 * who runs it once. Go's threads do not survive a fork. */
bool rw_hsa_gone(void);

#endif
