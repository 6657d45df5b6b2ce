/* Whether amdsmi_init was called, and the handles that are given out. */
#ifndef RW_SMI_READY_H
#define RW_SMI_READY_H

#include <stdbool.h>
#include <stdint.h>

bool rw_smi_ready(void);
void rw_smi_set_ready(bool ready);

/* Handles are addresses within these areas, one byte for each thing: they are
 * unlike all other pointers of the process and stay the same for its life. */
#define RW_SMI_MOST 1024
extern char rw_smi_processors[RW_SMI_MOST];
extern char rw_smi_sockets[RW_SMI_MOST];
extern char rw_smi_node[1];

#endif
