/* Whether amdsmi_init was called, and the handles that are given out. */
#ifndef RW_SMI_READY_H
#define RW_SMI_READY_H

#include <stdbool.h>
#include <stdint.h>

/* rw_smi_ready says whether the library is open. */
bool rw_smi_ready(void);
void rw_smi_set_ready(bool ready);

/* rw_smi_gone says whether this process is the child of a fork, and tells the
 * person who runs it once. Go's threads do not survive a fork: nothing behind the
 * exports works there. */
bool rw_smi_gone(void);

/* Handles are addresses within these areas, one byte for each thing: they are
 * unlike all other pointers of the process and stay the same for its life. */
#define RW_SMI_MOST 1024
extern char rw_smi_processors[RW_SMI_MOST];
extern char rw_smi_sockets[RW_SMI_MOST];

#endif
